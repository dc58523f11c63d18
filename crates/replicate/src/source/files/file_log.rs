//! From the first transaction that the target does not have to where the replay ends, over all files.

use std::path::Path;

use super::bounds::{Beginning, End, FilePosition, find_beginning, find_end};
use super::error::{CutOff, Error};
use super::folder::{Folder, Following};
use super::log_file::{FileEnd, LogFile, Step};
use super::position::{Ahead, TransactionId};
use super::until::{Until, utc};
use crate::apply::SourcePosition;
use crate::binlog::{Event, GtidSet, GtidState};
use crate::config::Start;
use crate::source::{self, Arrival, Queue};
use crate::transaction::LogPosition;

/// Why a replay is at its end, for the person who watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion(pub String);

/// The files of a source, from a place on.
#[derive(Debug)]
pub struct FileLog {
    folder: Folder,
    index: usize,
    file: LogFile,
    /// A format description that is to be handed on.
    format: Option<Event>,
    ahead: Ahead,
    /// The target has the transaction that has begun.
    is_passed: bool,
    /// A part of the transaction that has begun is handed on.
    has_parts: bool,
    /// Behind the last transaction of the file before this one, until this one has said what that is.
    before: Option<GtidState>,
    end: End,
    until: Option<Until>,
    /// Where the target stands, for a message.
    target: String,
    /// When the last event was made, in seconds since 1970.
    last_s: u32,
    /// An event is as late as the time of the end.
    is_time_reached: bool,
}

impl FileLog {
    /// Finds both ends in a folder: behind what the target has of the source, or at `start` if it has nothing; and `until`.
    /// Gives the place of `start` with its GTID position.
    ///
    /// # Errors
    /// Of the files, and where one of both is not in them.
    pub fn open(
        folder: &Path,
        start: &Start,
        recorded: Option<&SourcePosition>,
        until: Option<&Until>,
    ) -> Result<(FileLog, SourcePosition), source::Error> {
        let mut at = match (recorded, start) {
            (Some(at), _) => at.clone(),
            (None, Start::Position(position)) => {
                SourcePosition { position: position.clone(), ..SourcePosition::default() }
            }
            (None, Start::Gtid(gtid)) => SourcePosition { gtid: gtid.clone(), ..SourcePosition::default() },
            (None, _) => return Err(Error::StartNow.into()),
        };
        let folder = open_folder(folder, &at, until)?;
        let beginning = find_beginning(&folder, &at)?;
        if at.gtid.is_empty() {
            at.gtid = gtids_at(&folder, &beginning)?;
        }
        let past = || Error::Past { until: until.map(Until::to_string).unwrap_or_default(), target: at.to_string() };
        let here = FilePosition { index: beginning.index, position: beginning.file.boundary() };
        let end = match until {
            Some(Until::Gtid(gtid)) if at.gtid.position().get(gtid.domain) == Some(*gtid) => End::Here,
            Some(Until::Gtid(gtid))
                if at.gtid.position().get(gtid.domain).is_some_and(|last| last.seqno > gtid.seqno) =>
            {
                return Err(past().into());
            }
            Some(Until::MySqlGtid(gtid)) if at.gtid.set().is_some_and(|set| set.has(gtid)) => {
                match find_end(&folder, until) {
                    // Of files that are not in the folder any more.
                    Err(source::Error::Files(Error::NoUntil { .. })) => return Err(past().into()),
                    found => found?,
                }
            }
            _ => find_end(&folder, until)?,
        };
        let is_past = match end {
            End::At(place) => place < here,
            End::Before(seconds) => beginning.file.begun_s().is_some_and(|begun_s| begun_s >= seconds),
            End::Files | End::Here => false,
        };
        if is_past {
            return Err(past().into());
        }
        let (last_s, latest_s) = (beginning.file.last_s(), beginning.file.latest_s());
        let log = FileLog {
            folder,
            index: beginning.index,
            format: beginning.file.format().cloned(),
            file: beginning.file,
            ahead: beginning.ahead,
            is_passed: false,
            has_parts: false,
            before: None,
            end,
            until: until.cloned(),
            target: at.to_string(),
            last_s,
            is_time_reached: matches!(end, End::Before(seconds) if latest_s >= seconds),
        };
        Ok((log, at))
    }

