//! One source's copy from beginning to end: the threads, and what ends them.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use hortator_load::checkpoint::{CheckpointMode, Start};
use hortator_load::input::Source as Input;
use hortator_load::report::{End, Summary};
use hortator_load::throttle::ThrottleOptions;
use hortator_load::{Checks, DeferIndexes, FilterRules, InDoubt, Load, Options, Output};
use hortator_mysql::{
    BinlogRequest, BinlogStream, Column, ConnectOptions, Connection, Error as ServerError, RowSink, quote_string,
};

use super::claims::{Claims, end_of_record};
use super::ddl_watch::DdlWatch;
use super::definition_maker::{DefinitionMaker, make};
use super::definitions;
use super::destination_tables;
use super::frozen::{self, Frozen};
use super::inventory::{self, Definition, Inventory, RowSource, Table};
use super::objects::Object;
use super::pipe::{PipeReader, pipe};
use super::row_reader::{Counters, RowReader, RowsRead};
use super::scope::Scope;
use super::staged::StagedTable;
use super::under_rules::under_rules;
use super::{CopyStatus, Error, missing_rights, of_mysql};
use crate::apply::{SourcePosition, stays_on_node, stays_on_node_text};
use crate::query::{first_column, first_value};
use crate::rules::Rules;
use crate::source::{self, Queue, log_end};
use crate::transaction::LogPosition;

/// How often a definition may change under the copy before a person must see to it.
const ATTEMPTS_LIMIT: u32 = 10;
/// How often it is looked whether the copy may go on.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// Text of a statement of rows, in bytes, unless the target takes less.
const STATEMENT_BYTES: usize = 512 << 10;
/// Text that a copy has under way, in bytes.
const IN_FLIGHT_BYTES: usize = 16 << 20;
/// What the watch of the log holds, in bytes.
const WATCH_QUEUE_BYTES: usize = 1 << 20;
/// How often the source reports while nothing happens: the watch ends within this time.
const HEARTBEAT_MS: u64 = 500;
/// A source that says nothing for this long is taken for lost.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);

/// What shall become of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// It goes on.
    Run,
    /// It waits; the snapshot stays open.
    Hold,
    /// It ends.
    End,
}

/// Who watches a copy.
pub(crate) trait Monitor: Sync {
    /// What shall become of it.
    fn wanted(&self) -> Wanted;
    /// Takes note of how far it is.
    fn note(&self, status: CopyStatus);
    /// Tells a person something.
    fn tell(&self, text: &str);
}

/// What is copied, all of it.
pub(crate) struct Copied {
    /// As it stands at this place of the log.
    pub(crate) position: SourcePosition,
    /// The statements by which the copy is whole, to be committed with the position.
    pub(crate) ends: Vec<Vec<u8>>,
}

/// What brings the rest of the target to a place of the source's log, before the tables are copied that a copy is of: first
/// to its end as it is then, while no snapshot is open, and then to the snapshot's place.
pub(crate) type CatchUp<'c> = dyn FnMut(Option<&LogPosition>) -> Result<(), Error> + 'c;

/// A copy.
pub(crate) struct Copy<'c> {
    pub(crate) source: &'c ConnectOptions,
    pub(crate) target: &'c ConnectOptions,
    /// The schema of positions.
    pub(crate) schema: &'c str,
    /// The source's name.
    pub(crate) name: &'c str,
    pub(crate) server_id: u32,
    pub(crate) rules: &'c Rules,
    pub(crate) scope: Scope,
    pub(crate) monitor: &'c dyn Monitor,
}

