//! How much an experiment measures, where its files go, and when it ends: what all experiments have.

use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::Error;

/// Of experiments that run programs to their end.
#[derive(Clone, Debug)]
pub struct Extent {
    /// How often each contender is measured in each cell.
    pub rounds: usize,
    /// The folder of dumps, which stay for later experiments, and of logs.
    pub folder: PathBuf,
    /// Raised when the experiment is to end.
    pub stop: Arc<AtomicBool>,
}

/// Of experiments that measure for a time.
#[derive(Clone, Debug)]
pub struct TimedExtent {
    /// The rest.
    pub extent: Extent,
    /// The measured time of a run.
    pub time: Duration,
}

impl Deref for TimedExtent {
    type Target = Extent;

    fn deref(&self) -> &Extent {
        &self.extent
    }
}

impl Extent {
    /// So many rounds in a folder, until a flag of its own is raised.
    #[must_use]
    pub fn new(rounds: usize, folder: impl Into<PathBuf>) -> Self {
        Self { rounds, folder: folder.into(), stop: Arc::default() }
    }

    /// The same with a measured time.
    #[must_use]
    pub fn timed(self, time: Duration) -> TimedExtent {
        TimedExtent { extent: self, time }
    }

    /// Creates the folder, if it is not there.
    pub(crate) fn create_folder(&self) -> Result<(), Error> {
        fs::create_dir_all(&self.folder).map_err(Error::io(format!("creating {}", self.folder.display())))
    }

    /// The error of an experiment that is to end.
    pub(crate) fn check_stop(&self) -> Result<(), Error> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}
