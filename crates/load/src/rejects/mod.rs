//! `--reject`: the statements that fail in a forced load, in a file that can be loaded again.
//!
//! A statement is in the file before it counts as done: before its checkpoint is written, or its transaction committed. So a
//! file may name a statement that is run again, after a lost commit or by a load that resumes. Such a statement is *open*:
//! if it fails again, it stands in the file already; if the load passes it over as done, it stays; and what is open when
//! the load ends did not fail after all, and is withdrawn.
//!
//! From the inside out: `repeat` (what can be loaded again), `session_script` (the session of a statement), `entry` (the text of the file), `file`
//! (the file). Workers and coordinator say what has failed. *Absent*: rows that break constraints whose checks are deferred,
//! since these are loaded; single rows of a statement, since a server undoes a statement as a whole. Of a table that cannot
//! roll back, the rows that stayed are left out.

mod entry;
mod file;
mod repeat;
mod session_script;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

pub(crate) use entry::Rejected;
use entry::{Reading, first_line, session_record, statement_record};
use file::{Contents, Extent, RejectFile};
pub(crate) use repeat::{Repeat, SOME_STAYED, remaining_rows, repeat_of, repeat_of_rows};
use session_script::Scripts;

/// Why rejected statements cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum RejectError {
    /// It may be needed.
    #[error("--reject: {} is not empty: name another file, or resume the load that wrote it with --resume", .path.display())]
    NotEmpty {
        /// The file.
        path: PathBuf,
    },
    /// A folder, a FIFO, a socket.
    #[error("--reject: {} is not a regular file", .path.display())]
    NotRegular {
        /// The file.
        path: PathBuf,
    },
    /// The load would read it.
    #[error("--reject: {} is in a folder that is loaded: name a file elsewhere", .path.display())]
    InInput {
        /// The file.
        path: PathBuf,
    },
    /// Another load runs.
    #[error("--reject: another load writes to {}: name another file", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// It has other contents.
    #[error("--reject: {} is not as hortator load has written it: name another file", .path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// It holds what another load has rejected.
    #[error("--reject: {} is of load {found}, and this is load {load_id}: name another file", .path.display())]
    OtherLoad {
        /// The file.
        path: PathBuf,
        /// Its load.
        found: u64,
        /// This one.
        load_id: u64,
    },
    /// The system's error.
    #[error("--reject: cannot {doing} {}: {cause}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// The reason.
        cause: io::Error,
    },
}

/// The rejected statements of a load, for its summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RejectSummary {
    /// The file.
    pub file: String,
    /// Statements in it that can be loaded again, with those of earlier runs of the load.
    pub statements: u64,
    /// Statements that cannot be repeated, which stand there as comments.
    pub notes: u64,
}

/// Records of statements whose outcome may still change.
#[derive(Debug, Default)]
pub(crate) struct Written(Vec<(u64, Extent)>);

impl Written {
    pub(crate) fn add(&mut self, more: Self) {
        self.0.extend(more.0);
    }
}

/// The file of a load, for its threads.
#[derive(Debug)]
pub(crate) struct Rejects {
    reading: Reading,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: RejectFile,
    load_id: u64,
    /// See the module.
    open: BTreeMap<u64, Extent>,
    /// The script that holds at the file's end; `None` where none is known to.
    script: Option<Vec<u8>>,
    scripts: Scripts,
    statements: u64,
    notes: u64,
}

