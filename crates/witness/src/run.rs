//! The life of the process: start, signals, and the lines about the cluster.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clap::CommandFactory as _;
use hortator_wsrep::witness::{Level, LogSink, State, Witness};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

use crate::arguments::Arguments;
use crate::log_lines::StandardError;

/// Interval of looks at signals and at the state.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// How long `--leave` waits for the cluster, and then for its reply.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(30);
/// What is private stays so: the log holds rows.
const UMASK: u32 = 0o077;

/// Runs a witness until a signal, or until it fails.
pub fn run(arguments: &Arguments) -> ExitCode {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(UMASK));
    let sink = Arc::new(StandardError::new());
    let signals = match Signals::new([SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2]) {
        Ok(signals) => signals,
        Err(error) => {
            sink.log(Level::Error, &format!("cannot catch signals: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let witness = match Witness::start(arguments.setup(), Arc::clone(&sink) as Arc<dyn LogSink>) {
        Ok(witness) => witness,
        Err(error) => {
            sink.log(Level::Error, &error.to_string());
            return ExitCode::FAILURE;
        }
    };
    sink.log(Level::Note, &format!("the witness listens; its address for the nodes is {}", witness.address()));
    if arguments.leave { leave(witness, signals, &*sink) } else { serve(witness, signals, &*sink) }
}

/// Serves until a signal ends it.
fn serve(witness: Witness, mut signals: Signals, sink: &dyn LogSink) -> ExitCode {
    let mut known = witness.state();
    loop {
        for signal in signals.pending() {
            match signal {
                SIGHUP => match witness.reload() {
                    Ok(()) => sink.log(Level::Note, "the files of TLS and of the secret were read again"),
                    Err(error) => sink.log(Level::Error, &format!("nothing was read again: {error}")),
                },
                SIGUSR1 => witness.isolate(true),
                SIGUSR2 => witness.isolate(false),
                _ => {
                    witness.stop();
                    sink.log(Level::Note, "the witness has stopped. It stays a voter: start it again soon");
                    return ExitCode::SUCCESS;
                }
            }
        }
        let state = witness.state();
        log_change(&known, &state, sink);
        if state.is_over {
            return ExitCode::FAILURE;
        }
        known = state;
        thread::sleep(LOOK_INTERVAL);
    }
}

/// Tells what has changed in the cluster.
fn log_change(before: &State, now: &State, sink: &dyn LogSink) {
    if now.is_over {
        return;
    }
    if before.has_quorum && !now.has_quorum {
        sink.log(Level::Warning, "the witness has lost the quorum: it reaches no leader");
    }
    let is_new = !before.has_quorum || before.leader != now.leader;
    if now.has_quorum && is_new && !now.leader.is_empty() {
        sink.log(Level::Note, &format!("the witness follows the Raft leader {}", now.leader));
    }
}

/// Gives the vote back.
fn leave(witness: Witness, mut signals: Signals, sink: &dyn LogSink) -> ExitCode {
    let until = Instant::now() + LEAVE_TIMEOUT;
    while !witness.state().has_quorum && !witness.state().is_over && Instant::now() < until {
        if signals.pending().any(|signal| [SIGTERM, SIGINT].contains(&signal)) {
            witness.stop();
            return ExitCode::FAILURE;
        }
        thread::sleep(LOOK_INTERVAL);
    }
    let has_left = witness.leave(LEAVE_TIMEOUT);
    witness.stop();
    match has_left {
        Ok(true) => {
            sink.log(Level::Note, "the witness has given its vote back: its folder can be removed");
            ExitCode::SUCCESS
        }
        Ok(false) => {
            let text = "the witness still has its vote: the cluster did not take it back. It must have a majority, and the \
                        nodes must be able to continue without the witness";
            sink.log(Level::Error, text);
            ExitCode::FAILURE
        }
        Err(error) => {
            sink.log(Level::Error, &error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// Prints the man page.
pub fn print_man_page() -> ExitCode {
    let mut page = Vec::new();
    let made = clap_mangen::Man::new(Arguments::command()).render(&mut page);
    match made.and_then(|()| io::stdout().write_all(&page)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hortator-witness: cannot print the man page: {error}");
            ExitCode::FAILURE
        }
    }
}
