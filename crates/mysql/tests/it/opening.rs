//! Opening a connection: transports, accounts, names, and error messages.

use std::time::Duration;

use hortator_mysql::{Address, Connection, Error, Password};

use crate::server::{Server, one_value};

#[test]
fn socket_and_tcp() {
    let server = Server::shared();
    let mut over_socket = Connection::open(&server.options()).unwrap();
    assert!(over_socket.is_local());
    assert!(over_socket.version().is_mariadb());
    assert!(over_socket.supports_bulk());
    assert!(over_socket.status().autocommit());
    let id = one_value(&mut over_socket, "select connection_id()");
    assert_eq!(id, over_socket.id().to_string());

    server.execute("create or replace user tcp@'%' identified by 'secret'");
    let mut over_tcp = Connection::open(&server.tcp_options("tcp", "secret")).unwrap();
    assert!(over_tcp.is_local());
    assert!(!over_tcp.is_encrypted());
    assert!(one_value(&mut over_tcp, "select user()").starts_with("tcp@"));
}

#[test]
fn a_wrong_password_is_the_servers_message_and_not_printed() {
    let server = Server::shared();
    server.execute("create or replace user wrong@'%' identified by 'right'");
    let error = Connection::open(&server.tcp_options("wrong", "sEcReT")).unwrap_err();
    assert_eq!(error.code(), Some(1045));
    let message = format!("{error} {error:?} {:?}", server.tcp_options("wrong", "sEcReT"));
    assert!(message.starts_with("ERROR 1045 (28000): Access denied for user 'wrong'@"), "{message}");
    assert!(!message.contains("sEcReT"), "{message}");
}

#[test]
fn the_default_database_and_an_unknown_one() {
    let server = Server::shared();
    let mut options = server.options();
    options.database = Some("mysql".to_owned());
    let mut connection = Connection::open(&options).unwrap();
    assert_eq!(one_value(&mut connection, "select database()"), "mysql");
    connection.select_db(b"information_schema").unwrap();
    assert_eq!(one_value(&mut connection, "select database()"), "information_schema");
    assert_eq!(connection.select_db(b"no`such").unwrap_err().code(), Some(1049));

    options.database = Some("nowhere".to_owned());
    assert_eq!(Connection::open(&options).unwrap_err().code(), Some(1049));
    options.database = Some("a\0b".to_owned());
    assert!(matches!(Connection::open(&options), Err(Error::Unsupported(_))));
}

#[test]
fn accounts_of_every_authentication_method() {
    let server = Server::shared();
    server.execute("create or replace user modern@'%' identified via ed25519 using password('pässword')");
    server.execute("create or replace user empty@'%' identified by ''");
    server.execute("create or replace user either@'%' identified via unix_socket or ed25519 using password('x')");
    for (user, password) in [("modern", "pässword"), ("empty", ""), ("either", "x")] {
        let mut over_tcp = Connection::open(&server.tcp_options(user, password)).unwrap();
        assert!(one_value(&mut over_tcp, "select user()").starts_with(user));
        let mut options = server.options();
        options.user = user.to_owned();
        options.password = Some(Password::from(password));
        Connection::open(&options).unwrap();
    }
    let error = Connection::open(&server.tcp_options("modern", "wrong")).unwrap_err();
    assert_eq!(error.code(), Some(1045), "{error}");
}

#[test]
fn an_account_of_the_operating_system_needs_no_password() {
    let server = Server::shared();
    let name = rustix::process::geteuid();
    assert!(name.is_root(), "the test's account is known by root's name");
    server.execute("create or replace user root@'%' identified via unix_socket");
    server.execute("create or replace user other@'%' identified via unix_socket");
    let mut options = server.options();
    options.user = "other".to_owned();
    assert!(matches!(Connection::open(&options).unwrap_err().code(), Some(1045 | 1698)));
    server.execute("drop user root@'%'");
}

#[test]
fn a_password_from_before_4_1_is_refused_with_the_reason() {
    let server = Server::shared();
    server.execute("set global secure_auth = 0");
    server.execute("create or replace user ancient@'%' identified via mysql_old_password using '7b0bd8a8316d7e7d'");
    let error = Connection::open(&server.tcp_options("ancient", "x")).unwrap_err().to_string();
    assert!(error.contains("before MySQL 4.1"), "{error}");
}

#[test]
fn every_character_set_of_the_server() {
    let server = Server::shared();
    let mut asking = Connection::open(&server.options()).unwrap();
    let names = asking.fetch(b"select character_set_name from information_schema.character_sets").unwrap();
    assert!(names.len() > 30);
    for name in names {
        let name = String::from_utf8(name[0].clone().unwrap()).unwrap();
        let mut options = server.options();
        options.charset.clone_from(&name);
        if name == "ucs2" || name.starts_with("utf16") || name == "utf32" {
            let error = Connection::open(&options).unwrap_err().to_string();
            assert!(error.contains(&format!("{name} cannot be used on a connection")), "{error}");
            continue;
        }
        let mut connection = Connection::open(&options).unwrap();
        let variables =
            "select concat_ws(' ', @@character_set_client, @@character_set_connection, @@collation_connection)";
        let by_handshake = one_value(&mut connection, variables);
        connection.execute(format!("set names {name}").as_bytes()).unwrap();
        assert_eq!(by_handshake, one_value(&mut connection, variables), "{name}");
    }
}

#[test]
fn nobody_listens() {
    let mut options = Server::shared().options();
    options.connect_timeout = Duration::from_millis(500);
    for address in [
        Address::Socket("/nonexistent/mysqld.sock".into()),
        Address::Tcp { host: "127.0.0.1".to_owned(), port: 1 },
        Address::Tcp { host: "no-such-host.invalid".to_owned(), port: 3306 },
    ] {
        options.address = address.clone();
        let error = Connection::open(&options).unwrap_err();
        assert!(matches!(error, Error::Connect { .. }), "{error:?}");
        assert!(error.to_string().contains(&address.to_string()), "{error}");
    }
}

#[test]
fn a_silent_listener_times_out() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut options = Server::shared().options();
    options.connect_timeout = Duration::from_millis(200);
    options.address = Address::Tcp { host: "127.0.0.1".to_owned(), port: listener.local_addr().unwrap().port() };
    let error = Connection::open(&options).unwrap_err().to_string();
    assert!(error.contains("did not answer in time during the handshake"), "{error}");
}
