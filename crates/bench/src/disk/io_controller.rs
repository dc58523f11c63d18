//! Limits on input and output, by the kernel's control groups.
//!
//! A group is a folder whose name has this process's id. It goes with its value; one that a killed process left is removed by
//! the next [`IoController::find`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::Duration;

use super::Disk;
use super::mounts::{self, Mount};
use crate::Error;

const PREFIX: &str = "hortator-bench-";
const PROCESSES: &str = "cgroup.procs";
const CHILDREN: &str = "cgroup.subtree_control";
/// A killed process stays in its group for a moment.
const REMOVE_ATTEMPTS: usize = 50;
const REMOVE_INTERVAL: Duration = Duration::from_millis(20);

/// The two forms of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// The controller `blkio` in a hierarchy of its own.
    One,
    /// The controller `io` in the one hierarchy.
    Two,
}

/// Sets limits for a disk.
#[derive(Clone, Debug)]
pub struct IoController {
    version: Version,
    /// The folder in which groups are made.
    folder: PathBuf,
    /// The folder of the group that this process is in.
    own: PathBuf,
    /// The number of the disk.
    device: String,
}

/// Processes that together stay below a limit, until this value is dropped.
#[derive(Debug)]
pub struct IoGroup {
    version: Version,
    /// The number of the disk.
    device: String,
    folder: PathBuf,
    /// Where the processes go when the limit ends.
    own: PathBuf,
}

