//! Who runs a statement, and whose an event is: on the target, Hortator's account runs all of them.

use hortator_mysql::quote_string;

use super::Applier;
use super::prepare::IN_UTF8;
use crate::apply::definition::{changed_event, event_definer};
use crate::apply::error::Error;
use crate::apply::invoker::account_of;
use crate::binlog::QueryEvent;
use crate::event_definition::disable_event;
use crate::query::first_value;

impl Applier {
    /// The account in whose name a statement runs, as the session reads it that the statement runs in.
    pub(super) fn account(&mut self, query: &QueryEvent, place: &str) -> Result<Option<Vec<u8>>, Error> {
        account_of(query).map(|account| self.in_session_charset(account, place)).transpose()
    }

    /// A text in UTF-8, as the session reads it: it is in the character set of a statement of the source.
    fn in_session_charset(&mut self, text: Vec<u8>, place: &str) -> Result<Vec<u8>, Error> {
        if text.is_ascii() {
            return Ok(text);
        }
        self.take_answers()?;
        let asked = first_value(&mut self.connection, b"SELECT @@session.character_set_client");
        let charset = asked.map_err(|error| self.failed(error, place))?;
        if IN_UTF8.contains(&charset.as_str()) {
            return Ok(text);
        }
        let literal = String::from_utf8_lossy(&quote_string(&text)).into_owned();
        let converted = format!("CONVERT({literal} USING {charset})");
        // As bytes, which are not converted for the client.
        let question =
            format!("SELECT CAST({converted} AS BINARY), CAST(CONVERT({converted} USING utf8mb4) AS BINARY)");
        let rows = self.connection.fetch(question.as_bytes()).map_err(|error| self.failed(error, place))?;
        match rows.into_iter().next().as_deref_mut() {
            Some([Some(there), Some(back)]) if *back == text => Ok(std::mem::take(there)),
            _ => Err(Error::Event {
                place: place.to_owned(),
                found: format!(
                    "the character set {charset}, which the statement ran in, does not have the letters of {}: run it on the \
                     target by hand, where an event is to be disabled then, and `skip` it",
                    String::from_utf8_lossy(&text)
                ),
            }),
        }
    }

    /// The event that a statement is about to create or change, by its name: it must not run on the target too, what it does
    /// on the source comes from there.
    pub(super) fn changed_event(&mut self, text: &[u8], place: &str) -> Result<Option<Vec<u8>>, Error> {
        let asked = changed_event(&mut self.connection, text).map_err(|error| self.failed(error, place))?;
        let name = asked.map_err(|found| Error::Event { place: place.to_owned(), found })?;
        if name.is_some() && self.runs_events(place)? {
            let found = "the target runs events, and would run this one too before it is disabled: SET GLOBAL \
                         event_scheduler = OFF there";
            return Err(Error::Event { place: place.to_owned(), found: found.to_owned() });
        }
        Ok(name)
    }

    /// Keeps it from running.
    pub(super) fn disable_event(&mut self, name: &[u8], place: &str) -> Result<(), Error> {
        self.take_answers()?;
        let definer = event_definer(&mut self.connection, name).map_err(|error| self.failed(error, place))?;
        let definer = self.in_session_charset(definer, place)?;
        self.execute(&disable_event(name, &definer), place)
    }

    fn runs_events(&mut self, place: &str) -> Result<bool, Error> {
        let asked = first_value(&mut self.connection, b"SELECT @@global.event_scheduler");
        asked.map(|state| state == "ON").map_err(|error| self.failed(error, place))
    }
}
