//! A session that copies some tables by themselves: the others are brought to the snapshot's place of the log first.

use std::thread;

use hortator_mysql::catalog::TableName;
use hortator_mysql::{BinlogRequest, BinlogStream, ConnectOptions, Connection};

use super::{Ended, Error, HEARTBEAT_MS, SILENCE_LIMIT, Session, complete};
use crate::agent::copying;
use crate::agent::hold::Reached;
use crate::apply::Applier;
use crate::rules::Rules;
use crate::source::{Arrival, Queue, log_end};
use crate::transaction::LogPosition;
use crate::{snapshot, source};

impl Session<'_> {
    /// Copies tables of the target by themselves. What follows is for another session.
    pub(super) fn copy_tables(
        &mut self,
        applier: Applier,
        rules: &Rules,
        tables: Vec<TableName>,
    ) -> Result<Ended, Error> {
        let (task, target, host) = (self.task, self.target, self.host);
        let shown = tables.iter().map(snapshot::shown).collect();
        task.track(|tracker, now| tracker.on_copying_tables(shown, now));
        let mut applier = applier.with_rules(rules.clone().passing_over(tables.clone()));
        let mut failed = None;
        let mut catch_up = |to: Option<&LogPosition>| match self.catch_up(&mut applier, to) {
            Ok(true) => Ok(()),
            // What the copy says of its end is not said.
            Ok(false) => Err(snapshot::Error::Ended),
            Err(error) => {
                failed = Some(error);
                Err(snapshot::Error::Ended)
            }
        };
        let copied = copying::copy_tables(task, target, host, rules, tables, &mut catch_up);
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(ends) = copied? {
            applier.end_copy_of_tables(&ends)?;
        }
        Ok(Ended::AsWished)
    }

    /// Applies the log up to a place, which is between two transactions, or to its present end. False: something else is
    /// wished.
    fn catch_up(&mut self, applier: &mut Applier, to: Option<&LogPosition>) -> Result<bool, Error> {
        let task = self.task;
        let cannot = |error| source::Error::Server { doing: "connecting to the source".to_owned(), error };
        let options = ConnectOptions { read_timeout: Some(SILENCE_LIMIT), ..self.host.clone() };
        let mut connection = Connection::open(&options).map_err(cannot)?;
        let until = match to {
            Some(at) => at.clone(),
            None => log_end(&mut connection)?.position,
        };
        let at = applier.log_start();
        self.look_at_log(&mut connection, &at)?;
        complete(applier, &mut connection, &at)?;
        let start = source::request(&at, connection.version().flavor)?;
        let request =
            BinlogRequest { server_id: task.options.server_id, start, waits: true, heartbeat_ms: HEARTBEAT_MS };
        let stream = BinlogStream::open(connection, &request).map_err(cannot)?;
        let queue = Queue::new(task.target.queue_limit_bytes).counting(task.read_bytes.clone());
        self.until = Some(until);
        let ended = thread::scope(|scope| {
            scope.spawn(|| source::read(stream, at.position, &queue));
            self.drain(applier, &queue)
        });
        self.until = None;
        Ok(ended? == Ended::Reached)
    }

    /// Whether what has arrived reaches the place up to which the log is applied, or stands behind it.
    pub(super) fn reaches(&self, arrival: &Arrival) -> Reached {
        let Some(until) = &self.until else { return Reached::NotYet };
        let is_behind = |at, other| self.order.is_behind(at, other);
        match arrival {
            Arrival::Transaction(transaction) if is_behind(&transaction.position, until) => Reached::Beyond,
            Arrival::Part(part) if is_behind(&part.position, until) => Reached::Beyond,
            Arrival::Transaction(transaction) if transaction.position == *until => Reached::Exactly,
            Arrival::Idle(at) if !is_behind(until, at) => Reached::Exactly,
            _ => Reached::NotYet,
        }
    }
}
