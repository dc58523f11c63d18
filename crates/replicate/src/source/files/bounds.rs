//! Finds places in the files of a folder: where the first transaction begins that the target does not have, and where
//! `--until` ends.

use super::error::Error;
use super::folder::Folder;
use super::log_file::LogFile;
use super::position::{Ahead, TransactionId};
use super::until::Until;
use crate::apply::SourcePosition;
use crate::binlog::GtidState;
use crate::source;
use crate::transaction::LogPosition;

/// A place between two transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FilePosition {
    /// Of the file.
    pub(super) index: usize,
    /// In the file, in bytes.
    pub(super) position: u64,
}

/// Where the replay ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At the end of the last file.
    Files,
    /// Where it starts: the target has it all.
    Here,
    /// At a place.
    At(FilePosition),
    /// Before the first transaction that begins at this time or later, in seconds since 1970.
    Before(u32),
}

/// Where the replay starts.
#[derive(Debug)]
pub(super) struct Beginning {
    /// Of the file.
    pub(super) index: usize,
    /// The file, read up to the place.
    pub(super) file: LogFile,
    /// What the target has of what follows.
    pub(super) ahead: Ahead,
}

/// Finds the first transaction that the target does not have. The GTIDs count if there are any, as for a server; without
/// them, the position in the file does.
pub(super) fn find_beginning(folder: &Folder, at: &SourcePosition) -> Result<Beginning, source::Error> {
    let by_position = || -> Result<Option<Beginning>, source::Error> {
        let Some(index) = folder.find(&at.position.file) else { return Ok(None) };
        let file = read_to(folder, index, at.position.position)?;
        let ahead = if at.gtid.set().is_some() { Ahead::of(&at.gtid, file.gtid()) } else { Ahead::default() };
        Ok(Some(Beginning { index, file, ahead }))
    };
    if at.gtid.is_empty() {
        let missing = || Error::NoFile {
            name: String::from_utf8_lossy(&at.position.file).into_owned(),
            folder: folder.path().to_owned(),
        };
        return by_position()?.ok_or_else(|| missing().into());
    }
    match by_position() {
        Ok(Some(found)) if is_place_of(found.file.gtid(), &at.gtid) => Ok(found),
        // A file of that name of another server, or none.
        Ok(_) | Err(source::Error::Files(Error::NotBetween { .. })) => find_gtids(folder, &at.gtid),
        Err(error) => Err(error),
    }
}

/// Whether the GTIDs before a place of a file fit those of the target, which has the place. A set of MySQL may have others that
/// came to the source without its log.
fn is_place_of(file: &GtidState, target: &GtidState) -> bool {
    match (file.set(), target.set()) {
        (Some(file), Some(target)) => !file.is_empty() && target.contains(file),
        _ => file == target,
    }
}

/// Reads a file up to a position, which must be between two transactions.
fn read_to(folder: &Folder, index: usize, position: u64) -> Result<LogFile, source::Error> {
    let mut file = LogFile::open(folder.path(), &folder.files()[index].name)?;
    let mut ends = false;
    while (file.position() < position || file.is_unpacking()) && !ends {
        ends = file.step()?.is_err();
    }
    let found = if ends {
        format!("the file ends at {}", file.position())
    } else if file.position() > position {
        format!("an event ends at {}", file.position())
    } else if file.is_within() {
        format!("a transaction begins at {}, and has not ended there", file.boundary())
    } else {
        return Ok(file);
    };
    let place = format!("{}:{position}", file.name());
    Err(Error::NotBetween { place, found }.into())
}

/// Finds the last file that begins early enough for a position of GTIDs.
fn find_gtids(folder: &Folder, target: &GtidState) -> Result<Beginning, source::Error> {
    check_target(folder, target)?;
    let begins_before = |file: &LogFile| target.contains(file.gtid());
    match last_file(folder, begins_before)? {
        Some((index, file)) => {
            let ahead = Ahead::of(target, file.gtid());
            Ok(Beginning { index, file, ahead })
        }
        None => {
            let index = present(folder).next().unwrap_or_default();
            let file = read_list(folder, index)?;
            let (file, begin) = (file.name().to_owned(), file.gtid().to_string());
            Err(Error::TooLate { file, begin, target: target.to_string() }.into())
        }
    }
}

