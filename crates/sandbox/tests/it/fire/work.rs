//! The work of the clients: transfers, appends, single rows; and the invariants that readers check meanwhile.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::{Connection, Error};
use hortator_sandbox::Sandbox;

use super::journal::{Attempt, Journal};
use super::pace::Pace;
use super::session::{Outcome, Session};
use super::tables::{ACCOUNTS, APPENDS, ENTRIES, LISTS, TOTAL, TRANSFERS};
use crate::kills::dice::Dice;

/// The interval between two reads of a reader.
const READ_PAUSE: Duration = Duration::from_millis(10);

/// The kind of a client's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bank,
    Lists,
    Entries,
}

/// An element of a list, as a reader saw it: list, position, client, number.
pub type Element = [i64; 4];

/// Shared by clients, readers and the nemesis.
pub struct Shared {
    begin: Instant,
    pub is_over: AtomicBool,
    pace: Mutex<Pace>,
    /// The minimum length of each list, by confirmed appends.
    lengths: Vec<AtomicI64>,
    pub reads: AtomicUsize,
    /// Reads with a wrong total that were correct when repeated.
    pub torn_snapshots: AtomicUsize,
    /// Reads with a wrong total twice.
    pub wrong_totals: AtomicUsize,
    pub stale_reads: AtomicUsize,
    /// Reads without wsrep_sync_wait, and those that saw less than was confirmed.
    pub plain_reads: AtomicUsize,
    pub stale_plain_reads: AtomicUsize,
    seen: Mutex<Vec<Element>>,
}

impl Shared {
    pub fn new(begin: Instant) -> Shared {
        Shared {
            begin,
            is_over: AtomicBool::new(false),
            pace: Mutex::default(),
            lengths: (0..=LISTS).map(|_| AtomicI64::new(0)).collect(),
            reads: AtomicUsize::new(0),
            torn_snapshots: AtomicUsize::new(0),
            wrong_totals: AtomicUsize::new(0),
            stale_reads: AtomicUsize::new(0),
            plain_reads: AtomicUsize::new(0),
            stale_plain_reads: AtomicUsize::new(0),
            seen: Mutex::default(),
        }
    }

    /// The time since the beginning of the run.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    pub fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn seen(&self) -> MutexGuard<'_, Vec<Element>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resets the minimum lengths: confirmed elements may be lost.
    pub fn forget_lengths(&self) {
        self.lengths.iter().for_each(|length| length.store(0, Ordering::SeqCst));
    }

    /// The violations that readers saw.
    pub fn told(&self) -> Vec<String> {
        let counts =
            [(&self.wrong_totals, "reads of another total, twice"), (&self.stale_reads, "causal reads of the past")];
        let told = |(count, what): (&AtomicUsize, &str)| match count.load(Ordering::SeqCst) {
            0 => None,
            count => Some(format!("{count} {what}")),
        };
        counts.into_iter().filter_map(told).collect()
    }
}

fn longs(row: Vec<Option<Vec<u8>>>) -> Vec<i64> {
    row.into_iter().map(|value| String::from_utf8(value.unwrap()).unwrap().parse().unwrap()).collect()
}

fn number(connection: &mut Connection, sql: &str) -> Result<i64, Error> {
    let rows = connection.fetch(sql.as_bytes())?;
    match &rows[..] {
        [row] if row[0].is_some() => Ok(longs(row.clone())[0]),
        // No client deletes rows.
        _ => panic!("{sql}: {rows:?} is no number"),
    }
}

fn run(connection: &mut Connection, sql: &str) -> Result<(), Error> {
    connection.execute(sql.as_bytes()).map(drop)
}

/// Writes until the run ends. Returns the journal.
pub fn write(kind: Kind, client: usize, sandbox: &Sandbox, seed: u64, shared: &Shared) -> Journal {
    let mut session = Session::from(sandbox, client % sandbox.topology().nodes());
    let mut dice = Dice::new(seed);
    let table = match kind {
        Kind::Bank => TRANSFERS,
        Kind::Lists => APPENDS,
        Kind::Entries => ENTRIES,
    };
    let mut journal = Journal::new(client, table);
    for number in 1.. {
        if shared.is_over.load(Ordering::SeqCst) {
            break;
        }
        let began = shared.elapsed();
        let outcome = match kind {
            Kind::Bank => transfer(&mut session, &mut dice, client, number),
            Kind::Lists => append(&mut session, &mut dice, client, number, shared),
            Kind::Entries => session.commit(&format!("INSERT INTO entry VALUES ({client}, {number})")),
        };
        let ended = shared.elapsed();
        journal.attempts.push(Attempt { number, outcome, began, ended });
        if outcome == Outcome::Confirmed {
            shared.pace().confirm(ended);
        } else if let Some(error) = session.error.take() {
            let name = error.code().map_or("no answer, or no connection".to_owned(), |code| format!("error {code}"));
            *journal.errors.entry(name).or_insert(0) += 1;
        }
        if kind == Kind::Bank && dice.chance(10) {
            look_at_total(&mut session, shared);
        }
    }
    journal
}

