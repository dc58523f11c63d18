//! A directory of MySQL Shell's `util.dumpInstance`, `dumpSchemas` and `dumpTables`: known by its `@.json`.
//!
//! Which files there are, and how their rows are written, stands in JSON files: `@.json` names the schemas, the file of each
//! schema its tables and views, that of a table the columns, the separators and the compression. The order is that of
//! `util.loadDump`: schemas (with their routines and events), tables, placeholders of views, rows, triggers, views.
//! Accounts (`@.users.sql`) are left out, as by `util.loadDump` without `loadUsers`.

use std::collections::{BTreeMap, BTreeSet};

use hortator_mysql::quote_identifier;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::folder::Folder;
use super::{Error, Member};
use crate::input::delimited::{Columns, Encoding, Field, Format, RowsFile, RowsTable, Separators};
use crate::input::{Position, plain_name};
use crate::lexer::{Dialect, Token, tokens};

const LAYOUT: &str = "a dump directory of MySQL Shell (it has a file `@.json`)";
pub(super) const DESCRIPTION: &str = "@.json";
const FINISHED: &str = "@.done.json";

/// Files that hold nothing to load: comments around the dump, accounts, and checksums.
const PASSED: [&str; 5] = ["@.sql", "@.post.sql", "@.users.sql", "@.checksums.json", FINISHED];

/// How far `util.loadDump` has come, for each server that it has loaded the dump into.
const PROGRESS: (&str, &str) = ("load-progress.", ".json");

/// The version of the format that this module knows; a later first number may mean anything.
const VERSION: &str = "2.";

/// `@.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DumpFile {
    version: String,
    schemas: Vec<String>,
    basenames: BTreeMap<String, String>,
    #[serde(default)]
    tz_utc: bool,
}

/// The JSON file of a schema.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SchemaFile {
    #[serde(default)]
    tables: Vec<String>,
    #[serde(default)]
    views: Vec<String>,
    #[serde(default)]
    basenames: BTreeMap<String, String>,
    #[serde(default = "yes")]
    includes_ddl: bool,
    /// Since Shell 9.3, libraries, routines and events have files of their own.
    #[serde(default)]
    multifile_ddl: bool,
    #[serde(default)]
    libraries: Vec<String>,
    #[serde(default)]
    functions: Vec<String>,
    #[serde(default)]
    procedures: Vec<String>,
    #[serde(default)]
    events: Vec<String>,
}

/// The JSON file of a table.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TableFile {
    options: TableOptions,
    #[serde(default)]
    triggers: Vec<String>,
    extension: String,
    #[serde(default)]
    chunking: bool,
    #[serde(default = "yes")]
    includes_data: bool,
    #[serde(default = "yes")]
    includes_ddl: bool,
    #[serde(default)]
    basenames: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TableOptions {
    schema: String,
    table: String,
    columns: Vec<String>,
    #[serde(default)]
    decode_columns: BTreeMap<String, String>,
    default_character_set: String,
    fields_terminated_by: String,
    fields_enclosed_by: String,
    fields_escaped_by: String,
    lines_terminated_by: String,
}

const fn yes() -> bool {
    true
}

/// What is read together, in this order.
#[derive(Default)]
struct Stages {
    schemas: Vec<Member>,
    /// Routines of any schema may use them.
    libraries: Vec<Member>,
    routines: Vec<Member>,
    events: Vec<Member>,
    tables: Vec<Member>,
    placeholders: Vec<Member>,
    rows: Vec<Member>,
    triggers: Vec<Member>,
    views: Vec<Member>,
}

/// Whether this is a directory of MySQL Shell's.
pub(super) fn is_layout(folder: &Folder) -> bool {
    folder.has(DESCRIPTION)
}

pub(super) fn members(folder: &Folder) -> Result<Vec<Member>, Error> {
    let mut dump = Dump { folder, passed: BTreeSet::new() };
    let mut stages = Stages::default();
    let description: DumpFile = dump.json(DESCRIPTION)?;
    if !description.version.starts_with(VERSION) {
        let reason = format!("it is of version {} of the format; Hortator reads 2.x", description.version);
        return Err(Error::unsupported(folder, DESCRIPTION, reason));
    }
    if !dump.has(FINISHED) {
        return Err(Error::incomplete(folder, "MySQL Shell has not finished: @.done.json is missing; dump again"));
    }
    dump.passed.extend(PASSED.map(str::to_owned));
    let time_zone = if description.tz_utc { "'+00:00'" } else { "DEFAULT" };
    for schema in &description.schemas {
        let base = description.basenames.get(schema).unwrap_or(schema);
        dump.read_schema(schema, base, time_zone, &mut stages)?;
    }
    let is_progress = |name: &str| name.starts_with(PROGRESS.0) && name.ends_with(PROGRESS.1);
    let strangers = folder.files().filter(|name| !dump.passed.contains(*name) && !is_progress(name)).map(str::to_owned);
    let folders = folder.folders().iter().map(|name| format!("{name}/"));
    folder.refuse(LAYOUT, strangers.chain(folders).collect())?;
    let Stages { schemas, libraries, routines, events, tables, placeholders, rows, triggers, views } = stages;
    let definitions = [schemas, libraries, routines, events, tables, placeholders];
    Ok(definitions.into_iter().chain([rows, triggers, views]).flatten().collect())
}

