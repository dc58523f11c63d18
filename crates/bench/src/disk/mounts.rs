//! The table of mounts, as `/proc/self/mountinfo` has it (proc(5)).

use std::path::{Path, PathBuf};

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// The file system's part that is visible.
    pub(super) root: PathBuf,
    /// Where it is visible.
    pub(super) point: PathBuf,
    /// As `ext4`.
    pub(super) file_system: String,
    /// Options of the file system, for a control group its controllers.
    pub(super) options: Vec<String>,
}

/// All mounts, in their order; lines of another form are left out.
pub(super) fn parse(mountinfo: &str) -> Vec<Mount> {
    mountinfo.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount> {
    // Optional fields end with a dash of their own.
    let (place, file_system) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, point) = (unescaped(place.next()?), unescaped(place.next()?));
    let mut file_system = file_system.split(' ');
    let name = file_system.next()?.to_owned();
    let options = file_system.nth(1)?.split(',').map(str::to_owned).collect();
    Some(Mount { root, point, file_system: name, options })
}

/// The mount that a folder is on; of several at one point, the last covers the others.
pub(super) fn of_folder<'a>(mounts: &'a [Mount], folder: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| folder.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.components().count())
}

/// Spaces and the like are three octal digits.
fn unescaped(field: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| *first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=24684092k
38 31 0:35 /docker/abc /sys/fs/cgroup/blkio ro,relatime shared:3 propagate_from:2 - cgroup cgroup rw,blkio
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
50 27 8:17 /data /mnt/my\\040disk rw,relatime - xfs /dev/sdb1 rw
51 50 0:60 / /mnt/my\\040disk/memory rw - tmpfs none rw
52 27 0:61 / /mnt/over rw - overlay overlay rw,lowerdir=/a
a line of another form
";

    #[test]
    fn a_folder_is_on_the_mount_with_the_longest_point() {
        let mounts = parse(TABLE);
        assert_eq!(mounts.len(), 8);
        for (folder, file_system) in [
            ("/var/lib/hortator", "ext4"),
            ("/dev/shm", "tmpfs"),
            ("/dev/shmx", "ext4"),
            ("/mnt/my disk/a", "xfs"),
            ("/mnt/my disk/memory/a", "tmpfs"),
            ("/mnt/over/a/b", "overlay"),
        ] {
            let found = of_folder(&mounts, Path::new(folder)).unwrap();
            assert_eq!(found.file_system, file_system, "{folder}");
        }
        assert_eq!(of_folder(&[], Path::new("/")), None);
    }

    #[test]
    fn a_control_group_has_its_controllers_as_options() {
        let mounts = parse(TABLE);
        let found = mounts.iter().find(|mount| mount.file_system == "cgroup").unwrap();
        assert_eq!((found.root.to_str(), found.options.join(",")), (Some("/docker/abc"), "rw,blkio".to_owned()));
    }
}