fn transfer(session: &mut Session<'_>, dice: &mut Dice, client: usize, number_: i64) -> Outcome {
    let (source, amount) = (dice.between(1, ACCOUNTS), dice.between(1, 9));
    let target = (source + dice.between(0, ACCOUNTS - 2)) % ACCOUNTS + 1;
    let is_read_first = dice.chance(50);
    session.transact(|connection| {
        let mut changes = [(source, -amount), (target, amount)];
        // Mostly in the order of accounts, to avoid too many deadlocks.
        if source > target {
            changes.reverse();
        }
        for (account, change) in changes {
            let new = if is_read_first {
                let read = format!("SELECT balance FROM account WHERE id = {account} FOR UPDATE");
                (number(connection, &read)? + change).to_string()
            } else {
                format!("balance + {change}")
            };
            run(connection, &format!("UPDATE account SET balance = {new} WHERE id = {account}"))?;
        }
        run(connection, &format!("INSERT INTO transfer VALUES ({client}, {number_}, {source}, {target}, {amount})"))
    })
}

fn append(session: &mut Session<'_>, dice: &mut Dice, client: usize, number_: i64, shared: &Shared) -> Outcome {
    let list = dice.between(1, LISTS);
    let mut length = 0;
    let outcome = session.transact(|connection| {
        run(connection, &format!("UPDATE list SET length = length + 1 WHERE k = {list}"))?;
        length = number(connection, &format!("SELECT length FROM list WHERE k = {list}"))?;
        run(connection, &format!("INSERT INTO appended VALUES ({list}, {length}, {client}, {number_})"))
    });
    if outcome == Outcome::Confirmed {
        shared.lengths[usize::try_from(list).unwrap()].fetch_max(length, Ordering::SeqCst);
    }
    outcome
}

/// Both halves in two statements of one transaction.
fn halves(connection: &mut Connection) -> Result<[i64; 2], Error> {
    let half = ACCOUNTS / 2;
    let first = number(connection, &format!("SELECT SUM(balance) FROM account WHERE id <= {half}"))?;
    Ok([first, number(connection, &format!("SELECT SUM(balance) FROM account WHERE id > {half}"))?])
}

/// MariaDB collects the transactions that a snapshot must not see one after the other, while some of them commit:
/// sometimes the snapshot shows a transaction and not the one before it, on a standalone server too
/// ([`super::snapshots`]). An inconsistency in the tables shows in the next snapshot as well.
fn look_at_total(session: &mut Session<'_>, shared: &Shared) {
    let begin = shared.elapsed();
    let Some(halves_seen) = session.look(halves) else { return };
    shared.reads.fetch_add(1, Ordering::SeqCst);
    if halves_seen.iter().sum::<i64>() == TOTAL {
        return;
    }
    let again = session.look(halves);
    let is_torn = again.is_some_and(|again| again.iter().sum::<i64>() == TOTAL);
    let counter = if is_torn { &shared.torn_snapshots } else { &shared.wrong_totals };
    counter.fetch_add(1, Ordering::SeqCst);
    let (from, to) = (begin.as_secs_f64(), shared.elapsed().as_secs_f64());
    println!("{from:.3} to {to:.3} s: {session} saw {halves_seen:?}, which are not {TOTAL}, then {again:?}");
}

/// Reads one node, causally, until the run ends: the total, and the last element of a list.
pub fn read(mut session: Session<'_>, seed: u64, shared: &Shared) {
    let mut dice = Dice::new(seed);
    while !shared.is_over.load(Ordering::SeqCst) {
        look_at_total(&mut session, shared);
        let list = dice.between(1, LISTS);
        let confirmed = shared.lengths[usize::try_from(list).unwrap()].load(Ordering::SeqCst);
        let last = format!("SELECT k, position, c, n FROM appended WHERE k = {list} ORDER BY position DESC LIMIT 1");
        let seen = session.look(|connection| {
            let length = number(connection, &format!("SELECT length FROM list WHERE k = {list}"))?;
            let last: Vec<Element> =
                connection.fetch(last.as_bytes())?.into_iter().map(|row| longs(row).try_into().unwrap()).collect();
            Ok((length, last))
        });
        if let Some((length, last)) = seen {
            shared.reads.fetch_add(1, Ordering::SeqCst);
            shared.stale_reads.fetch_add(usize::from(length < confirmed), Ordering::SeqCst);
            shared.seen().extend(last);
        }
        let confirmed = shared.lengths[usize::try_from(list).unwrap()].load(Ordering::SeqCst);
        let length =
            |connection: &mut Connection| number(connection, &format!("SELECT length FROM list WHERE k = {list}"));
        if let Some(length) = session.look_plainly(length) {
            shared.plain_reads.fetch_add(1, Ordering::SeqCst);
            shared.stale_plain_reads.fetch_add(usize::from(length < confirmed), Ordering::SeqCst);
        }
        // Readers must not take the CPU from the writers.
        thread::sleep(READ_PAUSE);
    }
}
