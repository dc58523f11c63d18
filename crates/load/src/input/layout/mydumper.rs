//! A directory of mydumper, layouts of 0.9 to 1.0: known by its `metadata`.
//!
//! The names say what each file is: mydumper manual, "Output Files". Files name no schema, so each is read behind a USE, and
//! behind the settings of a new session, as each thread of myloader has them. The order: schemas, sequences, tables and the
//! tables that stand in for views, rows, triggers, routines and events, views. Views come last because they may call
//! functions, which no other object needs at its definition.

use std::collections::{BTreeMap, BTreeSet};

use hortator_mysql::catalog::TableName;
use hortator_mysql::quote_identifier;

use super::folder::Folder;
use super::load_data::{self, LoadData};
use super::{CountedTable, Error, Layout, Member, UnreadableRows};
use crate::input::delimited::RowsFile;
use crate::input::plain_name;
use crate::lexer::{Dialect, Kind, Token, tokens};

const LAYOUT: &str = "a mydumper directory (it has a file `metadata`)";
pub(super) const METADATA: &str = "metadata";
const METADATA_UNFINISHED: &str = "metadata.partial";

/// Triggers and routines contain semicolons. mydumper ends a statement with a semicolon and a line feed, and writes a blank
/// between them within one.
const BODY_DELIMITER: &[u8] = b";\n";

/// Makes a session strict whose mode the file has set, as mydumper does since 0.14. The modes that tell how to read the rows
/// stay; those that a strict session would refuse stored dates for go.
const STRICT: &[u8] = b"SET sql_mode=CONCAT_WS(',', REPLACE(REPLACE(REPLACE(@@sql_mode, 'TRADITIONAL', ''), \
    'NO_ZERO_IN_DATE', ''), 'NO_ZERO_DATE', ''), 'STRICT_ALL_TABLES', 'ALLOW_INVALID_DATES');\n";

/// Rows of a `.dat` file are strings with backslashes in the INSERTs that Hortator makes of them.
const WITH_BACKSLASHES: &[u8] = b"SET sql_mode=REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '');\n";

/// The prefix of a name that mydumper has made up for one that cannot be a file's.
const MADE_UP_PREFIX: &str = "mydumper_";

/// Fewest digits of a chunk's number.
const CHUNK_DIGITS: usize = 5;

/// Largest .sql file that is looked at for a LOAD DATA statement, if it has no .dat file beside it.
const LOAD_DATA_LIMIT_BYTES: u64 = 16 << 10;

/// What a file is for, in the order in which they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Tablespaces,
    Schema,
    Sequence,
    Table,
    Rows,
    Triggers,
    Routines,
    View,
}

/// Endings of names, the longer before those that they end with.
const ENDINGS: [(&str, Stage); 7] = [
    ("-schema-create.sql", Stage::Schema),
    ("-schema-sequence.sql", Stage::Sequence),
    ("-schema-triggers.sql", Stage::Triggers),
    ("-schema-post.sql", Stage::Routines),
    ("-schema-view.sql", Stage::View),
    ("-schema.sql", Stage::Table),
    (".sql", Stage::Rows),
];

/// Files that describe others and hold no statements.
const DESCRIPTIONS: [&str; 3] = ["-metadata", "-checksum", ".checksum"];
const TABLESPACES: &str = "all-schema-create-tablespace.sql";

struct DumpFile<'f> {
    name: &'f str,
    stage: Stage,
    /// The name without its ending and its chunk's number: a schema, or a schema and a table.
    stem: &'f str,
}

/// Whether this is a directory of mydumper's.
pub(super) fn is_layout(folder: &Folder) -> bool {
    folder.has(METADATA) || folder.has(METADATA_UNFINISHED)
}

