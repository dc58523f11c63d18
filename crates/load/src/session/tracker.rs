//! The main session's state, as the server reports it with its answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use hortator_mysql::{Connection, Error, Flavor, SessionChanges};

use super::shared_reports::{self, INSERT_ID};
use super::{SHOW_VARIABLES, SessionState, as_reported, global_variables, variables_as_bytes, variables_of};
use crate::analysis::{Assignments, is_propagated, is_session_local};

/// Variables that switch the server's reports.
const REPORTING: &str = "session_track_";

/// Follows the main session's state.
#[derive(Debug)]
pub struct Tracker {
    state: Arc<SessionState>,
    /// Variables that only the main session can hold, and that are not reset.
    session_local: BTreeSet<String>,
    is_one_shot: bool,
    /// A statement that only reads would use it up.
    is_for_reads: bool,
    /// The number of the next row that the server numbers is set.
    next_number: bool,
    /// That number, where the server has reported it.
    reported_number: Option<u64>,
    /// The server reports each variable by its own name; see [`shared_reports`].
    has_exact_reports: bool,
    is_mariadb: bool,
    /// Variables that may have other values than the state says.
    unread: BTreeSet<&'static str>,
    /// What SETs have assigned since the last report, by their words.
    assigned: BTreeSet<String>,
    /// They may have assigned more, by functions.
    may_have_assigned: bool,
}

impl Tracker {
    /// Has the server report changes from here on, and reads the state of a fresh connection.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the server cannot report; what the server or the connection says.
    pub fn new(main: &mut Connection) -> Result<Self, Error> {
        if !main.track_session()? {
            let message = "the server does not report changes of a session (MariaDB from 10.2, MySQL from 5.7 do), or a \
                           proxy in between does not pass that on: connect to the server itself";
            return Err(Error::Unsupported(message.to_owned()));
        }
        let has_exact_reports = shared_reports::are_exact(main)?;
        let mut tracker = Self {
            state: Arc::default(),
            session_local: BTreeSet::new(),
            is_one_shot: false,
            is_for_reads: false,
            next_number: false,
            reported_number: None,
            has_exact_reports,
            is_mariadb: main.version().flavor == Flavor::MariaDb,
            unread: BTreeSet::new(),
            assigned: BTreeSet::new(),
            may_have_assigned: false,
        };
        tracker.refresh(main)?;
        Ok(tracker)
    }

    /// The state in force.
    #[must_use]
    pub fn state(&self) -> &Arc<SessionState> {
        &self.state
    }

