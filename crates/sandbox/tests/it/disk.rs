//! A node's disk under the control of a test: it can be slow, full, stall, and lose what was not synced (a power loss).
//!
//! `disk.c` is a library that the server is started with; it has the details. [`Disk::lose_power`] takes back, page by
//! page and at random, what the program wrote to each file after the file's last sync.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use hortator_sandbox::Host;

use crate::kills::dice::Dice;

/// The unit that a disk writes whole.
const PAGE_BYTES: usize = 4096;
/// Memory: the undo journals are written with each write of the server.
const FAST_FOLDER: &str = "/dev/shm";
const HEAD_BYTES: usize = 24;
const ENTRY_BYTES: usize = 40;
/// The system writes by itself what is older (vm.dirty_expire_centisecs).
const WRITTEN_BACK_S: u64 = 30;
/// The numbers of the control file, by their place.
const SYNC_DELAY_US: u64 = 0;
const IS_FULL: u64 = 1;
const STALLS_LOG: u64 = 2;

/// The words that run a command of root as the servers' account.
pub const AS_SERVER: [&str; 4] = ["setpriv", "--reuid=mysql", "--regid=mysql", "--init-groups"];

/// The library for the servers of a test.
pub struct Library(PathBuf);

impl Library {
    /// Compiles it in a folder, which the servers can read then.
    pub fn compile(folder: &Path) -> Library {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        let library = folder.join("disk.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/disk/disk.c");
        let mut compile = Command::new("cc");
        compile.args(["-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
        assert!(compile.status().unwrap().success(), "disk.c cannot be compiled");
        Library(library)
    }
}

/// What a power loss has taken back.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// Files with writes that were not synced.
    pub files: usize,
    /// Pages with such writes, and how many of these have their old content again.
    pub pages: usize,
    pub lost_pages: usize,
}

impl Lost {
    pub fn add(&mut self, other: Lost) {
        self.files += other.files;
        self.pages += other.pages;
        self.lost_pages += other.lost_pages;
    }
}

/// The disk that holds the data folder of a server.
pub struct Disk {
    /// The folder with the control file and the undo journals.
    folder: tempfile::TempDir,
    control: File,
    library: PathBuf,
}

impl Disk {
    /// A disk that works as usual.
    pub fn new(library: &Library) -> Disk {
        let parent = Path::new(FAST_FOLDER);
        let folder = tempfile::tempdir_in(if parent.is_dir() { parent } else { Path::new("/tmp") }).unwrap();
        // Servers have an account of their own.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let file = folder.path().join("control");
        fs::write(&file, [0; HEAD_BYTES]).unwrap();
        let control = OpenOptions::new().write(true).open(file).unwrap();
        Disk { folder, control, library: library.0.clone() }
    }

    /// The environment for a server, whose data folder is on this disk; a relative path is below the folder that it starts in.
    pub fn environment(&self, data_folder: &str) -> Vec<String> {
        vec![
            format!("LD_PRELOAD={}", self.library.display()),
            format!("HORTATOR_DISK={}", self.folder.path().display()),
            format!("HORTATOR_DISK_OF={}", data_folder),
        ]
    }

    /// A node's host with this disk and the network of all.
    pub fn host(&self) -> Host {
        let mut command = vec!["env".to_owned()];
        command.extend(self.environment("data"));
        if rustix::process::geteuid().is_root() {
            command.extend(AS_SERVER.map(str::to_owned));
        }
        Host { address: "127.0.0.1".to_owned(), command }
    }

    fn set(&self, place: u64, value: u64) {
        self.control.write_all_at(&value.to_le_bytes(), place * 8).unwrap();
    }

    /// Each sync takes that much longer.
    pub fn slow(&self, delay: Duration) {
        self.set(SYNC_DELAY_US, u64::try_from(delay.as_micros()).unwrap());
    }

