//! Where no progress line is drawn: a line on standard error when something holds the load up (a pause by the throttle, an index
//! build that waits for another session), and one when it goes on.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hortator_load::progress::Progress;

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(500);
/// Between two lines: a load may be paused and go on again and again.
const LINE_INTERVAL: Duration = Duration::from_secs(60);

/// Tells of waits until it is finished.
pub(super) struct WaitLog {
    ends: Sender<()>,
    thread: JoinHandle<()>,
}

impl WaitLog {
    pub(super) fn start(progress: Arc<Progress>) -> Self {
        let (ends, ended) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut told: Option<Instant> = None;
            let mut is_told = false;
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                match reason(&progress) {
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

fn reason(progress: &Progress) -> Option<String> {
    progress.throttled().filter(|reason| reason.starts_with("paused: ")).or_else(|| progress.waiting_build())
}
