//! A dump in the shape of the well-known employees sample: six tables, foreign keys between them, 3.9 million rows in a
//! folder of files that one script sources.
//!
//! The rows come from a seed and are the same bytes on every machine, so that figures of different days are comparable.
//! Only the shape is the sample's; the generator makes up people, departments and salaries.

pub(crate) mod calendar;
mod company;
mod names;
pub(crate) mod random;
mod schema;
mod shape;
mod statements;
#[cfg(test)]
mod tests;

use std::fs;
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

pub use schema::{ENTRY, ForeignKeys, TABLES};
pub(crate) use schema::{FOREIGN_KEYS, entry_script};
pub use shape::Shape;

use crate::Error;

/// The seed of every dump.
const SEED: u64 = 0x686f_7274_6174_6f72;
/// The marker file of a complete dump.
const MARKER: &str = "generated.json";
/// The schema that the dump creates.
pub const SCHEMA: &str = "employees";

/// A dump on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Dump {
    /// The folder of all its files.
    pub folder: PathBuf,
    /// Rows of all tables.
    pub rows: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// The checksum over names and content of all files.
    pub checksum: u128,
}

impl Dump {
    /// The script that sources all other files, to be run in [`Dump::folder`].
    #[must_use]
    pub fn entry(&self) -> PathBuf {
        self.folder.join(ENTRY)
    }

    /// The script, as a program's standard input.
    pub(crate) fn open(&self) -> Result<fs::File, Error> {
        let entry = self.entry();
        fs::File::open(&entry).map_err(Error::io(format!("opening {}", entry.display())))
    }
}

/// The content of [`MARKER`]. A dump whose content does not give this checksum is generated again.
#[derive(Serialize, Deserialize)]
struct Marker {
    scale: f64,
    rows: u64,
    bytes: u64,
    checksum: String,
}

/// Writes the dump into `folder`, which is created if missing; overwrites the files of an earlier dump.
///
/// # Errors
/// [`Error::Scale`] for a scale out of range, [`Error::Io`] when a file cannot be written.
pub fn generate(folder: &Path, scale: f64) -> Result<Dump, Error> {
    let shape = Shape::scaled(scale)?;
    let written = |what: &str| Error::io(format!("writing {what} in {}", folder.display()));
    fs::create_dir_all(folder).map_err(written("the dump's folder"))?;
    let marker_path = folder.join(MARKER);
    match fs::remove_file(&marker_path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(written(MARKER)(error)),
        _ => {}
    }
    fs::write(folder.join(ENTRY), entry_script(ForeignKeys::With)).map_err(written(ENTRY))?;
    let department_rows = write_departments(folder).map_err(written("the departments"))?;
    let (people_rows, _) = company::write(folder, &shape, SEED).map_err(written("the rows"))?;

    let (bytes, checksum) = measure(folder)?;
    let dump = Dump { folder: folder.to_owned(), rows: department_rows + people_rows, bytes, checksum };
    let marker = Marker { scale, rows: dump.rows, bytes, checksum: format!("{checksum:032x}") };
    let text = serde_json::to_vec_pretty(&marker).expect("a marker is numbers and text only");
    fs::write(marker_path, text).map_err(written(MARKER))?;
    Ok(dump)
}

/// The dump of this scale under `parent`: an earlier dump if its content is unchanged, otherwise a new one.
///
/// # Errors
/// As [`generate`].
pub fn cached(parent: &Path, scale: f64) -> Result<Dump, Error> {
    let folder = parent.join(format!("employees-{scale}"));
    match reuse(&folder, scale) {
        Some(dump) => Ok(dump),
        None => generate(&folder, scale),
    }
}

fn reuse(folder: &Path, scale: f64) -> Option<Dump> {
    let marker: Marker = serde_json::from_slice(&fs::read(folder.join(MARKER)).ok()?).ok()?;
    let (bytes, checksum) = measure(folder).ok()?;
    // The script is the cheapest sign of a dump of an older version of this program.
    let script_is_ours = fs::read(folder.join(ENTRY)).ok()? == entry_script(ForeignKeys::With).as_bytes();
    let whole = marker.checksum == format!("{checksum:032x}") && marker.scale == scale && script_is_ours;
    whole.then(|| Dump { folder: folder.to_owned(), rows: marker.rows, bytes, checksum })
}

/// Number and name of each department.
pub(crate) fn departments() -> impl Iterator<Item = (&'static str, &'static str)> {
    names::DEPARTMENTS.into_iter()
}

fn write_departments(folder: &Path) -> io::Result<u64> {
    let (table, files) = TABLES[0];
    let mut file = statements::Statements::create(&folder.join(files[0]), table)?;
    for (number, name) in departments() {
        file.row(format!("'{number}','{name}'").as_bytes())?;
    }
    file.finish().map(|(rows, _)| rows)
}

/// Bytes of all files, and a checksum over their names and content.
fn measure(folder: &Path) -> Result<(u64, u128), Error> {
    let mut hash = Xxh3::new();
    let mut total_bytes = 0;
    let sourced = TABLES.iter().flat_map(|(_, files)| files.iter().copied());
    let mut buffer = vec![0; 1 << 18];
    for name in std::iter::once(ENTRY).chain(sourced) {
        let read = |error| Error::io(format!("reading {name} in {}", folder.display()))(error);
        hash.update(name.as_bytes());
        hash.write_u8(0);
        let mut file = fs::File::open(folder.join(name)).map_err(read)?;
        loop {
            let length = file.read(&mut buffer).map_err(read)?;
            if length == 0 {
                break;
            }
            total_bytes += length as u64;
            hash.update(&buffer[..length]);
        }
    }
    Ok((total_bytes, hash.digest128()))
}
