//! Runs the client and the `hortator` binary on a dump, and reads what they say of errors in one form.

use std::env;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::Topology;

use crate::servers::{DATABASE, Server};
use crate::target;

/// Longer than any dump of these tests takes on a busy machine; a program that runs longer hangs.
const PATIENCE: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(2);

/// What is loaded.
#[derive(Clone, Copy)]
pub enum Dump<'a> {
    /// A file, in whose folder the programs run: `source` finds its neighbours there.
    File(&'a Path),
    /// A text that exists in memory only.
    Bytes(&'a [u8]),
}

/// A program and its options: what loads a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The client, which is what all others are measured against.
    Client,
    /// One connection.
    OneThread,
    /// Four connections, and every statement a chunk of its own: the most that can run side by side.
    ManyChunks,
    /// As without any option, from standard input.
    Default,
    /// Rows by prepared statements, as to servers without arrays.
    Batches,
    /// The same, of so few rows that small dumps have some too.
    SmallBatches,
    /// As many chunks, with the checks of foreign keys deferred, and those of unique keys unless errors are passed over.
    Deferred,
    /// As many chunks, and indexes built after the rows.
    DeferredIndexes,
    /// Without checkpoints.
    WithoutCheckpoints,
}

impl Contender {
    /// Those of `hortator load` that load every case.
    pub const OURS: [Contender; 4] =
        [Contender::OneThread, Contender::ManyChunks, Contender::Default, Contender::SmallBatches];

    /// Whether the client loads both sides, to show what of a comparison is its own doing.
    pub fn only_client() -> bool {
        env::var_os("HORTATOR_COMPARE_WITH").is_some_and(|with| with == "client")
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Contender::Client => &["--default-character-set=utf8mb4"],
            Contender::OneThread => &["--threads", "1"],
            Contender::ManyChunks => &["--threads", "4", "--chunk-bytes", "1"],
            Contender::Default => &[],
            Contender::Batches => &["--batch-rows", "256"],
            Contender::SmallBatches => &["--threads", "2", "--batch-rows", "2"],
            Contender::Deferred => &["--threads", "4", "--chunk-bytes", "1", "--foreign-keys=deferred"],
            Contender::DeferredIndexes => &["--threads", "4", "--chunk-bytes", "1", "--defer-indexes=always"],
            Contender::WithoutCheckpoints => &["--no-checkpoint"],
        }
    }
}

/// What a program said and how it ended.
pub struct Outcome {
    /// The exit status; none when a signal ended it.
    pub status: Option<i32>,
    /// Standard output: rows of SELECTs.
    pub rows: Vec<u8>,
    /// Standard error as it came.
    pub messages: String,
}

/// An error as both programs tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The server's error number; none for an error of the program's own.
    pub code: Option<u16>,
    /// The line on which the statement begins, in its file.
    pub line: u64,
    /// The first line of the server's message; empty for an error of the program's own, whose words differ.
    pub message: String,
}

/// Loads `dump` into `server`.
pub fn load(contender: Contender, server: &Server, dump: Dump<'_>, force: bool) -> Outcome {
    let contender = if Contender::only_client() { Contender::Client } else { contender };
    let mut command = match contender {
        Contender::Client => target::client(),
        _ => hortator("load"),
    };
    command.arg("--no-defaults").arg("-S").arg(server.socket()).args(["-u", "root", "-D", DATABASE]);
    command.args(contender.options());
    if contender == Contender::Client && target::mysql().is_some() {
        // Since 9.3 MySQL's client obeys its own commands only when asked to.
        command.arg("--commands");
    }
    if force {
        command.arg("--force");
    } else {
        // What the client would have left stands the look afterwards, too. The nodes of a cluster are compared by others.
        if matches!(contender, Contender::OneThread | Contender::Deferred)
            && server.sandbox().topology() == Topology::Standalone
        {
            command.arg("--verify");
        }
        if contender == Contender::Deferred {
            command.arg("--unique-checks=deferred");
        }
    }
    // The client takes its charset from the locale unless told otherwise, and Hortator's default is utf8mb4.
    command.env_remove("MYSQL_PWD").env("LC_ALL", "C.UTF-8");
    match dump {
        Dump::File(path) => {
            command.current_dir(path.parent().expect("a dump is in a folder"));
            if matches!(contender, Contender::Client | Contender::Default) {
                command.stdin(File::open(path).expect("the dump can be read"));
            } else {
                command.arg(path.file_name().expect("a dump has a name")).stdin(Stdio::null());
            }
        }
        Dump::Bytes(bytes) => {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).and_then(|()| file.rewind()).unwrap();
            command.stdin(file);
        }
    }
    run(command).without_orphans()
}

/// The binary under test with a subcommand.
pub fn hortator(subcommand: &str) -> Command {
    let mut command = Command::new(PathBuf::from(env!("CARGO_BIN_EXE_hortator")));
    // Loads keep their journals here, and none where a user's are.
    command.arg(subcommand).env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"));
    command
}

