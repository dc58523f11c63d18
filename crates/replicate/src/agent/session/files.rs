//! A session of a source whose log is files: the same, up to their end.

use std::thread;

use super::{Ended, Error, Session};
use crate::agent::SourceFiles;
use crate::agent::tracker::Phase;
use crate::apply::{Applier, SourcePosition};
use crate::source::{FileLog, Queue, read_files};

impl Session<'_> {
    /// Applies what the files have, to their end or the place that was asked for.
    pub(super) fn run_files(&mut self, mut applier: Applier, files: &SourceFiles) -> Result<Ended, Error> {
        let task = self.task;
        task.track(|tracker, now| tracker.set_phase(Phase::Source, now));
        let (log, at) = FileLog::open(&files.folder, &task.options.start, applier.position(), files.until.as_ref())?;
        if applier.position().is_none() {
            applier.start_at(at.clone())?;
        }
        let until = files.until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
        task.tell(&format!("reads {} from {at}{until}", files.folder.display()));
        task.track(|tracker, now| tracker.on_running(&at, true, now));
        let queue = Queue::new(task.target.queue_limit_bytes).counting(task.read_bytes.clone());
        thread::scope(|scope| {
            scope.spawn(|| read_files(log, &queue));
            self.drain(&mut applier, &queue)
        })
    }

    /// Says how far the target is, and why that is the end.
    pub(super) fn tell_completion(&self, applier: &Applier, text: &str) {
        let at = applier.position().map(SourcePosition::to_string).unwrap_or_default();
        self.task.tell(&format!("applied up to {at}: {text}"));
    }
}
