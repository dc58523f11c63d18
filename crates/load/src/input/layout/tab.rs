//! Folders of `mariadb-dump --tab` and `--dir`: for each table a `.sql` file with its definition and a `.txt` file with its
//! rows. With `--dir`, each schema has a folder of its own.
//!
//! Files are called as the server calls those of its tables (`od@002ed`), so names of tables come from the definitions. A
//! `.sql` file has the triggers of its table too; they are read behind all rows, because they would change them. Views
//! come last, each behind those that it reads.

mod columns;
mod header;
mod rowless;
mod views;

use hortator_mysql::catalog::{TableName, table_of_definition};
use hortator_mysql::quote_identifier;
pub(crate) use rowless::is_rowless_engine;
use views::View;

use super::folder::Folder;
use super::sql_folder::is_sql;
use super::{Error, Layout, Member, RowsColumns, RowsOptions, UndefinedTable, UnnamedCharset, UnreadableRows};
use crate::input::delimited::{Columns, Format, RowsFile, RowsTable};
use crate::input::{Position, plain_name};
use crate::lexer::{Dialect, Kind, Token, tokens};

const LAYOUT: &str = "a folder of mariadb-dump --tab or --dir (it has .txt files beside .sql files)";

/// How the part of a `.sql` file begins that makes triggers; the definition of a table has none of these lines.
const TRIGGERS_BEGIN: [&[u8]; 3] = [b"/*!50003 SET @saved_cs_client", b"/*!50003 SET @saved_sql_mode", b"DELIMITER "];

