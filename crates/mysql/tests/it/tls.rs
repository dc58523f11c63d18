//! Encrypted connections.

use hortator_mysql::{Address, ConnectOptions, Connection, Error, Tls, TlsSettings, Verify};

use crate::server::{Server, one_value};

fn with(options: &ConnectOptions, settings: TlsSettings) -> ConnectOptions {
    ConnectOptions { tls: Tls::Required(settings), ..options.clone() }
}

fn account(server: &Server, user: &str) -> ConnectOptions {
    server.execute(&format!("create or replace user {user}@'%' identified by 'secret' require ssl"));
    server.tcp_options(user, "secret")
}

#[test]
fn certificate_verification_off_and_on() {
    let server = Server::shared();
    let mut options = account(&server, "encrypted");
    let Address::Tcp { host, .. } = &mut options.address else { panic!("TCP") };
    *host = "localhost".to_owned();
    assert_eq!(Connection::open(&options).unwrap_err().code(), Some(1045), "the account requires TLS");
    let ca = Some(server.certificate());
    for settings in [
        TlsSettings::default(),
        TlsSettings { verify: Verify::Authority, ca: ca.clone(), identity: None },
        TlsSettings { verify: Verify::Host, ca, identity: None },
    ] {
        let mut connection = Connection::open(&with(&options, settings)).unwrap();
        assert!(connection.is_encrypted());
        let cipher = connection.fetch(b"show status like 'Ssl_cipher'").unwrap();
        assert!(cipher[0][1].as_ref().is_some_and(|name| !name.is_empty()));
    }
    let preferred = ConnectOptions { tls: Tls::Preferred, ..options };
    assert!(Connection::open(&preferred).unwrap().is_encrypted());
}

#[test]
fn over_the_socket_too() {
    let server = Server::shared();
    let settings = TlsSettings { verify: Verify::Host, ca: Some(server.certificate()), identity: None };
    let connection = Connection::open(&with(&server.options(), settings)).unwrap();
    assert!(connection.is_encrypted());
}

#[test]
fn long_packets_and_an_ed25519_account() {
    let server = Server::shared();
    server.execute("create or replace user sealed@'%' identified via ed25519 using password('x') require ssl");
    let options = with(&server.tcp_options("sealed", "x"), TlsSettings::default());
    let mut connection = Connection::open(&options).unwrap();
    let sql = [b"select length('", &vec![b'x'; 20_000_000][..], b"'), repeat('y', 20000000)"].concat();
    let rows = connection.fetch(&sql).unwrap();
    assert_eq!(rows[0][0].as_deref(), Some(&b"20000000"[..]));
    assert_eq!(rows[0][1].as_ref().map(Vec::len), Some(20_000_000));
}

#[test]
fn a_certificate_of_an_untrusted_authority() {
    let server = Server::shared();
    let options = account(&server, "stranger");
    for verify in [Verify::Authority, Verify::Host] {
        let ca = Some(server.other_certificate());
        let error = Connection::open(&with(&options, TlsSettings { verify, ca, identity: None })).unwrap_err();
        assert!(matches!(error, Error::Tls { .. }), "{error:?}");
        assert!(error.to_string().contains("not signed by a trusted authority"), "{error}");
    }
}

#[test]
fn a_certificate_for_another_host() {
    let server = Server::shared();
    // At 127.0.0.1, while the certificate names localhost.
    let options = account(&server, "elsewhere");
    let ca = Some(server.certificate());
    let settings = |verify| TlsSettings { verify, ca: ca.clone(), identity: None };
    let error = Connection::open(&with(&options, settings(Verify::Host))).unwrap_err();
    assert!(error.to_string().contains("not valid for the host `127.0.0.1`"), "{error}");
    Connection::open(&with(&options, settings(Verify::Authority))).unwrap();
}

#[test]
fn our_own_certificate() {
    let server = Server::shared();
    server.execute("create or replace user certified@'%' require x509");
    let options = server.tcp_options("certified", "");
    assert_eq!(Connection::open(&with(&options, TlsSettings::default())).unwrap_err().code(), Some(1045));
    let settings = TlsSettings { identity: Some(server.identity()), ..TlsSettings::default() };
    let mut connection = Connection::open(&with(&options, settings)).unwrap();
    assert!(one_value(&mut connection, "select user()").starts_with("certified@"));
}

#[test]
fn invalid_certificate_files() {
    let server = Server::shared();
    let options = account(&server, "files");
    for (ca, words) in
        [("/nonexistent/ca.pem", "cannot read /nonexistent/ca.pem"), ("/dev/null", "contains no certificate")]
    {
        let settings = TlsSettings { verify: Verify::Host, ca: Some(ca.into()), identity: None };
        let error = Connection::open(&with(&options, settings)).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn a_server_without_tls() {
    let server = Server::without_tls();
    let mut options = server.options();
    options.tls = Tls::Required(TlsSettings::default());
    let error = Connection::open(&options).unwrap_err().to_string();
    assert!(error.contains("the server has no TLS"), "{error}");
    options.tls = Tls::Preferred;
    assert!(!Connection::open(&options).unwrap().is_encrypted());
}
