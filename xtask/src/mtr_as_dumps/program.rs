//! Loads a dump with the client or with Hortator, within a time.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::server::DATABASE;

/// How long to wait between two looks at a program.
const POLL: Duration = Duration::from_millis(5);

/// What loads a dump.
#[derive(Debug, Clone)]
pub(super) enum Program {
    /// MariaDB's own.
    Client,
    /// The binary under test, with further options.
    Hortator { path: PathBuf, options: Vec<String> },
}

/// What a program said and how it ended.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    /// The exit status; none when a signal ended it.
    pub(super) status: Option<i32>,
    /// Whether it had to be ended.
    pub(super) is_late: bool,
    /// Standard output: rows of SELECTs.
    pub(super) rows: Vec<u8>,
    /// Standard error as it came.
    pub(super) messages: String,
}

/// An error as both programs tell it.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// The server's error number; none for an error of the program's own.
    pub(super) code: Option<u16>,
    /// The line on which the statement begins.
    pub(super) line: u64,
    /// The first line of its message.
    pub(super) message: String,
}

impl PartialEq for Failure {
    /// The words of a program's own errors are its own, too.
    fn eq(&self, other: &Failure) -> bool {
        self.code == other.code && self.line == other.line && (self.code.is_none() || self.message == other.message)
    }
}

impl Program {
    /// Loads `dump` with `--force`. A program that takes longer than `limit` is ended.
    pub(super) fn load(&self, socket: &Path, dump: &[u8], limit: Duration) -> anyhow::Result<Outcome> {
        let mut command = match self {
            Program::Client => Command::new("mariadb"),
            Program::Hortator { path, .. } => {
                let mut command = Command::new(path);
                command.arg("load");
                command
            }
        };
        command.arg("--no-defaults").arg("-S").arg(socket).args(["-u", "root", "-D", DATABASE, "--force"]);
        command.arg("--default-character-set=utf8mb4");
        if let Program::Hortator { options, .. } = self {
            command.args(options);
        }
        let folder = tempfile::tempdir().context("making a folder")?;
        let mut input = tempfile::tempfile().context("making a file")?;
        input.write_all(dump).and_then(|()| input.rewind()).context("writing the dump")?;
        let (mut rows, mut messages) = (tempfile::tempfile()?, tempfile::tempfile()?);
        command.current_dir(folder.path()).env_remove("MYSQL_PWD").env("LC_ALL", "C.UTF-8").env("TZ", "UTC");
        command.stdin(input).stdout(rows.try_clone()?).stderr(messages.try_clone()?);
        let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        drop(command);
        let deadline = Instant::now() + limit;
        let (status, is_late) = loop {
            match child.try_wait().context("waiting for a program")? {
                Some(status) => break (status.code(), false),
                None if Instant::now() > deadline => {
                    child.kill().and_then(|()| child.wait()).context("ending a program")?;
                    break (None, true);
                }
                None => thread::sleep(POLL),
            }
        };
        let messages = String::from_utf8_lossy(&content(&mut messages)?).into_owned();
        Ok(Outcome { status, is_late, rows: content(&mut rows)?, messages })
    }
}

fn content(file: &mut File) -> anyhow::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut content)).context("reading what a program said")?;
    Ok(content)
}

impl Outcome {
    /// Every error in its order: `ERROR 1062 (23000) at line 3: Duplicate …`.
    pub(super) fn failures(&self) -> Vec<Failure> {
        let told = self.messages.lines().filter_map(|line| line.strip_prefix("ERROR "));
        told.filter_map(|told| {
            let (code, rest) = match told.split_once(" at line ") {
                Some((code, rest)) if !told.starts_with("at line") => (code.split(' ').next()?.parse().ok(), rest),
                // "ERROR at line 4: …": the program's own.
                _ => (None, told.strip_prefix("at line ")?),
            };
            let (line, message) = rest.split_once(": ")?;
            Some(Failure { code, line: line.parse().ok()?, message: message.to_owned() })
        })
        .collect()
    }

    /// What it said besides errors of statements, for a message.
    pub(super) fn remarks(&self) -> String {
        let lines = self.messages.lines().filter(|line| !line.starts_with("ERROR ") && !line.starts_with("  byte "));
        lines.take(8).collect::<Vec<_>>().join("\n")
    }
}

impl Failure {
    /// Its number, where it has one.
    pub(super) fn name(&self) -> String {
        self.code.map_or("own".to_owned(), |code| code.to_string())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.code {
            Some(code) => write!(f, "line {}: {code} {}", self.line, self.message),
            None => write!(f, "line {}: its own error: {}", self.line, self.message),
        }
    }
}
