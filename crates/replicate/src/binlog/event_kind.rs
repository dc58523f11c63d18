//! The types of events, and what is done with each.

use std::fmt;

/// The number of a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventKind(pub u8);

/// What is done with events of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handling {
    /// It says how the others are read.
    Format,
    /// It says where the log goes on.
    Rotation,
    /// It begins a transaction.
    Gtid,
    /// A statement, or what one needs: a barrier for the tables that it names.
    Statement,
    /// It belongs to row events.
    Rows,
    /// It ends a transaction.
    Commit,
    /// A compressed transaction.
    Payload,
    /// It changes no data.
    NoData,
    /// It stops the source; the text says why, and what to do.
    Refused(&'static str),
}

/// One type.
#[derive(Clone, Copy, Debug)]
pub struct KindRow {
    /// Its number.
    pub kind: EventKind,
    /// The server's name for it, as SHOW BINLOG EVENTS prints it.
    pub name: &'static str,
    /// What is done with it.
    pub handling: Handling,
}

const OLD: Handling = Handling::Refused("only servers older than 5.1 write it: dump and load their data once");
const LOAD: Handling = Handling::Refused(
    "LOAD DATA in statement format: set binlog_format=ROW on the source, and copy the table that it loads",
);
const INCIDENT: Handling =
    Handling::Refused("the source has lost events: compare its data with the target's, and start behind this position");
const XA: Handling =
    Handling::Refused("XA transactions are not supported: finish them on the source, and copy their tables");
const ENCRYPTED: Handling =
    Handling::Refused("the file is encrypted: read it from the server, which decrypts it, or with mariadb-binlog");

macro_rules! kinds {
    ($($constant:ident = $number:literal, $name:literal, $handling:expr;)*) => {
        impl EventKind {
            $(#[doc = concat!("`", $name, "`.")] pub const $constant: EventKind = EventKind($number);)*
        }

        /// All types.
        pub const EVENT_KINDS: &[KindRow] =
            &[$(KindRow { kind: EventKind::$constant, name: $name, handling: $handling }),*];
    };
}

kinds! {
    START_V3 = 1, "Start", OLD;
    QUERY = 2, "Query", Handling::Statement;
    STOP = 3, "Stop", Handling::NoData;
    ROTATE = 4, "Rotate", Handling::Rotation;
    INTVAR = 5, "Intvar", Handling::Statement;
    LOAD_V3 = 6, "Load", OLD;
    CREATE_FILE = 8, "Create_file", OLD;
    APPEND_BLOCK = 9, "Append_block", LOAD;
    EXEC_LOAD = 10, "Exec_load", OLD;
    DELETE_FILE = 11, "Delete_file", LOAD;
    NEW_LOAD = 12, "New_load", OLD;
    RAND = 13, "RAND", Handling::Statement;
    USER_VAR = 14, "User var", Handling::Statement;
    FORMAT_DESCRIPTION = 15, "Format_desc", Handling::Format;
    XID = 16, "Xid", Handling::Commit;
    BEGIN_LOAD_QUERY = 17, "Begin_load_query", LOAD;
    EXECUTE_LOAD_QUERY = 18, "Execute_load_query", LOAD;
    TABLE_MAP = 19, "Table_map", Handling::Rows;
    OLD_WRITE_ROWS = 20, "Write_rows_event_old", OLD;
    OLD_UPDATE_ROWS = 21, "Update_rows_event_old", OLD;
    OLD_DELETE_ROWS = 22, "Delete_rows_event_old", OLD;
    WRITE_ROWS_V1 = 23, "Write_rows_v1", Handling::Rows;
    UPDATE_ROWS_V1 = 24, "Update_rows_v1", Handling::Rows;
    DELETE_ROWS_V1 = 25, "Delete_rows_v1", Handling::Rows;
    INCIDENT_EVENT = 26, "Incident", INCIDENT;
    HEARTBEAT = 27, "Heartbeat", Handling::NoData;
    IGNORABLE = 28, "Ignorable", Handling::NoData;
    ROWS_QUERY = 29, "Rows_query", Handling::NoData;
    WRITE_ROWS = 30, "Write_rows", Handling::Rows;
    UPDATE_ROWS = 31, "Update_rows", Handling::Rows;
    DELETE_ROWS = 32, "Delete_rows", Handling::Rows;
    MYSQL_GTID = 33, "Gtid", Handling::Gtid;
    ANONYMOUS_GTID = 34, "Anonymous_Gtid", Handling::Gtid;
    PREVIOUS_GTIDS = 35, "Previous_gtids", Handling::NoData;
    TRANSACTION_CONTEXT = 36, "Transaction_context", Handling::NoData;
    VIEW_CHANGE = 37, "View_change", Handling::NoData;
    XA_PREPARE = 38, "XA_prepare", XA;
    PARTIAL_UPDATE_ROWS = 39, "Update_rows_partial", Handling::Rows;
    TRANSACTION_PAYLOAD = 40, "Transaction_payload", Handling::Payload;
    HEARTBEAT_V2 = 41, "Heartbeat_v2", Handling::NoData;
    TAGGED_GTID = 42, "Gtid_tagged", Handling::Gtid;
    ANNOTATE_ROWS = 160, "Annotate_rows", Handling::NoData;
    BINLOG_CHECKPOINT = 161, "Binlog_checkpoint", Handling::NoData;
    GTID = 162, "Gtid", Handling::Gtid;
    GTID_LIST = 163, "Gtid_list", Handling::NoData;
    START_ENCRYPTION = 164, "Start_encryption", ENCRYPTED;
    QUERY_COMPRESSED = 165, "Query_compressed", Handling::Statement;
    WRITE_ROWS_COMPRESSED_V1 = 166, "Write_rows_compressed_v1", Handling::Rows;
    UPDATE_ROWS_COMPRESSED_V1 = 167, "Update_rows_compressed_v1", Handling::Rows;
    DELETE_ROWS_COMPRESSED_V1 = 168, "Delete_rows_compressed_v1", Handling::Rows;
    WRITE_ROWS_COMPRESSED = 169, "Write_rows_compressed", Handling::Rows;
    UPDATE_ROWS_COMPRESSED = 170, "Update_rows_compressed", Handling::Rows;
    DELETE_ROWS_COMPRESSED = 171, "Delete_rows_compressed", Handling::Rows;
}

/// The row of each number in the table; one behind its end for an unknown type. Each event is looked up several times.
const ROWS: [u8; 256] = {
    let mut rows = [u8::MAX; 256];
    let mut row = 0;
    while row < EVENT_KINDS.len() {
        rows[EVENT_KINDS[row].kind.0 as usize] = row as u8;
        row += 1;
    }
    rows
};

impl EventKind {
    /// Whether the source only says that it is there.
    #[must_use]
    pub fn is_heartbeat(self) -> bool {
        self == EventKind::HEARTBEAT || self == EventKind::HEARTBEAT_V2
    }

    /// Its row in the table; `None` for an unknown type.
    #[must_use]
    pub fn row(self) -> Option<&'static KindRow> {
        EVENT_KINDS.get(usize::from(ROWS[usize::from(self.0)]))
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row() {
            Some(row) => f.write_str(row.name),
            None => write!(f, "an event of type {}", self.0),
        }
    }
}

impl fmt::Debug for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
