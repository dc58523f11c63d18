//! Dumps that change the account which loads them: a load opens connections later than the client does.

use std::fs::File;
use std::process::Command;

use crate::errors::dump_file;
use crate::programs::{Outcome, hortator, run};
use crate::servers::{DATABASE, Server};
use crate::target;

const PASSWORD: &str = "first-word-4711";

/// Runs a program as the account under test, with the password that the account has at the beginning.
fn as_visitor(mut command: Command, server: &Server) -> Command {
    command.arg("--no-defaults").arg("-S").arg(server.socket()).args(["-u", "visitor", "-D", DATABASE]);
    command.env("MYSQL_PWD", PASSWORD).env("LC_ALL", "C.UTF-8");
    command
}

/// Makes the account and an empty database anew.
fn prepare(server: &Server) {
    server.reset();
    let mut root = server.connect();
    root.execute(b"DROP USER IF EXISTS visitor@localhost").unwrap();
    root.execute(format!("CREATE USER visitor@localhost IDENTIFIED BY '{PASSWORD}'").as_bytes()).unwrap();
    root.execute(b"GRANT ALL ON *.* TO visitor@localhost WITH GRANT OPTION").unwrap();
}

fn load_with_client(server: &Server, text: &str) -> Outcome {
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let mut command = as_visitor(target::client(), server);
    command.stdin(File::open(path).unwrap());
    run(command)
}

fn load_with_hortator(server: &Server, text: &str, options: &[&str]) -> Outcome {
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let mut command = as_visitor(hortator("load"), server);
    command.args(options).arg(path);
    run(command)
}

/// What the dump does to its own account; rows stand before and behind it.
const CHANGES: &[&str] = &[
    "SET PASSWORD = PASSWORD('other')",
    "ALTER USER visitor@localhost IDENTIFIED BY 'other'",
    "ALTER USER CURRENT_USER() ACCOUNT LOCK",
    "RENAME USER visitor@localhost TO guest@localhost",
    "GRANT USAGE ON *.* TO visitor@localhost WITH MAX_USER_CONNECTIONS 1",
    "CREATE OR REPLACE USER visitor@localhost IDENTIFIED BY 'other'",
    "DROP USER visitor@localhost",
];

#[test]
fn the_account_that_loads_is_changed() {
    if target::mysql().is_some() {
        return;
    }
    // A server that confirms a commit once it is on disk lets small loads be on record on their own machine only.
    for server in [Server::from(target::server()), Server::start(&[("innodb_flush_log_at_trx_commit", "1")])] {
        assert_as_with_client(&server);
    }
}

fn assert_as_with_client(server: &Server) {
    let mut found = Vec::new();
    for change in CHANGES {
        for head in ["", "CREATE TABLE early (id INT);\nINSERT INTO early VALUES (1), (2);\n"] {
            let text = format!(
                "{head}{change};\nCREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1), (2);\n\
                 CREATE TABLE u (id INT PRIMARY KEY);\nINSERT INTO u VALUES (1), (2);\nUPDATE u SET id = id + 10;\n\
                 INSERT INTO t VALUES (3), (4);\n"
            );
            prepare(server);
            let theirs = load_with_client(server, &text);
            let expected = server.state(false);
            server.connect().execute(b"DROP USER IF EXISTS guest@localhost").unwrap();
            for options in [&["--threads", "1"][..], &["--threads", "4", "--chunk-bytes", "1"]] {
                prepare(server);
                let ours = load_with_hortator(server, &text, options);
                let state = server.state(false);
                server.connect().execute(b"DROP USER IF EXISTS guest@localhost").unwrap();
                if ours.status != theirs.status {
                    found.push(format!(
                        "{change}, {options:?}: {:?} for {:?}: {}",
                        ours.status, theirs.status, ours.messages
                    ));
                }
                for (name, theirs) in &expected {
                    let differences =
                        state.get(name).map_or(vec!["no schema".to_owned()], |ours| theirs.differences(ours));
                    found.extend(differences.into_iter().map(|found| format!("{change}, {options:?}: {found}")));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