impl Rejects {
    /// Opens the file of a load that reads its input like this.
    ///
    /// # Errors
    /// [`RejectError`].
    pub(crate) fn open(path: &Path, is_resume: bool, comments: bool, binary_mode: bool) -> Result<Self, RejectError> {
        let (file, contents) = RejectFile::open(path, is_resume)?;
        let mut state = State {
            file,
            load_id: contents.load_id.unwrap_or_default(),
            open: BTreeMap::new(),
            script: None,
            scripts: Scripts::default(),
            statements: 0,
            notes: 0,
        };
        state.take(contents);
        Ok(Self { reading: Reading { comments, binary_mode }, state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked has left the file as it says.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The load has this ID; 0 for one without checkpoints.
    ///
    /// # Errors
    /// That the file is another load's.
    pub(crate) fn begin(&self, load_id: u64) -> Result<(), RejectError> {
        let mut state = self.lock();
        if state.file.end > 0 && state.load_id != load_id {
            return Err(RejectError::OtherLoad { path: state.file.path().to_owned(), found: state.load_id, load_id });
        }
        state.load_id = load_id;
        Ok(())
    }

    /// Puts failed statements into the file.
    ///
    /// # Errors
    /// What the system says; nothing of them is in the file then.
    pub(crate) fn append(&self, rejected: &[Rejected<'_>]) -> Result<Written, RejectError> {
        let mut state = self.lock();
        let mut bytes = Vec::new();
        if state.file.end == 0 {
            bytes = first_line(state.load_id, self.reading);
        }
        let (mut known, mut new) = (Vec::new(), Vec::new());
        let (mut script, mut scripts) = (state.script.clone(), state.scripts.clone());
        for one in rejected {
            if let Some(extent) = state.open.get(&one.ordinal) {
                known.push((one.ordinal, *extent));
                continue;
            }
            let own = scripts.script(one.session);
            if script.as_ref() != Some(&own) {
                bytes.extend_from_slice(&session_record(&own));
                script = Some(own);
            }
            let (record, is_statement) = statement_record(one, self.reading);
            let extent = Extent::new(state.file.end + bytes.len() as u64, &record, is_statement);
            bytes.extend_from_slice(&record);
            if is_statement && may_change_session(one.text) {
                script = None;
            }
            new.push((one.ordinal, extent));
        }
        if !new.is_empty() {
            let path = state.file.path().to_owned();
            state.file.append(&bytes).map_err(|cause| RejectError::Io { path, doing: "write to", cause })?;
            (state.script, state.scripts) = (script, scripts);
        }
        for (ordinal, _) in &known {
            state.open.remove(ordinal);
        }
        for (_, extent) in &new {
            state.count(*extent);
        }
        known.append(&mut new);
        Ok(Written(known))
    }

    /// The statements are run again: what was written of them is open.
    pub(crate) fn reopen(&self, written: Written) {
        self.lock().open.extend(written.0);
    }

    /// A statement is passed over as done.
    pub(crate) fn settle(&self, ordinal: u64) {
        self.lock().open.remove(&ordinal);
    }

    /// The statements are undone as the dump says.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn withdraw(&self, written: Written) -> Result<(), RejectError> {
        let mut state = self.lock();
        written.0.into_iter().try_for_each(|(_, extent)| state.withdraw(extent))
    }

    /// The stream is read from its beginning again: everything in the file is open.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn restart(&self) -> Result<(), RejectError> {
        let mut state = self.lock();
        if state.file.end == 0 {
            return Ok(());
        }
        let contents = state.file.read()?;
        state.take(contents);
        Ok(())
    }

    /// The load has come to its end: what is open did not fail.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn finish(&self) -> Result<(), RejectError> {
        let mut state = self.lock();
        while let Some((_, extent)) = state.open.pop_first() {
            state.withdraw(extent)?;
        }
        Ok(())
    }

    pub(crate) fn summary(&self) -> RejectSummary {
        let state = self.lock();
        let file = state.file.path().display().to_string();
        RejectSummary { file, statements: state.statements, notes: state.notes }
    }
}

impl State {
    /// Begins with what is in the file.
    fn take(&mut self, contents: Contents) {
        self.scripts = contents.scripts;
        (self.statements, self.notes, self.script) = (0, 0, None);
        self.open = contents.statements;
        let extents: Vec<Extent> = self.open.values().copied().collect();
        extents.into_iter().for_each(|extent| self.count(extent));
    }

    fn count(&mut self, extent: Extent) {
        if extent.is_statement { self.statements += 1 } else { self.notes += 1 }
    }

    fn withdraw(&mut self, extent: Extent) -> Result<(), RejectError> {
        let path = self.file.path().to_owned();
        self.file.withdraw(extent).map_err(|cause| RejectError::Io { path, doing: "write to", cause })?;
        let count = if extent.is_statement { &mut self.statements } else { &mut self.notes };
        *count = count.saturating_sub(1);
        Ok(())
    }
}

/// Whether a statement of the file may leave its session with another state.
fn may_change_session(text: &[u8]) -> bool {
    const CHANGES_ROWS: [&[u8]; 4] = [b"INSERT", b"REPLACE", b"UPDATE", b"DELETE"];
    let begins_with = |word: &[u8]| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    !CHANGES_ROWS.into_iter().any(begins_with)
}

#[cfg(test)]
mod tests;
