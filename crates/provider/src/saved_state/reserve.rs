//! A second place for the state: a file whose room was written when there was some, so that a node can say on a full disk
//! what it could not apply. While it holds a state, that one is the latest.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The file's name in the data folder.
const FILE_NAME: &str = "hortator.state.reserve.log";
/// Its size: a block of most file systems.
const SIZE: usize = 4096;
/// Before the text: its length and its checksum.
const HEAD_SIZE: usize = 8;

pub(super) fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE_NAME)
}

/// The text that it holds.
pub(super) fn read(data_dir: &Path) -> io::Result<Option<String>> {
    let bytes = match std::fs::read(path(data_dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes?,
    };
    let number = |at: usize| bytes.get(at..at + 4).and_then(|found| found.try_into().ok()).map(u32::from_le_bytes);
    let (Some(length), Some(checksum)) = (number(0), number(4)) else { return Ok(None) };
    let text = usize::try_from(length).ok().and_then(|length| bytes.get(HEAD_SIZE..HEAD_SIZE.checked_add(length)?));
    // A torn write had not ended, so nobody relied on it.
    let whole = text.filter(|text| !text.is_empty() && crc32fast::hash(text) == checksum);
    Ok(whole.and_then(|text| String::from_utf8(text.to_vec()).ok()))
}

/// Makes it hold the text. Needs no room on the disk. When it returns, the text is on disk.
pub(super) fn set(data_dir: &Path, text: &str) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(SIZE);
    let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(text.as_bytes()).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    if bytes.len() > SIZE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let file = OpenOptions::new().write(true).open(path(data_dir))?;
    file.write_all_at(&bytes, 0)?;
    file.sync_data()
}

/// Makes it hold nothing, and be there.
pub(super) fn clear(data_dir: &Path) -> io::Result<()> {
    let path = path(data_dir);
    match std::fs::read(&path) {
        Ok(bytes) if bytes == [0; SIZE] => return Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
    file.write_all_at(&[0; SIZE], 0)?;
    file.sync_all()?;
    File::open(data_dir)?.sync_all()
}