pub(super) fn layout(folder: &Folder) -> Result<Layout, Error> {
    if !folder.has(METADATA) {
        let reason = "mydumper has not finished: it renames metadata.partial to metadata at its end; dump again";
        return Err(Error::incomplete(folder, reason));
    }
    let metadata = Metadata::read(folder)?;
    let (mut files, mut strangers) = (Vec::new(), Vec::new());
    let mut rows_of_dat = BTreeSet::new();
    for name in folder.files() {
        let plain = plain_name(name);
        if plain == METADATA || DESCRIPTIONS.iter().any(|ending| plain.ends_with(ending)) {
            continue;
        }
        if plain == TABLESPACES {
            files.push(DumpFile { name, stage: Stage::Tablespaces, stem: "" });
        } else if plain.ends_with(".dat") {
            rows_of_dat.insert(name);
        } else if let Some(stem) = plain.strip_suffix(".sql").filter(|stem| has_definition(folder, stem)) {
            files.push(DumpFile { name, stage: Stage::Rows, stem });
        } else if let Some((ending, stage)) = ENDINGS.iter().find(|(ending, _)| plain.ends_with(ending)) {
            let stem = plain.strip_suffix(ending).unwrap_or_default();
            files.push(DumpFile { name, stage: *stage, stem });
        } else {
            strangers.push(name.to_owned());
        }
    }
    strangers.extend(folder.folders().iter().map(|name| format!("{name}/")));
    folder.refuse(LAYOUT, strangers)?;
    let schemas = schemas(folder, &files)?;
    check_tables(folder, &files, &schemas, &metadata)?;
    files.sort_by_cached_key(|file| (file.stage, natural(file.stem)));
    let mut layout = Layout::default();
    for file in &files {
        add(folder, file, &schemas, &metadata, &mut rows_of_dat, &mut layout)?;
    }
    folder.refuse(LAYOUT, rows_of_dat.into_iter().map(|name| format!("{name}, which no .sql file loads")).collect())?;
    layout.counted_tables = counted_tables(&files, &schemas, &metadata);
    if files.is_empty() { Err(Error::Empty { folder: folder.shown() }) } else { Ok(layout) }
}

/// Adds the members that a file is read as.
fn add<'f>(
    folder: &'f Folder,
    file: &DumpFile<'f>,
    schemas: &BTreeMap<String, Vec<u8>>,
    metadata: &Metadata,
    rows_of_dat: &mut BTreeSet<&'f str>,
    layout: &mut Layout,
) -> Result<(), Error> {
    let members = &mut layout.members;
    let mut settings = metadata.settings(file.stage);
    if file.stage == Stage::Tablespaces {
        members.push(Member::settings(file.name, settings));
        members.push(Member::file(folder.path_of(file.name)));
        return Ok(());
    }
    if file.stage == Stage::Schema {
        // The schema may be there already: what counts is that no table is.
        let text = if_not_exists(&folder.read(file.name)?);
        members.push(Member::settings(file.name, settings));
        members.push(Member::part(&folder.path_of(file.name), &text, crate::input::Position { line: 1, byte: 0 }));
        return Ok(());
    }
    let Some(schema) = schema_of(file.stem, schemas) else {
        let reason = format!("its schema has a made-up name, and {}-schema-create.sql is missing", file.stem);
        return Err(Error::unsupported(folder, file.name, reason));
    };
    settings.extend_from_slice(b"USE ");
    settings.extend_from_slice(&quote_identifier(&schema));
    settings.extend_from_slice(b";\n");
    let path = folder.path_of(file.name);
    if file.stage == Stage::Rows
        && let Some(loaded) = loaded_file(folder, file.name)?
    {
        let Some(dat) = folder.find(plain_name(&loaded.file)) else {
            let missing = Error::missing(folder, &loaded.file, &format!("{} loads it", file.name)).to_string();
            let path = folder.path_of(&loaded.file);
            let rows = RowsFile { unreadable: Some(missing.clone()), ..loaded.into_rows(path, &schema) };
            let table = rows.table.name.clone();
            layout.unreadable_rows.push(UnreadableRows { schema: Some(schema), table, error: missing });
            members.push(Member::rows(rows));
            return Ok(());
        };
        rows_of_dat.remove(dat);
        settings.extend_from_slice(&loaded.settings);
        settings.extend_from_slice(STRICT);
        settings.extend_from_slice(WITH_BACKSLASHES);
        members.push(Member::settings(file.name, settings));
        members.push(Member::rows(loaded.into_rows(folder.path_of(dat), &schema)));
        return Ok(());
    }
    members.push(Member::settings(file.name, settings));
    members.push(match file.stage {
        Stage::Triggers | Stage::Routines => Member::file_with_delimiter(path, BODY_DELIMITER),
        Stage::Rows => Member::file_with_mode(path, STRICT.to_vec()),
        _ => Member::file(path),
    });
    Ok(())
}

