//! Small loads: on record in a file of the loader's machine only, until more is needed.
//!
//! The schema of the checkpoints costs the server some twenty waits for its disk, and a load of a few statements none but
//! its own. So a new load begins with a [`LocalRecord`] in its local journal where that is as good: the server confirms
//! nothing before it is on disk, this account sees which data the server has, so that the record is never taken for one of
//! other data, and may create the schema later. The load goes on record on the server ([`Checkpoints::register`]) before
//! anything needs its tables, when the local journal is renewed, or after a second. Its row then names the file:
//!
//! ```text
//!   file:    L the load; B 1, E 1, B 2, E 2 …          L the load; B 1, E 1, B 2, E 2, B 3 …
//!   server:  nothing                                   the load, anchor: this file, from 1
//! ```
//!
//! A load that ends in order leaves nothing, or is on record on the server. One that was killed before leaves the file. To
//! resume it is to put it on record on the server first; all else is as with any other load.
//!
//! Not here: which statements may run before the load is on record on the server. The coordinator decides that.

use std::path::Path;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::catalog::TableName;
use hortator_mysql::{Connection, Flavor, Row, quote_identifier, quote_string};

use super::load_registry::{self, number, text};
use super::local_journal::{
    LocalJournal, LocalRecord, Next, RecordFile, SERVER_FACTS, ServerFacts, ServerIdentity, record_files,
};
use super::session_locks::holder;
use super::statements::{Statements, hex};
use super::{Checkpoint, Checkpoints, Error, Identity, Start};

/// Rights that the load needs to go on record on the server.
const RIGHTS: &str = "'SELECT','INSERT','UPDATE','DELETE','CREATE','DROP'";
const RIGHTS_COUNT: u64 = 6;

/// How long a load to be resumed may be on its way from one state to the next, and how often it is looked at.
const CHANGE_LIMIT: Duration = Duration::from_secs(5);
const CHANGE_PAUSE: Duration = Duration::from_millis(20);

/// What the server says of itself and of this account, for local records.
#[derive(Debug)]
pub(super) struct RecordFacts {
    facts: ServerFacts,
    /// The schema has the tables of the checkpoints.
    is_prepared: bool,
    /// The account may create them.
    may_prepare: bool,
    /// `None` where the account does not see it: then there are no local records.
    identity: Option<ServerIdentity>,
    /// The server's clock, in seconds.
    now: u64,
    /// The names by which this account logs in, and by which the server knows it.
    own_names: Vec<Vec<u8>>,
}

/// Asks for them; `None` where there are never local records.
pub(super) fn facts(
    connection: &mut Connection,
    statements: &Statements,
    is_cluster: bool,
) -> Result<Option<RecordFacts>, hortator_mysql::Error> {
    if is_cluster || connection.version().flavor != Flavor::MariaDb {
        return Ok(None);
    }
    // When a table of the server's own was created tells one installation from another; the account must be allowed to see it.
    let query = format!(
        "{SERVER_FACTS}, \
         (SELECT CONCAT(@@hostname, ':', @@port, ':', @@server_id, ':', @@datadir, ':', UNIX_TIMESTAMP(CREATE_TIME)) \
         FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME = 'db'), \
         (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'INNODB_LSN_FLUSHED'), \
         (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = {} AND TABLE_NAME = 'chunks'), \
         (SELECT COUNT(DISTINCT PRIVILEGE_TYPE) FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE IN ({RIGHTS}) \
         AND GRANTEE = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')), \
         UNIX_TIMESTAMP(), USER(), CURRENT_USER()",
        hex(statements.schema()),
    );
    let row = connection.fetch(query.as_bytes())?.into_iter().next().unwrap_or_default();
    Ok(Some(RecordFacts::new(&row)))
}

impl RecordFacts {
    fn new(row: &Row) -> Self {
        let number = |column: usize| text(row, column).parse::<u64>().ok();
        let name = Some(text(row, 4)).filter(|name| !name.is_empty());
        let identity = name.zip(number(5)).map(|(name, lsn)| ServerIdentity { name, lsn });
        // A host has no @.
        let user = |account: String| account.rsplit_once('@').map_or(account.clone(), |(user, _)| user.to_owned());
        Self {
            facts: ServerFacts::new(&text(row, 0), &text(row, 1), &text(row, 2), &text(row, 3), false),
            identity,
            is_prepared: number(6) != Some(0),
            may_prepare: number(7) == Some(RIGHTS_COUNT),
            now: number(8).unwrap_or(0),
            own_names: vec![user(text(row, 9)).into_bytes(), user(text(row, 10)).into_bytes()],
        }
    }

