//! One event: its header, its bytes, and what it says.

use std::sync::Arc;

use super::event_kind::EventKind;
use super::fields::{Fields, Found};
use super::format_description::FormatDescription;
use super::gtid::{GtidEvent, GtidList};
use super::header::EventHeader;
use super::mysql::{GtidSet, MySqlGtid, Payload};
use super::query::QueryEvent;
use super::rows::{RowsEvent, TableMap};
use super::table_maps::KnownMaps;
use super::user_variable::UserVariable;

/// An event of a binary log.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its header.
    pub header: EventHeader,
    /// What it says.
    pub content: Content,
    /// All its bytes, as the source wrote them: header, body, checksum.
    pub bytes: Vec<u8>,
}

/// What an event says, as far as it is read. What is large is boxed: each event moves several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// How the events behind it are laid out.
    Format(Box<FormatDescription>),
    /// Where the log goes on.
    Rotate {
        /// The next file.
        file: Vec<u8>,
        /// The position in it, in bytes.
        position: u64,
    },
    /// MariaDB: a transaction begins.
    Gtid(GtidEvent),
    /// MariaDB: where each domain stood at the beginning of the file.
    GtidList(GtidList),
    /// MySQL: a transaction begins. `None` for one without a GTID.
    MySqlGtid(Option<MySqlGtid>),
    /// MySQL: the transactions before the file.
    PreviousGtids(GtidSet),
    /// A statement.
    Query(Box<QueryEvent>),
    /// The next statement's INSERT_ID (2) or LAST_INSERT_ID (1).
    IntVar {
        /// Which of both.
        kind: u8,
        /// The number.
        value: u64,
    },
    /// The next statement's RAND().
    Rand {
        /// The first seed.
        seed1: u64,
        /// The second seed.
        seed2: u64,
    },
    /// A user variable of the next statement.
    UserVariable(Box<UserVariable>),
    /// A table that rows behind it belong to. One value for all that are alike.
    TableMap(Arc<TableMap>),
    /// Rows.
    Rows(RowsEvent),
    /// The transaction ends: COMMIT of transactional engines.
    Xid(u64),
    /// MySQL: a whole transaction behind its GTID, compressed.
    Payload(Payload),
    /// Nothing that changes data, or of a type that stops the source.
    Other,
}

impl Content {
    /// Reads the bytes between header and checksum.
    pub(super) fn read(
        header: &EventHeader,
        body: &[u8],
        format: &FormatDescription,
        maps: &mut KnownMaps,
    ) -> Result<Content, Found> {
        let mut fields = Fields(body);
        let kind = header.kind;
        Ok(match kind {
            EventKind::ROTATE => {
                let position = fields.u64("the position")?;
                Content::Rotate { file: fields.0.to_vec(), position }
            }
            EventKind::GTID => Content::Gtid(GtidEvent::read(header.server_id, body)?),
            EventKind::GTID_LIST => Content::GtidList(GtidList::read(body)?),
            EventKind::MYSQL_GTID | EventKind::ANONYMOUS_GTID | EventKind::TAGGED_GTID => {
                Content::MySqlGtid(MySqlGtid::read(kind, body)?)
            }
            EventKind::PREVIOUS_GTIDS => Content::PreviousGtids(GtidSet::read(body)?),
            EventKind::QUERY | EventKind::QUERY_COMPRESSED => {
                Content::Query(Box::new(QueryEvent::read(kind, body, format)?))
            }
            EventKind::INTVAR => Content::IntVar { kind: fields.u8("which number")?, value: fields.u64("the number")? },
            EventKind::RAND => Content::Rand { seed1: fields.u64("a seed")?, seed2: fields.u64("a seed")? },
            EventKind::USER_VAR => Content::UserVariable(Box::new(UserVariable::read(body)?)),
            EventKind::TABLE_MAP => Content::TableMap(maps.read(body, format)?),
            EventKind::XID => Content::Xid(fields.u64("the number")?),
            EventKind::TRANSACTION_PAYLOAD => Content::Payload(Payload::read(body)?),
            _ if RowsEvent::is_of(kind) => Content::Rows(RowsEvent::read(kind, body, format)?),
            _ => Content::Other,
        })
    }
}
