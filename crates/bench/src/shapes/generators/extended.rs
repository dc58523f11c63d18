//! Dumps of INSERTs with many rows: few statements, much data.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};

use crate::employees::random::Random;
use crate::{Error, employees};

use super::super::script::Script;
use super::mariadb_dump::{self, Options, footer, header};
use super::tables::{ORDER_COLUMNS, Row, order, order_definition};

/// The smallest employees dump that can be made.
const EMPLOYEES_SCALE_MIN: f64 = 0.000_2;
/// Of so many rows, one is there before the dump is loaded.
const PRESENT_INTERVAL: usize = 100;
/// A file's content is up to this long.
const CONTENT_LIMIT_BYTES: u64 = 60_000;

/// The employees dump, with the files that its script sources written in their places.
pub(in super::super) fn employees(script: &mut Script) -> Result<(), Error> {
    let scale = (0.15 * script.scale()).max(EMPLOYEES_SCALE_MIN);
    let folder = script.path().with_extension("files");
    let dump = employees::generate(&folder, scale)?;
    for line in lines(&dump.entry())? {
        let line = line?;
        let file = line.strip_prefix(b"source ".as_slice()).and_then(|rest| rest.strip_suffix(b" ;\n".as_slice()));
        match file {
            None => script.text(line)?,
            Some(file) => {
                for line in lines(&folder.join(String::from_utf8_lossy(file).as_ref()))? {
                    script.text(line?)?;
                }
            }
        }
    }
    fs::remove_dir_all(&folder).map_err(Error::io(format!("removing {}", folder.display())))
}

/// A file's lines, with their newlines.
fn lines(path: &std::path::Path) -> Result<impl Iterator<Item = Result<Vec<u8>, Error>>, Error> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(Error::io(format!("opening {name}")))?;
    let lines = BufReader::with_capacity(1 << 18, file).split(b'\n');
    Ok(lines.map(move |line| {
        let mut line = line.map_err(Error::io(format!("reading {name}")))?;
        line.push(b'\n');
        Ok(line)
    }))
}

/// Four tables with the tool's default options.
pub(in super::super) fn default_options(script: &mut Script) -> Result<(), Error> {
    orders(script, Options::default(), &[160_000, 80_000, 40_000, 20_000])
}

/// Tables of different sizes with `--no-autocommit`.
pub(in super::super) fn no_autocommit(script: &mut Script) -> Result<(), Error> {
    let options = Options { no_autocommit: true, ..Options::default() };
    orders(script, options, &[10_000, 100_000, 2_000, 60_000, 30_000, 500, 20_000, 10_000])
}

/// `--complete-insert`.
pub(in super::super) fn complete_insert(script: &mut Script) -> Result<(), Error> {
    orders(script, Options { columns: ORDER_COLUMNS, ..Options::default() }, &[160_000, 80_000, 40_000])
}

/// `--skip-extended-insert`: one row in each INSERT, each its own transaction.
pub(in super::super) fn skip_extended_insert(script: &mut Script) -> Result<(), Error> {
    orders(script, Options { extended: false, ..Options::default() }, &[2_500, 1_500, 1_000])
}

/// `--insert-ignore`, into tables that are not empty.
pub(in super::super) fn insert_ignore(script: &mut Script) -> Result<(), Error> {
    repeated_orders(script, "INSERT IGNORE INTO")
}

/// `--replace`, into tables that are not empty.
pub(in super::super) fn replace(script: &mut Script) -> Result<(), Error> {
    repeated_orders(script, "REPLACE INTO")
}

fn orders(script: &mut Script, options: Options, sizes: &[u64]) -> Result<(), Error> {
    header(script)?;
    for (index, size) in sizes.iter().enumerate() {
        let name = format!("orders_{}", index + 1);
        let keys = 1..=script.count(*size);
        mariadb_dump::table(script, options, (&name, &order_definition(&name, "InnoDB")), keys, order)?;
    }
    footer(script)
}

/// `--no-create-info` into tables that hold some of the rows already. (A key that repeats within the dump is another
/// matter: an INSERT IGNORE into an empty table then leaves it empty where unique_checks is 0, in MariaDB 10.11.)
fn repeated_orders(script: &mut Script, verb: &'static str) -> Result<(), Error> {
    let sizes = [("orders_1", script.count(160_000)), ("orders_2", script.count(80_000))];
    for (name, size) in sizes {
        script.statement(order_definition(name, "InnoDB"))?;
        let keys = (1..=size).step_by(PRESENT_INTERVAL);
        mariadb_dump::data(script, Options::default(), name, keys, order)?;
    }
    header(script)?;
    for (name, size) in sizes {
        mariadb_dump::data(script, Options { verb, ..Options::default() }, name, 1..=size, order)?;
    }
    footer(script)
}

/// Two tables of files: one with `--hex-blob`, one with escapes.
pub(in super::super) fn wide_rows(script: &mut Script) -> Result<(), Error> {
    header(script)?;
    let contents: [(&str, Row); 2] = [("files_hex", hex_file), ("files_escaped", escaped_file)];
    for (name, row) in contents {
        let definition = format!(
            "CREATE TABLE `{name}` (\n  `id` int(11) NOT NULL AUTO_INCREMENT,\n  `name` varchar(100) NOT NULL,\n  \
             `content` longblob NOT NULL,\n  PRIMARY KEY (`id`)\n\
             ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci"
        );
        let keys = 1..=script.count(1_000);
        mariadb_dump::table(script, Options::default(), (name, &definition), keys, row)?;
    }
    footer(script)
}

fn content(random: &mut Random) -> Vec<u8> {
    let length = random.between(100, CONTENT_LIMIT_BYTES) as usize;
    let mut content = Vec::with_capacity(length + 8);
    while content.len() < length {
        content.extend_from_slice(&random.next_u64().to_le_bytes());
    }
    content.truncate(length);
    content
}

fn hex_file(random: &mut Random, id: u64) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut values = format!("{id},'file_{id}.bin',0x").into_bytes();
    for byte in content(random) {
        values.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    values
}

fn escaped_file(random: &mut Random, id: u64) -> Vec<u8> {
    let mut values = format!("{id},'file_{id}.bin','").into_bytes();
    for byte in content(random) {
        match byte {
            0 => values.extend(b"\\0"),
            b'\n' => values.extend(b"\\n"),
            b'\r' => values.extend(b"\\r"),
            0x1a => values.extend(b"\\Z"),
            b'\'' | b'"' | b'\\' => values.extend([b'\\', byte]),
            _ => values.push(byte),
        }
    }
    values.push(b'\'');
    values
}

/// INSERTs of ten rows, into eight tables in turn.
pub(in super::super) fn small_inserts(script: &mut Script) -> Result<(), Error> {
    const TABLES: u64 = 8;
    const ROWS: u64 = 10;
    for table in 0..TABLES {
        script.statement(order_definition(&format!("orders_{table}"), "InnoDB"))?;
    }
    for index in 0..script.count(3_000) {
        let mut insert = format!("INSERT INTO `orders_{}` VALUES ", index % TABLES).into_bytes();
        let first = index / TABLES * ROWS;
        for id in first + 1..=first + ROWS {
            if id > first + 1 {
                insert.push(b',');
            }
            insert.push(b'(');
            insert.extend(order(&mut script.random, id));
            insert.push(b')');
        }
        script.statement(insert)?;
    }
    Ok(())
}
