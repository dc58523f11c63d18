//! The table and its dump. All of it follows from the number of rows.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::employees::random::Random;

/// The schema that the dump creates.
pub(super) const SCHEMA: &str = "auto_increment";
/// Rows of a statement, about 130 KB.
const STATEMENT_ROWS: u64 = 1_000;
/// Different names.
const NAMES: u64 = 200_000;

/// A dump on disk.
#[derive(Debug)]
pub(super) struct Dump {
    pub(super) path: PathBuf,
    /// What creates schema and table.
    pub(super) definitions: Vec<String>,
    pub(super) rows: u64,
}

/// Schema and table: an integer key, two short texts, two integers; four secondary indexes, one of them on random text.
fn definitions(is_auto_increment: bool) -> Vec<String> {
    let attribute = if is_auto_increment { " AUTO_INCREMENT" } else { "" };
    vec![
        format!("CREATE DATABASE {SCHEMA}"),
        format!("USE {SCHEMA}"),
        format!(
            "CREATE TABLE page (id INT UNSIGNED NOT NULL{attribute} PRIMARY KEY, title VARCHAR(40) NOT NULL, digest CHAR(32) NOT \
             NULL, owner INT UNSIGNED NOT NULL, touched INT UNSIGNED NOT NULL, KEY title (title), KEY digest (digest), KEY \
             owner (owner, touched), KEY touched (touched)) ENGINE=InnoDB DEFAULT CHARSET=latin1"
        ),
    ]
}

impl Dump {
    /// The dump of this size in the folder; written unless it is there.
    pub(super) fn cached(folder: &Path, rows: u64, is_auto_increment: bool) -> Result<Self, Error> {
        let kind = if is_auto_increment { "with" } else { "without" };
        let path = folder.join(format!("auto-increment-{kind}-{rows}.sql"));
        let definitions = definitions(is_auto_increment);
        if !path.exists() {
            // The name appears when all of it is there.
            let unfinished = path.with_extension("unfinished");
            write(&unfinished, &definitions, rows).map_err(Error::io(format!("writing {}", unfinished.display())))?;
            fs::rename(&unfinished, &path).map_err(Error::io(format!("writing {}", path.display())))?;
        }
        Ok(Self { path, definitions, rows })
    }

    pub(super) fn open(&self) -> Result<File, Error> {
        File::open(&self.path).map_err(Error::io(format!("reading {}", self.path.display())))
    }
}

fn write(path: &Path, definitions: &[String], rows: u64) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for definition in definitions {
        writeln!(file, "{definition};")?;
    }
    let mut random = Random::new(rows);
    let mut statement = String::new();
    for first in (1..=rows).step_by(STATEMENT_ROWS as usize) {
        statement.clear();
        statement.push_str("INSERT INTO page VALUES ");
        for id in first..(first + STATEMENT_ROWS).min(rows + 1) {
            let comma = if id == first { "" } else { "," };
            let (name, owner, touched) = (random.below(NAMES), random.below(rows), random.below(1 << 31));
            let digest = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
            let _ = write!(statement, "{comma}({id},'User page of {name:06}','{digest:032x}',{owner},{touched})");
        }
        writeln!(file, "{statement};")?;
    }
    file.flush()
}