/// Whether this is a folder of `--tab`, or of `--dir` with one folder for each schema.
pub(super) fn is_layout(folder: &Folder) -> Result<bool, Error> {
    if folder.files().any(is_rows) {
        return Ok(folder.files().any(is_sql) || folder.files().all(is_rows));
    }
    if folder.file_count() > 0 || folder.folders().is_empty() {
        return Ok(false);
    }
    for name in folder.folders() {
        if Folder::list(&folder.path_of(name))?.files().any(is_rows) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_rows(name: &str) -> bool {
    plain_name(name).ends_with(".txt")
}

/// What is read together, in this order.
#[derive(Default)]
struct Stages {
    schemas: Vec<Member>,
    sequences: Vec<Member>,
    tables: Vec<Member>,
    rows: Vec<Member>,
    triggers: Vec<Member>,
    views: Vec<View>,
    undefined_tables: Vec<UndefinedTable>,
    unreadable_rows: Vec<UnreadableRows>,
    unnamed_charsets: Vec<UnnamedCharset>,
}

pub(super) fn layout(folder: &Folder, options: &RowsOptions) -> Result<Layout, Error> {
    let format = Format::load_data().of_dump().with(&options.separators)?;
    if format.escaped.is_none() && format.enclosed.is_none() && format.null.is_none() {
        return Err(Error::AmbiguousNull { folder: folder.shown() });
    }
    let has_header = options.columns == RowsColumns::Header;
    let ignored_lines = options.ignored_lines + u64::from(has_header);
    let mut stages = Stages::default();
    let read = |folder: &Folder, schema: Option<&[u8]>, stages: &mut Stages| {
        let charset = &options.charset;
        SchemaFolder { folder, schema, format: &format, ignored_lines, has_header, charset }.read(stages)
    };
    if folder.files().next().is_some() {
        let folders: Vec<String> = folder.folders().iter().map(|name| format!("{name}/")).collect();
        folder.refuse(LAYOUT, folders)?;
        read(folder, None, &mut stages)?;
    } else {
        for name in folder.folders() {
            let inner = Folder::list(&folder.path_of(name))?;
            inner.refuse_twins()?;
            let schema = decoded_file_name(name)
                .ok_or_else(|| Error::unsupported(folder, name, "the schema's name is not certain".to_owned()))?;
            let nested: Vec<String> = inner.folders().iter().map(|nested| format!("{nested}/")).collect();
            inner.refuse(LAYOUT, nested)?;
            // As mariadb-import --dir: the files of a schema do not create it.
            let create = [b"CREATE DATABASE IF NOT EXISTS ", &quote_identifier(&schema)[..], b";\n"].concat();
            stages.schemas.push(Member::settings(name, create));
            read(&inner, Some(&schema), &mut stages)?;
        }
    }
    let Stages { schemas, sequences, tables, rows, triggers, views, .. } = stages;
    let Stages { undefined_tables, unreadable_rows, unnamed_charsets, .. } = stages;
    let views = views::in_order(views).into_iter().flat_map(|view| view.members);
    let members = [schemas, sequences, tables, rows, triggers].into_iter().flatten().chain(views).collect();
    Ok(Layout { undefined_tables, unreadable_rows, unnamed_charsets, ..Layout::of_members(members) })
}

/// The files of one schema.
struct SchemaFolder<'f> {
    folder: &'f Folder,
    /// The schema, where the folder tells it; else the session's.
    schema: Option<&'f [u8]>,
    format: &'f Format,
    ignored_lines: u64,
    /// The first line of each file of rows names the columns.
    has_header: bool,
    /// The character set of rows whose files name none.
    charset: &'f str,
}

impl SchemaFolder<'_> {
    fn read(&self, stages: &mut Stages) -> Result<(), Error> {
        let folder = self.folder;
        let strangers = folder.files().filter(|name| !is_sql(name) && !is_rows(name)).map(str::to_owned).collect();
        folder.refuse(LAYOUT, strangers)?;
        let has_sql = folder.files().any(is_sql);
        let (mut has_definitions, mut undefined) = (false, None);
        for name in folder.files().filter(|name| is_sql(name)) {
            if self.read_definition(name, stages)? {
                has_definitions = true;
            } else {
                undefined = Some(name);
            }
        }
        if let Some(name) = undefined.filter(|_| has_definitions) {
            return Err(no_definition(folder, name));
        }
        for name in folder.files().filter(|name| is_rows(name)) {
            let stem = plain_name(name).trim_end_matches(".txt");
            if folder.find(&format!("{stem}.sql")).is_some() {
                continue;
            }
            if has_sql {
                let missing = Error::missing(folder, &format!("{stem}.sql"), &format!("{name} has rows of its table"));
                let Some(table) = decoded_file_name(stem) else { return Err(missing) };
                self.add_unreadable(name, &table, &missing, stages);
                continue;
            }
            self.add_undefined(name, Some(name), stem, stages)?;
        }
        Ok(())
    }

    /// A file of `--no-create-info`: the table is there already, under the name of the file.
    fn add_undefined(&self, name: &str, rows: Option<&str>, stem: &str, stages: &mut Stages) -> Result<(), Error> {
        let folder = self.folder;
        let table = decoded_file_name(stem)
            .ok_or_else(|| Error::unsupported(folder, name, "the table's name is not certain".to_owned()))?;
        let charset =
            header::rows_charset(b"", self.charset).map_err(|reason| Error::unsupported(folder, name, reason))?;
        if !rows.is_some_and(|rows| self.is_empty(rows)) {
            stages.undefined_tables.push(UndefinedTable {
                schema: self.schema.map(<[u8]>::to_vec),
                table: table.clone(),
                file: folder.path_of(name).display().to_string(),
                has_rows: rows.is_some(),
                are_bytes: charset == columns::BINARY,
                plain_bits: columns::plain_bits(self.format, self.has_header),
            });
        }
        if let Some(rows) = rows {
            let file = RowsFile { is_defined: false, ..self.rows_file(rows, &table, Columns::All) };
            self.add_rows(file, rows, "DEFAULT", &charset, stages);
        }
        Ok(())
    }

    /// A `.sql` file: of a table, a view or a sequence. False for one of `--no-create-info`, which defines none of them.
    fn read_definition(&self, name: &str, stages: &mut Stages) -> Result<bool, Error> {
        let folder = self.folder;
        let text = folder.read(name)?;
        let (definition, triggers) = split_triggers(&text);
        let stem = plain_name(name).trim_end_matches(".sql");
        let rows = folder.find(&format!("{stem}.txt"));
        let created = Created::find(definition);
        match &created {
            Some(created) => self.add_created(created, definition, name, rows, stages)?,
            // Settings would be those of rows.
            None if definition.trim_ascii().is_empty() => self.add_undefined(name, rows, stem, stages)?,
            None => return Err(no_definition(folder, name)),
        }
        if !triggers.is_empty() {
            let start = Position {
                line: 1 + memchr::memchr_iter(b'\n', definition).count() as u64,
                byte: definition.len() as u64,
            };
            let triggers = Member::part(&folder.path_of(name), triggers, start);
            stages.triggers.extend([self.settings(name, ""), triggers]);
        }
        Ok(created.is_some())
    }

    /// What the file `name` defines, and its rows.
    fn add_created(
        &self,
        created: &Created<'_>,
        definition: &[u8],
        name: &str,
        rows: Option<&str>,
        stages: &mut Stages,
    ) -> Result<(), Error> {
        let folder = self.folder;
        let settings = self.settings(name, "SET sql_mode='NO_AUTO_VALUE_ON_ZERO', foreign_key_checks=0;\n");
        let start = Position { line: 1, byte: 0 };
        let definition_member = Member::part(&folder.path_of(name), definition, start);
        match created.kind {
            CreatedKind::Sequence => stages.sequences.extend([settings, definition_member]),
            CreatedKind::View => stages.views.push(View {
                schema: self.schema.map(<[u8]>::to_vec),
                sources: views::sources(created.body),
                name: created.name.clone(),
                members: [settings, definition_member],
            }),
            CreatedKind::Table => {
                stages.tables.extend([settings, definition_member]);
                match rows {
                    Some(rows) => self.add_rows_of(created, name, rows, stages),
                    None if self.is_rowless(created, definition) => {}
                    None => {
                        let rows = format!("{}.txt", plain_name(name).trim_end_matches(".sql"));
                        let missing = Error::missing(folder, &rows, &format!("{name} defines its table"));
                        self.add_unreadable(&rows, &created.name, &missing, stages);
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether mariadb-dump writes no rows for this table.
    fn is_rowless(&self, created: &Created<'_>, definition: &[u8]) -> bool {
        let name = TableName { schema: Vec::new(), table: created.name.clone() };
        let of_engine = table_of_definition(&name, created.text);
        of_engine.is_some_and(|table| is_rowless_engine(&table.engine))
            || (rowless::is_rowless_in_mysql(&created.name)
                && (self.schema == Some(b"mysql") || rowless::is_of_schema_mysql(definition)))
    }

    /// The rows of a table that the file `name` defines.
    fn add_rows_of(&self, created: &Created<'_>, name: &str, rows: &str, stages: &mut Stages) {
        if self.is_empty(rows) {
            let file = self.rows_file(rows, &created.name, Columns::All);
            return self.add_rows(file, rows, "DEFAULT", columns::BINARY, stages);
        }
        let unsupported = |file: &str, reason| Error::unsupported(self.folder, file, reason);
        let read = || {
            let charset =
                header::rows_charset(created.header, self.charset).map_err(|reason| unsupported(name, reason))?;
            let fields = columns::of_definition(&created.name, created.text, &charset, self.format, self.has_header)
                .map_err(|reason| unsupported(rows, reason))?;
            Ok::<_, Error>((charset, fields))
        };
        let (charset, fields) = match read() {
            Ok(found) => found,
            Err(error) => return self.add_unreadable(rows, &created.name, &error, stages),
        };
        if fields.are_in_default_charset {
            stages.unnamed_charsets.push(UnnamedCharset {
                schema: self.schema.map(<[u8]>::to_vec),
                table: created.name.clone(),
                file: self.folder.path_of(rows).display().to_string(),
            });
        }
        let time_zone = header::time_zone(created.header);
        let file = self.rows_file(rows, &created.name, fields.columns);
        self.add_rows(file, rows, time_zone, &charset, stages);
    }

    /// Rows that are missing, or cannot be split into fields: a load leaves them out, or is refused.
    fn add_unreadable(&self, name: &str, table: &[u8], error: &Error, stages: &mut Stages) {
        stages.unreadable_rows.push(UnreadableRows {
            schema: self.schema.map(<[u8]>::to_vec),
            table: table.to_vec(),
            error: error.to_string(),
        });
        let unreadable = Some(error.to_string());
        let file = RowsFile { unreadable, ..self.rows_file(name, table, Columns::All) };
        stages.rows.extend([self.settings(name, ""), Member::rows(file)]);
    }

    fn rows_file(&self, name: &str, table: &[u8], columns: Columns) -> RowsFile {
        RowsFile {
            path: self.folder.path_of(name),
            table: RowsTable { schema: None, name: table.to_vec() },
            columns,
            format: self.format.clone(),
            ignored_lines: self.ignored_lines,
            is_defined: true,
            unreadable: None,
        }
    }

    fn add_rows(&self, file: RowsFile, name: &str, time_zone: &str, charset: &str, stages: &mut Stages) {
        let mode = "NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES,ALLOW_INVALID_DATES";
        let text =
            format!("SET NAMES {charset};\nSET sql_mode='{mode}', foreign_key_checks=0, time_zone={time_zone};\n");
        stages.rows.extend([self.settings(name, &text), Member::rows(file)]);
    }

    /// Whether a file of rows has none: then it does not matter how they would be read.
    fn is_empty(&self, rows: &str) -> bool {
        self.folder.path_of(rows).metadata().is_ok_and(|found| found.len() == 0)
    }

    fn settings(&self, name: &str, more: &str) -> Member {
        let mut text = more.as_bytes().to_vec();
        if let Some(schema) = self.schema {
            text.extend_from_slice(b"USE ");
            text.extend_from_slice(&quote_identifier(schema));
            text.extend_from_slice(b";\n");
        }
        Member::settings(name, text)
    }
}

fn no_definition(folder: &Folder, name: &str) -> Error {
    Error::unsupported(folder, name, "it defines no table, view or sequence".to_owned())
}

/// Divides a `.sql` file before its triggers.
fn split_triggers(text: &[u8]) -> (&[u8], &[u8]) {
    let mut start = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        if TRIGGERS_BEGIN.iter().any(|begin| line.starts_with(begin)) {
            return text.split_at(start);
        }
        start += line.len();
    }
    (text, &[])
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CreatedKind {
    Table,
    View,
    Sequence,
}

/// The CREATE statement of a definition.
struct Created<'t> {
    kind: CreatedKind,
    name: Vec<u8>,
    /// What stands before it.
    header: &'t [u8],
    text: &'t [u8],
    /// Its end, behind the name.
    body: &'t [u8],
}

impl<'t> Created<'t> {
    fn find(text: &'t [u8]) -> Option<Self> {
        let mut rest = tokens(text, &Dialect::mariadb(u32::MAX));
        let start = rest.find(|token| token.is_word(b"CREATE"))?.offset;
        let kind = rest.find_map(|token| {
            [
                (&b"TABLE"[..], CreatedKind::Table),
                (&b"VIEW"[..], CreatedKind::View),
                (&b"SEQUENCE"[..], CreatedKind::Sequence),
            ]
            .into_iter()
            .find_map(|(word, kind)| token.is_word(word).then_some(kind))
        })?;
        let skipped: [&[u8]; 3] = [b"IF", b"NOT", b"EXISTS"];
        let is_skipped = |token: &Token<'_>| skipped.iter().any(|word| token.is_word(word));
        let found = rest.find(|token| !is_skipped(token))?;
        let name = match found.kind {
            Kind::QuotedIdentifier(name) => name.into_owned(),
            Kind::Word(name) => name.to_vec(),
            _ => return None,
        };
        let end = rest.find(|token| token.is_symbol(b";")).map_or(text.len(), |token| token.offset);
        Some(Self { kind, name, header: &text[..start], text: &text[start..end], body: &text[found.end..end] })
    }
}

/// The name of a schema or table whose file is called so: `@002e` is a dot. Letters beyond ASCII have shorter codes, which
/// are not read here.
fn decoded_file_name(name: &str) -> Option<Vec<u8>> {
    let mut decoded = String::new();
    let mut parts = name.split('@');
    decoded.push_str(parts.next()?);
    for part in parts {
        let (digits, rest) = part.split_at_checked(4)?;
        decoded.push(u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)?);
        decoded.push_str(rest);
    }
    Some(decoded.into_bytes())
}