    /// The local records of loads into this schema of this server.
    fn records(&self, statements: &Statements, folder: Option<&Path>) -> Vec<RecordFile> {
        let (Some(identity), Some(folder)) = (&self.identity, folder) else { return Vec::new() };
        let mut found = record_files(folder);
        found.retain(|file| file.is_of(statements.schema(), identity));
        found
    }

    pub(super) fn own_names(self) -> Vec<Vec<u8>> {
        self.own_names
    }
}

/// Begins a load with a local record, where that is as good as one on the server.
pub(super) fn begin(
    connection: &mut Connection,
    statements: &Statements,
    facts: &RecordFacts,
    identity: &Identity,
    threads: usize,
    folder: Option<&Path>,
) -> Result<Option<LocalJournal>, Error> {
    let Some(server) = facts.identity.clone() else { return Ok(None) };
    if !facts.facts.is_durable || facts.is_prepared || !facts.may_prepare {
        return Ok(None);
    }
    let load_id = load_registry::claim_new_id(connection, load_registry::new_id)?;
    let mut local = LocalJournal::new(load_id, folder);
    let record = LocalRecord {
        schema: statements.schema().to_owned(),
        server,
        server_name: facts.facts.server.clone(),
        host: String::new(),
        input: identity.clone(),
        threads,
        started_at: facts.now,
    };
    Ok(local.begin_record(record).then_some(local))
}

/// Gives up the local records of interrupted loads of the same input, which a new load replaces.
pub(super) fn discard_same(
    connection: &mut Connection,
    statements: &Statements,
    facts: &RecordFacts,
    identity: &Identity,
    folder: Option<&Path>,
) -> Result<(), Error> {
    if !identity.is_certain() {
        return Ok(());
    }
    for file in facts.records(statements, folder) {
        if !file.is_running() && file.record.input == *identity && holder(connection, file.load_id())?.is_none() {
            file.remove();
        }
    }
    Ok(())
}

/// Puts the interrupted loads that may be meant, and have local records, on record on the server. Gives the files, which are
/// locked until they are dropped.
pub(super) fn import(
    connection: &mut Connection,
    statements: &Statements,
    facts: &RecordFacts,
    identity: &Identity,
    start: Start,
    folder: Option<&Path>,
) -> Result<Vec<RecordFile>, Error> {
    let is_meant = |file: &RecordFile| match start {
        Start::New => false,
        Start::Resume => file.record.input == *identity,
        Start::ResumeId(id) => file.load_id() == id,
    };
    let begun = Instant::now();
    loop {
        let mut meant: Vec<RecordFile> = facts.records(statements, folder).into_iter().filter(is_meant).collect();
        let on_server = load_registry::ids(connection, statements)?;
        meant.retain(|file| !on_server.contains(&file.load_id()));
        let Some(running) = meant.iter().find(|file| file.is_running()) else {
            for file in &meant {
                check_rows(connection, file)?;
                load_registry::register(connection, statements, file.load_id(), &file.record, &file.anchor)?;
            }
            return Ok(meant);
        };
        let load_id = running.load_id();
        let holder = holder(connection, load_id)?;
        if let Some(connection_id) = holder.or_else(|| (begun.elapsed() >= CHANGE_LIMIT).then_some(0)) {
            return Err(Error::Running { load_id, connection_id });
        }
        // It begins, or another process resumes or shows it.
        drop(meant);
        thread::sleep(CHANGE_PAUSE);
    }
}

/// Whether the tables that a load has created hold no other rows than those that it has inserted. The server has no trace of
/// such a load: the same input may have been loaded since by somebody who does not see the record, or the server's storage may
/// have been set back and have gone another way.
fn check_rows(connection: &mut Connection, file: &RecordFile) -> Result<(), Error> {
    for (table, recorded) in &file.rows {
        let query = [
            b"SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') \
              AND ENGINE IN ('InnoDB', 'MyISAM', 'Aria', 'MEMORY', 'ROCKSDB') AND TABLE_SCHEMA = "
                .as_slice(),
            &quote_string(&table.schema),
            b" AND TABLE_NAME = ",
            &quote_string(&table.table),
        ]
        .concat();
        // Gone since, or a view in its place, as in many dumps; or the rows are those of other tables.
        if number(connection, &query)? == 0 {
            continue;
        }
        let place = [quote_identifier(&table.schema), quote_identifier(&table.table)].join(&b'.');
        let limit = format!(" LIMIT {}) AS found", recorded + 1);
        let query = [b"SELECT COUNT(*) FROM (SELECT 1 FROM ".as_slice(), &place, limit.as_bytes()].concat();
        if number(connection, &query)? > *recorded {
            return Err(Error::MoreRows { load_id: file.load_id(), table: table.to_string(), recorded: *recorded });
        }
    }
    Ok(())
}

