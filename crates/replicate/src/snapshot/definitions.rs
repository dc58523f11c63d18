//! How a definition is made on the target: the statements, as they are sent.

use hortator_load::lexer::{Charset, Dialect};
use hortator_mysql::{quote_identifier, quote_string};

use super::inventory::Definition;
use super::objects::Kind;
use crate::event_definition::{definer, disable_event};

/// The session in which definitions are made. A TIMESTAMP has no default that its definition does not show.
pub(super) const SESSION: [&str; 4] = [
    "SET NAMES utf8mb4",
    "SET SESSION TRANSACTION READ WRITE",
    "SET SESSION foreign_key_checks = 0, time_zone = '+00:00', max_statement_time = 0, sql_big_selects = 1, \
     sql_safe_updates = 0, alter_algorithm = 'DEFAULT', wait_timeout = 31536000, autocommit = 1, completion_type = 0",
    BASE_MODE,
];
/// What a target may not know, or not allow.
pub(super) const OPTIONAL_SESSION: [&str; 5] = [
    // A source that does not name a collation means the default one of the character set.
    "SET SESSION character_set_collations = ''",
    "SET SESSION explicit_defaults_for_timestamp = 1",
    "SET SESSION binlog_format = ROW",
    "SET SESSION system_versioning_alter_history = KEEP",
    // A node of a cluster reads what others have committed before.
    "SET SESSION wsrep_sync_wait = 1",
];
/// The mode between two definitions.
pub(super) const BASE_MODE: &str = "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'";

/// The statements for a definition, and which of them makes it.
pub(super) fn statements(definition: &Definition) -> (Vec<Vec<u8>>, usize) {
    let Definition { object, create, default_schema, session, time_zone, created_s, values, shared: _ } = definition;
    let mut before = Vec::new();
    let mut behind: Vec<Vec<u8>> = Vec::new();
    if !default_schema.is_empty() {
        before.push([b"USE ".as_slice(), &quote_identifier(default_schema)].concat());
    }
    if let Some([mode, charset, collation]) = session {
        let set = [
            b"SET SESSION sql_mode = ".as_slice(),
            &quote_string(mode),
            b", collation_connection = ",
            &quote_string(collation),
            b", character_set_client = ",
            &quote_string(charset),
        ];
        before.push(set.concat());
        behind.extend([b"SET NAMES utf8mb4".to_vec(), BASE_MODE.into()]);
    }
    if let Some(zone) = time_zone {
        before.push([b"SET SESSION time_zone = ".as_slice(), &quote_string(zone)].concat());
        behind.push(b"SET SESSION time_zone = '+00:00'".to_vec());
    }
    if let Some(created_s) = created_s {
        before.push(format!("SET SESSION timestamp = {created_s}").into_bytes());
        behind.push(b"SET SESSION timestamp = DEFAULT".to_vec());
    }
    let create_index = before.len();
    let mut all = before;
    all.push(create.clone());
    if object.kind == Kind::Event {
        // In its session: ALTER EVENT replaces its character set and collation by those of the session.
        let definer = definer(create, &dialect(definition, u32::MAX));
        behind.insert(0, disable_event(&object.quoted(), definer));
    }
    if object.kind == Kind::Sequence {
        let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        behind.push(
            [b"INSERT INTO ".as_slice(), &object.quoted(), b" VALUES (", &values.join(&b", "[..]), b")"].concat(),
        );
    }
    all.extend(behind);
    (all, create_index)
}

/// How a server of this version reads a definition, in the session that it is for.
pub(super) fn dialect(definition: &Definition, server_version: u32) -> Dialect {
    let (mode, charset) = match &definition.session {
        Some([mode, charset, _]) => (&mode[..], &charset[..]),
        None => (&b""[..], &b"utf8mb4"[..]),
    };
    let has_mode = |name: &[u8]| mode.split(|byte| *byte == b',').any(|mode| mode == name);
    Dialect {
        no_backslash_escapes: has_mode(b"NO_BACKSLASH_ESCAPES"),
        ansi_quotes: has_mode(b"ANSI_QUOTES"),
        brackets: has_mode(b"MSSQL"),
        charset: Charset::from_name(charset),
        ..Dialect::mariadb(server_version)
    }
}
