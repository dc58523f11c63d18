//! The table and its rows. All of it follows from the number of rows.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::Indexes;
use crate::Error;
use crate::employees::calendar::{self, Calendar};
use crate::employees::random::Random;

/// The schema.
pub(super) const SCHEMA: &str = "csv";
/// The table. mariadb-import takes it from the names of the files.
pub(super) const TABLE: &str = "orders";
/// Files of mariadb-import, which gives each thread a file: the rows are cut before the clock runs.
pub(super) const PARTS: u64 = 4;

/// The same rows, as one file and as [`PARTS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) whole: PathBuf,
    pub(super) parts: Vec<PathBuf>,
    pub(super) count: u64,
}

/// What creates the table.
pub(super) fn definition(indexes: Indexes) -> String {
    let keys = match indexes {
        Indexes::None => "",
        Indexes::Three => {
            ", KEY customer (customer_id), KEY product (product_id, placed_at), KEY placed (placed_at, amount)"
        }
    };
    format!(
        "CREATE TABLE {SCHEMA}.{TABLE} (id INT UNSIGNED NOT NULL PRIMARY KEY, customer_id INT UNSIGNED NOT NULL, product_id INT \
         UNSIGNED NOT NULL, placed_at DATETIME NOT NULL, amount DECIMAL(10,2) NOT NULL, note VARCHAR(100) NOT NULL{keys}) \
         ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci"
    )
}

impl Rows {
    /// The files of so many rows in the folder; written unless they are there.
    pub(super) fn cached(folder: &Path, count: u64) -> Result<Self, Error> {
        let folder = folder.join(format!("csv-{count}"));
        let rows = Self {
            whole: folder.join(format!("{TABLE}.csv")),
            parts: (1..=PARTS).map(|part| folder.join(format!("{TABLE}.{part}.csv"))).collect(),
            count,
        };
        if !folder.exists() {
            // The name appears when all of it is there.
            let unfinished = folder.with_extension("unfinished");
            rows.write(&unfinished).map_err(Error::io(format!("writing {}", unfinished.display())))?;
            fs::rename(&unfinished, &folder).map_err(Error::io(format!("writing {}", folder.display())))?;
        }
        Ok(rows)
    }

    /// Writes all files into a folder.
    fn write(&self, folder: &Path) -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        let create = |path: &Path| {
            let path = folder.join(path.file_name().unwrap_or_default());
            Ok::<_, std::io::Error>(BufWriter::with_capacity(1 << 18, File::create(path)?))
        };
        let (mut random, calendar) = (Random::new(self.count), Calendar::new());
        let mut whole = create(&self.whole)?;
        let rows_of_part = self.count.div_ceil(PARTS);
        let mut ids = 1..=self.count;
        let mut line = String::new();
        for part in &self.parts {
            let mut part = create(part)?;
            for id in ids.by_ref().take(rows_of_part as usize) {
                line.clear();
                write_row(&mut line, id, &mut random, &calendar);
                whole.write_all(line.as_bytes())?;
                part.write_all(line.as_bytes())?;
            }
            part.flush()?;
        }
        whole.flush()
    }
}

/// A line of RFC 4180. Some of the texts hold commas and quotes.
fn write_row(line: &mut String, id: u64, random: &mut Random, calendar: &Calendar) {
    const GOODS: [&str; 8] = [
        "a chair, painted",
        "a table 90\"\" wide",
        "lamp",
        "six glasses, blue",
        "tea",
        "rope 12 m",
        "a \"\"small\"\" box",
        "paper",
    ];
    let (customer, product) = (random.below(200_000), random.below(50_000));
    let date = String::from_utf8_lossy(calendar.text(calendar::day(2000, 1, 1) + random.below(3_650))).into_owned();
    let second = random.below(86_400);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let cents = random.between(100, 500_000);
    let (euros, cents) = (cents / 100, cents % 100);
    let goods = random.pick(&GOODS);
    let number = random.below(1_000_000);
    let _ = writeln!(
        line,
        "{id},{customer},{product},{date} {hour:02}:{minute:02}:{second:02},{euros}.{cents:02},\"{goods}, \
         no. {number}\""
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_whole_file_and_each_time_the_same() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let rows = Rows::cached(one.path(), 1_003).unwrap();
        let whole = fs::read_to_string(&rows.whole).unwrap();
        let parts: String = rows.parts.iter().map(|part| fs::read_to_string(part).unwrap()).collect();
        assert_eq!(parts, whole);
        assert_eq!(whole.lines().count(), 1_003);
        assert_eq!(fs::read_to_string(Rows::cached(other.path(), 1_003).unwrap().whole).unwrap(), whole);
        assert_eq!(Rows::cached(one.path(), 1_003).unwrap(), rows);
        assert!(whole.starts_with("1,") && whole.contains("90\"\" wide, no. "), "{whole}");
    }
}
