//! The session state that a statement of the source needs: read from its event, written as SETs for the target.
//!
//! Source: MariaDB knowledge base, QUERY_EVENT; MySQL internals, "Query Event", status variables.

use hortator_load::lexer::tokens;
use hortator_mysql::quote_identifier;

use super::collations::Collations;
use super::invoker::with_any_account;
use super::refusal::{alters_schema, refusal, refusal_without_schema};
use super::source_collations;
use crate::binlog::{Content, Event, Fields, QueryEvent, UserValue};

/// Variables of the first status variable: the bit of each, and whether it is set where the variable is on. Seen with
/// MariaDB 10.11 and `mariadb-binlog`; MySQL never sets those that it does not know.
const FLAGS: [(&str, u32, bool); 6] = [
    ("sql_auto_is_null", 1 << 14, true),
    ("check_constraint_checks", 1 << 15, false),
    // Servers that do not write it, before 10.10, have it off by default.
    ("explicit_defaults_for_timestamp", 1 << 24, true),
    ("foreign_key_checks", 1 << 26, false),
    ("unique_checks", 1 << 27, false),
    ("sql_if_exists", 1 << 28, true),
];

/// Only MariaDB 10.11 and later has this one.
const INSERT_HISTORY: (&str, u32) = ("system_versioning_insert_history", 1 << 30);

/// A source writes these only where they are not so.
const DEFAULTS: [(&str, &str); 3] =
    [("auto_increment_increment", "1"), ("auto_increment_offset", "1"), ("lc_time_names", "0")];

/// What the values of events are written as.
const LAST_INSERT_ID: u8 = 1;
const INSERT_ID: u8 = 2;

/// The statements that make the target's session that of the source at this statement. `before` are the values that stand
/// before the statement in its transaction: numbers, seeds, user variables. `target_version` is as in version comments;
/// `source_takes` says whether the source has `character_set_collations`.
///
/// # Errors
/// What cannot be carried over.
pub(super) fn settings(
    event: &Event,
    query: &QueryEvent,
    before: &[Event],
    collations: &Collations,
    target_version: u32,
    source_takes: bool,
) -> Result<Vec<Vec<u8>>, String> {
    if let Some(reason) = &query.refused {
        return Err(reason.clone());
    }
    if let Some(reason) = refusal(&with_any_account(query), &query.dialect()) {
        return Err(reason.to_owned());
    }
    if query.schema.is_empty()
        && let Some(reason) = refusal_without_schema(&query.text, &query.dialect())
    {
        return Err(reason.to_owned());
    }
    let mut assigned = assignments(&query.status_variables)?;
    assigned.retain(|(name, _)| name != ALTER_PART && name != COLLATIONS && !INVOKER.contains(&name.as_str()));
    let (micros, mut named): (Vec<_>, Vec<_>) = assigned.drain(..).partition(|(name, _)| name == MICROSECONDS);
    let micros = micros.first().map_or("0", |(_, value)| value.as_str());
    let mut texts = Vec::new();
    // Names in events are in UTF-8; the session is in the character set of the statement before.
    texts.push(b"SET NAMES utf8mb4".to_vec());
    // CREATE and DROP DATABASE need none, and it may not be there. ALTER DATABASE may mean it.
    let needs_schema = !event.header.needs_no_schema() || alters_schema(query);
    if !query.schema.is_empty() && needs_schema {
        texts.push([b"USE ".as_slice(), &quote_identifier(&query.schema)].concat());
    }
    let timestamp = format!("timestamp = {}.{micros:0>6}", event.header.timestamp_s);
    let thread = format!("pseudo_thread_id = {}", query.thread_id);
    for (name, value) in &mut named {
        if name == "character_set_client"
            && let Some((charset, _)) = value.parse().ok().and_then(|id| collations.names(id))
        {
            *value = format!("'{charset}'");
        }
    }
    let assign = |(name, value): &(String, String)| format!("{name} = {value}");
    let (new, named): (Vec<_>, Vec<_>) = named.into_iter().partition(|(name, _)| name == INSERT_HISTORY.0);
    let list = named.iter().map(assign);
    let list: Vec<String> = [timestamp, thread].into_iter().chain(list).map(|one| format!("@@session.{one}")).collect();
    let mut new: String = new.iter().map(|one| format!(" /*M!101100 , @@session.{} */", assign(one))).collect();
    if target_version >= source_collations::SINCE {
        // A source writes it for statements that name a character set. Tables that others open have expressions, whose
        // collation MariaDB keeps for all sessions. A source that does not know the variable never takes other collations.
        let value = match taken_collations(&query.status_variables)? {
            Some(taken) => format!("'{}'", source_collations::value(&taken, collations)?),
            None if source_takes => "DEFAULT".to_owned(),
            None => "''".to_owned(),
        };
        new += &format!(", @@session.character_set_collations = {value}");
    }
    for value in before {
        texts.push(match &value.content {
            Content::IntVar { kind: LAST_INSERT_ID, value } => format!("SET last_insert_id = {value}").into_bytes(),
            Content::IntVar { kind: INSERT_ID, value } => format!("SET insert_id = {value}").into_bytes(),
            Content::IntVar { kind, .. } => return Err(format!("a number of the unknown kind {kind}")),
            Content::Rand { seed1, seed2 } => format!("SET rand_seed1 = {seed1}, rand_seed2 = {seed2}").into_bytes(),
            Content::UserVariable(variable) => {
                let value = match &variable.value {
                    None => b"NULL".to_vec(),
                    Some(value) if would_lose_type(query, value) => {
                        return Err(
                            "a table with a column of a user variable's geometry type: create it by hand, and then \
                                    `skip` this one"
                                .to_owned(),
                        );
                    }
                    Some(value) => literal(value, collations)?,
                };
                [b"SET @".as_slice(), &quote_identifier(&variable.name), b" := ", &value].concat()
            }
            _ => return Err("an event before a statement that is no value for it".to_owned()),
        });
    }
    texts.push(format!("SET {}{new}", list.join(", ")).into_bytes());
    Ok(texts)
}