/// Runs a program to its end.
pub fn run(command: Command) -> Outcome {
    Running::start(command).finish()
}

/// A program under way.
pub struct Running {
    child: Child,
    rows: File,
    messages: File,
    said: String,
}

impl Running {
    /// Starts it; its output goes to files, so that it never waits for a reader.
    pub fn start(mut command: Command) -> Running {
        let (rows, messages) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let said = format!("{command:?}");
        command.stdout(rows.try_clone().unwrap()).stderr(messages.try_clone().unwrap());
        let child = command.spawn().unwrap_or_else(|error| panic!("{said} cannot be started: {error}"));
        Running { child, rows, messages, said }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has said on standard error so far.
    pub fn messages_so_far(&self) -> String {
        let mut content = vec![0; usize::try_from(self.messages.metadata().unwrap().len()).unwrap()];
        // The place in the file is the program's too.
        let read = self.messages.read_at(&mut content, 0).unwrap();
        String::from_utf8_lossy(&content[..read]).into_owned()
    }

    /// Whether it is over.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end. One that hangs is ended, and says so in its messages.
    pub fn finish(self) -> Outcome {
        self.finish_within(PATIENCE)
    }

    /// The same for one that has less time.
    pub fn finish_within(mut self, limit: Duration) -> Outcome {
        let start = Instant::now();
        let (status, hung) = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break (status.code(), String::new());
            }
            if start.elapsed() > limit {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                break (None, format!("{} did not end within {limit:?}\n", self.said));
            }
            thread::sleep(POLL);
        };
        Outcome { status, rows: content(&mut self.rows), messages: hung + &text(&mut self.messages) }
    }
}

impl Drop for Running {
    /// A test that fails on the way leaves no program behind.
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _gone = self.child.kill().and_then(|()| self.child.wait());
        }
    }
}

fn content(file: &mut File) -> Vec<u8> {
    let mut content = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut content)).unwrap();
    content
}

fn text(file: &mut File) -> String {
    String::from_utf8_lossy(&content(file)).into_owned()
}

impl Outcome {
    /// The client leaves rows without parents where the dump says not to look; that Hortator tells of them is right.
    fn without_orphans(mut self) -> Self {
        let told: Vec<&str> = self.messages.lines().filter(|line| line.starts_with("verify: ")).collect();
        if !told.is_empty() && told.iter().all(|line| line.starts_with("verify: foreign key ")) {
            self.status = self.status.map(|status| if status == 1 { 0 } else { status });
        }
        self
    }

    /// Every error in its order: `ERROR 1062 (23000) at line 3 in file: 'x': Duplicate …`. Hortator tells errors in the
    /// client's words; what it knows more of is on a line of its own.
    pub fn failures(&self) -> Vec<Failure> {
        let told = self.messages.lines().filter_map(|line| line.strip_prefix("ERROR "));
        told.filter_map(|told| {
            let (code, rest) = match told.split_once(" at line ") {
                Some((code, rest)) => (code.split(' ').next()?.parse().ok(), rest),
                // "ERROR at line 4: …": the program's own.
                None => (None, told.strip_prefix("at line ")?),
            };
            let (place, message) = rest.split_once(": ")?;
            let (line, in_file) = match place.split_once(" in file") {
                Some((line, _)) => (line, true),
                None => (place, false),
            };
            let message = if in_file { message.split_once("': ")?.1 } else { message };
            let message = if code.is_some() { message.to_owned() } else { String::new() };
            Some(Failure { code, line: line.parse().ok()?, message })
        })
        .collect()
    }
}

impl Outcome {
    /// INSERTs that Hortator's summary says travelled as arrays or prepared rows.
    pub fn arrays(&self) -> u64 {
        const BEFORE: &str = "binary statements: ";
        let told = self.messages.split_once(BEFORE).map(|(_, rest)| rest.split(|sign: char| !sign.is_ascii_digit()));
        told.and_then(|mut digits| digits.next()?.parse().ok()).unwrap_or_default()
    }
}

#[test]
fn errors_are_read() {
    let messages = "--------------\nINSERT\n--------------\n\nERROR 1062 (23000) at line 2 in file: 'a/b.sql': Duplicate: x\n\
                    ERROR 1064 (42000) at line 30: near 'x\ny' at line 1\nERROR at line 5: Unknown command '\\y'.\n\
                    ERROR 1452 (23000) at line 7: a foreign key\n  byte 95: INSERT INTO t VALUES (1)\n";
    let outcome = Outcome { status: Some(1), rows: Vec::new(), messages: messages.to_owned() };
    let failure = |code, line, message: &str| Failure { code, line, message: message.to_owned() };
    let expected = [
        failure(Some(1062), 2, "Duplicate: x"),
        failure(Some(1064), 30, "near 'x"),
        failure(None, 5, ""),
        failure(Some(1452), 7, "a foreign key"),
    ];
    assert_eq!(outcome.failures(), expected);
}