struct Dump<'f> {
    folder: &'f Folder,
    /// Files whose purpose is known.
    passed: BTreeSet<String>,
}

impl Dump<'_> {
    fn has(&self, name: &str) -> bool {
        self.folder.has(name)
    }

    /// Takes a file of this name, which must be there.
    fn take(&mut self, name: &str, because: &str) -> Result<(), Error> {
        if !self.has(name) {
            return Err(Error::missing(self.folder, name, because));
        }
        self.passed.insert(name.to_owned());
        Ok(())
    }

    fn json<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, Error> {
        self.take(name, "it describes others")?;
        let text = self.folder.read(name)?;
        serde_json::from_slice(&text).map_err(|error| {
            Error::unsupported(self.folder, name, format!("it is not what MySQL Shell writes: {error}"))
        })
    }

    fn read_schema(&mut self, schema: &str, base: &str, time_zone: &str, stages: &mut Stages) -> Result<(), Error> {
        let description_name = format!("{base}.json");
        let described: SchemaFile = self.json(&description_name)?;
        let settings = |name: &str, has_use: bool| definition_settings(name, has_use.then_some(schema), time_zone);
        if described.includes_ddl {
            let name = format!("{base}.sql");
            self.take(&name, &format!("{description_name} describes it"))?;
            stages.schemas.extend([settings(&name, false), Member::file(self.folder.path_of(&name))]);
        }
        let has_routines = !(described.functions.is_empty() && described.procedures.is_empty());
        let divided = [
            ("libraries", !described.libraries.is_empty(), &mut stages.libraries),
            ("routines", has_routines, &mut stages.routines),
            ("events", !described.events.is_empty(), &mut stages.events),
        ];
        for (objects, has_objects, stage) in divided {
            let name = format!("{base}.{objects}.sql");
            if described.includes_ddl && described.multifile_ddl && (has_objects || self.has(&name)) {
                self.take(&name, &format!("{description_name} names {objects}"))?;
                stage.extend([settings(&name, true), Member::file(self.folder.path_of(&name))]);
            }
        }
        let base_of = |object: &String| match described.basenames.get(object) {
            Some(base) => base.clone(),
            None => format!("{base}@{object}"),
        };
        for table in &described.tables {
            let base = base_of(table);
            let file: TableFile = self.json(&format!("{base}.json"))?;
            if file.includes_ddl {
                let name = format!("{base}.sql");
                self.take(&name, &format!("{base}.json describes it"))?;
                // A table that is there is an error, as for util.loadDump without ignoreExistingObjects.
                let text = without_if_not_exists(&self.folder.read(&name)?);
                let definition = Member::part(&self.folder.path_of(&name), &text, Position { line: 1, byte: 0 });
                stages.tables.extend([settings(&name, true), definition]);
            }
            if !file.triggers.is_empty() {
                let name = format!("{base}.triggers.sql");
                self.take(&name, &format!("{base}.json names triggers"))?;
                stages.triggers.extend([settings(&name, true), Member::file(self.folder.path_of(&name))]);
            }
            if file.includes_data {
                self.read_rows(&base, &file, time_zone, stages)?;
            }
        }
        for view in &described.views {
            let base = base_of(view);
            for (name, stage) in
                [(format!("{base}.pre.sql"), &mut stages.placeholders), (format!("{base}.sql"), &mut stages.views)]
            {
                self.take(&name, &format!("{description_name} names the view {view}"))?;
                stage.extend([settings(&name, true), Member::file(self.folder.path_of(&name))]);
            }
        }
        Ok(())
    }

    fn read_rows(&mut self, base: &str, file: &TableFile, time_zone: &str, stages: &mut Stages) -> Result<(), Error> {
        let refused = |folder, reason: String| Err(Error::unsupported(folder, &format!("{base}.json"), reason));
        let options = &file.options;
        if options.default_character_set != "utf8mb4" {
            return refused(
                self.folder,
                format!("its rows are in {}; Hortator reads utf8mb4", options.default_character_set),
            );
        }
        let mut fields = Vec::new();
        for column in &options.columns {
            let encoding = match options.decode_columns.get(column).map(String::as_str) {
                None => Encoding::Plain,
                Some("FROM_BASE64") => Encoding::Base64,
                Some("UNHEX") => Encoding::Hex,
                Some(other) => return refused(self.folder, format!("the column {column} is decoded by {other}")),
            };
            fields.push(Field::encoded(column.clone(), encoding));
        }
        let format = Format::load_data().of_dump().with(&Separators {
            fields_terminated: Some(options.fields_terminated_by.clone().into_bytes()),
            enclosed: Some(options.fields_enclosed_by.clone().into_bytes()),
            is_optionally_enclosed: false,
            escaped: Some(options.fields_escaped_by.clone().into_bytes()),
            lines_terminated: Some(options.lines_terminated_by.clone().into_bytes()),
            null: None,
        })?;
        if format.escaped.is_none() && format.enclosed.is_none() {
            return refused(
                self.folder,
                "NULL cannot be told from the text NULL without escapes and quotes".to_owned(),
            );
        }
        let table =
            RowsTable { schema: Some(options.schema.as_bytes().to_vec()), name: options.table.as_bytes().to_vec() };
        // Each partition of a table can have files of its own.
        let bases =
            if file.basenames.is_empty() { vec![base] } else { file.basenames.values().map(String::as_str).collect() };
        for base in bases {
            for name in self.chunks(base, file)? {
                let text = format!(
                    "SET NAMES utf8mb4;\nSET sql_mode='NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES,ALLOW_INVALID_DATES', \
                     foreign_key_checks=0, time_zone={time_zone};\n"
                );
                stages.rows.push(Member::settings(&name, text.into_bytes()));
                stages.rows.push(Member::rows(RowsFile {
                    path: self.folder.path_of(&name),
                    table: table.clone(),
                    columns: Columns::Named(fields.clone()),
                    format: format.clone(),
                    ignored_lines: 0,
                    is_defined: true,
                    unreadable: None,
                }));
            }
        }
        Ok(())
    }

    /// The files of a table's rows: one, or chunks with numbers from 0, of which the last has `@@` before its number.
    fn chunks(&mut self, base: &str, file: &TableFile) -> Result<Vec<String>, Error> {
        let because = format!("{base}.json describes it");
        let mut names = Vec::new();
        if !file.chunking {
            names.push(format!("{base}.{}", file.extension));
        }
        for number in 0.. {
            if !file.chunking {
                break;
            }
            let (inner, last) =
                (format!("{base}@{number}.{}", file.extension), format!("{base}@@{number}.{}", file.extension));
            if self.has(&last) {
                names.push(last);
                break;
            }
            if !self.has(&inner) {
                return Err(Error::missing(
                    self.folder,
                    &last,
                    "the last chunk of its table is missing, or one before it",
                ));
            }
            names.push(inner);
        }
        for name in &names {
            self.take(name, &because)?;
            let index = format!("{name}.idx");
            if self.has(&index) {
                self.passed.insert(index);
            }
        }
        Ok(names)
    }
}