/// Stands for `character_set_collations`: pairs of numbers.
const COLLATIONS: &str = "the collations of character sets";

/// Which collations the source takes for character sets that a statement names; `None` where the event does not say it.
pub(super) fn taken_collations(status: &[u8]) -> Result<Option<source_collations::Numbers>, String> {
    // Most have none.
    if !status.contains(&131) {
        return Ok(None);
    }
    let pair = |pair: &str| {
        let (default, taken) = pair.split_once('=')?;
        default.parse().ok().zip(taken.parse().ok())
    };
    let pairs = assignments(status)?.into_iter().find(|(name, _)| name == COLLATIONS);
    Ok(pairs.map(|(_, pairs)| pairs.split(',').filter_map(pair).collect()))
}

/// Stands for the fraction of the time.
const MICROSECONDS: &str = "microseconds";

/// Session variables by name, in the order of the event.
fn assignments(status: &[u8]) -> Result<Vec<(String, String)>, String> {
    let mut fields = Fields(status);
    let mut found: Vec<(String, String)> =
        DEFAULTS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut add = |name: &str, value: String| found.push((name.to_owned(), value));
    while !fields.0.is_empty() {
        match fields.u8("a session variable's number")? {
            0 => {
                let flags = fields.u32("the flags")?;
                for (name, bit, is_on_if_set) in FLAGS {
                    add(name, u8::from((flags & bit != 0) == is_on_if_set).to_string());
                }
                add(INSERT_HISTORY.0, u8::from(flags & INSERT_HISTORY.1 != 0).to_string());
            }
            1 => add("sql_mode", fields.u64("sql_mode")?.to_string()),
            2 | 6 => {
                // The catalog: every server has one.
                let is_old = status.first() == Some(&2);
                fields.short_text("the catalog")?;
                if is_old && fields.0.first() == Some(&0) {
                    fields.zero("the catalog")?;
                }
            }
            3 => {
                add("auto_increment_increment", fields.u16("auto_increment_increment")?.to_string());
                add("auto_increment_offset", fields.u16("auto_increment_offset")?.to_string());
            }
            4 => {
                for name in ["character_set_client", "collation_connection", "collation_server"] {
                    add(name, fields.u16(name)?.to_string());
                }
            }
            5 => add("time_zone", quoted(fields.short_text("time_zone")?)?),
            7 => add("lc_time_names", fields.u16("lc_time_names")?.to_string()),
            8 => add("collation_database", fields.u16("collation_database")?.to_string()),
            9 => drop(fields.u64("the updated tables")?),
            10 => drop(fields.u32("the length of the source's event")?),
            11 => {
                for name in INVOKER {
                    add(name, String::from_utf8_lossy(fields.short_text(name)?).into_owned());
                }
            }
            12 => {
                // More than 16 schemas are not named.
                let count = fields.u8("the number of schemas")?;
                for _ in 0..if count == 254 { 0 } else { count } {
                    let end = fields.0.iter().position(|byte| *byte == 0).ok_or("a schema's name has no end")?;
                    fields.bytes(end + 1, "a schema's name")?;
                }
            }
            13 | 128 => {
                let micros = fields.bytes(3, "the microseconds")?;
                add(MICROSECONDS, micros.iter().rev().fold(0u32, |n, byte| n << 8 | u32::from(*byte)).to_string());
            }
            16 => add("explicit_defaults_for_timestamp", fields.u8("explicit_defaults_for_timestamp")?.to_string()),
            17 | 129 => drop(fields.u64("the transaction's number")?),
            130 => {
                let flags = fields.u8("the flags of the GTID")?;
                if flags & (COMMIT_ALTER | ROLLBACK_ALTER) != 0 {
                    fields.u64("where the ALTER TABLE has begun")?;
                }
                add(ALTER_PART, flags.to_string());
            }
            131 => {
                let mut pairs = Vec::new();
                for _ in 0..fields.u8("the number of collations")? {
                    pairs.push(format!("{}={}", fields.u16(COLLATIONS)?, fields.u16(COLLATIONS)?));
                }
                add(COLLATIONS, pairs.join(","));
            }
            number => return Err(format!("session variable {number} of a statement is not known")),
        }
    }
    Ok(found)
}

