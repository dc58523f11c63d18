//! The acknowledged mark: up to which index this node has told others that entries are on its disk.
//!
//! A log whose last records are gone looks like one that never had them: a torn write, which nobody was told of, looks
//! the same. The mark tells the two apart. `hortator-acked.log`, one sector, is overwritten in place after each sync,
//! without a sync of its own: it is on disk when the kernel writes it, and soon after a power failure's last sync it
//! may not be. So the mark is never ahead of the log on a sound disk, and a log that ends before its mark has lost
//! entries.
//!
//! With sync off, entries are acknowledged that no disk has. Then the mark names the boot of the machine instead: after
//! another boot, the end of the log may be lost, wherever it is.
//!
//! | byte | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `HORTACK\n` |
//! | 8 | 16 | history UUID of the log |
//! | 24 | 8 | the index |
//! | 32 | 16 | sync off: the boot id; sync on: zeros |
//! | 48 | 4 | CRC-32 (IEEE) of bytes 0 to 47 |
//!
//! A file that is missing, of another history or not valid says nothing: an earlier release wrote the log, or the log
//! was replaced.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::segment::{FILE_PREFIX, Folder, SEGMENT};
use super::{Error, Index};

const MAGIC: &[u8; 8] = b"HORTACK\n";
const MARK_BYTES: usize = 52;
/// The file's length: overwriting it never needs another block.
const FILE_BYTES: u64 = 4096;

/// Random at each boot of the machine (proc(5)).
const BOOT_ID_FILE: &str = "/proc/sys/kernel/random/boot_id";

/// Why the end of the log may be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostTail {
    /// Entries up to this one were acknowledged, and the log ends before it.
    Acknowledged(Index),
    /// The log was not synced, and the machine has started again since.
    Unsynced,
}

impl std::fmt::Display for LostTail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Acknowledged(index) => write!(f, "this node has acknowledged entries up to index {index}"),
            Self::Unsynced => f.write_str("the log was not synced (log.sync=no) before the machine started again"),
        }
    }
}

#[derive(Debug)]
pub(super) struct AckedMark {
    file: File,
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    history_uuid: [u8; 16],
    index: u64,
    boot_id: [u8; 16],
    /// Sync is off: a sync under way does not end that.
    is_unsynced: bool,
    lost_tail: Option<LostTail>,
}

impl AckedMark {
    /// Reads the mark of a log that ends at `last`, and creates it if there is none. Its content changes on disk only
    /// if the log has lost nothing: the next start must know of a loss too.
    pub fn open(folder: &Folder, history_uuid: [u8; 16], last: u64, sync: bool) -> Result<Self, Error> {
        let path = folder.path.join(format!("{FILE_PREFIX}acked{SEGMENT}"));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(Error::io("open", &path))?;
        let mut bytes = [0; MARK_BYTES];
        let known = file.read_exact_at(&mut bytes, 0).ok().and_then(|()| State::decode(&bytes));
        let known = known.filter(|known| known.history_uuid == history_uuid);
        let boot_id = boot_id();
        let lost_tail = known.as_ref().and_then(|known| {
            if known.boot_id != [0; 16] && known.boot_id != boot_id {
                return Some(LostTail::Unsynced);
            }
            (known.index > last).then_some(LostTail::Acknowledged(Index(known.index)))
        });
        let state = match (known, lost_tail) {
            (Some(known), Some(_)) => State { lost_tail, is_unsynced: !sync, ..known },
            _ => State {
                history_uuid,
                index: last,
                boot_id: if sync { [0; 16] } else { boot_id },
                is_unsynced: !sync,
                lost_tail: None,
            },
        };
        let mark = Self { file, path, state: Mutex::new(state) };
        if lost_tail.is_none() {
            mark.file.set_len(FILE_BYTES).map_err(Error::io("extend", &mark.path))?;
            mark.write_and_sync(&mark.lock())?;
            folder.sync()?;
        }
        Ok(mark)
    }

    /// Why the end of the log may be lost.
    pub fn lost_tail(&self) -> Option<LostTail> {
        self.lock().lost_tail
    }

