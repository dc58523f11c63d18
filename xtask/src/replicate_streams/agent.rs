//! `hortator replicate run` beside a trial, and what is asked of it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tempfile::TempDir;

/// How long the target may take to catch up.
const CATCH_UP_LIMIT_S: &str = "40";
const START_LIMIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(10);
const NAME: &str = "s";

/// How far an applier has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It has all that the source has written.
    CaughtUp,
    /// An error has stopped it.
    Stopped(String),
    /// It has not come there in time.
    Late(String),
}

/// The process, with its configuration.
pub(super) struct Agent {
    process: Child,
    hortator: PathBuf,
    folder: TempDir,
}

impl Agent {
    /// Starts it at the beginning of the logs of sources.
    pub(super) fn start(hortator: &Path, sources: &[PathBuf], target: &Path) -> anyhow::Result<Agent> {
        let folder = tempfile::tempdir_in("/tmp").context("making a folder")?;
        let file = folder.path().join("replicate.toml");
        let mut text = format!("[target]\nsocket = \"{}\"\nuser = \"root\"\n", target.display());
        for (index, source) in sources.iter().enumerate() {
            text += &format!(
                "[[source]]\nname = \"{NAME}{}\"\nsocket = \"{}\"\nuser = \"root\"\nstart = \"bin.000001:4\"\n",
                index + 1,
                source.display()
            );
        }
        fs::write(&file, text)?;
        let log = File::create(folder.path().join("log"))?;
        let mut command = Command::new(hortator);
        command.args(["replicate", "run"]).arg(&file).stdout(Stdio::null()).stderr(log);
        let process = command.spawn().with_context(|| format!("cannot run {}", hortator.display()))?;
        let agent = Agent { process, hortator: hortator.to_owned(), folder };
        let end = Instant::now() + START_LIMIT;
        while agent.ask("status", &[])?.0.contains("nothing runs this configuration") {
            if Instant::now() > end {
                bail!("the agent does not start: {}", agent.log());
            }
            thread::sleep(POLL);
        }
        Ok(agent)
    }

    /// Waits for the target.
    pub(super) fn catch_up(&self) -> anyhow::Result<Progress> {
        let (said, is_well) = self.ask("wait", &["--caught-up", "--timeout", CATCH_UP_LIMIT_S])?;
        if is_well {
            return Ok(Progress::CaughtUp);
        }
        Ok(match said.split_once(" is stopped: ") {
            Some((_, error)) => Progress::Stopped(error.to_owned()),
            None => Progress::Late(said),
        })
    }

    /// Passes a transaction of the first source over; says whether that can be.
    pub(super) fn skip(&self) -> anyhow::Result<bool> {
        Ok(self.ask("skip", &[&format!("{NAME}1")])?.1)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn ask(&self, subcommand: &str, arguments: &[&str]) -> anyhow::Result<(String, bool)> {
        let mut command = Command::new(&self.hortator);
        command.args(["replicate", subcommand]).arg(self.folder.path().join("replicate.toml")).args(arguments);
        let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
        let said = [output.stdout, output.stderr].concat();
        Ok((String::from_utf8_lossy(&said).trim().to_owned(), output.status.success()))
    }
}

impl Drop for Agent {
    /// What it has not committed is nobody's concern any more.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
