//! Names of nodes, case by case.

use hortator_mysql::Address;

use super::{incoming, node_address};

fn tcp(host: &str, port: u16) -> Address {
    Address::Tcp { host: host.to_owned(), port }
}

#[test]
fn names_are_read_as_dbas_write_them() {
    for (name, address) in [
        ("db1", tcp("db1", 3306)),
        ("db1:3307", tcp("db1", 3307)),
        ("10.0.0.1", tcp("10.0.0.1", 3306)),
        ("::1", tcp("::1", 3306)),
        ("[::1]", tcp("::1", 3306)),
        ("[fe80::1]:3307", tcp("fe80::1", 3307)),
        ("/run/mysqld/mysqld.sock", Address::Socket("/run/mysqld/mysqld.sock".into())),
    ] {
        assert_eq!(node_address(name, 3306).unwrap(), address, "{name}");
    }
}

#[test]
fn what_names_no_node_is_told_with_what_does() {
    for (name, word) in [
        ("", "no host"),
        (":3306", "no host"),
        ("db1:", "port"),
        ("db1:0", "port"),
        ("db1:70000", "port"),
        ("db1:x", "port"),
        ("[::1", "bracket"),
        ("[::1]3306", "bracket"),
        ("root@db1", "no host"),
        ("db 1", "no host"),
    ] {
        let message = node_address(name, 3306).unwrap_err().to_string();
        assert!(message.contains(word) && message.contains("HOST:PORT"), "{name}: {message}");
    }
}

#[test]
fn a_cluster_tells_its_nodes_addresses_or_not() {
    assert_eq!(
        incoming("10.0.0.1:3306,,AUTO, db2", 3307),
        [Some(tcp("10.0.0.1", 3306)), None, None, Some(tcp("db2", 3307))]
    );
    assert_eq!(incoming("", 3306), []);
    // A node that listens nowhere tells port 0.
    assert_eq!(incoming("10.0.0.1:0", 3306), [None]);
}