    /// The log is synced up to `index`.
    pub fn advance(&self, index: u64) -> Result<(), Error> {
        let mut state = self.lock();
        let is_unknown = state.is_unsynced || state.lost_tail == Some(LostTail::Unsynced);
        if is_unknown || index <= state.index && state.boot_id == [0; 16] {
            return Ok(());
        }
        (state.index, state.boot_id) = (state.index.max(index), [0; 16]);
        self.write(&state)
    }

    /// Entries after `index` are removed on request of a leader: nobody counts them. Durable when it returns.
    pub fn lower(&self, index: u64) -> Result<(), Error> {
        let mut state = self.lock();
        if state.lost_tail.is_some() || index >= state.index {
            return Ok(());
        }
        state.index = index;
        self.write_and_sync(&state)
    }

    /// Entries up to `last` may be counted on, and are removed without a leader's request: they stay marked until
    /// [`Self::confirm`]. Durable when it returns.
    pub fn keep_mark(&self, last: u64) -> Result<(), Error> {
        let mut state = self.lock();
        state.index = state.index.max(last);
        let marked = LostTail::Acknowledged(Index(state.index));
        state.lost_tail.get_or_insert(marked);
        self.write_and_sync(&state)
    }

    /// Entries are acknowledged without a sync from now on. Durable when it returns.
    pub fn begin_unsynced(&self) -> Result<(), Error> {
        let mut state = self.lock();
        if std::mem::replace(&mut state.is_unsynced, true) || state.lost_tail.is_some() {
            return Ok(());
        }
        state.boot_id = boot_id();
        self.write_and_sync(&state)
    }

    /// Entries are synced before they are acknowledged from now on: the next sync says so here.
    pub fn end_unsynced(&self) {
        self.lock().is_unsynced = false;
    }

    /// The log holds again all committed entries that it had acknowledged, up to `last`. Durable when it returns.
    pub fn confirm(&self, last: u64, sync: bool) -> Result<(), Error> {
        let mut state = self.lock();
        if state.lost_tail.take().is_none() {
            return Ok(());
        }
        state.is_unsynced = !sync;
        (state.index, state.boot_id) = (last, if sync { [0; 16] } else { boot_id() });
        self.file.set_len(FILE_BYTES).map_err(Error::io("extend", &self.path))?;
        self.write_and_sync(&state)
    }

    fn write(&self, state: &State) -> Result<(), Error> {
        self.file.write_all_at(&state.encode(), 0).map_err(Error::io("write", &self.path))
    }

    fn write_and_sync(&self, state: &State) -> Result<(), Error> {
        self.write(state)?;
        self.file.sync_all().map_err(Error::io("sync", &self.path))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn encode(&self) -> [u8; MARK_BYTES] {
        let mut bytes = [0; MARK_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..24].copy_from_slice(&self.history_uuid);
        bytes[24..32].copy_from_slice(&self.index.to_le_bytes());
        bytes[32..48].copy_from_slice(&self.boot_id);
        let checksum = crc32fast::hash(&bytes[..48]);
        bytes[48..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; MARK_BYTES]) -> Option<Self> {
        let is_valid = bytes.starts_with(MAGIC) && crc32fast::hash(&bytes[..48]).to_le_bytes() == bytes[48..];
        is_valid.then(|| Self {
            history_uuid: std::array::from_fn(|at| bytes[8 + at]),
            index: u64::from_le_bytes(std::array::from_fn(|at| bytes[24 + at])),
            boot_id: std::array::from_fn(|at| bytes[32 + at]),
            is_unsynced: false,
            lost_tail: None,
        })
    }
}

/// The id of this boot; never zeros. A system without it has another id at each start of the process.
fn boot_id() -> [u8; 16] {
    let text = fs::read_to_string(BOOT_ID_FILE).unwrap_or_default();
    let id = text.trim().parse::<crate::identity::Uuid>().ok().or_else(|| crate::identity::Uuid::random().ok());
    id.map_or([1; 16], |id| id.0)
}