/// Whether there is a definition of the table whose rows a file of this name would hold: a table may be called `x-schema`.
fn has_definition(folder: &Folder, stem: &str) -> bool {
    table_stems(stem).any(|table| folder.find(&format!("{table}-schema.sql")).is_some())
}

/// The tables that a file of rows may be of: its stem, and that without the one or two numbers of a chunk.
fn table_stems(stem: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(stem), |stem| without_number(stem)).take(3)
}

fn without_number(stem: &str) -> Option<&str> {
    let (table, number) = stem.rsplit_once('.')?;
    let is_number = number.len() >= CHUNK_DIGITS && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(table)
}

/// The LOAD DATA statement of a .sql file of rows, where it is one that loads a .dat file.
fn loaded_file(folder: &Folder, name: &str) -> Result<Option<LoadData>, Error> {
    let stem = plain_name(name).strip_suffix(".sql").unwrap_or_default();
    let has_dat = folder.find(&format!("{stem}.dat")).is_some();
    if !has_dat && folder.size_of(name) > LOAD_DATA_LIMIT_BYTES {
        return Ok(None);
    }
    match load_data::parse(&folder.read(name)?) {
        Ok(loaded) => Ok(Some(loaded)),
        Err(reason) if has_dat => Err(Error::unsupported(folder, name, reason)),
        Err(_) => Ok(None),
    }
}