/// Checks that the files are of the log of which the target has transactions, where MySQL says which these are: with none of its
/// servers in common all files would be applied, and of those servers the files must have each transaction.
fn check_target(folder: &Folder, target: &GtidState) -> Result<(), source::Error> {
    let Some(last) = present(folder).next_back() else { return Ok(()) };
    let mut file = read_list(folder, last)?;
    let Some(target) = target.set() else {
        let (name, version) = (file.name().to_owned(), file.server_version().to_owned());
        return match file.gtid().set() {
            Some(_) => Err(Error::OtherIds { target: target.to_string(), file: name, version }.into()),
            None => Ok(()),
        };
    };
    let missing = |file: &LogFile| match file.gtid().set() {
        Some(there) if !target.of_servers_in(there).is_empty() => target.without(there).of_servers_in(there),
        _ => target.clone(),
    };
    while !missing(&file).is_empty() {
        // Transactions of the file itself.
        let Ok(_) = file.step()? else {
            let (target, end) = (missing(&file).to_string(), file.end());
            return Err(Error::TargetHasMore { target, end }.into());
        };
    }
    Ok(())
}

/// The last file, read up to its list, for which something holds that holds up to some file of the log. One behind it
/// may be damaged: it matters when it is reached.
fn last_file(folder: &Folder, holds: impl Fn(&LogFile) -> bool) -> Result<Option<(usize, LogFile)>, source::Error> {
    let mut found = None;
    for index in present(folder) {
        match read_list(folder, index) {
            Ok(file) if file.has_list() && holds(&file) => found = Some((index, file)),
            Err(error) if found.is_none() => return Err(error),
            Ok(_) | Err(_) => break,
        }
    }
    Ok(found)
}

/// The indexes of the files that are there.
fn present(folder: &Folder) -> impl DoubleEndedIterator<Item = usize> {
    folder.files().iter().enumerate().filter(|(_, file)| file.is_present).map(|(index, _)| index)
}

/// Reads a file up to the list of the transactions before it, which stands before its own ones.
fn read_list(folder: &Folder, index: usize) -> Result<LogFile, source::Error> {
    let mut file = LogFile::open(folder.path(), &folder.files()[index].name)?;
    while let Ok(step) = file.step()? {
        if step.is_list {
            return Ok(file);
        }
        if step.begins {
            let (file, version) = (file.name().to_owned(), file.server_version().to_owned());
            return Err(Error::NoGtids { file, version }.into());
        }
    }
    Ok(file)
}

/// Finds the place of `--until`, before anything is applied: what is not there may be mistyped.
pub(super) fn find_end(folder: &Folder, until: Option<&Until>) -> Result<End, source::Error> {
    match until {
        None => Ok(End::Files),
        Some(Until::Time(seconds)) => Ok(End::Before(*seconds)),
        Some(Until::Position(position)) => find_position(folder, position).map(End::At),
        Some(Until::Gtid(gtid)) => find_gtid(folder, &TransactionId::MariaDb(*gtid)).map(End::At),
        Some(Until::MySqlGtid(gtid)) => find_gtid(folder, &TransactionId::MySql(gtid.clone())).map(End::At),
    }
}

/// Behind the last transaction that ends at or before a position.
fn find_position(folder: &Folder, position: &LogPosition) -> Result<FilePosition, source::Error> {
    let until = Until::Position(position.clone()).to_string();
    let Some(index) = folder.find(&position.file) else {
        return Err(Error::NoUntil { until, end: end_of(folder) }.into());
    };
    let mut file = LogFile::open(folder.path(), &folder.files()[index].name)?;
    let mut boundary = file.boundary();
    while file.position() < position.position || file.is_unpacking() {
        if file.step()?.is_err() {
            return Err(Error::NoUntil { until, end: file.end() }.into());
        }
        if file.boundary() <= position.position {
            boundary = file.boundary();
        }
    }
    Ok(FilePosition { index, position: boundary })
}

/// Behind a transaction. Each file begins with a list of what is before it: so one file is read.
fn find_gtid(folder: &Folder, id: &TransactionId) -> Result<FilePosition, source::Error> {
    let not_found = |end: String| source::Error::from(Error::NoUntil { until: format!("GTID {id}"), end });
    let Some((index, mut file)) = last_file(folder, |file| !file.has_before(id))? else {
        return Err(not_found(end_of(folder)));
    };
    let mut is_within = false;
    while let Ok(step) = file.step()? {
        is_within |= step.id.as_ref() == Some(id);
        if is_within && !file.is_within() {
            return Ok(FilePosition { index, position: file.position() });
        }
    }
    let is_last = present(folder).next_back() == Some(index);
    Err(not_found(if is_last { file.end() } else { end_of(folder) }))
}

/// Where the last file ends, for a message.
fn end_of(folder: &Folder) -> String {
    let Some(last) = present(folder).next_back() else { return "nothing".to_owned() };
    let name = &folder.files()[last].name;
    let end = || -> Result<String, source::Error> {
        let mut file = LogFile::open(folder.path(), name)?;
        while file.step()?.is_ok() {}
        Ok(file.end())
    };
    // What is wrong with it is not what is asked for.
    end().unwrap_or_else(|_| name.clone())
}
