//! Configurations and what is said of wrong ones.

use super::*;
use crate::transaction::LogPosition;

const HEAD: &str = "[target]\nhost = \"127.0.0.1\"\nport = 3306\n";

fn parse(sources: &str) -> Result<Config, String> {
    Config::parse(&format!("{HEAD}{sources}")).map_err(|error| error.to_string())
}

fn start_of(start: &str) -> Result<Start, String> {
    parse(&format!("[[source]]\nname = \"a\"\nstart = \"{start}\"")).map(|config| config.sources[0].start.clone())
}

#[test]
fn a_configuration() {
    let text = "[[source]]\nname = \"shop1\"\nhost = [\"db1\", \"db2:3307\"]\nuser = \"repl\"\nssl_ca = \"ca.pem\"\n\
                defaults_group_suffix = \"_shop\"\nstart = \"now\"\n[[source]]\nname = \"b\"\nstart = \"now\"\nserver_id = 7";
    let config = parse(text).unwrap();
    let options = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    assert_eq!(config.target.endpoint.options, options(&[("host", "127.0.0.1"), ("port", "3306")]));
    assert_eq!(config.target.schema, "hortator");
    let [one, two] = &config.sources[..] else { panic!("{config:?}") };
    let host = |name: &str, port| Host { name: name.to_owned(), port };
    assert_eq!(one.hosts, [host("db1", None), host("db2", Some(3307))]);
    assert_eq!(one.endpoint.options, options(&[("ssl-ca", "ca.pem"), ("user", "repl")]));
    assert_eq!(one.endpoint.group_suffix.as_deref(), Some("_shop"));
    assert!(one.server_id >= 0x8000_0000, "far from what people choose");
    assert_eq!(two.server_id, 7);
}

#[test]
fn hosts() {
    let host = |name: &str, port| Some(Host { name: name.to_owned(), port });
    for (text, expected) in [
        ("db1", host("db1", None)),
        ("db1:3307", host("db1", Some(3307))),
        ("::1", host("::1", None)),
        ("[::1]", host("::1", None)),
        ("[::1]:3307", host("::1", Some(3307))),
        ("db1:x", None),
        ("db1:70000", None),
        (":3306", None),
        ("", None),
        ("[::1]3307", None),
    ] {
        assert_eq!(Host::parse(text), expected, "{text}");
    }
}

#[test]
fn starts() {
    assert_eq!(start_of("now"), Ok(Start::Now));
    assert_eq!(start_of("snapshot"), Ok(Start::Snapshot));
    assert_eq!(start_of("gtid:0-1-100,1-7-20"), Ok(Start::Gtid("0-1-100,1-7-20".parse().unwrap())));
    let place = LogPosition { file: b"binlog.000001".to_vec(), position: 4 };
    assert_eq!(start_of("binlog.000001:4"), Ok(Start::Position(place)));
    for (start, said) in [
        ("gtid:", "has no GTID"),
        ("gtid:0-1", "DOMAIN-SERVER-NUMBER"),
        ("binlog.000001", "is no start: give snapshot, now"),
        ("binlog.000001:0", "is no start"),
        ("", "is no start"),
    ] {
        let error = start_of(start).unwrap_err();
        assert!(error.starts_with("[[source]] a, `start`: ") && error.contains(said), "{start}: {error}");
    }
}

#[test]
fn what_is_wrong() {
    let source = |rest: &str| format!("[[source]]\nname = \"a\"\nstart = \"now\"\n{rest}");
    for (text, said) in [
        (String::new(), "there is no source"),
        (source("hots = \"db1\""), "[[source]] a has the unknown key `hots`"),
        (source("host = []"), "give names of hosts"),
        (source("port = 1.5"), "[[source]] a, `port`"),
        (source("server_id = 0"), "no server id"),
        ("[[source]]\nstart = \"now\"".to_owned(), "missing field `name`"),
        ("[[source]]\nname = \"a\"".to_owned(), "missing field `start`"),
        (source("").repeat(2), "two sources have the name a"),
        (source("name"), "line"),
        ("[sources]".to_owned(), "unknown field `sources`"),
    ] {
        let error = parse(&text).unwrap_err();
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn nodes_of_a_target() {
    let config =
        Config::parse("[target]\nhost = [\"a\", \"b:3307\"]\n[[source]]\nname = \"s\"\nstart = \"now\"").unwrap();
    let host = |name: &str, port| Host { name: name.to_owned(), port };
    assert_eq!(config.target.hosts, [host("a", None), host("b", Some(3307))]);
}

#[test]
fn where_the_agent_listens() {
    let listen = |agent: &str| {
        let text = format!("{agent}\n{HEAD}[[source]]\nname = \"a\"\nstart = \"now\"\n");
        Config::parse(&text).map(|config| config.agent.listen).map_err(|error| error.to_string())
    };
    assert_eq!(listen(""), Ok(None));
    assert_eq!(listen("[agent]"), Ok(None));
    for address in ["127.0.0.1:9104", "[::1]:9104", "0.0.0.0:9104"] {
        assert_eq!(listen(&format!("[agent]\nlisten = \"{address}\"")), Ok(Some(address.parse().unwrap())));
    }
    for address in ["9104", ":9104", "127.0.0.1", "localhost:9104", "127.0.0.1:99999", ""] {
        let error = listen(&format!("[agent]\nlisten = \"{address}\"")).unwrap_err();
        assert!(error.starts_with("[agent], `listen`: ") && error.contains("give ADDRESS:PORT"), "{error}");
    }
    for (agent, said) in [
        ("[agent]\nlisten = 9104", "expected a string"),
        ("[agent]\nlisen = \"127.0.0.1:9104\"", "unknown field `lisen`"),
    ] {
        let error = listen(agent).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn server_ids_of_two_targets() {
    let id = |target: &str, source: &str| {
        let text = format!("[target]\n{target}\n[[source]]\nname = \"{source}\"\nstart = \"now\"\n");
        Config::parse(&text).unwrap().sources[0].server_id
    };
    let one = id("host = \"db1\"\npassword = \"a\"", "shop");
    assert_eq!(id("host = \"db1\"\npassword = \"b\"", "shop"), one, "the same at every start");
    for (target, source) in [
        ("host = \"db1\"", "other"),
        ("host = \"db2\"", "shop"),
        ("host = \"db1\"\nport = 3307", "shop"),
        ("host = [\"db1\"]", "shop"),
        ("socket = \"/a\"", "shop"),
    ] {
        assert_ne!(id(target, source), one, "{target}");
    }
}
