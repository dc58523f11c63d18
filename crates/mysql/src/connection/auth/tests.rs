//! Authentication against scripted bytes.

use super::*;
use crate::connection::script::{Script, packets};

const OK: &[u8] = b"\x00\x00\x00\x02\x00\x00\x00";
const NONCE: [u8; 20] = *b"abcdefghijklmnopqrst";

fn credentials(password: &[u8], is_private: bool) -> Credentials<'_> {
    Credentials { password, nonce: &NONCE, is_encrypted: false, is_private }
}

/// Starts with `favourite`, receives `bodies`, and returns the outcome and the sent bytes.
fn converse(
    favourite: &[u8],
    credentials: &Credentials<'_>,
    bodies: &[&[u8]],
) -> (Result<Status, CommandError>, Vec<u8>) {
    // Each of our packets has a sequence number, too.
    let incoming: Vec<u8> = bodies
        .iter()
        .enumerate()
        .flat_map(|(index, body)| packets(u8::try_from(2 * index).unwrap(), &[body]))
        .collect();
    let mut wire = Wire::new(Script::new(&incoming, usize::MAX));
    let outcome = Authentication::begin(favourite, credentials).converse(&mut wire, credentials);
    (outcome, wire.stream().outgoing.clone())
}

fn switch(name: &str, data: &[u8]) -> Vec<u8> {
    [b"\xfe", name.as_bytes(), b"\0", data].concat()
}

#[test]
fn the_first_packet_does_not_reveal_the_password() {
    let known = credentials(b"pw", false);
    let native = Authentication::begin(b"mysql_native_password", &known);
    assert_eq!((&native.name[..], native.first.len()), (&b"mysql_native_password"[..], 20));
    let modern = Authentication::begin(b"caching_sha2_password", &known);
    assert_eq!((&modern.name[..], modern.first.len()), (&b"caching_sha2_password"[..], 32));
    for favourite in [&b"mysql_clear_password"[..], b"mysql_old_password", b"sha256_password", b"anything", b""] {
        let begun = Authentication::begin(favourite, &known);
        assert_eq!((&begun.name[..], begun.first.len()), (&b"mysql_native_password"[..], 20));
    }
    assert!(Authentication::begin(b"mysql_native_password", &credentials(b"", false)).first.is_empty());
}

#[test]
fn a_password_in_the_servers_cache() {
    let mut incoming = packets(0, &[b"\x01\x03"]);
    incoming.extend(packets(1, &[OK]));
    let mut wire = Wire::new(Script::new(&incoming, usize::MAX));
    let known = credentials(b"pw", false);
    Authentication::begin(b"caching_sha2_password", &known).converse(&mut wire, &known).unwrap();
    assert!(wire.stream().outgoing.is_empty());
}

#[test]
fn a_password_not_in_the_servers_cache() {
    // Over a socket the password may be sent in clear text.
    let (outcome, sent) = converse(b"caching_sha2_password", &credentials(b"pw", true), &[b"\x01\x04", OK]);
    outcome.unwrap();
    assert_eq!(sent, packets(1, &[b"pw\0"]));
    // Over the network, we request the server's key, and the password is sent encrypted only.
    let key = b"\x01-----BEGIN PUBLIC KEY-----\nnonsense\n-----END PUBLIC KEY-----\n";
    let (outcome, sent) = converse(b"caching_sha2_password", &credentials(b"pw", false), &[b"\x01\x04", key]);
    assert!(matches!(outcome, Err(CommandError::Protocol(_))), "{outcome:?}");
    assert_eq!(sent, packets(1, &[b"\x02"]));
}

#[test]
fn the_server_may_ask_for_another_method() {
    let known = credentials(b"pw", false);
    let nonce = [&NONCE[..], b"\0"].concat();
    for data in [&NONCE[..], &nonce] {
        let (outcome, sent) = converse(b"caching_sha2_password", &known, &[&switch("mysql_native_password", data), OK]);
        outcome.unwrap();
        let expected = Authentication::begin(b"mysql_native_password", &known).first;
        assert_eq!(sent, packets(1, &[&expected]));
    }
    let (outcome, sent) = converse(b"mysql_native_password", &known, &[&switch("client_ed25519", &[7; 32]), OK]);
    outcome.unwrap();
    assert_eq!(sent.len(), 4 + 64);
    let (outcome, sent) = converse(b"mysql_native_password", &known, &[&switch("unix_socket", b""), OK]);
    outcome.unwrap();
    assert_eq!(sent, packets(1, &[b""]));
}

#[test]
fn a_clear_text_password_needs_a_private_transport() {
    let ask = switch("mysql_clear_password", b"");
    let (outcome, sent) = converse(b"mysql_native_password", &credentials(b"pw", true), &[&ask, OK]);
    outcome.unwrap();
    assert_eq!(sent, packets(1, &[b"pw\0"]));
    let (outcome, sent) = converse(b"mysql_native_password", &credentials(b"pw", false), &[&ask, OK]);
    assert!(matches!(&outcome, Err(CommandError::Unsupported(message)) if message.contains("use TLS")), "{outcome:?}");
    assert!(sent.is_empty());
}

#[test]
fn unsupported_authentication_methods() {
    let known = credentials(b"pw", true);
    for (packet, words) in [
        (&b"\xfe"[..], "before MySQL 4.1"),
        (&switch("auth_gssapi_client", b"x"), "`auth_gssapi_client`"),
        (&switch("parsec", &[1; 32]), "`parsec`"),
    ] {
        let (outcome, sent) = converse(b"mysql_native_password", &known, &[packet]);
        assert!(matches!(&outcome, Err(CommandError::Unsupported(message)) if message.contains(words)), "{outcome:?}");
        assert!(sent.is_empty());
    }
}

#[test]
fn a_server_that_never_decides() {
    let ask = switch("unix_socket", b"");
    let bodies = vec![&ask[..]; AUTH_PACKETS_LIMIT];
    let (outcome, _) = converse(b"mysql_native_password", &credentials(b"", true), &bodies);
    assert!(matches!(outcome, Err(CommandError::Protocol(_))));
}