    /// The next arrival, if one event is enough to make one. [`Arrival::Complete`] is the last.
    fn next(&mut self) -> Result<Option<Arrival>, source::Error> {
        if let Some(format) = self.format.take() {
            return Ok(Some(Arrival::Format(format)));
        }
        if self.is_at_end() {
            return match self.end {
                // The target has transactions that stand behind the end.
                End::At(_) if !self.ahead.has_come(self.file.gtid()) => Err(self.past()),
                _ => Ok(Some(complete(format!("{} is reached", self.until_text())))),
            };
        }
        match self.file.step()? {
            Ok(step) => self.take(step),
            Err(end) => self.end_file(end),
        }
    }

    fn is_at_end(&self) -> bool {
        let place = FilePosition { index: self.index, position: self.file.boundary() };
        match self.end {
            End::Here => true,
            End::At(end) => !self.file.is_within() && place >= end,
            End::Files | End::Before(_) => false,
        }
    }

    fn take(&mut self, step: Step) -> Result<Option<Arrival>, source::Error> {
        if step.timestamp_s != 0 {
            self.last_s = step.timestamp_s;
        }
        let is_late = matches!(self.end, End::Before(seconds) if step.timestamp_s >= seconds);
        self.is_time_reached |= is_late;
        if step.is_list {
            self.check_gap()?;
        }
        if step.begins {
            self.has_parts = false;
            self.is_passed = match &step.id {
                Some(id) => {
                    let has = self.ahead.has(id);
                    has.map_err(|target| Error::Diverged { target, found: id.to_string() })?
                }
                None => false,
            };
            if is_late {
                let next = format!("the next transaction begins at {}", utc(step.timestamp_s));
                let reached = format!("{} is reached: {next}", self.until_text());
                return if self.is_passed { Err(self.past()) } else { Ok(Some(complete(reached))) };
            }
        }
        match step.arrival {
            Some(Arrival::Part(_) | Arrival::Transaction(_)) if self.is_passed => Ok(None),
            arrival => {
                self.has_parts |= matches!(arrival, Some(Arrival::Part(_)));
                Ok(arrival)
            }
        }
    }

    /// The file says which transactions stand before it; these have come.
    fn check_gap(&mut self) -> Result<(), source::Error> {
        let Some(before) = self.before.take() else { return Ok(()) };
        let gap = |there: String, here: String| Error::Gap { file: self.file.name().to_owned(), there, here };
        if let (GtidState::MySql(there), GtidState::MySql(here)) = (self.file.gtid(), &before) {
            let missing = if here.contains(there) { there.clone() } else { there.without(here) };
            let none = || if here.is_empty() { "the beginning".to_owned() } else { here.to_string() };
            return if there == here { Ok(()) } else { Err(gap(missing.to_string(), none()).into()) };
        }
        let (there, before) = (self.file.gtid().position(), before.position());
        // A domain can be deleted: then it is not in the list.
        let Some(there) = there.gtids().find(|gtid| before.get(gtid.domain) != Some(*gtid)) else {
            return Ok(());
        };
        let here = before.get(there.domain).map_or_else(|| "none of its domain".to_owned(), |gtid| gtid.to_string());
        Err(gap(there.to_string(), here).into())
    }

    /// Goes on with the next file, or ends.
    fn end_file(&mut self, end: FileEnd) -> Result<Option<Arrival>, source::Error> {
        let following = self.folder.following(self.index, self.file.rotates_to());
        match (end, following) {
            (FileEnd::Whole, Following::File(index)) => {
                self.before = Some(self.file.gtid().clone());
                self.file = self.open_file(index)?;
                self.index = index;
                Ok(None)
            }
            (FileEnd::Whole, Following::Missing(missing)) => {
                let behind = self.file.name().to_owned();
                Err(Error::Missing { missing, behind, folder: self.folder.path().to_owned() }.into())
            }
            (FileEnd::Whole, Following::Nothing) => self.end_files().map(Some),
            (FileEnd::Cut(cut_off), Following::Nothing) if self.file.is_in_use() => {
                if std::mem::take(&mut self.has_parts) {
                    return Ok(Some(Arrival::Unfinished {
                        has_parts: true,
                        text: self.not_whole(cut_off),
                        behind: None,
                    }));
                }
                let Arrival::Complete(Completion(text)) = self.end_files()? else { return Ok(None) };
                Ok(Some(complete(format!("{text}\n  {}", self.not_whole(cut_off)))))
            }
            // A crash: the server has left the mark, and begins the next file when it starts again.
            (FileEnd::Cut(cut_off), Following::File(index)) if self.file.is_in_use() => {
                let mut next = self.open_file(index)?;
                // Its format description.
                let _ = next.step()?;
                if !next.begins_a_life() {
                    return Err(self.cut_off(cut_off));
                }
                let text = self.not_whole(cut_off);
                (self.before, self.file, self.index) = (Some(self.file.gtid().clone()), next, index);
                self.format = self.file.format().cloned();
                Ok(Some(Arrival::Unfinished { has_parts: std::mem::take(&mut self.has_parts), text, behind: None }))
            }
            (FileEnd::Cut(cut_off), _) => Err(self.cut_off(cut_off)),
        }
    }

