//! The check before a load: every statement goes through the filter before the first one runs, so that a refusal comes
//! before anything is dropped.
//!
//! It reads the input once, with the session followed on a connection of its own, as `--plan` does it. An input that cannot
//! be read twice is not checked: there, a refusal comes at its statement.

use std::sync::{Arc, Mutex};

use hortator_mysql::{Connection, Error, Flavor};

use super::{Filter, FilterReport, FilterRules, Passage, Refusal};
use crate::analysis::{FunctionSet, NamedTable, SessionFacts, StatementInfo, StatementKind, Trait, analyze};
use crate::input::delimited::RowsTable;
use crate::lexer::{Charset, Dialect, Item, Location, Statements, StatementsOptions};
use crate::load::Options;
use crate::planner::Names;
use crate::progress::Progress;
use crate::report::Failure;
use crate::session::{Tracker, function_set};

/// Refusals that are told.
const REFUSALS_KEPT: usize = 20;
/// Left-out tables of views that are looked for.
const SOURCES_KEPT: usize = 1000;

/// What is wrong with the input under these rules; nothing where it cannot be read twice.
///
/// # Errors
/// When there is no connection, or it is lost.
pub(crate) fn check(
    options: &Options,
    rules: &Arc<FilterRules>,
    progress: &Progress,
    connect: &dyn Fn() -> Result<Connection, Error>,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Vec<Failure>, Error> {
    if !rules.may_refuse() || !options.input.can_be_read_again() {
        return Ok(Vec::new());
    }
    let mut connection = connect()?;
    let version = connection.version();
    let server = Dialect { mariadb: version.flavor == Flavor::MariaDb, ..Dialect::mariadb(version.comment_number()) };
    let folds = connection.fetch(b"SELECT @@lower_case_table_names")?;
    let folds_case = folds.first().and_then(|row| row.first()?.as_deref()).is_some_and(|value| value != b"0");
    let functions = function_set(&mut connection)?;
    let tracker = Tracker::new(&mut connection)?;
    let check = Check {
        connection,
        server,
        folds_case,
        functions,
        tracker,
        filter: Filter::new(Arc::clone(rules), Arc::<Mutex<FilterReport>>::default()),
        failures: Vec::new(),
        sources: Vec::new(),
    };
    let failures = check.read(options, progress, is_interrupted);
    progress.restart();
    failures
}

struct Check {
    connection: Connection,
    server: Dialect,
    folds_case: bool,
    functions: FunctionSet,
    tracker: Tracker,
    filter: Filter,
    failures: Vec<Failure>,
    /// Left-out tables that selected views read, and where the views are.
    sources: Vec<(Location, Vec<u8>, NamedTable)>,
}

impl Check {
    fn dialect(&self) -> Dialect {
        self.tracker.state().dialect(self.server)
    }

    fn read(
        mut self,
        options: &Options,
        progress: &Progress,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Failure>, Error> {
        let charset = Charset::from_name(options.connect.charset.as_bytes());
        let splitting = StatementsOptions {
            comments: options.comments || !self.server.mariadb,
            binary_mode: options.binary_mode,
            ..StatementsOptions::new(Dialect { charset, ..self.dialect() })
        };
        // An input that cannot be read is for the load to tell of.
        let Ok(mut statements) = Statements::open(options.input.members(), splitting) else { return Ok(Vec::new()) };
        progress.follow(statements.progress());
        while let Some(item) = statements.next() {
            if is_interrupted() || self.failures.len() >= REFUSALS_KEPT {
                break;
            }
            match item {
                Ok(Item::Statement(statement)) => self.statement(&statement.text, &statement.location)?,
                Ok(Item::Use { database, location }) => self.use_schema(&database, &location),
                Ok(Item::Charset { name, .. }) => {
                    let _ = self.connection.execute(&[b"SET NAMES ", &name[..]].concat());
                    self.tracker.follow(&mut self.connection)?;
                }
                Err(error) if error.is_final() => return Ok(self.failures),
                Ok(Item::RowsFile { file }) => {
                    if self.leaves_out(&file.table) {
                        statements.pass_rows();
                    }
                }
                Ok(Item::Quit { .. } | Item::Ignored { .. } | Item::RowsColumns { .. } | Item::NoRows { .. })
                | Err(_) => {}
            }
            statements.set_dialect(self.dialect());
        }
        if !is_interrupted() {
            self.look_for_sources()?;
            self.tell_unmatched();
        }
        Ok(self.failures)
    }

    fn statement(&mut self, text: &[u8], location: &Location) -> Result<(), Error> {
        let dialect = self.dialect();
        let info = analyze(text, &SessionFacts { dialect, functions: &self.functions, known_head: None });
        let state = Arc::clone(self.tracker.state());
        let names = Names {
            database: state.database.as_deref(),
            folds_case: self.folds_case,
            are_utf8: state.names_are_utf8(),
        };
        let passage = match self.filter.statement(text, &info, &dialect, names) {
            Ok(passage) => passage,
            Err(Refusal(reason)) => {
                self.failures.push(Failure::finding(location, text, reason));
                return Ok(());
            }
        };
        if passage == (Passage::LeftOut { commits: false }) || passage == (Passage::LeftOut { commits: true }) {
            return Ok(());
        }
        if info.is(Trait::CreatesView) && self.sources.len() < SOURCES_KEPT {
            let sources = self.filter.left_out_sources(text, &dialect, names);
            self.sources.extend(sources.into_iter().map(|source| (location.clone(), text.to_vec(), source)));
        }
        if let StatementKind::Set | StatementKind::Use(_) = info.kind {
            self.follow(text, &info)?;
        }
        Ok(())
    }

    /// Does to this session what the input does to its own. What the server refuses, the load tells of.
    fn follow(&mut self, text: &[u8], info: &StatementInfo) -> Result<(), Error> {
        if info.assignments.beyond_session || info.assignments.reads_beyond_session {
            return Ok(());
        }
        match self.connection.execute(text) {
            Ok(_) => self.tracker.assigned(&info.assignments),
            Err(Error::Server(_)) => {}
            Err(error) => return Err(error),
        }
        self.tracker.follow(&mut self.connection)?;
        Ok(())
    }

    fn leaves_out(&mut self, table: &RowsTable) -> bool {
        let state = Arc::clone(self.tracker.state());
        let names = Names {
            database: state.database.as_deref(),
            folds_case: self.folds_case,
            are_utf8: state.names_are_utf8(),
        };
        self.filter.leaves_out_rows(table, names)
    }

    fn use_schema(&mut self, schema: &[u8], location: &Location) {
        let state = Arc::clone(self.tracker.state());
        let names = Names {
            database: state.database.as_deref(),
            folds_case: self.folds_case,
            are_utf8: state.names_are_utf8(),
        };
        if let Err(Refusal(reason)) = self.filter.use_schema(schema, names) {
            self.failures.push(Failure::finding(location, &[b"use ", schema].concat(), reason));
        }
    }

    /// Refuses views that read a table which is left out and not on the server: they cannot be created.
    fn look_for_sources(&mut self) -> Result<(), Error> {
        for (location, text, source) in std::mem::take(&mut self.sources) {
            let Some(schema) = &source.schema else { continue };
            let question = [
                b"SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = ".as_slice(),
                &hortator_mysql::quote_string(schema),
                b" AND TABLE_NAME = ",
                &hortator_mysql::quote_string(&source.table),
            ];
            if self.connection.fetch(&question.concat())?.is_empty() && self.failures.len() < REFUSALS_KEPT {
                let shown = format!("{}.{}", String::from_utf8_lossy(schema), String::from_utf8_lossy(&source.table));
                let reason = format!(
                    "the view reads {shown}, which is left out and does not exist on the server: select the table too, or \
                     leave the view out"
                );
                self.failures.push(Failure::finding(&location, &text, reason));
            }
        }
        Ok(())
    }

    fn tell_unmatched(&mut self) {
        let nowhere = Location { file: "".into(), line: 0, byte: 0, ordinal: 0 };
        for option in self.filter.unmatched_options() {
            let reason = format!("{option} matches no name in the input; nothing is loaded");
            self.failures.push(Failure::finding(&nowhere, b"", reason));
        }
    }
}