    /// Reads the state from the session itself: for a statement that has failed, of which the server reports nothing.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn refresh(&mut self, main: &mut Connection) -> Result<(), Error> {
        // As bytes: the answer must not depend on character_set_results.
        let results = self.state.value("character_set_results");
        let is_wide = [b"ucs2".as_slice(), b"utf16", b"utf32"].iter().any(|charset| results.starts_with(charset));
        let variables = if is_wide { variables_as_bytes(main.version().flavor) } else { SHOW_VARIABLES.to_vec() };
        // With a limit, since the session may have one.
        let questions = [variables, b"SELECT CAST(DATABASE() AS BINARY) LIMIT 1".to_vec()];
        let mut answers = main.fetch_each(&questions)?.into_iter();
        let variables = variables_of(answers.next().unwrap_or_default());
        let row = answers.next().and_then(|rows| rows.into_iter().next());
        let database = row.and_then(|row| row.into_iter().next().flatten());
        let collation_database = variables.get("collation_database").cloned().flatten();
        let mut state = (*self.state).clone();
        if state.initial.is_empty() {
            state.begin(variables);
        } else {
            let is_changed = |(name, value): &(String, Option<Vec<u8>>)| {
                is_propagated(name) && state.variable(name) != Some(value.as_deref())
            };
            let changed: Vec<_> = variables.into_iter().filter(is_changed).collect();
            let global = if changed.is_empty() { BTreeSet::new() } else { global_variables(main) };
            for (name, value) in changed.into_iter().filter(|(name, _)| !global.contains(name)) {
                state.set(&name, value);
            }
        }
        state.database = database;
        state.collation_database = collation_database;
        self.set(state);
        self.unread.retain(|name| *name == INSERT_ID);
        drop(main.take_session_changes());
        Ok(())
    }

    /// Whether a report has left open what other variables are.
    #[must_use]
    pub fn has_unread(&self) -> bool {
        !self.unread.is_empty()
    }

    /// Reads what reports have left open. FOUND_ROWS(), the warnings and the last number stay; ROW_COUNT() is 0 then, as
    /// behind any SET. A session that takes no SET now, such as a prepared XA transaction, is asked again.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn read_unread(&mut self, main: &mut Connection) -> Result<(), Error> {
        shared_reports::read(main, self.unread.iter().copied())?;
        let mut state = (*self.state).clone();
        for (name, value) in main.take_session_changes().variables {
            let name = String::from_utf8_lossy(&name).into_owned();
            if name == INSERT_ID {
                // None is left of one that a row has used up.
                self.reported_number = parsed(&value).filter(|number| *number > 0);
            } else if self.unread.contains(&*name) {
                state.set(&name, as_reported(&name, value));
            }
        }
        self.set(state);
        self.unread.clear();
        Ok(())
    }

    /// Takes in what the server has reported of a session that only follows the dump's.
    ///
    /// # Errors
    /// What the connection says.
    pub fn follow(&mut self, session: &mut Connection) -> Result<(), Error> {
        self.apply(&session.take_session_changes(), &[], true);
        if !self.has_unread() {
            return Ok(());
        }
        match self.read_unread(session) {
            Ok(()) | Err(Error::Server(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Takes in what the server has reported. Names in `restored` were set for one statement only, and have their values of
    /// before again. `is_set`: what else it assigns is known from its words. Gives whether the server's reports have been switched.
    pub fn apply(&mut self, changes: &SessionChanges, restored: &[String], is_set: bool) -> bool {
        if changes.variables.is_empty() && changes.schema.is_none() {
            return false;
        }
        self.note_left_open(&changes.variables, is_set);
        let mut switched = false;
        let mut state = (*self.state).clone();
        for (name, value) in &changes.variables {
            let name = String::from_utf8_lossy(name).into_owned();
            switched |= name.starts_with(REPORTING);
            if name == INSERT_ID && self.has_exact_reports {
                self.reported_number = parsed(value);
            }
            if is_session_local(&name) && !is_set {
                // A routine has set it.
                self.session_local.insert(name);
            } else if (is_propagated(&name) || name == "wait_timeout") && !restored.contains(&name) {
                let value = as_reported(&name, value.clone());
                if let Some(alias) = shared_reports::alias_of(&name).filter(|alias| state.variable(alias).is_some()) {
                    state.set(alias, value.clone());
                }
                state.set(&name, value);
            }
        }
        if let Some(schema) = &changes.schema {
            state.database = (!schema.is_empty()).then(|| schema.clone());
        }
        self.set(state);
        switched
    }

    /// Takes note of the variables that reports leave open: those that were assigned, or the whole group where that is not
    /// known.
    fn note_left_open(&mut self, reported: &[(Vec<u8>, Vec<u8>)], is_set: bool) {
        let assigned = std::mem::take(&mut self.assigned);
        let is_known = is_set && !std::mem::take(&mut self.may_have_assigned);
        let state = &self.state;
        let is_reported = |name: &str| reported.iter().any(|(found, _)| found == name.as_bytes());
        for (name, _) in reported {
            let Ok(name) = std::str::from_utf8(name) else { continue };
            // SET NAMES: MariaDB does not report the collation that comes with it, and another one would bring back its own
            // character set.
            let is_names =
                self.is_mariadb && name == "character_set_connection" && !is_reported("collation_connection");
            if self.has_exact_reports && !is_names {
                continue;
            }
            if shared_reports::is_number(name) {
                if !is_set {
                    // A routine has set it, or another one of its group.
                    self.session_local.insert("timestamp".to_owned());
                    self.unread.insert(INSERT_ID);
                }
                continue;
            }
            let group = shared_reports::group_of(name);
            let names_some = is_known && group.iter().any(|other| assigned.contains(*other));
            let is_open = |other: &&str| {
                let can_be_read = shared_reports::can_be_read(other) && state.variable(other).is_some();
                can_be_read && (!names_some || assigned.contains(*other))
            };
            self.unread.extend(group.iter().copied().filter(is_open));
        }
    }

    /// The default schema's collation is this one now.
    pub fn set_collation_database(&mut self, collation: Option<Vec<u8>>) {
        let state = SessionState { collation_database: collation, ..(*self.state).clone() };
        self.set(state);
    }

    fn set(&mut self, state: SessionState) {
        if state != *self.state || self.state.initial.is_empty() {
            self.state = Arc::new(state);
        }
    }

    /// Whether a SET assigns what the server reports: one that takes itself out of the list is not reported.
    #[must_use]
    pub fn is_switched_by(assignments: &Assignments) -> bool {
        assignments.propagated.iter().any(|name| name.starts_with(REPORTING))
    }

    /// Takes note of what a SET has assigned that the server does not report.
    pub fn assigned(&mut self, assignments: &Assignments) {
        if !self.has_exact_reports {
            self.assigned.extend(assignments.propagated.iter().cloned());
            self.assigned.extend(assignments.autocommit.then(|| "autocommit".to_owned()));
            self.may_have_assigned |= assignments.reads_beyond_session;
            if assignments.next_number {
                self.reported_number = assignments.given_number;
                if assignments.given_number.is_none() {
                    self.unread.insert(INSERT_ID);
                }
            }
        }
        for (name, is_reset) in &assignments.session_local {
            if *is_reset {
                self.session_local.remove(name);
            } else {
                self.session_local.insert(name.clone());
            }
        }
        self.is_one_shot |= assignments.is_one_shot;
        self.is_for_reads |= assignments.is_one_shot && !assignments.is_for_next_change;
        self.next_number |= assignments.next_number;
    }

    /// Whether statements must stay in the main session, whatever they are.
    #[must_use]
    pub fn has_session_local(&self) -> bool {
        self.is_one_shot || !self.session_local.is_empty()
    }

    /// Whether a variable is set that acts on the next statement only.
    #[must_use]
    pub fn is_one_shot(&self) -> bool {
        self.is_one_shot
    }

    /// Whether such a variable acts on a statement that only reads, too.
    #[must_use]
    pub fn is_one_shot_for_reads(&self) -> bool {
        self.is_one_shot && self.is_for_reads
    }

    /// Whether the number of the next row that the server numbers is set.
    #[must_use]
    pub fn has_next_number(&self) -> bool {
        self.next_number
    }

    /// Takes note that a statement has run that uses up what was set for the next one. `insert_id`: what the server
    /// answered with it, 0 for none; a number that the statement itself gives comes so too.
    pub fn rows_ran(&mut self, insert_id: u64) {
        let has_numbered = insert_id > 0 && self.reported_number.is_none_or(|number| number == insert_id);
        self.next_number &= !has_numbered;
        self.is_one_shot = self.next_number;
        self.is_for_reads &= self.is_one_shot;
    }
}

/// A reported number.
fn parsed(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}
