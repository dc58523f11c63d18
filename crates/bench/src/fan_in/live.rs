//! Sources that write at a fixed rate while the target applies.
//!
//! Each source has a writer with its own connection: transactions begin by the clock, whatever the one before took. Beside
//! them a beat is inserted at short intervals: a row of its own, which conflicts with nothing. A contender commits the
//! transactions of a source in their order, so the time from the commit of a beat on its source until it is visible on the
//! target is the lag.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_sandbox::Temporary;

use super::Workload;
use super::sources::{Source, connect};
use super::workload::BEAT;
use crate::Error;
use crate::latencies::Latencies;
use crate::rounds::Cell;

/// Between two beats of a source.
const BEAT_INTERVAL: Duration = Duration::from_millis(50);
/// Between two looks at the target: a lag is known to about this time.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// The warm-up takes the measured time divided by this.
const WARM_UP_DIVISOR: u32 = 4;
/// Of the writers' and the sampler's thread.
const STACK_BYTES: usize = 256 << 10;
/// A beat that has not come by then, behind the end, has been lost or the target is far behind.
const LAST_BEAT_TIMEOUT: Duration = Duration::from_secs(120);

/// What is measured live.
#[derive(Clone, Debug)]
pub struct Live {
    /// Transactions per second of all sources together.
    pub rates: Vec<u32>,
    /// The measured time.
    pub time: Duration,
}

/// The lag of one run over its time.
#[derive(Clone, Debug)]
pub struct Series {
    /// Where.
    pub cell: Cell,
    /// Who.
    pub contender: String,
    /// From 1.
    pub round: usize,
    /// Seconds since the beginning of the measured time, and the longest lag of the beats of that second, in milliseconds.
    pub points: Vec<(f64, f64)>,
}

/// What was measured.
pub(super) struct Lag {
    pub(super) latencies: Latencies,
    /// By second of the measured time.
    pub(super) longest: Vec<(f64, f64)>,
    /// Transactions that the sources wrote in the measured time.
    pub(super) written: u64,
    /// The measured time.
    pub(super) time: Duration,
}

/// A beat on its way.
struct Beat {
    source: usize,
    id: u64,
    sent: Instant,
}

/// State that writers and sampler share.
struct Shared {
    is_over: AtomicBool,
    written: AtomicU64,
    on_their_way: Mutex<Vec<Beat>>,
}

/// Lets the sources write for the warm-up and the time, while something applies. Ends when the last beat is there. `at_begin`
/// and `at_end` are called around the measured time.
pub(super) fn run(
    sources: &[Source],
    target: &Temporary,
    rate: u32,
    time: Duration,
    stop: &AtomicBool,
    mut at_begin: impl FnMut() -> Result<(), Error>,
    mut at_end: impl FnMut() -> Result<(), Error>,
) -> Result<Lag, Error> {
    let shared =
        Shared { is_over: AtomicBool::new(false), written: AtomicU64::new(0), on_their_way: Mutex::new(Vec::new()) };
    let interval = Duration::from_secs_f64(sources.len() as f64 / f64::from(rate.max(1)));
    let writer = |source: &Source| {
        let mut connection = connect(&source.server)?;
        connection.select_db(source.schema.as_bytes()).map_err(Error::server("selecting the schema"))?;
        Ok(connection)
    };
    let writers = sources.iter().map(writer).collect::<Result<Vec<_>, Error>>()?;
    let mut looker = connect(target)?;
    thread::scope(|scope| {
        let spawn = |(number, mut connection)| {
            let (builder, shared) = (thread::Builder::new().stack_size(STACK_BYTES), &shared);
            builder.spawn_scoped(scope, move || shared.write(number, &mut connection, interval))
        };
        let threads = writers.into_iter().enumerate().map(spawn).collect::<Result<Vec<_>, _>>();
        // Without all of them, those that run end, too.
        let threads = threads.inspect_err(|_| shared.is_over.store(true, Ordering::Relaxed));
        let threads = threads.map_err(Error::io("starting a writer"))?;
        let lag = shared.watch(sources, &mut looker, time, stop, &mut at_begin, &mut at_end);
        shared.is_over.store(true, Ordering::Relaxed);
        // The reason why a writer ended is more useful than what the sampler saw of it.
        for thread in threads {
            thread.join().map_err(|_| Error::Answer("a writer has panicked".to_owned()))??;
        }
        lag
    })
}

impl Shared {
    fn write(&self, source: usize, connection: &mut Connection, interval: Duration) -> Result<(), Error> {
        let written = self.write_until_over(source, connection, interval);
        self.is_over.store(true, Ordering::Relaxed);
        written.map_err(Error::server("writing on a source"))
    }

