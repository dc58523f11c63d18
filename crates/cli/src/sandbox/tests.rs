//! The parsing of the command line, and the output.

use clap::Parser;

use std::time::Duration;

use super::shown::{environment, list, quoted, status, summary};
use super::*;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    args: SandboxArgs,
}

fn parse(line: &str) -> Result<Action, clap::Error> {
    Line::try_parse_from(["sandbox"].into_iter().chain(line.split_whitespace())).map(|line| line.args.action)
}

fn topology_of(line: &str) -> Result<Topology, String> {
    match parse(line).map_err(|error| error.to_string())? {
        Action::Up(args) => {
            topology(args.topology, args.nodes, args.mysql.as_deref()).map_err(|error| error.to_string())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn up_names_a_topology() {
    for (line, expected) in [
        ("up", Topology::Standalone),
        ("up standalone --name x", Topology::Standalone),
        ("up mysql --mysql /opt/mysql", Topology::Mysql),
        ("up galera", Topology::Galera(3)),
        ("up galera 5", Topology::Galera(5)),
        ("up cluster", Topology::Cluster(3)),
        ("up cluster 1", Topology::Cluster(1)),
        ("up cluster 5", Topology::Cluster(5)),
        ("up --set sql_mode= semisync", Topology::Semisync),
        ("up ring", Topology::Ring),
    ] {
        assert_eq!(topology_of(line), Ok(expected), "{line}");
    }
    assert!(topology_of("up galera --mysql /opt/mysql").unwrap_err().contains("only `mysql` takes --mysql"));
    assert!(topology_of("up semisync 2").unwrap_err().contains("only `galera`, `cluster` and `fan-in` take a number"));
}

#[test]
fn invalid_arguments_are_refused() {
    for line in [
        "",
        "up star",
        "up galera many",
        "up --set sql_mode",
        "stop",
        "stop x one",
        "down",
        "down x --all",
        "isolate x",
        "isolate x one",
        "pause x",
        "status a b",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn a_node_has_a_number_and_a_name() {
    assert_eq!(parse_process("2"), Ok(Process::Node(2)));
    assert_eq!(parse_process("node2"), Ok(Process::Node(2)));
    assert_eq!(parse_process("witness"), Ok(Process::Witness));
    assert!(parse_process("second").is_err());
}

#[test]
fn a_name_in_use_gets_a_number() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(free_name(Topology::Galera(3), dir.path()), "galera-3");
    std::fs::create_dir(dir.path().join("galera-3")).unwrap();
    std::fs::create_dir(dir.path().join("galera-3.2")).unwrap();
    assert_eq!(free_name(Topology::Galera(3), dir.path()), "galera-3.3");
}

#[test]
fn words_are_quoted_where_a_shell_needs_it() {
    assert_eq!(quoted("/a/b-c_d.e"), "/a/b-c_d.e");
    assert_eq!(quoted("it's here"), r"'it'\''s here'");
}

#[test]
fn the_output_about_a_sandbox() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let sandbox = Builder::standalone().dir(dir.path()).create("shown").unwrap();
    let node = sandbox.node(0);
    let (pid, port) = (node.pid().unwrap(), node.port());
    let socket = format!("{}/shown/node1/socket", dir.path().display());
    let client = format!("mariadb --no-defaults -S {socket} -u root");

    let version = sandbox.server_version();
    let expected = format!("sandbox shown: standalone, {version}, ready after 1.5 s\nnode1: {client}\n");
    assert_eq!(summary(&sandbox, Duration::from_millis(1500)), expected);
    assert_eq!(environment(&sandbox), format!("# node1\n{client}\nmysql://root@localhost/?socket={socket}\n"));
    let words = |text: &str| -> Vec<Vec<String>> {
        text.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    };
    let header = "SANDBOX TOPOLOGY NODE STATE PID PORT SOCKET";
    let row = format!("shown standalone node1 running {pid} {port} {socket}");
    let sandboxes = [sandbox];
    assert_eq!(words(&list(&sandboxes)), words(&format!("{header}\n{row}\n")));
    sandboxes[0].kill().unwrap();
    let row = format!("shown standalone node1 crashed - {port} {socket}");
    assert_eq!(words(&list(&sandboxes)), words(&format!("{header}\n{row}\n")));
    assert_eq!(list(&[]), "");
    let header = "SANDBOX NODE STATE CLUSTER SIZE LOCAL STATE LAST COMMITTED";
    assert_eq!(words(&status(&sandboxes)), words(&format!("{header}\nshown node1 crashed - - - -\n")));
    sandboxes.into_iter().for_each(|sandbox| sandbox.down().unwrap());
}
