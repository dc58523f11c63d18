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
    /// Some rows go into tables with an AUTO_INCREMENT column, and give its value.
    pub(super) explicit_ids: bool,
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
        note: "the server generates AUTO_INCREMENT values under a table lock; the load sends such rows in order over one \
               connection, with any value of this variable",
    },
    Setting {
        name: "innodb_autoinc_lock_mode",
        matters: |value, needs| needs.explicit_ids && value == "0",
        note: "InnoDB locks a table with an AUTO_INCREMENT column for each INSERT, also where the dump gives the values: INSERTs \
               into such a table wait for each other; 1 and 2 do not lock it then (the server reads this variable when it starts)",
    },
    Setting {
        name: "innodb_flush_log_at_trx_commit",
        matters: |value, _| value == "1",
        note: "the server flushes every commit to disk; a chunk is a few megabytes of rows",
    },
    Setting {
        name: "sync_binlog",
        matters: |value, _| value == "1",
        note: "the server flushes every commit to the binary log, if the binary log is on",
    },
    Setting {
        name: "log_bin",
        matters: |value, _| value == "1",
        note: "the binary log is on: the server writes all rows a second time, and replicas receive them",
    },
    Setting {
        name: "innodb_log_file_size",
        matters: |value, needs| number(value) < needs.rows_bytes.min(1 << 30),
        note: "the redo log is smaller than the rows: InnoDB stops writes to flush pages; a larger log (1 GiB) loads faster",
    },
    Setting {
        name: "innodb_buffer_pool_size",
        matters: |value, needs| number(value) < needs.rows_bytes,
        note: "the buffer pool is smaller than the rows: InnoDB writes and reads pages again during the load",
    },
    Setting {
        name: "foreign_key_checks",
        matters: |_, needs| needs.checks_foreign_keys,
        note: "the dump keeps foreign key checks on: the server looks up each row in the parent tables, and a child \
               table waits for the rows of its parents",
    },
    Setting {
        name: "local_infile",
        matters: |value, _| value == "0",
        note: "LOAD DATA LOCAL is off: this costs nothing, as no row path of a load needs it",
    },
    Setting {
        name: "max_allowed_packet",
        matters: |value, needs| number(value) < needs.statement_bytes,
        note: "the largest statement of the dump exceeds this limit: the server refuses it (error 1153); raise the limit before the load",
    },
    Setting {
        name: "wsrep_on",
        matters: |value, _| value == "1",
        note: "the server is a node of a Galera cluster: all nodes apply every row",
    },
    Setting {
        name: "read_only",
        matters: |value, _| value == "1",
        note: "the server is read-only: the load needs an account with the right to override this",
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
            "the server does not support COM_STMT_BULK_EXECUTE: the load sends rows in batches with prepared statements".to_owned(),
        );
    }
    Ok(notes)
}
