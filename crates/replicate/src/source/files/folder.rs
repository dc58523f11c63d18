//! Which files of a log there are in a folder, and their order.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::Error;

/// Servers number their files with at least so many digits.
const LEAST_DIGITS: usize = 6;
/// The list of files that a server keeps has this suffix.
const INDEX_SUFFIX: &str = ".index";

/// The files of one log.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    files: Vec<NumberedFile>,
}

/// A file of a log: one that is there, or that should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NumberedFile {
    pub(super) name: String,
    number: u64,
    /// It is in the folder; else only the server's list has it.
    pub(super) is_present: bool,
}

/// What follows a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Following {
    /// The file with this index.
    File(usize),
    /// A file that is not there, though others behind it are, or the server's list has it.
    Missing(String),
    /// Nothing: it is the last one.
    Nothing,
}

impl Folder {
    /// Looks for the log that has the file `wanted`, or for the only one that there is.
    ///
    /// # Errors
    /// [`Error::Folder`], [`Error::NoFile`] and [`Error::SeveralLogs`].
    pub(super) fn open(path: &Path, wanted: Option<&str>) -> Result<Folder, Error> {
        let cannot = |error| Error::Folder { path: path.to_owned(), error };
        let (mut present, mut listed) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(path).map_err(cannot)? {
            let Ok(name) = entry.map_err(cannot)?.file_name().into_string() else { continue };
            if name.ends_with(INDEX_SUFFIX) {
                let text = fs::read(path.join(&name)).map_err(cannot)?;
                listed.extend(names_of_index(&String::from_utf8_lossy(&text)));
            } else {
                present.push(name);
            }
        }
        let base = match wanted.map(|name| (name, split(name))) {
            Some((_, Some((base, _)))) => base.to_owned(),
            Some((name, None)) => return Err(no_file(path, Some(name))),
            None => only_log(path, &present)?,
        };
        let folder = Folder { path: path.to_owned(), files: in_order(&base, &present, &listed) };
        if folder.files.iter().any(|file| file.is_present) { Ok(folder) } else { Err(no_file(path, wanted)) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// All of them, in their order.
    pub(super) fn files(&self) -> &[NumberedFile] {
        &self.files
    }

    /// The index of a file that is there.
    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        self.files.iter().position(|file| file.is_present && file.name.as_bytes() == name)
    }

    /// What follows a file, which says at its end with which one the log goes on, or does not.
    pub(super) fn following(&self, index: usize, said: Option<&str>) -> Following {
        let Some(next) = self.files.get(index + 1) else { return Following::Nothing };
        let expected = said.map_or_else(|| successor(&self.files[index]), str::to_owned);
        if next.is_present && next.name == expected {
            return Following::File(index + 1);
        }
        Following::Missing(expected)
    }
}

fn no_file(path: &Path, wanted: Option<&str>) -> Error {
    let name = wanted.map_or_else(|| "a file of a binary log, with a name as binlog.000001".to_owned(), str::to_owned);
    Error::NoFile { name, folder: path.to_owned() }
}

/// The names of files in a server's list, which has them with a path.
fn names_of_index(text: &str) -> Vec<String> {
    let name = |line: &str| line.trim().rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    text.lines().map(name).collect()
}

/// What stands before the number in a file's name, and the number.
fn split(name: &str) -> Option<(&str, u64)> {
    let (base, digits) = name.rsplit_once('.')?;
    let is_number = digits.len() >= LEAST_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !base.is_empty()).then(|| Some((base, digits.parse().ok()?)))?
}

/// The name of the only log.
fn only_log(path: &Path, present: &[String]) -> Result<String, Error> {
    let mut bases: Vec<&str> = present.iter().filter_map(|name| Some(split(name)?.0)).collect();
    bases.sort_unstable();
    bases.dedup();
    match bases[..] {
        [] => Err(no_file(path, None)),
        [base] => Ok(base.to_owned()),
        _ => Err(Error::SeveralLogs { folder: path.to_owned(), names: bases.join(", ") }),
    }
}

/// The files of a log, those that are there and those that the server's list has, by their number.
fn in_order(base: &str, present: &[String], listed: &[String]) -> Vec<NumberedFile> {
    let mut files = BTreeMap::new();
    for (names, is_present) in [(listed, false), (present, true)] {
        for name in names {
            if let Some((_, number)) = split(name).filter(|(of, _)| *of == base) {
                files.insert(number, NumberedFile { name: name.clone(), number, is_present });
            }
        }
    }
    files.into_values().collect()
}

/// The name that a server gives to the file behind another.
fn successor(file: &NumberedFile) -> String {
    let (base, digits) = file.name.rsplit_once('.').unwrap_or_default();
    format!("{base}.{:0width$}", file.number + 1, width = digits.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &str) -> Vec<String> {
        words.split_whitespace().map(str::to_owned).collect()
    }

    /// The files of the log `bin`; those that are not there with a question mark.
    fn check(present: &str, listed: &str, expected: &str) {
        let files = in_order("bin", &texts(present), &texts(listed));
        let shown = files.iter().map(|file| file.name.clone() + if file.is_present { "" } else { "?" });
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{present}; {listed}");
    }

    #[test]
    fn files_have_the_order_of_their_numbers() {
        check("bin.000010 bin.000009 bin.1000000 bin.999999", "", "bin.000009 bin.000010 bin.999999 bin.1000000");
        check("bin.000001 relay.000001 bin.000002.gz bin.000001.idx bin.000003.idx bin.state bin.1", "", "bin.000001");
        check(
            "bin.000002 bin.000003 bin.000005",
            "bin.000003 bin.000004",
            "bin.000002 bin.000003 bin.000004? bin.000005",
        );
    }

    #[test]
    fn what_follows() {
        let files = in_order("bin", &texts("bin.000001 bin.000002 bin.000004 bin.999999 bin.1000000"), &[]);
        let folder = Folder { path: PathBuf::new(), files };
        let missing = |name: &str| Following::Missing(name.to_owned());
        assert_eq!(folder.following(0, None), Following::File(1));
        assert_eq!(folder.following(0, Some("bin.000002")), Following::File(1));
        assert_eq!(folder.following(1, Some("bin.000003")), missing("bin.000003"));
        assert_eq!(folder.following(1, None), missing("bin.000003"));
        assert_eq!(folder.following(1, Some("other.000001")), missing("other.000001"));
        assert_eq!(folder.following(3, None), Following::File(4));
        assert_eq!(folder.following(4, Some("bin.1000001")), Following::Nothing);
    }

    #[test]
    fn lists_of_servers() {
        assert_eq!(names_of_index("./bin.000001\n/var/log/bin.000002\r\n\n"), ["bin.000001", "bin.000002", ""]);
    }
}
