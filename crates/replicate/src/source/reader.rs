//! Reads a source's log ahead of what is applied.

use hortator_mysql::BinlogStream;

use super::log_events::LogEvents;
use super::{Arrival, Error, Queue};
use crate::binlog::{Content, Event};
use crate::transaction::{Assembler, LogPosition};

/// Transactions above this size go on in parts.
pub(super) const PART_LIMIT_BYTES: usize = 4 << 20;

/// Reads until the stream ends or nobody takes what is read. The last arrival says why it ended.
pub fn read(mut stream: BinlogStream, start: LogPosition, queue: &Queue) {
    let mut events = LogEvents::default();
    let mut assembler = Assembler::new(start);
    let mut sender = queue.sender();
    loop {
        // What has come is not kept back while nothing comes.
        if !stream.has_arrived() && !sender.flush() {
            return;
        }
        let is_taken = match next(&mut stream, &mut events, &mut assembler, queue) {
            Ok(arrivals) => arrivals.into_iter().flatten().all(|arrival| sender.push(arrival)),
            Err(error) => {
                let _ = sender.push(Arrival::Failed(error)) && sender.flush();
                return;
            }
        };
        if !is_taken {
            return;
        }
    }
}

fn next(
    stream: &mut BinlogStream,
    events: &mut LogEvents,
    assembler: &mut Assembler,
    queue: &Queue,
) -> Result<[Option<Arrival>; 2], Error> {
    if let Some(event) = events.next_within(assembler.position())? {
        return take(event, assembler);
    }
    let received = stream.next_event();
    let received = received.map_err(|mut error| {
        explain(&mut error);
        Error::Server { doing: "reading the source's log".to_owned(), error }
    })?;
    let Some(bytes) = received else {
        return Err(Error::Ended);
    };
    queue.count_read(bytes.len());
    let event = events.read(bytes, assembler.position())?;
    take(event, assembler)
}

/// MariaDB's error for a reader when another one has connected with its server id. Its text is not the same in all versions.
const SAME_SERVER_ID: u16 = 4052;
/// What MySQL says then, with an error that stands for others too.
const SAME_SERVER_ID_TEXT: &str = "same server_uuid/server_id";

/// Says what to do where the source does not.
fn explain(error: &mut hortator_mysql::Error) {
    if let hortator_mysql::Error::Server(error) = error
        && (error.code == SAME_SERVER_ID || error.message.contains(SAME_SERVER_ID_TEXT))
    {
        error.message += ": another reader has connected to the source with the same server id. Give each its own: `server_id` in \
                          [[source]]";
    }
}

/// What an event means: at most a transaction that does not go on, and something else.
fn take(event: Event, assembler: &mut Assembler) -> Result<[Option<Arrival>; 2], Error> {
    if let Content::Format(format) = &event.content {
        // A file that a server begins when it starts. Without a crash, no transaction is open then.
        let unfinished = if format.created_s == 0 { None } else { unfinished(assembler) };
        assembler.take(event.clone())?;
        return Ok([unfinished, Some(Arrival::Format(event))]);
    }
    let is_heartbeat = event.header.kind.is_heartbeat();
    if let Some(transaction) = assembler.take(event)? {
        return Ok([None, Some(Arrival::Transaction(transaction))]);
    }
    if is_heartbeat && !assembler.is_within() {
        return Ok([None, Some(Arrival::Idle(assembler.position().clone()))]);
    }
    Ok([None, assembler.take_part(PART_LIMIT_BYTES).map(Arrival::Part)])
}

fn unfinished(assembler: &mut Assembler) -> Option<Arrival> {
    let has_parts = assembler.abandon()?;
    let behind = assembler.position().clone();
    let file = String::from_utf8_lossy(&behind.file);
    let text = format!(
        "the source has crashed while it wrote a transaction, before it began {file}: the transaction does not end, and is not \
         applied"
    );
    Some(Arrival::Unfinished { has_parts, text, behind: Some(behind) })
}