impl Copy<'_> {
    /// Copies what is in its scope.
    ///
    /// # Errors
    /// See [`Error`]. What is made by then is on record, and is dropped by the next copy.
    pub(crate) fn run(&self, catch_up: &mut CatchUp<'_>) -> Result<Copied, Error> {
        let mut attempt = 1;
        loop {
            match self.attempt(catch_up) {
                Err(Error::Changed(what)) if attempt < ATTEMPTS_LIMIT => {
                    self.monitor.tell(&format!("a definition changed under the copy, which begins anew: {what}"));
                    attempt += 1;
                }
                Err(Error::Changed(what)) => {
                    return Err(Error::Refused(format!(
                        "definitions changed on the source while it was copied, {attempt} times, last: {what}. Keep them as \
                         they are until the copy is done"
                    )));
                }
                done => return done,
            }
        }
    }

    fn attempt(&self, catch_up: &mut CatchUp<'_>) -> Result<Copied, Error> {
        self.monitor.note(CopyStatus::default());
        let mut control = frozen::connect(self.source)?;
        self.check_source(&mut control)?;
        let target = self.open_target()?;
        let mut claims = Claims::open(target, self.schema, self.name)?;
        if claims.drop_unfinished(self.target, &|| self.goes_on())? {
            self.monitor.tell(match self.scope.is_all() {
                true => "has taken away what an earlier copy had put on the target",
                false => "has taken away what is to be copied by itself",
            });
        }
        catch_up(None)?;
        let frozen = Frozen::open(self.source, self.schema, self.rules, &self.scope, &|text| self.monitor.tell(text))?;
        let position = frozen.position.clone();
        catch_up(Some(&position.position))?;
        let stream = self.open_log(&position)?;
        let (queue, watch) = (Queue::new(WATCH_QUEUE_BYTES), DdlWatch::default());
        let ends = thread::scope(|scope| {
            scope.spawn(|| source::read(stream, position.position.clone(), &queue));
            scope.spawn(|| watch.follow(&queue));
            let done = self.with_watch(control, claims, frozen, &watch);
            queue.close();
            done
        })?;
        Ok(Copied { position, ends })
    }

    pub(super) fn check_source(&self, control: &mut Connection) -> Result<(), Error> {
        let grants = first_column(control, b"SHOW GRANTS").map_err(Error::source("asking for rights"))?;
        let locked = frozen::locked_tables(control, self.schema, self.rules, &self.scope)?;
        let missing = missing_rights(&grants, !locked.is_empty());
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::Refused(format!(
            "the account may not read all that is copied: GRANT {} ON *.* TO it, on the source",
            missing.join(", ")
        )))
    }

    pub(super) fn open_target(&self) -> Result<Connection, Error> {
        let mut connection = Connection::open(self.target).map_err(Error::target("connecting"))?;
        for setting in definitions::SESSION {
            connection.execute(setting.as_bytes()).map_err(Error::target("setting the session"))?;
        }
        for setting in definitions::OPTIONAL_SESSION {
            match connection.execute(setting.as_bytes()) {
                Ok(_) | Err(ServerError::Server(_)) => {}
                Err(error) => return Err(Error::target("setting the session")(error)),
            }
        }
        Ok(connection)
    }

    fn open_log(&self, position: &SourcePosition) -> Result<BinlogStream, Error> {
        let options = ConnectOptions { read_timeout: Some(SILENCE_LIMIT), ..self.source.clone() };
        let connection = Connection::open(&options).map_err(Error::source("connecting to the source"))?;
        // By its place, not by GTID: then the position is known before the first event comes.
        let place = SourcePosition { position: position.position.clone(), ..SourcePosition::default() };
        let start = source::request(&place, connection.version().flavor)?;
        let request = BinlogRequest { server_id: self.server_id, start, waits: true, heartbeat_ms: HEARTBEAT_MS };
        BinlogStream::open(connection, &request).map_err(Error::source("reading its log"))
    }

    fn goes_on(&self) -> Result<(), Error> {
        match self.monitor.wanted() {
            Wanted::End => Err(Error::Ended),
            Wanted::Run | Wanted::Hold => Ok(()),
        }
    }

    fn with_watch(
        &self,
        mut control: Connection,
        mut claims: Claims,
        frozen: Frozen,
        watch: &DdlWatch,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let (Inventory { mut definitions, mut tables, left_out }, notices) = self.inventory(&mut control)?;
        let target_version = claims.connection.version().comment_number();
        tables.iter_mut().flat_map(|table| &mut table.columns).for_each(|column| column.set_target(target_version));
        self.check_engines(&mut control, &mut claims, &tables)?;
        if !self.scope.is_all() {
            self.leave_schemas(&mut claims, &mut definitions)?;
            self.check_children(&mut control, &mut claims)?;
        }
        notices.iter().for_each(|notice| self.monitor.tell(notice));
        let is_locked = |object: &Object| frozen.locked.contains(&object.quoted());
        let unlocked = tables.iter().find(|table| table.rows == RowSource::Locked && !is_locked(&table.object));
        if let Some(table) = unlocked {
            return Err(Error::Changed(table.object.shown()));
        }
        let end = log_end(&mut control)?;
        watch.definitions_are_read(end.position, tables.iter().map(|table| &table.object), &|| self.goes_on())?;

        if !left_out.is_empty() {
            self.monitor.tell(&format!("does not copy what is about tables that are merged: {}", left_out.join(", ")));
        }
        let maker = DefinitionMaker { rules: self.rules, positions: self.schema, monitor: self.monitor };
        let behind = maker.make(&mut claims, &definitions)?;
        if !control.version().is_mariadb() {
            try_out(&mut claims, &behind)?;
        }
        destination_tables::prepare(&mut claims, &tables)?;
        let counters = Counters::default();
        self.monitor.note(counters.status(tables.len()));
        let statement_bytes = self.statement_bytes(&mut claims.connection)?;
        let reader = RowReader {
            frozen,
            control,
            tables: &tables,
            source: self.name,
            watch,
            monitor: self.monitor,
            counters: &counters,
            statement_bytes,
        };
        let read = self.copy_rows(reader, watch, &|| self.monitor.note(counters.status(tables.len())))?;
        destination_tables::check_triggers(&mut claims, &tables)?;
        for definition in behind {
            make(&mut claims, definition)?;
        }
        let staged =
            tables.iter().zip(read.tables).filter_map(|(table, pushed)| StagedTable::of(table, self.name, pushed));
        let staged = staged.map(|table| table.record(self.schema, self.name));
        Ok(staged.chain([end_of_record(self.schema, self.name)]).collect())
    }

    /// Refuses tables whose rows only one node of a cluster would get.
    fn check_engines(&self, control: &mut Connection, claims: &mut Claims, tables: &[Table]) -> Result<(), Error> {
        for table in tables.iter().filter(|table| table.rows == RowSource::Locked) {
            let query = [
                b"SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ".as_slice(),
                &quote_string(&table.object.schema),
                b" AND TABLE_NAME = ",
                &quote_string(&table.object.name),
            ]
            .concat();
            let engine = first_value(control, &query).map_err(Error::source("asking for engines"))?;
            let stays = stays_on_node(&mut claims.connection, &engine);
            if stays.map_err(Error::target("asking for the engines of the cluster"))? {
                return Err(Error::Refused(stays_on_node_text(&table.object.shown(), &engine)));
            }
        }
        Ok(())
    }

    /// What the source has, as it is to be on the target; and what a person must know of that.
    pub(super) fn inventory(&self, control: &mut Connection) -> Result<(Inventory, Vec<String>), Error> {
        let found = inventory::read(control, self.schema, self.rules, &self.scope)?;
        let version = control.version().comment_number();
        let (found, notices) = match control.version().is_mariadb() {
            true => (found, Vec::new()),
            false => of_mysql::for_mariadb(found, version)?,
        };
        Ok((under_rules(found, self.rules, self.schema, version)?, notices))
    }

    /// A statement, and what the load makes of it, stays far below what the target takes.
    fn statement_bytes(&self, target: &mut Connection) -> Result<usize, Error> {
        let limit = first_value(target, b"SELECT @@max_allowed_packet").map_err(Error::target("asking for limits"))?;
        Ok(STATEMENT_BYTES.min(limit.parse::<usize>().unwrap_or(STATEMENT_BYTES) / 4))
    }

    /// Rows from the source into a load, until both are done or one of them fails.
    fn copy_rows(&self, reader: RowReader<'_>, watch: &DdlWatch, note: &dyn Fn()) -> Result<RowsRead, Error> {
        let source_id = reader.frozen.connection.id();
        let (writer, piped) = pipe();
        let load = Load::open(self.load_options()).map_err(|error| lost(&error.to_string()))?;
        let interrupter = load.interrupter();
        let has_ended = AtomicBool::new(false);
        let (read, loaded, stopped, load_failed) = thread::scope(|scope| {
            let reading = scope.spawn(|| reader.run(writer));
            let loading = scope.spawn(|| {
                let summary = run_load(load, piped);
                has_ended.store(true, Relaxed);
                summary
            });
            let stopped = loop {
                note();
                let failed = watch.take_failure();
                if failed.is_some() || self.monitor.wanted() == Wanted::End {
                    break Some(failed.unwrap_or(Error::Ended));
                }
                if has_ended.load(Relaxed) {
                    break None;
                }
                thread::sleep(LOOK_INTERVAL);
            };
            // A reader that fails ends the load, and a load that fails ends the reader.
            let load_failed = !reading.is_finished();
            if load_failed {
                // Without that, the rest of a table is read before the connection is free.
                self.kill(source_id);
            }
            if stopped.is_some() {
                interrupter.interrupt();
            }
            (join(reading), join(loading), stopped, load_failed)
        });
        note();
        let summary = loaded.and_then(|loaded| loaded);
        match (stopped, read.and_then(|read| read), summary) {
            (None, Ok(read), Ok(summary)) => check_summary(&summary, read.rows).map(|()| read),
            (None, Err(error), Ok(summary)) => {
                // A definition that has changed is the reader's own finding: it ended the load by that.
                if matches!(error, Error::Ended) || load_failed && !matches!(error, Error::Changed(_)) {
                    Err(failure(&summary))
                } else {
                    Err(error)
                }
            }
            (Some(error), _, _) | (None, _, Err(error)) => Err(error),
        }
    }

    /// Ends the source's statement, best effort.
    fn kill(&self, id: u32) {
        if let Ok(mut connection) = Connection::open(self.source) {
            let _ = connection.execute(format!("KILL {id}").as_bytes());
        }
    }

    fn load_options(&self) -> Options {
        Options {
            connect: self.target.clone(),
            is_throttled: true,
            throttle: ThrottleOptions::default(),
            nodes: Vec::new(),
            input: hortator_load::Input::default(),
            threads: None,
            chunk_bytes: Some(STATEMENT_BYTES * 2),
            in_flight_bytes: Some(IN_FLIGHT_BYTES),
            batch_rows: None,
            defer_indexes: DeferIndexes::Never,
            force: false,
            reject: None,
            comments: false,
            binary_mode: true,
            checkpoint_mode: CheckpointMode::Disabled,
            local_journal_dir: None,
            start: Start::New,
            in_doubt: InDoubt::Stop,
            foreign_keys: Checks::AsWritten,
            unique_checks: Checks::AsWritten,
            filter: FilterRules::default(),
            skip_binlog: false,
            analyze: false,
            verify: false,
        }
    }
}

