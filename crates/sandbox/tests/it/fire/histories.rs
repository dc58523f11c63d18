//! Clients whose histories are checked for anomalies ([`super::isolation`]): short transactions on a few lists and registers, at
//! all isolation levels, some of them as fragments.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use hortator_mysql::{Connection, Error};
use hortator_sandbox::{Node, Sandbox};

use super::isolation::{Key, Level, Step, Transaction};
use super::session::{Outcome, Session};
use super::work::Shared;
use crate::kills::dice::Dice;
use crate::kills::fetch;

/// Lists, and registers, in use at a time.
const KEYS: i64 = 4;
/// After so many steps there are new keys: a list stays short, and each read of it is remembered.
const STEPS_OF_KEYS: i64 = 300;
/// Percentage of transactions that are sent as fragments.
const FRAGMENTED_PERCENT: i64 = 15;
/// The interval between two transactions: the memory of a run has a bound.
const PAUSE: Duration = Duration::from_millis(10);
/// The values of a client.
const VALUES_OF_CLIENT: i64 = 1_000_000_000;

/// Runs transactions until the run ends. Returns their history. `steps`: the steps of all clients so far.
pub fn write(client: usize, sandbox: &Sandbox, seed: u64, shared: &Shared, steps: &AtomicI64) -> Vec<Transaction> {
    let nodes = sandbox.topology().nodes();
    let mut session = Session::from(sandbox, client % nodes);
    let mut dice = Dice::new(seed);
    let mut value = i64::try_from(client).unwrap() * VALUES_OF_CLIENT;
    let mut history = Vec::new();
    for number in 1.. {
        if shared.is_over.load(Ordering::SeqCst) {
            break;
        }
        let level = Level::ALL[usize::try_from(dice.below(3)).unwrap()];
        let fragment = i64::from(dice.chance(FRAGMENTED_PERCENT));
        let settings = format!(
            "SET SESSION tx_isolation = '{}', wsrep_trx_fragment_unit = 'statements', wsrep_trx_fragment_size = {fragment}",
            level.name().replace(' ', "-")
        );
        let begun = steps.fetch_add(4, Ordering::SeqCst);
        let wanted = wanted(&mut dice, begun / STEPS_OF_KEYS * KEYS, &mut value);
        let node = session.node();
        let mut done = Vec::new();
        let outcome = session.transact_with(&settings, |connection| {
            wanted.iter().try_for_each(|step| {
                done.push(run(connection, step)?);
                Ok(())
            })
        });
        if outcome == Outcome::Confirmed {
            shared.pace().confirm(shared.elapsed());
        }
        let error = session.error.as_ref().filter(|_| outcome != Outcome::Confirmed).map(ToString::to_string);
        let id = (client, number);
        history.push(Transaction { id, node, level, is_streaming: fragment > 0, outcome, error, steps: done });
        thread::sleep(PAUSE);
    }
    history
}

/// The steps of a transaction, reads without what they will see. Each key at most once, in order: less deadlocks.
fn wanted(dice: &mut Dice, first: i64, value: &mut i64) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut next_value = || {
        *value += 1;
        *value
    };
    for number in first..first + KEYS {
        let (list, register) = (Key::List(number), Key::Register(number));
        let read = |key, is_locking| Step::Read { key, seen: Vec::new(), is_locking };
        match dice.below(6) {
            0 => steps.push(read(list, false)),
            1 => steps.push(Step::Write { key: list, value: next_value() }),
            2 => steps.extend([read(list, false), Step::Write { key: list, value: next_value() }, read(list, false)]),
            3 => {
                let is_locking = dice.chance(60);
                steps.extend([read(register, is_locking), Step::Write { key: register, value: next_value() }]);
                if dice.chance(30) {
                    steps.push(read(register, false));
                }
            }
            4 => steps.push(read(register, false)),
            _ => {}
        }
    }
    steps
}

/// Runs a step, and says what it saw.
fn run(connection: &mut Connection, step: &Step) -> Result<Step, Error> {
    match step {
        Step::Read { key, is_locking, .. } => {
            let (table, number) = place(*key);
            let lock = if *is_locking { " FOR UPDATE" } else { "" };
            let rows = connection.fetch(format!("SELECT v FROM {table} WHERE k = {number}{lock}").as_bytes())?;
            let seen = rows.first().map(|row| String::from_utf8(row[0].clone().unwrap()).unwrap());
            Ok(Step::Read { key: *key, seen: values(&seen.unwrap_or_default()), is_locking: *is_locking })
        }
        Step::Write { key, value } => {
            let (table, number) = place(*key);
            let change = match key {
                Key::List(_) => format!("CONCAT(v, ',{value}')"),
                Key::Register(_) => value.to_string(),
            };
            let sql = format!("INSERT INTO {table} VALUES ({number}, '{value}') ON DUPLICATE KEY UPDATE v = {change}");
            connection.execute(sql.as_bytes())?;
            Ok(step.clone())
        }
    }
}

fn place(key: Key) -> (&'static str, i64) {
    match key {
        Key::List(number) => ("history_list", number),
        Key::Register(number) => ("history_register", number),
    }
}

fn values(text: &str) -> Vec<i64> {
    text.split(',').filter(|value| !value.is_empty()).map(|value| value.parse().unwrap()).collect()
}

/// The values of all keys on a node.
pub fn last(node: Node<'_>) -> BTreeMap<Key, Vec<i64>> {
    let mut connection = node.connect().unwrap();
    let mut last = BTreeMap::new();
    for (table, key) in [("history_list", Key::List as fn(i64) -> Key), ("history_register", Key::Register)] {
        let rows = fetch(&mut connection, &format!("SELECT k, v FROM fire.{table}"));
        last.extend(rows.iter().map(|row| (key(row[0].parse().unwrap()), values(&row[1]))));
    }
    last
}