    fn open_file(&self, index: usize) -> Result<LogFile, source::Error> {
        LogFile::open(self.folder.path(), &self.folder.files()[index].name)
    }

    /// Behind the last event of the last file.
    fn end_files(&self) -> Result<Arrival, source::Error> {
        let end = || self.file.end();
        if let Some(target) = self.ahead.not_in(&self.file.gtid().position()) {
            return Err(Error::TargetAhead { target, end: end() }.into());
        }
        match self.end {
            End::Before(until_s) if !self.is_time_reached => {
                return Err(Error::TimeNotReached { until_s, last_s: self.last_s, end: end() }.into());
            }
            End::At(_) => return Err(Error::NoUntil { until: self.until_text(), end: end() }.into()),
            End::Files | End::Here | End::Before(_) => {}
        }
        let name = self.file.name();
        let note = match self.file.rotates_to() {
            Some(next) => format!("; the log goes on in {next}, which the folder does not have"),
            None if self.file.is_in_use() => {
                format!("; {name} was being written when it was copied, or its server has crashed")
            }
            None if !self.file.is_ended() => format!("; {name} has no event that ends it, and may have been longer"),
            None => String::new(),
        };
        Ok(complete(format!("all files are applied{note}")))
    }

    fn until_text(&self) -> String {
        self.until.as_ref().map(Until::to_string).unwrap_or_default()
    }

    fn past(&self) -> source::Error {
        Error::Past { until: self.until_text(), target: self.target.clone() }.into()
    }

    fn not_whole(&self, cut_off: CutOff) -> String {
        let place = LogPosition { file: self.file.name().as_bytes().to_vec(), position: self.file.boundary() };
        format!(
            "{} ends at {}, in the middle of {}: the server crashed or wrote it while it was copied. What begins at {} is \
             not whole, and is not applied",
            self.file.name(),
            self.file.position(),
            cut_off.name(),
            Until::Position(place)
        )
    }

    fn cut_off(&self, cut_off: CutOff) -> source::Error {
        let (begin, end) = (self.file.boundary(), self.file.position());
        Error::CutOff { file: self.file.name().to_owned(), cut_off, begin, end }.into()
    }
}

fn complete(text: String) -> Arrival {
    Arrival::Complete(Completion(text))
}

/// The GTIDs before the place where the replay begins. A set of MySQL counts only if its transactions have GTIDs.
fn gtids_at(folder: &Folder, beginning: &Beginning) -> Result<GtidState, source::Error> {
    let gtid = beginning.file.gtid();
    if !gtid.is_empty() {
        return Ok(gtid.clone());
    }
    let mut file = LogFile::open(folder.path(), &folder.files()[beginning.index].name)?;
    while let Ok(step) = file.step()? {
        if step.begins {
            let has_set = matches!(step.id, Some(TransactionId::MySql(_)));
            return Ok(if has_set { GtidState::MySql(GtidSet::default()) } else { GtidState::default() });
        }
    }
    Ok(GtidState::default())
}

/// The log that has the file of the start, or that of the end; where GTIDs count, any that is the only one.
fn open_folder(path: &Path, at: &SourcePosition, until: Option<&Until>) -> Result<Folder, Error> {
    let of_until = match until {
        Some(Until::Position(position)) => &position.file[..],
        _ => &[],
    };
    let wanted = [&at.position.file[..], of_until].into_iter().find(|file| !file.is_empty());
    let wanted = wanted.map(String::from_utf8_lossy);
    match Folder::open(path, wanted.as_deref()) {
        Err(Error::NoFile { .. }) if !at.gtid.is_empty() => Folder::open(path, None),
        opened => opened,
    }
}

/// Reads until the end is reached, or nobody takes what is read. The last arrival says why it ended.
pub fn read_files(mut log: FileLog, queue: &Queue) {
    let mut sender = queue.sender();
    while !queue.is_closed() {
        let (arrival, is_last) = match log.next() {
            Ok(None) => continue,
            Ok(Some(arrival)) => {
                let is_last = matches!(arrival, Arrival::Complete(_));
                (arrival, is_last)
            }
            Err(error) => (Arrival::Failed(error), true),
        };
        if !sender.push(arrival) || is_last {
            sender.flush();
            return;
        }
    }
}
