//! Handshake packets and their bytes.

use super::*;

/// A greeting of `version` with the flags `capabilities` and MariaDB's own flags `of_mariadb`.
fn greeting(version: &str, capabilities: u32, of_mariadb: u32, method: &str) -> Vec<u8> {
    let flags = capabilities.to_le_bytes();
    let mut packet = vec![PROTOCOL_VERSION];
    packet.extend_from_slice(version.as_bytes());
    packet.extend_from_slice(b"\0\x2a\x00\x00\x0012345678\0");
    packet.extend_from_slice(&flags[..2]);
    packet.extend_from_slice(b"\x2d\x02\x00");
    packet.extend_from_slice(&flags[2..]);
    packet.extend_from_slice(b"\x15\0\0\0\0\0\0");
    packet.extend_from_slice(&of_mariadb.to_le_bytes());
    packet.extend_from_slice(b"9abcdefghijk\0");
    packet.extend_from_slice(method.as_bytes());
    packet.push(0);
    packet
}

const ALL: u32 = 0xffff_ffff;
const MARIADB: u32 = ALL & !1;

#[test]
fn handshakes_of_both_server_families() {
    let mariadb = greeting("5.5.5-10.11.19-MariaDB", MARIADB, 0x1d, "mysql_native_password");
    let mariadb = Greeting::parse(&mariadb).unwrap();
    assert_eq!((mariadb.version.to_string(), mariadb.id), ("MariaDB 10.11.19".to_owned(), 42));
    assert_eq!(mariadb.nonce, b"123456789abcdefghijk");
    assert_eq!(mariadb.method, b"mysql_native_password");
    assert!(mariadb.of_mariadb.contains(MARIADB_CAPABILITIES));
    let mysql = Greeting::parse(&greeting("8.0.36", ALL, 0x1d, "caching_sha2_password")).unwrap();
    assert!(mysql.of_mariadb.is_empty());
}

#[test]
fn requested_capabilities_are_those_of_the_server() {
    let options = ConnectOptions::new(Address::Socket("s".into()), "me");
    for (version, flags, supports_bulk) in [("10.11.19-MariaDB", MARIADB, true), ("8.0.36", ALL, false)] {
        let greeting = Greeting::parse(&greeting(version, flags, 0x1d, "mysql_native_password")).unwrap();
        let request = Request::new(&options, &greeting, 45);
        assert!(!request.capabilities.contains(CapabilityFlags::CLIENT_MULTI_STATEMENTS));
        assert!(!request.capabilities.contains(CapabilityFlags::CLIENT_SESSION_TRACK));
        assert!(!request.capabilities.contains(CapabilityFlags::CLIENT_CONNECT_WITH_DB));
        assert_eq!(request.capabilities.contains(CapabilityFlags::CLIENT_LONG_PASSWORD), !supports_bulk);
        assert_eq!(request.of_mariadb, if supports_bulk { MARIADB_CAPABILITIES } else { MariadbCapabilities::empty() });
        assert_eq!(request.fixed_part().len(), 32);
    }
}

#[test]
fn a_truncated_handshake_is_refused() {
    let whole = greeting("8.0.36", ALL, 0, "");
    let needed = whole.len() - 1;
    for length in 0..needed {
        assert!(matches!(Greeting::parse(&whole[..length]), Err(CommandError::Protocol(_))), "{length}");
    }
    Greeting::parse(&whole[..needed]).unwrap();
    // An invalid length of the nonce.
    let mut packet = whole.clone();
    let at = packet.iter().position(|byte| *byte == 0x15).unwrap();
    for length in 0..=255 {
        packet[at] = length;
        let _ = Greeting::parse(&packet);
    }
}

#[test]
fn errors_in_place_of_a_handshake() {
    let failure = Greeting::parse(b"\xff\x10\x04Too many connections").unwrap_err();
    assert!(matches!(&failure, CommandError::Server(error) if error.code == 1040), "{failure:?}");
    let failure = Greeting::parse(b"SSH-2.0-OpenSSH").unwrap_err();
    assert!(matches!(&failure, CommandError::Protocol(found) if found.contains("check that a MariaDB")), "{failure:?}");
    let failure = Greeting::parse(&greeting("3.23", 0, 0, "")).unwrap_err();
    assert!(matches!(&failure, CommandError::Unsupported(message) if message.contains("older")), "{failure:?}");
}
