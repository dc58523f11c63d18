//! The real client at work: run on a real server, with a relay between the two that notes every command.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use hortator_sandbox::{Builder, Temporary};

use super::{Mode, Sent};

const COM_INIT_DB: u8 = 2;
const COM_QUERY: u8 = 3;

/// A server, and clients of it that are watched.
pub struct Client {
    server: Temporary,
}

impl Client {
    pub fn start() -> Client {
        let server = Builder::standalone().start_temporary().unwrap();
        let mut connection = server.node(0).connect().unwrap();
        for database in ["d1", "d2"] {
            connection.execute(format!("CREATE DATABASE {database}").as_bytes()).unwrap();
        }
        Client { server }
    }

    /// What the client sends to the server for this text, errors notwithstanding.
    pub fn sent(&self, text: &[u8], mode: &Mode) -> Vec<Sent> {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("relay");
        let commands = relay(&socket, self.server.node(0).socket());
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "--force", "--batch", "--skip-ssl", "--user=root"]);
        client.arg(format!("--socket={}", socket.display())).current_dir(folder.path());
        client.arg(format!("--default-character-set={}", mode.charset.as_deref().unwrap_or("utf8mb4")));
        if mode.comments {
            client.arg("--comments");
        }
        if mode.binary_mode {
            client.arg("--binary-mode");
        }
        client.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut client = client.spawn().expect("the mariadb client is installed");
        // A client that left by `quit` does not read the rest.
        let _ = client.stdin.take().unwrap().write_all(text);
        client.wait().unwrap();
        let commands = commands.lock().unwrap();
        commands.iter().filter_map(|command| meaning(command)).collect()
    }
}

/// What the client asks for its own ends: for `use`, `status`, `warnings` and `help`.
pub fn is_own_question(text: &[u8]) -> bool {
    const QUESTIONS: [&[u8]; 4] = [
        b"SELECT DATABASE()",
        b"select DATABASE(), USER() limit 1",
        b"select @@version_comment limit 1",
        b"show warnings",
    ];
    QUESTIONS.contains(&text) || text.starts_with(b"select @@character_set_client, @@") || text.starts_with(b"help '")
}

/// A command of the protocol in our words.
fn meaning(command: &[u8]) -> Option<Sent> {
    match command.split_first()? {
        (&COM_INIT_DB, database) => Some(Sent::Use(database.to_vec())),
        (&COM_QUERY, text) if is_own_question(text) => None,
        (&COM_QUERY, text) => Some(match text.strip_prefix(b"SET NAMES ") {
            Some(charset) => Sent::Charset(charset.to_vec()),
            None => Sent::Statement(text.to_vec()),
        }),
        _ => None,
    }
}

type Commands = Arc<Mutex<Vec<Vec<u8>>>>;

/// Passes one connection on to the server, and notes the commands in it.
fn relay(socket: &Path, server: PathBuf) -> Commands {
    let listener = UnixListener::bind(socket).unwrap();
    let commands = Commands::default();
    let noted = Arc::clone(&commands);
    thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let server = UnixStream::connect(server).unwrap();
        let (mut from_server, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        thread::spawn(move || {
            let _ = io::copy(&mut from_server, &mut to_client);
            let _ = to_client.shutdown(Shutdown::Write);
        });
        let _ = pass_on(client, server, &noted);
    });
    commands
}

fn pass_on(mut client: UnixStream, mut server: UnixStream, commands: &Commands) -> io::Result<()> {
    loop {
        let mut header = [0; 4];
        client.read_exact(&mut header)?;
        let [low, middle, high, number] = header;
        let mut packet = vec![0; u32::from_le_bytes([low, middle, high, 0]) as usize];
        client.read_exact(&mut packet)?;
        // A command is packet 0; what belongs to the login is not.
        if number == 0 {
            commands.lock().unwrap().push(packet.clone());
        }
        server.write_all(&header)?;
        server.write_all(&packet)?;
    }
}