/// Makes definitions and drops them again: what the target cannot have is known before rows are copied.
fn try_out(claims: &mut Claims, definitions: &[&Definition]) -> Result<(), Error> {
    definitions.iter().try_for_each(|definition| make(claims, definition))?;
    definitions.iter().rev().try_for_each(|definition| claims.unmake(&definition.object))
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> Result<T, Error> {
    thread.join().map_err(|_| lost("a thread of the copy has panicked"))
}

fn run_load(load: Load, piped: PipeReader) -> Result<Summary, Error> {
    let input = Input::from_reader("(the source's rows)", piped).map_err(|error| lost(&error.to_string()))?;
    load.reading(input).run(&mut NoRows).map_err(|error| lost(&error.to_string()))
}

/// What passes, as far as is known: a connection.
fn lost(text: &str) -> Error {
    Error::Rows { code: None, text: text.to_owned() }
}

fn failure(summary: &Summary) -> Error {
    match summary.failures.first() {
        Some(failure) => Error::Rows { code: failure.code, text: failure.to_string() },
        None => lost("the load ended before its input"),
    }
}

/// Every row that was read is there.
fn check_summary(summary: &Summary, read: u64) -> Result<(), Error> {
    if summary.end != End::Complete {
        return Err(failure(summary));
    }
    if summary.rows != read {
        return Err(Error::Refused(format!(
            "the source gave {read} rows, and the target says that it has taken {}: a copy that cannot be trusted",
            summary.rows
        )));
    }
    Ok(())
}

/// No statement of a copy returns rows.
struct NoRows;

impl RowSink for NoRows {
    fn columns(&mut self, _: &[Column]) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }

    fn row(&mut self, _: &[Option<&[u8]>]) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }
}

impl Output for NoRows {
    fn shape(&mut self, _: bool) {}
}
