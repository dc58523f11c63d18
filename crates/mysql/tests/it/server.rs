//! The servers under test: a shared one, with TLS and large packets, and separate ones.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use hortator_mysql::{Address, ConnectOptions, Connection, Identity, Password};
use hortator_sandbox::{Builder, Temporary};

use crate::certificates::Certificates;

pub const MAX_ALLOWED_PACKET_BYTES: usize = 64 << 20;

/// A server that lives as long as a test uses it.
pub struct Server {
    running: Arc<Running>,
}

struct Running {
    sandbox: Temporary,
    certificates: Option<Certificates>,
}

static SHARED: Mutex<Weak<Running>> = Mutex::new(Weak::new());

impl Server {
    /// The server that parallel tests share, each with its own users and databases.
    pub fn shared() -> Server {
        let mut shared = SHARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let running = shared.upgrade().unwrap_or_else(|| {
            let certificates = Certificates::make();
            let file = |name| certificates.path(name).display().to_string();
            let builder = Builder::standalone()
                .set("max_allowed_packet", MAX_ALLOWED_PACKET_BYTES.to_string())
                .set("plugin_load_add", "auth_ed25519")
                .set("ssl_ca", file("ca.pem"))
                .set("ssl_cert", file("server.pem"))
                .set("ssl_key", file("server.key"));
            Arc::new(Running { sandbox: builder.start_temporary().unwrap(), certificates: Some(certificates) })
        });
        *shared = Arc::downgrade(&running);
        Server { running }
    }

    /// A server with default settings, for one test.
    pub fn own() -> Server {
        let sandbox = Builder::standalone().start_temporary().unwrap();
        Server { running: Arc::new(Running { sandbox, certificates: None }) }
    }

    /// A server without TLS. From MariaDB 11.4 on, a server makes itself a certificate.
    pub fn without_tls() -> Server {
        let sandbox = Builder::standalone().set("ssl", "0").start_temporary().unwrap();
        Server { running: Arc::new(Running { sandbox, certificates: None }) }
    }

    /// As root over the socket.
    pub fn options(&self) -> ConnectOptions {
        self.running.sandbox.node(0).connect_options()
    }

    /// As `user` over TCP.
    pub fn tcp_options(&self, user: &str, password: &str) -> ConnectOptions {
        let address = Address::Tcp { host: "127.0.0.1".to_owned(), port: self.running.sandbox.node(0).port() };
        let mut options = ConnectOptions::new(address, user);
        options.password = Some(Password::from(password));
        options
    }

    /// A connection as root, in a new, empty database.
    pub fn connection(self, database: &str) -> (Server, Connection) {
        let mut connection = Connection::open(&self.options()).unwrap();
        connection.execute(format!("create or replace database `{database}`").as_bytes()).unwrap();
        connection.select_db(database.as_bytes()).unwrap();
        (self, connection)
    }

    /// Runs one statement as root.
    pub fn execute(&self, sql: &str) {
        Connection::open(&self.options()).unwrap().execute(sql.as_bytes()).unwrap();
    }

    pub fn certificate(&self) -> PathBuf {
        self.certificates().path("ca.pem")
    }

    pub fn other_certificate(&self) -> PathBuf {
        self.certificates().path("other.pem")
    }

    pub fn identity(&self) -> Identity {
        self.certificates().client()
    }

    fn certificates(&self) -> &Certificates {
        self.running.certificates.as_ref().expect("only the shared server has TLS")
    }

    /// Kills the server, as a crash does.
    pub fn kill(&mut self) {
        self.running.sandbox.node(0).kill().unwrap();
    }
}

/// The one value of a statement's one row, as text.
pub fn one_value(connection: &mut Connection, sql: impl AsRef<[u8]>) -> String {
    let rows = connection.fetch(sql.as_ref()).unwrap();
    let [row] = &rows[..] else { panic!("{} rows", rows.len()) };
    let [Some(value)] = &row[..] else { panic!("{} values", row.len()) };
    String::from_utf8(value.clone()).unwrap()
}