    /// While it is full, no file can grow.
    pub fn set_full(&self, is_full: bool) {
        self.set(IS_FULL, u64::from(is_full));
    }

    /// While it stalls, syncs of the provider's log wait.
    pub fn stall_log(&self, stalls: bool) {
        self.set(STALLS_LOG, u64::from(stalls));
    }

    /// Takes back writes to this data folder that were not synced. The server must have been killed.
    pub fn lose_power(&self, data_folder: &Path, dice: &mut Dice) -> Lost {
        let mut files = HashMap::new();
        find_files(data_folder, &mut files);
        let mut lost = Lost::default();
        let now_s = UNIX_EPOCH.elapsed().unwrap().as_secs();
        // In an order that a seed repeats.
        let mut journals: Vec<PathBuf> =
            fs::read_dir(self.folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
        journals.retain(|path| path.file_name().unwrap() != "control");
        journals.sort();
        for path in journals {
            let journal = fs::read(&path).unwrap();
            let writes = unsynced(&journal, now_s);
            let file = files.get(&word(&journal, 0)).filter(|file| born_ns(file) == word(&journal, 1));
            if let Some(file) = file.filter(|_| !writes.is_empty()) {
                take_back(file, &writes, dice, &mut lost);
            }
            // What is there now is on the disk. The next server makes its own.
            fs::remove_file(path).unwrap();
        }
        lost
    }
}

/// The files of a folder, by inode.
fn find_files(folder: &Path, files: &mut HashMap<u64, PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            find_files(&entry.path(), files);
        } else {
            files.insert(entry.metadata().unwrap().ino(), entry.path());
        }
    }
}

fn born_ns(file: &Path) -> u64 {
    let born = fs::metadata(file).unwrap().created().unwrap();
    u64::try_from(born.duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

/// A write that was not synced.
struct Write<'a> {
    offset: usize,
    bytes: usize,
    /// What was there before, less than `bytes` if the write made the file grow.
    old: &'a [u8],
    old_size: usize,
}

fn word(bytes: &[u8], index: usize) -> u64 {
    u64::from_le_bytes(bytes[index * 8..][..8].try_into().unwrap())
}

/// In their order, without those that the system has written by itself since. The last entry of a journal may be incomplete: its write had not begun.
fn unsynced(journal: &[u8], now_s: u64) -> Vec<Write<'_>> {
    let mut writes = Vec::new();
    let size = |word: u64| usize::try_from(word).unwrap();
    let mut place = size(word(journal, 2)).max(HEAD_BYTES);
    while let Some(entry) = journal.get(place..place + ENTRY_BYTES) {
        let old_bytes = size(word(entry, 2));
        let Some(old) = journal.get(place + ENTRY_BYTES..place + ENTRY_BYTES + old_bytes) else { break };
        if word(entry, 4) + WRITTEN_BACK_S < now_s {
            writes.clear();
            place += ENTRY_BYTES + old_bytes;
            continue;
        }
        let [offset, bytes, old_size] = [0, 1, 3].map(|index| size(word(entry, index)));
        writes.push(Write { offset, bytes, old, old_size });
        place += ENTRY_BYTES + old_bytes;
    }
    writes
}

