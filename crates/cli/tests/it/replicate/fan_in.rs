//! Private servers as sources and target, a configuration for them, and the agent.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_check::state;
use hortator_sandbox::{Builder, Temporary};
use tempfile::TempDir;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);
const POLL: Duration = Duration::from_millis(50);

/// Servers and a configuration.
pub struct FanIn {
    pub sources: Vec<Temporary>,
    pub target: Temporary,
    folder: TempDir,
}

/// What a test kills.
#[derive(Clone, Copy, Debug)]
pub enum Victim {
    Agent,
    Target,
    Source(usize),
}

impl FanIn {
    /// Starts the servers. Sources have the names s1, s2 …, and start now.
    pub fn new(sources: usize, of_target: &[(&str, &str)]) -> FanIn {
        let target = of_target.iter().fold(Builder::standalone(), |builder, (name, value)| builder.set(*name, *value));
        FanIn::into(sources, target.start_temporary().unwrap())
    }

    /// With a target that runs.
    pub fn into(sources: usize, target: Temporary) -> FanIn {
        FanIn::with(sources, &[], target)
    }

    /// With settings for the sources, and a target that runs.
    pub fn with(sources: usize, of_source: &[(&str, &str)], target: Temporary) -> FanIn {
        let source = || {
            // What it has sent must not be gone after a crash.
            let builder =
                Builder::standalone().set("log_bin", "bin").set("binlog_format", "ROW").set("sync_binlog", "1");
            let builder = of_source.iter().fold(builder, |builder, (name, value)| builder.set(*name, *value));
            builder.start_temporary().unwrap()
        };
        FanIn::of((0..sources).map(|_| source()).collect(), target)
    }

    /// With servers that run.
    pub fn of(sources: Vec<Temporary>, target: Temporary) -> FanIn {
        let mut fan_in = FanIn { sources, target, folder: tempfile::tempdir_in("/tmp").unwrap() };
        let table = |index: usize| {
            let socket = fan_in.socket(index);
            format!("[[source]]\nname = \"s{}\"\nsocket = \"{socket}\"\nuser = \"root\"\nstart = \"now\"\n", index + 1)
        };
        let text = fan_in.target_table() + &(0..fan_in.sources.len()).map(table).collect::<String>();
        fan_in.write(&text);
        fan_in
    }

    /// The configuration's table of the target.
    pub fn target_table(&self) -> String {
        format!("[target]\nsocket = \"{}\"\nuser = \"root\"\n", self.target.node(0).socket().display())
    }

    pub fn socket(&self, index: usize) -> String {
        self.sources[index].node(0).socket().display().to_string()
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("replicate.toml")
    }

    /// Writes the configuration.
    pub fn write(&mut self, text: &str) {
        fs::write(self.file(), text).unwrap();
    }

    /// A subcommand, with its arguments behind the file: what it prints, and its exit status.
    pub fn says(&self, line: &str) -> (String, Option<i32>) {
        let mut words = line.split_whitespace();
        let mut command = self.command(words.next().unwrap());
        let output = command.args(words).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (String::from_utf8_lossy(&text).trim().to_owned(), output.status.code())
    }

    /// A subcommand of this configuration.
    pub fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
        command.args(["replicate", subcommand]).arg(self.file());
        command
    }

    /// Starts the agent, and waits until it reads all sources: what they write from now on is behind `start = "now"`.
    pub fn start(&self) -> Agent {
        let agent = self.start_only();
        self.wait_until("all sources", |shown| !shown.contains(" connecting "));
        agent
    }

    /// Starts the agent, and waits until it takes requests.
    pub fn start_only(&self) -> Agent {
        let child = self.command("run").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let agent = Agent(child);
        self.wait_until("the agent to answer", |shown| shown.contains("source"));
        agent
    }

    /// Kills one of them, and starts it again.
    pub fn kill(&self, victim: Victim, agent: &mut Option<Agent>) {
        let server = match victim {
            Victim::Agent => {
                drop(agent.take());
                *agent = Some(self.start_only());
                return;
            }
            Victim::Target => &self.target,
            Victim::Source(index) => &self.sources[index],
        };
        server.node(0).kill().unwrap();
        server.node(0).start().unwrap();
    }

    /// Waits for the status to show something.
    pub fn wait_until(&self, what: &str, mut is_so: impl FnMut(&str) -> bool) {
        let end = Instant::now() + PATIENCE;
        loop {
            let (shown, _) = self.says("status");
            if is_so(&shown) {
                return;
            }
            assert!(Instant::now() < end, "waited for {what}: {shown}");
            thread::sleep(POLL);
        }
    }

    /// Waits until the target has what the sources have now.
    pub fn catch_up(&self) {
        let (shown, code) = self.says(&format!("wait --caught-up --timeout {}", PATIENCE.as_secs()));
        assert_eq!((&*shown, code), ("", Some(0)), "{}", self.says("status").0);
    }

    /// The schema of each source is the same in the target.
    pub fn assert_equal(&self, schemas: &[&str]) {
        let describe =
            |server: &Temporary, schema| state::describe(&mut server.node(0).connect().unwrap(), schema).unwrap();
        for (source, schema) in self.sources.iter().zip(schemas) {
            let differences = describe(source, schema).differences(&describe(&self.target, schema));
            assert!(differences.is_empty(), "{schema}: {}", differences.join("\n"));
        }
    }
}

/// A process of `hortator replicate run`, which ends with this.
pub struct Agent(pub Child);

impl Agent {
    /// Sends SIGTERM.
    pub fn terminate(&self) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    }

    /// The first line that it prints.
    pub fn first_line(&mut self) -> String {
        let (mut line, mut byte) = (Vec::new(), [0]);
        let stderr = self.0.stderr.as_mut().unwrap();
        // No more than that: the rest is for `end`.
        while stderr.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
            line.extend(byte);
        }
        String::from_utf8(line).unwrap()
    }

    /// Waits for its end: what it has printed, and its exit status.
    pub fn end(mut self) -> (String, Option<i32>) {
        let mut log = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (log, self.0.wait().unwrap().code())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs statements, all of which must succeed.
pub fn run(server: &Temporary, statements: &[&str]) {
    let mut connection = server.node(0).connect().unwrap();
    for statement in statements {
        connection.execute(statement.as_bytes()).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

/// Rows of texts.
pub fn texts(server: &Temporary, query: &str) -> Vec<Vec<String>> {
    let text = |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
    let rows = server.node(0).connect().unwrap().fetch(query.as_bytes()).unwrap();
    rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}

/// Ends writers when it goes: also where an assertion fails, since the test would wait for them for ever.
pub struct Ends<'w>(pub &'w AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
