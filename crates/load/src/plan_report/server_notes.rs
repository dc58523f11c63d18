//! What on a server slows a load, or will surprise who runs one: a table of settings and what to think of them.

use hortator_mysql::{Connection, Error};

/// What the dump needs, as far as its first reading tells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    /// The largest statement.
    pub(super) statement_bytes: u64,
    /// Text of all rows.
    pub(super) rows_bytes: u64,
    /// Rows come while foreign keys are checked.
    pub(super) checks_foreign_keys: bool,
    /// Some rows leave their AUTO_INCREMENT value to the server, or may.
    pub(super) implicit_ids: bool,
}

/// A setting and when it is worth a word.
struct Setting {
    name: &'static str,
    matters: fn(value: &str, needs: &Needs) -> bool,
    note: &'static str,
}

fn number(value: &str) -> u64 {
    value.parse().unwrap_or(u64::MAX)
}

/// All settings that are looked at. Names that a server does not know are passed over.
const SETTINGS: &[Setting] = &[
    Setting {
        name: "innodb_autoinc_lock_mode",
        matters: |value, needs| needs.implicit_ids && value != "2",
        note: "rows without an id of their own are numbered under a lock on the table: such tables load in order, on one \
               connection (with 2 they would too, since the numbers must be the dump's)",
    },
    Setting {
        name: "innodb_flush_log_at_trx_commit",
        matters: |value, _| value == "1",
        note: "every commit is flushed to disk, a few megabytes of rows at a time",
    },
    Setting {
        name: "sync_binlog",
        matters: |value, _| value == "1",
        note: "every commit is flushed to the binary log too, where that is on",
    },
    Setting {
        name: "log_bin",
        matters: |value, _| value == "1",
        note: "the binary log is on: all rows are written once more, and replicas get them",
    },
    Setting {
        name: "innodb_log_file_size",
        matters: |value, needs| number(value) < needs.rows_bytes.min(1 << 30),
        note: "the redo log is smaller than the rows: InnoDB will stop to write pages back; more (1 GiB) loads faster",
    },
    Setting {
        name: "innodb_buffer_pool_size",
        matters: |value, needs| number(value) < needs.rows_bytes,
        note: "the buffer pool is smaller than the rows: pages will be written and read again during the load",
    },
    Setting {
        name: "foreign_key_checks",
        matters: |_, needs| needs.checks_foreign_keys,
        note: "the dump leaves foreign keys checked: every row is looked up in its parents, and a child table waits for \
               its parents' rows",
    },
    Setting {
        name: "local_infile",
        matters: |value, _| value == "0",
        note: "LOAD DATA LOCAL is off: this costs nothing, as no row path of a load needs it",
    },
    Setting {
        name: "max_allowed_packet",
        matters: |value, needs| number(value) < needs.statement_bytes,
        note: "the dump's largest statement is larger than this: the server will refuse it (error 1153); raise it before",
    },
    Setting {
        name: "wsrep_on",
        matters: |value, _| value == "1",
        note: "the server is a node of a Galera cluster: every row is applied on all nodes before the load goes on",
    },
    Setting {
        name: "read_only",
        matters: |value, _| value == "1",
        note: "the server is read-only: only accounts with the right to override that can load",
    },
];

/// The settings of this server that matter, each with its value and what follows from it.
pub(super) fn server_notes(connection: &mut Connection, needs: &Needs) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    for setting in SETTINGS {
        let rows = match connection.fetch(format!("SELECT CAST(@@{} AS CHAR)", setting.name).as_bytes()) {
            Ok(rows) => rows,
            Err(Error::Server(_)) => continue,
            Err(error) => return Err(error),
        };
        let value = rows.first().and_then(|row| row.first()?.as_deref()).unwrap_or_default();
        let value = String::from_utf8_lossy(value);
        if (setting.matters)(&value, needs) {
            notes.push(format!("{} = {value}: {}", setting.name, setting.note));
        }
    }
    if !connection.supports_bulk() {
        notes.push(
            "the server takes no arrays of rows (COM_STMT_BULK_EXECUTE): rows travel by prepared statements".to_owned(),
        );
    }
    Ok(notes)
}