impl IoController {
    /// The controller for a disk.
    ///
    /// # Errors
    /// The reason why no limit can be set here, with what to do.
    pub fn find(disk: &Disk) -> Result<Self, String> {
        let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("reading {path}: {error}"));
        let mounts = mounts::parse(&read("/proc/self/mountinfo")?);
        let controller = Self::choose(&mounts, &read("/proc/self/cgroup")?, disk)?;
        controller.remove_stale();
        controller.try_out().map_err(|error| {
            let reason = match error {
                Error::Io { source, .. } => source.to_string(),
                other => other.to_string(),
            };
            format!(
                "limits of input and output cannot be set in {} ({reason}): run the experiment as root, outside of a container",
                controller.folder.display()
            )
        })?;
        Ok(controller)
    }

    /// Which hierarchy has the controller: version 1 if it is there, as then version 2 does not have it.
    fn choose(mounts: &[Mount], own_groups: &str, disk: &Disk) -> Result<Self, String> {
        let Some(device) = disk.device.clone() else {
            return Err(format!("the folder is on {disk}: limits need a folder on a block device, as of ext4 or xfs"));
        };
        let one = mounts
            .iter()
            .find(|mount| mount.file_system == "cgroup" && mount.options.iter().any(|option| option == "blkio"));
        let two = mounts.iter().find(|mount| mount.file_system == "cgroup2");
        let (version, mount) = match (one, two) {
            (Some(mount), _) => (Version::One, mount),
            (None, Some(mount)) => (Version::Two, mount),
            (None, None) => return Err("this system has no control groups: mount cgroup2 at /sys/fs/cgroup".to_owned()),
        };
        let own = own_groups.lines().filter_map(|line| own_group(line, version)).next().unwrap_or("/");
        // `components` drops the slash that joining with an empty path leaves.
        let below = Path::new(own).strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let own = mount.point.join(below).components().collect();
        Ok(Self { version, folder: mount.point.clone(), own, device })
    }

    /// The files of a limit of so many operations a second each, and their content.
    fn limit(&self, operations: u32) -> Vec<(&'static str, String)> {
        let device = &self.device;
        match self.version {
            Version::One => ["blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device"]
                .map(|file| (file, format!("{device} {operations}")))
                .to_vec(),
            Version::Two => vec![("io.max", format!("{device} riops={operations} wiops={operations}"))],
        }
    }

    /// What is used, for a report.
    #[must_use]
    pub fn description(&self) -> &'static str {
        match self.version {
            Version::One => "control groups version 1 (blkio.throttle)",
            Version::Two => "control groups version 2 (io.max)",
        }
    }

    /// Makes a group with a limit of so many reads and so many writes a second.
    ///
    /// # Errors
    /// [`Error::Io`] when the kernel refuses it.
    pub fn group(&self, name: &str, operations: u32) -> Result<IoGroup, Error> {
        let folder = self.folder.join(format!("{PREFIX}{}-{name}", process::id()));
        let made = || Error::io(format!("setting a limit of {operations} operations a second in {}", folder.display()));
        if self.version == Version::Two {
            self.enable().map_err(made())?;
        }
        fs::create_dir(&folder).map_err(made())?;
        let (version, device) = (self.version, self.device.clone());
        let group = IoGroup { version, device, folder: folder.clone(), own: self.own.clone() };
        for (file, content) in self.limit(operations) {
            fs::write(folder.join(file), content).map_err(made())?;
        }
        Ok(group)
    }

    /// Version 2 gives a controller to the groups below only where it is asked to.
    fn enable(&self) -> io::Result<()> {
        let file = self.folder.join(CHILDREN);
        let enabled = fs::read_to_string(&file)?;
        if enabled.split_whitespace().any(|controller| controller == "io") { Ok(()) } else { fs::write(file, "+io") }
    }

    fn try_out(&self) -> Result<(), Error> {
        // A limit that limits nothing.
        self.group("trial", u32::MAX).map(drop)
    }

    /// Removes groups of processes that have ended without doing so.
    fn remove_stale(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            if maker(&entry.file_name().to_string_lossy()).is_some_and(|id| !Path::new("/proc").join(id).exists()) {
                // One that has processes stays.
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

/// The process that made a group.
fn maker(name: &str) -> Option<&str> {
    let (id, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
    id.bytes().all(|byte| byte.is_ascii_digit()).then_some(id)
}

/// The path in a line of `/proc/self/cgroup`, if it is of this version's hierarchy.
fn own_group(line: &str, version: Version) -> Option<&str> {
    let (_, line) = line.split_once(':')?;
    let (controllers, path) = line.split_once(':')?;
    let is_it = match version {
        Version::One => controllers.split(',').any(|controller| controller == "blkio"),
        Version::Two => controllers.is_empty(),
    };
    is_it.then_some(path)
}

/// Operations of a disk that the kernel has counted against a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Reads.
    pub reads: u64,
    /// Writes, those that a flush waits for included.
    pub writes: u64,
}

impl Operations {
    /// Those of a disk in the kernel's statistics, which have none of a disk that was not used.
    fn parse(version: Version, text: &str, device: &str) -> Self {
        let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let number = |text: &str| text.parse().unwrap_or(0);
        match version {
            Version::One => lines.fold(Self::default(), |found, words| match words[..] {
                [of, "Read", count] if of == device => Self { reads: number(count), ..found },
                [of, "Write", count] if of == device => Self { writes: number(count), ..found },
                _ => found,
            }),
            Version::Two => {
                let words = lines.find(|words| words.first() == Some(&device)).unwrap_or_default();
                let of = |name| words.iter().find_map(|word| word.strip_prefix(name)).map_or(0, number);
                Self { reads: of("rios="), writes: of("wios=") }
            }
        }
    }
}

impl IoGroup {
    /// What its processes have done since they are in it.
    ///
    /// # Errors
    /// [`Error::Io`] when the kernel does not say it.
    pub fn operations(&self) -> Result<Operations, Error> {
        let file = self.folder.join(match self.version {
            Version::One => "blkio.throttle.io_serviced",
            Version::Two => "io.stat",
        });
        let text = fs::read_to_string(&file).map_err(Error::io(format!("reading {}", file.display())))?;
        Ok(Operations::parse(self.version, &text, &self.device))
    }

    /// Puts a process, with all its threads, under the limit.
    ///
    /// # Errors
    /// [`Error::Io`] when the kernel refuses it.
    pub fn add(&self, process: u32) -> Result<(), Error> {
        let file = self.folder.join(PROCESSES);
        fs::write(&file, process.to_string()).map_err(Error::io(format!("writing {}", file.display())))
    }
}

impl Drop for IoGroup {
    fn drop(&mut self) {
        for _ in 0..REMOVE_ATTEMPTS {
            let processes = fs::read_to_string(self.folder.join(PROCESSES)).unwrap_or_default();
            for process in processes.lines() {
                // It may have ended.
                let _ = fs::write(self.own.join(PROCESSES), process);
            }
            match fs::remove_dir(&self.folder) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => thread::sleep(REMOVE_INTERVAL),
                _ => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    const ONE: &str = "38 31 0:35 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n\
                       41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    const TWO: &str = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";

    fn disk(device: Option<&str>) -> Disk {
        Disk { file_system: "ext4".to_owned(), device: device.map(str::to_owned) }
    }

    fn choose(mounts: &str, own: &str) -> Result<IoController, String> {
        IoController::choose(&mounts::parse(mounts), own, &disk(Some("8:0")))
    }

    #[test]
    fn operations_are_those_of_the_disk() {
        let one = "8:16 Read 7\n8:16 Write 9\n8:0 Read 120\n8:0 Write 45\n8:0 Sync 44\n8:0 Total 165\nTotal 181\n";
        let two = "8:16 rbytes=1 wbytes=2 rios=7 wios=9\n8:0 rbytes=4096 wbytes=512 rios=120 wios=45 dbytes=0 dios=0\n";
        for (version, text) in [(Version::One, one), (Version::Two, two)] {
            assert_eq!(Operations::parse(version, text, "8:0"), Operations { reads: 120, writes: 45 });
            assert_eq!(Operations::parse(version, text, "8:32"), Operations::default());
        }
    }

    #[test]
    fn the_hierarchy_with_the_controller_is_used() {
        let both = "7:cpu,blkio:/user/a\n0::/session\n";
        for (mounts, own, version, folder, home) in [
            (ONE, both, Version::One, "/sys/fs/cgroup/blkio", "/sys/fs/cgroup/blkio/user/a"),
            (TWO, "0::/user.slice/b\n", Version::Two, "/sys/fs/cgroup", "/sys/fs/cgroup/user.slice/b"),
            (TWO, "", Version::Two, "/sys/fs/cgroup", "/sys/fs/cgroup"),
        ] {
            let found = choose(mounts, own).unwrap();
            assert_eq!((found.version, found.folder.to_str(), found.own.to_str()), (version, Some(folder), Some(home)));
        }
        // A container sees a part of the hierarchy.
        let part = ONE.replace("0:35 /", "0:35 /docker/abc");
        assert_eq!(choose(&part, "7:blkio:/docker/abc/x").unwrap().own, Path::new("/sys/fs/cgroup/blkio/x"));
    }

    #[test]
    fn where_there_is_nothing_to_limit_or_nothing_that_limits_the_reason_is_told() {
        let message = choose("", "").unwrap_err();
        assert!(message.contains("no control groups"), "{message}");
        let message = IoController::choose(&mounts::parse(ONE), "", &disk(None)).unwrap_err();
        assert!(message.contains("ext4, which has no block device of its own"), "{message}");
    }

    /// A folder that looks like the kernel's.
    fn made_of_files(version: Version) -> (tempfile::TempDir, IoController) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(CHILDREN), "cpu memory\n").unwrap();
        let path = folder.path().to_owned();
        let controller = IoController { version, own: path.clone(), folder: path, device: "254:0".to_owned() };
        (folder, controller)
    }

    #[test]
    fn each_version_has_its_own_files() {
        let read = |path: PathBuf| fs::read_to_string(path).unwrap();
        let (_folder, controller) = made_of_files(Version::One);
        let group = controller.group("a", 400).unwrap();
        for kind in ["read", "write"] {
            assert_eq!(read(group.folder.join(format!("blkio.throttle.{kind}_iops_device"))), "254:0 400");
        }
        let (folder, controller) = made_of_files(Version::Two);
        let group = controller.group("a", 400).unwrap();
        assert_eq!(read(group.folder.join("io.max")), "254:0 riops=400 wiops=400");
        assert_eq!(read(folder.path().join(CHILDREN)), "+io");
        group.add(77).unwrap();
        assert_eq!(read(group.folder.join(PROCESSES)), "77");
    }

    #[test]
    fn groups_of_ended_processes_are_removed() {
        let (folder, controller) = made_of_files(Version::One);
        let names = [format!("{PREFIX}{}-a", process::id()), format!("{PREFIX}4294967295-a"), "other-1-a".to_owned()];
        names.iter().for_each(|name| fs::create_dir(folder.path().join(name)).unwrap());
        controller.remove_stale();
        assert_eq!(names.map(|name| folder.path().join(name).exists()), [true, false, true]);
    }

    /// With the rights, a process is in the group as long as the group is there; without, the reason is told.
    #[test]
    fn a_group_of_the_kernel_goes_with_its_value() {
        let disk = Disk::of(&std::env::temp_dir()).unwrap();
        let controller = match IoController::find(&disk) {
            Ok(controller) => controller,
            Err(reason) => {
                let is_told = ["limits of input and output cannot be set", "no block device", "no control groups"];
                assert!(is_told.iter().any(|part| reason.contains(part)), "{reason}");
                return;
            }
        };
        let mut sleeper = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
        let groups = || fs::read_to_string(format!("/proc/{}/cgroup", sleeper.id())).unwrap();
        let before = groups();
        let group = controller.group("test", 400).unwrap();
        group.add(sleeper.id()).unwrap();
        assert!(groups().contains(&format!("{PREFIX}{}-test", process::id())), "{}", groups());
        let folder = group.folder.clone();
        drop(group);
        assert_eq!(groups(), before);
        assert!(!folder.exists());
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
}
