//! The device that a folder is on.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::mounts::{self, Mount};
use crate::Error;

/// File systems whose files are in memory, or on another file system.
const NO_DISK: [&str; 3] = ["tmpfs", "ramfs", "overlay"];

/// What a folder is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// As `ext4`.
    pub file_system: String,
    /// The number of the whole disk, as `254:0`; none where the file system has no block device of its own.
    pub device: Option<String>,
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.device {
            Some(device) => write!(f, "{} on block device {device}", self.file_system),
            None => write!(f, "{}, which has no block device of its own", self.file_system),
        }
    }
}

impl Disk {
    /// What an existing folder is on.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder or the table of mounts cannot be read.
    pub fn of(folder: &Path) -> Result<Self, Error> {
        let found = || Error::io(format!("finding the disk of {}", folder.display()));
        let folder = folder.canonicalize().map_err(found())?;
        let mounts = mounts::parse(&fs::read_to_string("/proc/self/mountinfo").map_err(found())?);
        let number = folder.metadata().map_err(found())?.dev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        // Those without a device have major number 0.
        let device = (major != 0).then(|| whole_disk(Path::new("/sys/dev/block"), &format!("{major}:{minor}")));
        let file_system = mounts::of_folder(&mounts, &folder).map(|Mount { file_system, .. }| file_system.clone());
        Ok(Self { file_system: file_system.unwrap_or_else(|| "an unknown file system".to_owned()), device })
    }

    /// Whether a run on it can be bound by a disk.
    #[must_use]
    pub fn is_disk(&self) -> bool {
        !NO_DISK.contains(&self.file_system.as_str())
    }
}

/// The disk of a partition: the kernel limits disks only. `devices` has a link for each number.
fn whole_disk(devices: &Path, number: &str) -> String {
    let of_partition = || {
        let folder = devices.join(number).canonicalize().ok().filter(|folder| folder.join("partition").exists())?;
        fs::read_to_string(folder.parent()?.join("dev")).ok()
    };
    of_partition().map_or_else(|| number.to_owned(), |disk| disk.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_on_its_whole_disk() {
        let folder = tempfile::tempdir().unwrap();
        let partition = folder.path().join("devices/sda/sda1");
        fs::create_dir_all(&partition).unwrap();
        fs::write(partition.join("partition"), "1\n").unwrap();
        fs::write(partition.parent().unwrap().join("dev"), "8:0\n").unwrap();
        for (link, target) in [("8:0", "devices/sda"), ("8:1", "devices/sda/sda1")] {
            std::os::unix::fs::symlink(folder.path().join(target), folder.path().join(link)).unwrap();
        }
        for (number, disk) in [("8:0", "8:0"), ("8:1", "8:0"), ("9:9", "9:9")] {
            assert_eq!(whole_disk(folder.path(), number), disk);
        }
    }

    #[test]
    fn a_folder_in_memory_is_on_no_disk() {
        let disk = Disk::of(Path::new("/dev/shm")).unwrap();
        assert!(!disk.is_disk() && disk.device.is_none(), "{disk}");
        assert!(Disk::of(Path::new("/no/such/folder")).unwrap_err().to_string().contains("/no/such/folder"));
    }
}