/// A load with a local record of the same files, but with other options.
pub(super) fn with_other_options(
    statements: &Statements,
    facts: &RecordFacts,
    identity: &Identity,
    folder: Option<&Path>,
) -> Option<Error> {
    facts.records(statements, folder).iter().find_map(|file| {
        let found = &file.record.input;
        let differs = found.differs_in_options(identity).filter(|_| found.files == identity.files)?;
        Some(Error::OtherOptions { load_id: file.load_id(), differs })
    })
}

/// The loads with local records and none on the server.
pub(super) fn unregistered(
    connection: &mut Connection,
    statements: &Statements,
    folder: Option<&Path>,
) -> Result<Vec<RecordFile>, Error> {
    let Some(facts) = folder.map_or(Ok(None), |_| facts(connection, statements, false))? else { return Ok(Vec::new()) };
    let mut found = facts.records(statements, folder);
    if !found.is_empty() {
        let on_server = load_registry::ids(connection, statements)?;
        found.retain(|file| !on_server.contains(&file.load_id()));
    }
    Ok(found)
}

impl Checkpoints {
    /// Whether the load is on record on the server.
    #[must_use]
    pub fn is_on_server(&self) -> bool {
        self.is_on_server.load(Acquire)
    }

    /// The names by which this account logs in, and by which the server knows it: of a load that is not on record on the server.
    #[must_use]
    pub fn own_names(&self) -> &[Vec<u8>] {
        &self.own_names
    }

    /// Puts the load on record on the server, if it is not.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn register(&self) -> Result<(), hortator_mysql::Error> {
        if self.is_on_server() {
            return Ok(());
        }
        self.register_locked(&mut self.local())
    }

    /// The load creates a table: its local record says so, while it has one. Before the table is there.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn create_table(&self, table: &TableName) -> Result<(), hortator_mysql::Error> {
        let mut local = self.local();
        let written = local.create_table(table);
        written.or_else(|error| self.give_up(&mut local, &error))
    }

    pub(super) fn register_locked(&self, local: &mut LocalJournal) -> Result<(), hortator_mysql::Error> {
        if self.is_on_server() {
            return Ok(());
        }
        // The connection may have been lost before.
        let may_be_stale = self.has_internal_connection();
        match self.register_once(local) {
            Err(error) if error.is_lost() && may_be_stale => self.register_once(local),
            registered => registered,
        }
    }

    fn register_once(&self, local: &mut LocalJournal) -> Result<(), hortator_mysql::Error> {
        // The server takes its time.
        let _ = local.write_ends();
        if let Some((record, anchor)) = local.record() {
            self.with_internal_connection(|checkpoints, internal| {
                load_registry::register(internal, &checkpoints.statements, checkpoints.load_id, record, anchor)
                    .map_err(Error::into_server)
            })?;
        }
        local.recorded();
        self.is_on_server.store(true, Release);
        Ok(())
    }

    /// Records something that is done, outside of any transaction: on the server, unless nothing is there.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn record_apart(&self, checkpoint: &Checkpoint) -> Result<(), hortator_mysql::Error> {
        if !self.is_on_server() && self.begin_locally(checkpoint)? {
            return Ok(());
        }
        self.on_internal_connection(|checkpoints, internal| checkpoints.write(internal, checkpoint).map(drop))
    }

    /// Records the intent of rows that go to a table which has none, in a transaction: in the local record, while the load
    /// has one. False where they are to be recorded in their transaction.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn begin_rows_locally(&self, intent: &Checkpoint) -> Result<bool, hortator_mysql::Error> {
        if self.is_on_server() {
            return Ok(false);
        }
        let is_local = self.begin_locally(intent)?;
        if !is_local {
            self.register()?;
        }
        Ok(is_local)
    }

    /// Records the intent of the only rows of a table, which stand in no other record: in the local journal, where one is open
    /// and has room. False where they are to be recorded in their transaction.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn begin_rows_in_open_journal(&self, intent: &Checkpoint) -> Result<bool, hortator_mysql::Error> {
        let mut local = self.local();
        if self.targets.info().is_some() || self.next_locally(&mut local, intent.span.first)? != Next::Append {
            return Ok(false);
        }
        match local.begin(intent) {
            Ok(()) => Ok(true),
            Err(error) => self.give_up(&mut local, &error).map(|()| false),
        }
    }

    /// The load has ended without being on record on the server. Gives whether that is all.
    pub(super) fn end_locally(&self, is_complete: bool) -> bool {
        let mut local = self.local();
        let is_over = !self.is_on_server() && (is_complete || local.is_empty());
        if is_over {
            local.end_record();
        }
        is_over
    }
}