/// The schemas by the names that files have for them.
fn schemas(folder: &Folder, files: &[DumpFile<'_>]) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut schemas = BTreeMap::new();
    for file in files.iter().filter(|file| file.stage == Stage::Schema) {
        let text = folder.read(file.name)?;
        let Some(name) = created_schema(&text) else {
            return Err(Error::unsupported(folder, file.name, "it has no CREATE DATABASE statement".to_owned()));
        };
        schemas.insert(file.stem.to_owned(), name);
    }
    Ok(schemas)
}

/// The schema that a file belongs to: the one with the longest name that its stem begins with, or what stands before the
/// first dot where the dump creates no schema of that name.
fn schema_of(stem: &str, schemas: &BTreeMap<String, Vec<u8>>) -> Option<Vec<u8>> {
    let is_of = |schema: &str| stem.strip_prefix(schema).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let known = schemas.iter().filter(|(schema, _)| is_of(schema)).max_by_key(|(schema, _)| schema.len());
    known.map(|(_, name)| name.clone()).or_else(|| {
        let prefix = stem.split('.').next().filter(|prefix| !prefix.starts_with(MADE_UP_PREFIX))?;
        Some(percent_decoded(prefix))
    })
}

/// Every table that has rows has a definition, where its schema has any; and every table that the metadata gives rows has a
/// file of them.
fn check_tables(
    folder: &Folder,
    files: &[DumpFile<'_>],
    schemas: &BTreeMap<String, Vec<u8>>,
    metadata: &Metadata,
) -> Result<(), Error> {
    let stems = |stage| files.iter().filter(move |file| file.stage == stage).map(|file| file.stem);
    let defined: BTreeSet<&str> = stems(Stage::Table).collect();
    let with_rows: BTreeSet<&str> = stems(Stage::Rows).flat_map(table_stems).collect();
    if !defined.is_empty() {
        for file in files.iter().filter(|file| file.stage == Stage::Rows) {
            if !table_stems(file.stem).any(|table| defined.contains(table)) {
                let stem = file.stem.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
                let why = format!("{} has rows of its table", file.name);
                return Err(Error::missing(folder, &format!("{stem}-schema.sql"), &why));
            }
        }
    }
    for ((schema, table), rows) in &metadata.rows {
        let table = format!("{}.{table}", known_schema(schema, schemas).map_or(schema, |(of_files, _)| of_files));
        // The metadata counts a row of a sequence, which has no file of rows.
        let is_sequence = stems(Stage::Sequence).any(|stem| stem == table);
        if *rows > 0 && !is_sequence && !with_rows.contains(&table[..]) {
            let why = format!("metadata gives the table {rows} rows");
            return Err(Error::missing(folder, &format!("{table}.sql"), &why));
        }
    }
    Ok(())
}

/// A schema of the metadata, as in the names of files and as it is. Some versions write the one, others the other.
fn known_schema<'s>(schema: &str, schemas: &'s BTreeMap<String, Vec<u8>>) -> Option<(&'s String, &'s Vec<u8>)> {
    schemas.iter().find(|(of_files, name)| *of_files == schema || **name == schema.as_bytes())
}

/// The tables with their rows as the metadata counts them. The numbers of chunks have gaps, where a chunk has no rows: only
/// the count tells that one is missing. A table without a definition may have rows already.
fn counted_tables(
    files: &[DumpFile<'_>],
    schemas: &BTreeMap<String, Vec<u8>>,
    metadata: &Metadata,
) -> Vec<CountedTable> {
    let defined: BTreeSet<&str> =
        files.iter().filter(|file| file.stage == Stage::Table).map(|file| file.stem).collect();
    let mut counted = Vec::new();
    for (key @ (schema, table), rows) in &metadata.rows {
        let known = known_schema(schema, schemas);
        let stem = format!("{}.{table}", known.map_or(schema, |(of_files, _)| of_files));
        let real_name = metadata.real_names.get(key);
        if !defined.contains(&stem[..]) || (real_name.is_none() && table.starts_with(MADE_UP_PREFIX)) {
            continue;
        }
        let name = TableName {
            schema: known.map_or_else(|| percent_decoded(schema), |(_, name)| name.clone()),
            table: real_name.map_or_else(|| percent_decoded(table), |name| name.clone().into_bytes()),
        };
        counted.push(CountedTable { name, rows: *rows });
    }
    counted
}

/// What the file `metadata` says, in the form that it has since 0.14; earlier ones say nothing of this.
#[derive(Debug, Default)]
struct Metadata {
    quotes_with_double_quotes: bool,
    /// Rows by schema and table, both as in the names of files, the schema perhaps as it is.
    rows: BTreeMap<(String, String), u64>,
    /// Names of tables that have made-up names there.
    real_names: BTreeMap<(String, String), String>,
}

impl Metadata {
    fn read(folder: &Folder) -> Result<Self, Error> {
        let mut metadata = Self::parse(&folder.read(METADATA)?);
        // Before 0.14, each table has a file of its own for the count.
        for name in folder.files() {
            if let Some((schema, table)) =
                plain_name(name).strip_suffix("-metadata").and_then(|stem| stem.split_once('.'))
                && let Ok(rows) = String::from_utf8_lossy(&folder.read(name)?).trim().parse()
            {
                metadata.rows.insert((schema.to_owned(), table.to_owned()), rows);
            }
        }
        Ok(metadata)
    }

    fn parse(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let (mut metadata, mut section) = (Self::default(), String::new());
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                name.clone_into(&mut section);
            } else if let Some((key, value)) = line.split_once('=') {
                let (key, value) = (key.trim().to_ascii_lowercase().replace('-', "_"), value.trim());
                match key.as_str() {
                    "quote_character" => {
                        metadata.quotes_with_double_quotes = !value.eq_ignore_ascii_case("BACKTICK") && value != "`";
                    }
                    "rows" => {
                        if let (Some(table), Ok(rows)) = (table_of_section(&section), value.parse()) {
                            metadata.rows.insert(table, rows);
                        }
                    }
                    "real_table_name" => {
                        if let Some(table) = table_of_section(&section) {
                            metadata.real_names.insert(table, value.to_owned());
                        }
                    }
                    _ => {}
                }
            }
        }
        metadata
    }

    /// The settings that a file is read under: those of myloader, but strict for rows, so that no value is bent. Triggers
    /// and routines keep the mode that they are made in; where their file does not set it, the server's is the best guess.
    fn settings(&self, stage: Stage) -> Vec<u8> {
        let mode = match stage {
            Stage::Rows => "'NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES,ALLOW_INVALID_DATES'",
            Stage::Triggers | Stage::Routines => "@@global.sql_mode",
            _ => "'NO_AUTO_VALUE_ON_ZERO'",
        };
        let mode = match self.quotes_with_double_quotes {
            true => format!("CONCAT_WS(',', {mode}, 'ANSI_QUOTES')"),
            false => mode.to_owned(),
        };
        format!("SET NAMES binary;\nSET sql_mode={mode}, foreign_key_checks=0, time_zone=DEFAULT;\n").into_bytes()
    }
}

