//! A private server whose log is read.

use std::path::Path;

use hortator_mysql::Connection;
use hortator_replicate::binlog::{BinlogFile, Event, EventReader};
use hortator_sandbox::{Builder, Temporary};

/// Starts a server that writes a binary log.
pub fn source(settings: &[(&str, &str)]) -> Temporary {
    let builder = Builder::standalone().set("log_bin", "bin").set("binlog_format", "ROW");
    let builder = settings.iter().fold(builder, |builder, (name, value)| builder.set(*name, *value));
    builder.start_temporary().expect("a private server starts")
}

/// Runs statements, all of which must succeed.
pub fn run(connection: &mut Connection, statements: &[&str]) {
    for statement in statements {
        connection.execute(statement.as_bytes()).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

/// Rows of texts.
pub fn texts(connection: &mut Connection, query: &str) -> Vec<Vec<String>> {
    let rows = connection.fetch(query.as_bytes()).unwrap();
    let text = |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
    rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}

/// The names of the log's files.
pub fn files(connection: &mut Connection) -> Vec<String> {
    texts(connection, "SHOW BINARY LOGS").into_iter().map(|mut row| row.remove(0)).collect()
}

/// All events of a file.
pub fn read_file(path: &Path) -> Vec<Event> {
    let mut file = BinlogFile::open(path).unwrap();
    let mut reader = EventReader::default();
    let mut events = Vec::new();
    while let Some(bytes) = file.next_event().unwrap() {
        events.push(reader.read(bytes).unwrap());
    }
    events
}