fn take_back(file: &Path, writes: &[Write<'_>], dice: &mut Dice, lost: &mut Lost) {
    let file = OpenOptions::new().read(true).write(true).open(file).unwrap();
    let size = usize::try_from(file.metadata().unwrap().len()).unwrap();
    // The pages as they are.
    let mut pages: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for write in writes {
        let end = (write.offset + write.bytes).min(size);
        for page in write.offset / PAGE_BYTES..end.div_ceil(PAGE_BYTES) {
            pages.entry(page).or_insert_with(|| {
                let mut content = vec![0; PAGE_BYTES.min(size - page * PAGE_BYTES)];
                file.read_exact_at(&mut content, (page * PAGE_BYTES) as u64).unwrap();
                content
            });
        }
    }
    // As on the disk: the last write is taken back first. A removal of the file's end has been durable at once.
    let mut old_size = size;
    for write in writes.iter().rev() {
        if write.offset + write.bytes >= old_size {
            old_size = old_size.min(write.old_size);
        }
        let mut old = write.old.to_vec();
        // The file has grown, and may have grown further by a reservation of space.
        old.resize(write.bytes, 0);
        if write.offset < size {
            old.truncate(size - write.offset);
            file.write_all_at(&old, write.offset as u64).unwrap();
        }
    }
    file.set_len(old_size as u64).unwrap();
    // How much the disk has written by itself: nothing, everything, or some of it.
    let kept_percent = *dice.pick(&[0, 50, 90, 100]).unwrap();
    lost.files += 1;
    lost.pages += pages.len();
    for (page, content) in pages {
        if dice.chance(kept_percent) {
            file.write_all_at(&content, (page * PAGE_BYTES) as u64).unwrap();
        } else {
            lost.lost_pages += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Output;

    use super::*;

    /// Runs a shell command with files on the disk.
    fn sh(disk: &Disk, files: &Path, command: &str) -> Output {
        let mut shell = Command::new("env");
        shell.args(disk.environment(files.to_str().unwrap())).args(["sh", "-c", command]).current_dir(files);
        shell.output().unwrap()
    }

    #[test]
    fn a_power_loss_takes_back_some_of_what_was_not_synced_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::new(&Library::compile(folder.path()));
        let files = tempfile::tempdir().unwrap();
        let write = |what: &str, further: &str| {
            let command = format!(
                "yes {what} | head -c 65536 | dd iflag=fullblock bs=8192 of=f conv=notrunc{further} status=none"
            );
            let output = sh(&disk, files.path(), &command);
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        };
        let mut seen = std::collections::BTreeSet::new();
        let mut dice = Dice::new(1);
        for _ in 0..20 {
            write("old", ",fsync");
            write("new", "");
            write("end", " oflag=append");
            let lost = disk.lose_power(files.path(), &mut dice);
            assert_eq!((lost.files, lost.pages), (1, 32), "{lost:?}");
            let content = fs::read(files.path().join("f")).unwrap();
            assert!(content.len() >= 65536 && content.len() <= 2 * 65536, "{}", content.len());
            for (page, bytes) in content.chunks(PAGE_BYTES).enumerate() {
                let word = String::from_utf8_lossy(&bytes[..3]).into_owned();
                let possible: &[&str] = if page < 16 { &["old", "new"] } else { &["end", "\0\0\0"] };
                assert!(possible.contains(&word.as_str()), "{page}: {word}");
                seen.insert(word);
            }
            assert_eq!(disk.lose_power(files.path(), &mut dice), Lost::default(), "once");
            fs::remove_file(files.path().join("f")).unwrap();
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["\0\0\0", "end", "new", "old"]);
        write("all", "");
        assert!(sh(&disk, files.path(), "sync -f f").status.success());
        assert_eq!(disk.lose_power(files.path(), &mut dice), Lost::default(), "the file system was synced");
    }

    #[test]
    fn a_full_disk_takes_changes_and_does_not_let_files_grow() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::new(&Library::compile(folder.path()));
        let files = tempfile::tempdir().unwrap();
        let dd = "dd if=/dev/zero bs=4096 of=f conv=notrunc status=none";
        assert!(sh(&disk, files.path(), &format!("{dd} count=4")).status.success());
        disk.set_full(true);
        assert!(sh(&disk, files.path(), &format!("{dd} count=4")).status.success());
        let output = sh(&disk, files.path(), &format!("{dd} count=5"));
        assert!(String::from_utf8_lossy(&output.stderr).contains("No space left on device"), "{output:?}");
        disk.set_full(false);
        assert!(sh(&disk, files.path(), &format!("{dd} count=5")).status.success());
    }
}
