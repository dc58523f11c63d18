//! The text that `mariadb-dump` 10.11 writes around rows.

use crate::Error;

use super::super::script::Script;
use super::tables::Row;

/// An INSERT ends with the row that would bring it beyond this, as with the tool's own net_buffer_length.
const INSERT_LIMIT_BYTES: usize = 1_046_528;

const HEADER: &str = "/*M!999999\\- enable the sandbox mode */ \n\
    -- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)\n--\n\
    -- Host: localhost    Database: bench\n-- ------------------------------------------------------\n\
    -- Server version\t10.11.19-MariaDB\n\n\
    /*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;\n\
    /*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;\n\
    /*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;\n\
    /*!40101 SET NAMES utf8mb4 */;\n\
    /*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;\n\
    /*!40103 SET TIME_ZONE='+00:00' */;\n\
    /*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;\n\
    /*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;\n\
    /*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;\n\
    /*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;\n";

const FOOTER: &str = "/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;\n\n\
    /*!40101 SET SQL_MODE=@OLD_SQL_MODE */;\n\
    /*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;\n\
    /*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;\n\
    /*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;\n\
    /*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;\n\
    /*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;\n\
    /*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;\n\n-- Dump completed\n";

/// The tool's options that change how it writes rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// How an INSERT begins: another one with `--insert-ignore` and `--replace`.
    pub(super) verb: &'static str,
    /// The list of columns that `--complete-insert` adds; else empty.
    pub(super) columns: &'static str,
    /// Several rows in one INSERT, unless `--skip-extended-insert`.
    pub(super) extended: bool,
    /// `--no-autocommit`.
    pub(super) no_autocommit: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { verb: "INSERT INTO", columns: "", extended: true, no_autocommit: false }
    }
}

/// What stands before the first table.
pub(super) fn header(script: &mut Script) -> Result<(), Error> {
    script.lines(HEADER)
}

/// What stands behind the last one.
pub(super) fn footer(script: &mut Script) -> Result<(), Error> {
    script.lines(FOOTER)
}

/// One table: it is dropped and created, then filled with the rows of these keys.
pub(super) fn table(
    script: &mut Script,
    options: Options,
    (name, definition): (&str, &str),
    keys: impl Iterator<Item = u64>,
    row: Row,
) -> Result<(), Error> {
    script.lines(&format!(
        "\n--\n-- Table structure for table `{name}`\n--\n\nDROP TABLE IF EXISTS `{name}`;\n\
         /*!40101 SET @saved_cs_client     = @@character_set_client */;\n\
         /*!40101 SET character_set_client = utf8mb4 */;\n{definition};\n\
         /*!40101 SET character_set_client = @saved_cs_client */;\n"
    ))?;
    data(script, options, name, keys, row)
}

/// The part of [`table`] that fills it: all of it with `--no-create-info`.
pub(super) fn data(
    script: &mut Script,
    options: Options,
    name: &str,
    keys: impl Iterator<Item = u64>,
    row: Row,
) -> Result<(), Error> {
    script.lines(&format!("\n--\n-- Dumping data for table `{name}`\n--\n\n"))?;
    if options.no_autocommit {
        script.text("SET @OLD_AUTOCOMMIT=@@AUTOCOMMIT, @@AUTOCOMMIT=0;\n")?;
    }
    script.lines(&format!("LOCK TABLES `{name}` WRITE;\n/*!40000 ALTER TABLE `{name}` DISABLE KEYS */;\n"))?;
    inserts(script, options, name, keys, row)?;
    script.lines(&format!("/*!40000 ALTER TABLE `{name}` ENABLE KEYS */;\nUNLOCK TABLES;\n"))?;
    if options.no_autocommit {
        script.lines("COMMIT;\nSET AUTOCOMMIT=@OLD_AUTOCOMMIT;\n")?;
    }
    Ok(())
}

/// The rows of these keys, in as many INSERTs as they take.
fn inserts(
    script: &mut Script,
    options: Options,
    name: &str,
    keys: impl Iterator<Item = u64>,
    row: Row,
) -> Result<(), Error> {
    let columns = if options.columns.is_empty() { String::new() } else { format!(" {}", options.columns) };
    let start = format!("{} `{name}`{columns} VALUES", options.verb);
    let mut insert: Vec<u8> = Vec::new();
    for key in keys {
        let values = row(&mut script.random, key);
        if !insert.is_empty() && (!options.extended || insert.len() + values.len() > INSERT_LIMIT_BYTES) {
            script.statement(&insert)?;
            insert.clear();
        }
        if insert.is_empty() {
            insert.extend_from_slice(start.as_bytes());
            insert.push(if options.extended { b'\n' } else { b' ' });
        } else {
            insert.extend_from_slice(b",\n");
        }
        insert.push(b'(');
        insert.extend_from_slice(&values);
        insert.push(b')');
    }
    if insert.is_empty() { Ok(()) } else { script.statement(&insert) }
}
