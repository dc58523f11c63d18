//! A file of a binary log: its groups of events. A group that a crash has torn, and what follows it, is not there.

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

use super::event::{self, Fingerprint, HEAD_BYTES, Head, LoggedStatement, kind};
use super::{Error, GROUPS_LIMIT, Group};

const MAGIC: [u8; 4] = *b"\xfebin";
/// A CRC-32 follows each event, if the file has checksums.
const CHECKSUM_BYTES: usize = 4;
/// In a GTID event, behind seqno and domain: the group has one statement, and no end of its own.
const FLAGS_AT: usize = 12;
const STANDALONE: u8 = 1;
/// Longer events of the types that matter are damage.
const BODY_LIMIT_BYTES: usize = 1 << 30;

/// Reads the last groups of a file.
pub fn read_groups(path: &Path) -> Result<VecDeque<Group>, Error> {
    let io_error = |error: io::Error| Error::Io { path: path.to_owned(), error };
    let file = File::open(path).map_err(io_error)?;
    read_from(BufReader::new(file)).map_err(|problem| match problem {
        Problem::Io(error) => io_error(error),
        Problem::Encrypted => Error::Encrypted(path.to_owned()),
        Problem::NotABinaryLog => Error::NotABinaryLog(path.to_owned()),
    })
}

/// Why a file cannot be read.
#[derive(Debug)]
pub enum Problem {
    Io(io::Error),
    Encrypted,
    NotABinaryLog,
}

/// A group that has not ended.
#[derive(Debug, Default)]
struct OpenGroup {
    is_standalone: bool,
    tables: BTreeSet<Fingerprint>,
}

/// See [`read_groups`].
pub fn read_from(mut file: impl Read) -> Result<VecDeque<Group>, Problem> {
    let mut groups = VecDeque::new();
    let mut magic = [0; 4];
    match file.read_exact(&mut magic) {
        Ok(()) if magic == MAGIC => {}
        // The server was killed while it created the file.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(groups),
        Ok(()) => return Err(Problem::NotABinaryLog),
        Err(error) => return Err(Problem::Io(error)),
    }
    let mut events = Events { file, has_checksums: false };
    let mut open: Option<OpenGroup> = None;
    while let Some((Head { time, kind, .. }, body)) = events.next().map_err(Problem::Io)? {
        let group = match kind {
            kind::START_ENCRYPTION => return Err(Problem::Encrypted),
            kind::FORMAT_DESCRIPTION => {
                events.has_checksums = has_checksums(&body).ok_or(Problem::NotABinaryLog)?;
                continue;
            }
            kind::GTID => {
                let is_standalone = body.get(FLAGS_AT).is_some_and(|flags| flags & STANDALONE > 0);
                open = Some(OpenGroup { is_standalone, ..OpenGroup::default() });
                continue;
            }
            kind::TABLE_MAP => {
                if let Some(open) = &mut open {
                    open.tables.extend(event::table(&body));
                }
                continue;
            }
            kind::XID => {
                let number = body.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes));
                open.take().map(|open| Group::Transaction { number, tables: open.tables })
            }
            kind::QUERY | kind::QUERY_COMPRESSED => {
                let is_standalone = open.as_ref().is_some_and(|open| open.is_standalone);
                let is_end = kind == kind::QUERY && event::statement(&body).is_some_and(event::Statement::is_end);
                if !is_standalone && !is_end {
                    continue;
                }
                open = None;
                is_standalone.then(|| Group::Statement(LoggedStatement::of(time, kind, &body)))
            }
            _ => continue,
        };
        groups.extend(group);
        if groups.len() > GROUPS_LIMIT {
            groups.pop_front();
        }
    }
    Ok(groups)
}

/// Whether events have checksums, by the last bytes of a FORMAT_DESCRIPTION event, which has one in any case: the
/// algorithm (0: none, 1: CRC-32). None: another one.
fn has_checksums(body: &[u8]) -> Option<bool> {
    match body.len().checked_sub(CHECKSUM_BYTES + 1).map(|at| body[at])? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// The events of a file.
struct Events<R> {
    file: R,
    has_checksums: bool,
}

impl<R: Read> Events<R> {
    /// The next event: its head, and its body without the checksum; empty if the type does not matter. None: the file, or
    /// its undamaged part, ends.
    fn next(&mut self) -> io::Result<Option<(Head, Vec<u8>)>> {
        let mut bytes = [0; HEAD_BYTES];
        if !self.fill(&mut bytes)? {
            return Ok(None);
        }
        let head = Head::of(&bytes);
        let Some(rest) = head.length.checked_sub(HEAD_BYTES) else { return Ok(None) };
        let matters = matches!(
            head.kind,
            kind::QUERY
                | kind::FORMAT_DESCRIPTION
                | kind::XID
                | kind::TABLE_MAP
                | kind::GTID
                | kind::START_ENCRYPTION
                | kind::QUERY_COMPRESSED
        );
        if !matters {
            let skipped = io::copy(&mut (&mut self.file).take(rest as u64), &mut io::sink())?;
            return Ok((skipped == rest as u64).then_some((head, Vec::new())));
        }
        if rest > BODY_LIMIT_BYTES {
            return Ok(None);
        }
        let mut body = Vec::new();
        (&mut self.file).take(rest as u64).read_to_end(&mut body)?;
        if body.len() < rest {
            return Ok(None);
        }
        if self.has_checksums && head.kind != kind::FORMAT_DESCRIPTION {
            let Some((_, checksum)) = body.split_last_chunk() else { return Ok(None) };
            let checksum = u32::from_le_bytes(*checksum);
            body.truncate(rest - CHECKSUM_BYTES);
            let mut hasher = crc32fast::Hasher::new();
            hasher.update(&bytes);
            hasher.update(&body);
            if hasher.finalize() != checksum {
                return Ok(None);
            }
        }
        Ok(Some((head, body)))
    }

    /// False: the file ends before.
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<bool> {
        match self.file.read_exact(bytes) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}