/// The collation that stands for `character_set_client`, where a statement has one.
pub(super) fn client_charset(status: &[u8]) -> Result<Option<u32>, String> {
    let assigned = assignments(status)?;
    let found = assigned.iter().find(|(name, _)| name == "character_set_client");
    Ok(found.and_then(|(_, id)| id.parse().ok()))
}

/// Session variables under which foreign keys are not looked at.
pub(super) fn without_foreign_key_checks(mut status: Vec<u8>) -> Vec<u8> {
    // The flags are the first variable of each event that has them.
    if let [0, flags @ ..] = &mut status[..]
        && let Some(last) = flags.get_mut(3)
    {
        *last |= 1 << (26 - 24);
    }
    status
}

/// Stands for the part of an ALTER TABLE that a source writes in two parts (`binlog_alter_two_phase`).
const ALTER_PART: &str = "alter part";
const START_ALTER: u8 = 0x02;
const COMMIT_ALTER: u8 = 0x04;
const ROLLBACK_ALTER: u8 = 0x08;

/// Whether a statement is the announcement of an ALTER TABLE, or its end without effect: the one that takes effect has the
/// whole statement, too.
pub(super) fn is_without_effect(query: &QueryEvent) -> bool {
    let assigned = assignments(&query.status_variables).unwrap_or_default();
    let flags = assigned.iter().find(|(name, _)| name == ALTER_PART).and_then(|(_, flags)| flags.parse::<u8>().ok());
    flags.is_some_and(|flags| flags & (START_ALTER | ROLLBACK_ALTER) != 0)
}

/// Stand for the account that has run the statement.
const INVOKER: [&str; 2] = ["the user", "the user's host"];

/// User and host that have run a statement about accounts.
pub(super) fn invoker(status: &[u8]) -> Option<(String, String)> {
    let assigned = assignments(status).ok()?;
    let [user, host] =
        INVOKER.map(|wanted| assigned.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone()));
    user.zip(host)
}

/// Numbers of collations that a server takes as `character_set_client`: those of the usual defaults. Of others it takes the
/// character set's name only.
const CHARSET_NUMBERS: [u32; 4] = [8, 33, 45, 63];

/// Whether the target's collations are needed for the session of a statement.
pub(super) fn needs_collations(query: &QueryEvent, before: &[Event]) -> bool {
    let has_texts = before.iter().any(|event| matches!(event.content, Content::UserVariable(_)));
    let charset = client_charset(&query.status_variables).ok().flatten();
    let has_taken = taken_collations(&query.status_variables).is_ok_and(|taken| taken.is_some());
    has_texts || has_taken || charset.is_some_and(|id| !CHARSET_NUMBERS.contains(&id))
}

fn quoted(text: &[u8]) -> Result<String, String> {
    let text = String::from_utf8(hortator_mysql::quote_string(text));
    text.map_err(|_| "a time zone whose name is no text".to_owned())
}

/// A value as SQL.
fn literal(value: &UserValue, collations: &Collations) -> Result<Vec<u8>, String> {
    Ok(match value {
        UserValue::Text(bytes, id) => {
            let unknown = || format!("the target has no collation of the number {id}");
            let (charset, collation) = collations.names(*id).ok_or_else(unknown)?;
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("_{charset} X'{hex}' COLLATE `{collation}`").into_bytes()
        }
        UserValue::Geometry(_, bytes) => geometry(bytes)?,
        UserValue::Real(bits) => format!("{:e}", f64::from_bits(*bits)).into_bytes(),
        UserValue::Int(number) => number.to_string().into_bytes(),
        UserValue::Unsigned(number) => number.to_string().into_bytes(),
        UserValue::Decimal(digits) => digits.clone().into_bytes(),
    })
}

/// The type of what functions make of WKB. Types that are more special have no function with a reference system.
const GEOMETRY: &[u8] = b"geometry";

/// A geometry as SQL.
fn geometry(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let parts = bytes.split_first_chunk::<4>();
    let (system, wkb) = parts.ok_or("a geometry without a reference system")?;
    let hex: String = wkb.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("GeomFromWKB(X'{hex}', {})", u32::from_le_bytes(*system)).into_bytes())
}

/// Whether a table that the statement creates would have a column of another type than on the source.
fn would_lose_type(query: &QueryEvent, value: &UserValue) -> bool {
    let is_create = tokens(&query.text, &query.dialect()).next().is_some_and(|verb| verb.is_word(b"CREATE"));
    is_create && matches!(value, UserValue::Geometry(name, _) if name != GEOMETRY)
}
