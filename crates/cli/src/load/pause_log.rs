//! Where no progress line is drawn: a line on standard error when the throttle pauses the load, and one when it goes on.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hortator_load::progress::Progress;

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(500);
/// Between two lines on pauses: a load may be paused and go on again and again.
const LINE_INTERVAL: Duration = Duration::from_secs(60);

/// Tells of pauses until it is finished.
pub(super) struct PauseLog {
    ends: Sender<()>,
    thread: JoinHandle<()>,
}

impl PauseLog {
    pub(super) fn start(progress: Arc<Progress>) -> Self {
        let (ends, ended) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut told: Option<Instant> = None;
            let mut is_told = false;
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                match progress.throttled().filter(|reason| reason.starts_with("paused: ")) {
                    Some(reason) if !is_told && told.is_none_or(|told| told.elapsed() >= LINE_INTERVAL) => {
                        eprintln!("hortator: {reason}");
                        (told, is_told) = (Some(Instant::now()), true);
                    }
                    None if is_told => {
                        eprintln!("hortator: the load goes on");
                        is_told = false;
                    }
                    _ => {}
                }
            }
        });
        Self { ends, thread }
    }

    pub(super) fn finish(self) {
        let _ = self.ends.send(());
        // A panic of this thread does not matter to the load.
        let _ = self.thread.join();
    }
}