/// A schema and a table, from the table's section in the metadata: `` `schema`.`table` ``.
fn table_of_section(section: &str) -> Option<(String, String)> {
    let quote = section.chars().next().filter(|quote| matches!(quote, '`' | '"'))?;
    let names = section.strip_prefix(quote)?.strip_suffix(quote)?;
    let (schema, table) = names.split_once(&format!("{quote}.{quote}"))?;
    Some((schema.to_owned(), table.to_owned()))
}

/// The schema that a CREATE DATABASE in this text makes.
fn created_schema(text: &[u8]) -> Option<Vec<u8>> {
    let mut found = tokens(text, &Dialect::mariadb(u32::MAX)).skip_while(|token| !token.is_word(b"CREATE"));
    found.next()?;
    let database = found.next()?;
    if !(database.is_word(b"DATABASE") || database.is_word(b"SCHEMA")) {
        return None;
    }
    let skipped: [&[u8]; 3] = [b"IF", b"NOT", b"EXISTS"];
    let name = found.find(|token| !skipped.iter().any(|word| token.is_word(word)))?;
    match name.kind {
        Kind::QuotedIdentifier(name) => Some(name.into_owned()),
        Kind::Word(name) => Some(name.to_vec()),
        // With double quotes for names.
        Kind::String(raw) => Some(raw.get(1..raw.len().checked_sub(1)?)?.to_vec()),
        _ => None,
    }
}

/// The text with IF NOT EXISTS behind its CREATE DATABASE, where it has none.
fn if_not_exists(text: &[u8]) -> Vec<u8> {
    let all: Vec<Token<'_>> = tokens(text, &Dialect::mariadb(u32::MAX)).collect();
    let is_create =
        |pair: &[Token<'_>]| pair[0].is_word(b"CREATE") && (pair[1].is_word(b"DATABASE") || pair[1].is_word(b"SCHEMA"));
    let Some(at) = all.windows(2).position(is_create) else { return text.to_vec() };
    if all.get(at + 2).is_some_and(|next| next.is_word(b"IF")) {
        return text.to_vec();
    }
    let end = all[at + 1].end;
    [&text[..end], b" IF NOT EXISTS", &text[end..]].concat()
}

/// A name with its `%2E` as the bytes that they stand for.
fn percent_decoded(name: &str) -> Vec<u8> {
    let bytes = name.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        decoded.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    decoded
}

/// A key that orders names by the numbers in them, not by their digits.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|sign: char| sign.is_ascii_digit()).unwrap_or(rest.len());
        let (text, tail) = rest.split_at(digits);
        let end = tail.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(tail.len());
        parts.push((text.to_owned(), tail[..end].parse().unwrap_or(u64::MAX)));
        rest = &tail[end..];
    }
    parts
}

#[cfg(test)]
mod tests;