/// The text without the IF NOT EXISTS of its first CREATE TABLE.
fn without_if_not_exists(text: &[u8]) -> Vec<u8> {
    let all: Vec<Token<'_>> = tokens(text, &Dialect::mariadb(u32::MAX)).collect();
    let words: [&[u8]; 5] = [b"CREATE", b"TABLE", b"IF", b"NOT", b"EXISTS"];
    let found = all.windows(words.len()).find(|found| found.iter().zip(words).all(|(token, word)| token.is_word(word)));
    match found {
        Some([_, _, first, _, last]) => [&text[..first.offset], &text[last.end..]].concat(),
        _ => text.to_vec(),
    }
}

/// What `util.loadDump` sets before definitions.
fn definition_settings(name: &str, schema: Option<&str>, time_zone: &str) -> Member {
    let mut text = format!(
        "SET NAMES utf8mb4;\nSET sql_mode='NO_AUTO_VALUE_ON_ZERO', foreign_key_checks=0, time_zone={time_zone};\n"
    )
    .into_bytes();
    if let Some(schema) = schema {
        text.extend_from_slice(b"USE ");
        text.extend_from_slice(&quote_identifier(schema.as_bytes()));
        text.extend_from_slice(b";\n");
    }
    Member::settings(plain_name(name), text)
}