    fn write_until_over(
        &self,
        source: usize,
        connection: &mut Connection,
        interval: Duration,
    ) -> Result<(), hortator_mysql::Error> {
        let begin = Instant::now();
        let (mut number, mut beat) = (0_u32, 0_u32);
        while !self.is_over.load(Ordering::Relaxed) {
            let (next, next_beat) = (begin + interval * number, begin + BEAT_INTERVAL * beat);
            if let Some(early) = next.min(next_beat).checked_duration_since(Instant::now()) {
                thread::sleep(early);
            }
            if next <= next_beat {
                let transaction = Workload::Live.transaction(source, u64::from(number));
                for statement in transaction.split_terminator(';') {
                    connection.execute(statement.as_bytes())?;
                }
                self.written.fetch_add(1, Ordering::Relaxed);
                number += 1;
            } else {
                connection.execute(format!("INSERT INTO {BEAT} VALUES ({beat})").as_bytes())?;
                let sent = Beat { source, id: u64::from(beat), sent: Instant::now() };
                self.on_their_way.lock().unwrap_or_else(PoisonError::into_inner).push(sent);
                beat += 1;
            }
        }
        Ok(())
    }

    /// Looks at the target until the time is over and the beats of it have come.
    fn watch(
        &self,
        sources: &[Source],
        target: &mut Connection,
        time: Duration,
        stop: &AtomicBool,
        at_begin: &mut dyn FnMut() -> Result<(), Error>,
        at_end: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<Lag, Error> {
        let queries = sources.iter().map(|source| format!("(SELECT MAX(id) FROM {}.{BEAT})", source.schema));
        let look = format!("SELECT {}", queries.collect::<Vec<_>>().join(", "));
        let warm_up = time / WARM_UP_DIVISOR;
        let begin = Instant::now();
        let mut window = Window { from: begin + warm_up, to: begin + warm_up + time, ..Window::default() };
        let (mut from_written, mut written) = (None, None);
        loop {
            let now = Instant::now();
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            if self.is_over.load(Ordering::Relaxed) {
                return Err(Error::Answer("a source has ended to write".to_owned()));
            }
            if from_written.is_none() && now >= window.from {
                at_begin()?;
                from_written = Some(self.written.load(Ordering::Relaxed));
            }
            if written.is_none() && now >= window.to {
                written = Some(self.written.load(Ordering::Relaxed) - from_written.unwrap_or(0));
                at_end()?;
            }
            let seen = seen(target, &look)?;
            let seen_at = Instant::now();
            let mut beats = self.on_their_way.lock().unwrap_or_else(PoisonError::into_inner);
            beats.retain(|beat| {
                let is_there = seen.get(beat.source).copied().flatten().is_some_and(|last| last >= beat.id);
                if is_there {
                    window.count(beat.sent, seen_at);
                }
                !is_there
            });
            let is_waiting = beats.iter().any(|beat| beat.sent < window.to);
            drop(beats);
            if let Some(written) = written.filter(|_| !is_waiting) {
                let longest = window.longest.into_iter().enumerate();
                let longest = longest.filter_map(|(second, lag)| Some((second as f64 + 0.5, lag?.as_secs_f64() * 1e3)));
                return Ok(Lag { latencies: window.latencies, longest: longest.collect(), written, time });
            }
            if now > window.to + LAST_BEAT_TIMEOUT {
                return Err(Error::Answer(format!(
                    "the target has not applied what the sources had written {} s before",
                    LAST_BEAT_TIMEOUT.as_secs()
                )));
            }
            thread::sleep(LOOK_INTERVAL);
        }
    }
}

/// The measured time, and the beats that were sent in it.
struct Window {
    from: Instant,
    to: Instant,
    latencies: Latencies,
    /// By second.
    longest: Vec<Option<Duration>>,
}

impl Default for Window {
    fn default() -> Self {
        let now = Instant::now();
        Self { from: now, to: now, latencies: Latencies::default(), longest: Vec::new() }
    }
}

impl Window {
    fn count(&mut self, sent: Instant, seen: Instant) {
        if sent < self.from || sent >= self.to {
            return;
        }
        let lag = seen.saturating_duration_since(sent);
        self.latencies.add(lag);
        let second = (sent - self.from).as_secs() as usize;
        if self.longest.len() <= second {
            self.longest.resize(second + 1, None);
        }
        self.longest[second] = self.longest[second].max(Some(lag));
    }
}

/// The last beat of each source that the target has.
fn seen(target: &mut Connection, look: &str) -> Result<Vec<Option<u64>>, Error> {
    let rows = target.fetch(look.as_bytes()).map_err(Error::server("reading the beats"))?;
    let number = |value: Option<Vec<u8>>| String::from_utf8_lossy(&value?).parse().ok();
    Ok(rows.into_iter().flatten().map(number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_counts_in_the_second_in_which_it_was_sent() {
        let from = Instant::now();
        let mut window = Window { from, to: from + Duration::from_secs(3), ..Window::default() };
        let ms = Duration::from_millis;
        for (sent_ms, lag_ms) in [(100, 20), (900, 700), (2_900, 5_000), (3_000, 1)] {
            window.count(from + ms(sent_ms), from + ms(sent_ms + lag_ms));
        }
        // Before the measured time.
        window.to += ms(1);
        window.from += ms(101);
        window.count(from + ms(100), from + ms(120));
        assert_eq!(window.longest, [Some(ms(700)), None, Some(ms(5_000))]);
        assert_eq!(window.latencies.count(), 3);
    }
}
