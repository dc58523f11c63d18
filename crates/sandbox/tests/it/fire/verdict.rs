//! The final check: every node compared with the journals of the clients.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use hortator_sandbox::Sandbox;

use super::journal::{Attempt, Journal};
use super::session::Outcome;
use super::tables::{APPENDS, ENTRIES, ROWS, RULES, TRANSFERS};
use super::work::Shared;
use crate::kills::fetch;

/// Words in the log of a server that crashed.
const CRASHES: [&str; 2] = ["panicked at", "got signal"];
/// InnoDB ends the server then, on purpose.
const FULL_IN_ROLLBACK: &str = "InnoDB: Error (Out of disk space) in rollback";
/// After a power loss, InnoDB found its own list of old transactions damaged in one hour of several: see
/// docs/benchmarks/provider-fire.md. The nemesis counts such nodes.
pub const DAMAGED_HISTORY: &str = "InnoDB: Assertion failure in file ./storage/innobase/trx/trx0purge.cc";
/// The lines from it to the server's line about the signal.
const DAMAGE_LINES: usize = 12;
/// The number of examples per kind.
const SHOWN: usize = 9;

#[derive(Debug, Default)]
pub struct Found {
    /// Rows that one node has and the first does not have, or the reverse.
    pub differences: Vec<String>,
    pub broken_rules: Vec<String>,
    /// Confirmed rows that are missing.
    pub lost: Vec<String>,
    /// Refused rows that are present.
    pub unwanted: Vec<String>,
    pub unknown_there: usize,
    /// Elements before others that were confirmed before the former were started.
    pub disordered: Vec<String>,
    /// Elements that a reader saw and that are no longer at their position.
    pub vanished: usize,
    /// Crashes in the error logs.
    pub crashes: Vec<String>,
    /// Those that only a power loss excuses.
    pub crashes_by_damage: Vec<String>,
}

impl Found {
    /// All violations.
    pub fn told(&self) -> Vec<String> {
        let shown = |what: &str, found: &[String]| {
            let first: Vec<&str> = found.iter().take(SHOWN).map(String::as_str).collect();
            (!found.is_empty()).then(|| format!("{what}: {}, such as {}", found.len(), first.join("; ")))
        };
        let mut told: Vec<String> = self.broken_rules.clone();
        told.extend(shown("confirmed, and lost", &self.lost));
        told.extend(shown("refused, and there", &self.unwanted));
        told.extend(shown("in another order than confirmed", &self.disordered));
        told.extend((self.vanished > 0).then(|| format!("seen, and not there any more: {}", self.vanished)));
        told
    }
}

/// Checks all nodes, which have the same position.
pub fn look(sandbox: &Sandbox, journals: &[Journal], shared: &Shared) -> Found {
    let mut found = Found::default();
    let mut first = None;
    for node in sandbox.nodes() {
        let mut connection = node.connect().unwrap();
        connection.execute(b"USE fire").unwrap();
        let rows: Vec<Vec<String>> = ROWS.iter().flat_map(|read| fetch(&mut connection, read)).collect();
        for (rule, sql) in RULES {
            if fetch(&mut connection, sql) != [["0"]] {
                found.broken_rules.push(format!("{}: {rule}", node.name()));
            }
        }
        let log = fs::read(node.error_log()).unwrap();
        let (damaged, others) = crashes(&String::from_utf8_lossy(&log));
        found.crashes_by_damage.extend(damaged);
        found.crashes.extend(others);
        let first = first.get_or_insert_with(|| rows.clone());
        found.differences.extend(differences(&node.name(), first, &rows));
    }
    let rows = Rows::of(&first.unwrap_or_default());
    journals.iter().for_each(|journal| hold_against(journal, &rows, &mut found));
    found.disordered = disordered(journals, &rows);
    let is_there =
        |element: &&[i64; 4]| rows.elements.get(&(element[0], element[1])) == Some(&(element[2], element[3]));
    found.vanished = shared.seen().iter().filter(|element| !is_there(element)).count();
    found
}

/// The crashes in an error log, without those of InnoDB that has no room for a rollback: those by damaged tables, and others.
fn crashes(log: &str) -> (Vec<String>, Vec<String>) {
    let lines: Vec<&str> = log.lines().collect();
    let is_bad = |line: &str| CRASHES.iter().any(|words| line.contains(words));
    let is_by_full_disk = |at: usize| lines[..at].last().is_some_and(|before| before.contains(FULL_IN_ROLLBACK));
    let is_by_damage =
        |at: usize| lines[at.saturating_sub(DAMAGE_LINES)..at].iter().any(|line| line.contains(DAMAGED_HISTORY));
    let bad = (0..lines.len()).filter(|at| is_bad(lines[*at]) && !is_by_full_disk(*at));
    let (damaged, others): (Vec<usize>, Vec<usize>) = bad.partition(|at| is_by_damage(*at));
    let text = |places: Vec<usize>| places.into_iter().map(|at| lines[at].to_owned()).collect();
    (text(damaged), text(others))
}

fn differences(node: &str, first: &[Vec<String>], other: &[Vec<String>]) -> Vec<String> {
    if first == other {
        return Vec::new();
    }
    let [of_first, of_other] = [first, other].map(|rows| rows.iter().collect::<BTreeSet<_>>());
    let only = |those: &BTreeSet<&Vec<String>>, others: &BTreeSet<&Vec<String>>, where_: &str| -> Vec<String> {
        those.difference(others).take(SHOWN).map(|row| format!("only on {where_}: {}", row.join(" "))).collect()
    };
    let mut found = only(&of_first, &of_other, "node1");
    found.extend(only(&of_other, &of_first, node));
    found
}

/// The rows of clients.
#[derive(Default)]
struct Rows {
    /// By table: client and number.
    of_clients: HashMap<String, BTreeSet<(i64, i64)>>,
    /// List and position, with client and number.
    elements: BTreeMap<(i64, i64), (i64, i64)>,
}

impl Rows {
    fn of(all: &[Vec<String>]) -> Rows {
        let mut rows = Rows::default();
        for row in all {
            let number = |at: usize| -> i64 { row[at].parse().unwrap() };
            let own = match row[0].as_str() {
                TRANSFERS | ENTRIES => (number(1), number(2)),
                APPENDS => (number(3), number(4)),
                _ => continue,
            };
            if row[0] == APPENDS {
                rows.elements.insert((number(1), number(2)), own);
            }
            rows.of_clients.entry(row[0].clone()).or_default().insert(own);
        }
        rows
    }
}

fn client_of(journal: &Journal) -> i64 {
    i64::try_from(journal.client).unwrap()
}

fn hold_against(journal: &Journal, rows: &Rows, found: &mut Found) {
    let none = BTreeSet::new();
    let there = rows.of_clients.get(journal.table).unwrap_or(&none);
    for attempt in &journal.attempts {
        let is_there = there.contains(&(client_of(journal), attempt.number));
        let name = || {
            let Attempt { number, ended, .. } = attempt;
            format!("{} {number} of client {} at {:.1} s", journal.table, journal.client, ended.as_secs_f64())
        };
        match attempt.outcome {
            Outcome::Confirmed if !is_there => found.lost.push(name()),
            Outcome::Refused if is_there => found.unwanted.push(name()),
            Outcome::Unknown => found.unknown_there += usize::from(is_there),
            Outcome::Confirmed | Outcome::Refused => {}
        }
    }
}

/// For each list: no element was confirmed before an earlier one was started.
fn disordered(journals: &[Journal], rows: &Rows) -> Vec<String> {
    let mut attempts = HashMap::new();
    for journal in journals.iter().filter(|journal| journal.table == APPENDS) {
        attempts.extend(journal.attempts.iter().map(|attempt| ((client_of(journal), attempt.number), *attempt)));
    }
    let mut disordered = Vec::new();
    let mut latest: Option<(i64, Attempt)> = None;
    for ((list, position), own) in &rows.elements {
        let Some(attempt) = attempts.get(own) else { continue };
        let before = latest.filter(|(of, _)| of == list).map(|(_, latest)| latest);
        // The latest start so far; an element that was confirmed before it must precede it.
        if let Some(before) = before
            && attempt.outcome == Outcome::Confirmed
            && attempt.ended < before.began
        {
            disordered.push(format!("list {list} at {position}"));
        }
        if before.is_none_or(|before| before.began < attempt.began) {
            latest = Some((*list, *attempt));
        }
    }
    disordered
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn attempt(number: i64, outcome: Outcome, began_s: u64, ended_s: u64) -> Attempt {
        let [began, ended] = [began_s, ended_s].map(Duration::from_secs);
        Attempt { number, outcome, began, ended }
    }

    fn journal(client: usize, table: &'static str, attempts: &[Attempt]) -> Journal {
        Journal { attempts: attempts.to_vec(), ..Journal::new(client, table) }
    }

    fn rows(texts: &[&str]) -> Rows {
        let row = |text: &&str| text.split_whitespace().map(str::to_owned).collect();
        Rows::of(&texts.iter().map(row).collect::<Vec<_>>())
    }

    #[test]
    fn lost_and_unwanted_rows_are_found() {
        use Outcome::{Confirmed, Refused, Unknown};
        let outcomes = [Confirmed, Confirmed, Refused, Refused, Unknown, Unknown];
        let attempts: Vec<_> = (1..).zip(outcomes).map(|(number, outcome)| attempt(number, outcome, 1, 2)).collect();
        let mut found = Found::default();
        // The first of each kind is present; rows of other clients do not matter.
        let there = rows(&["entry 7 1", "entry 7 3", "entry 7 5", "entry 8 2", "transfer 7 2 1 2 9"]);
        hold_against(&journal(7, ENTRIES, &attempts), &there, &mut found);
        assert_eq!(found.lost, ["entry 2 of client 7 at 2.0 s"]);
        assert_eq!(found.unwanted, ["entry 3 of client 7 at 2.0 s"]);
        assert_eq!(found.unknown_there, 1);
        assert_eq!(found.told().len(), 2);
    }

    #[test]
    fn a_list_is_in_the_order_in_which_it_was_confirmed() {
        let early = journal(1, APPENDS, &[attempt(1, Outcome::Confirmed, 0, 1)]);
        let late = journal(2, APPENDS, &[attempt(1, Outcome::Confirmed, 2, 3)]);
        let meanwhile = journal(3, APPENDS, &[attempt(1, Outcome::Confirmed, 0, 9)]);
        let journals = [early, late, meanwhile];
        for (there, disorder) in [
            (&["appended 5 1 1 1", "appended 5 2 2 1", "appended 5 3 3 1"], false),
            (&["appended 5 1 3 1", "appended 5 2 1 1", "appended 5 3 2 1"], false),
            (&["appended 5 1 2 1", "appended 5 2 1 1", "appended 5 3 3 1"], true),
            (&["appended 5 1 2 1", "appended 5 2 3 1", "appended 5 3 1 1"], true),
            // Of different lists.
            (&["appended 4 9 2 1", "appended 5 2 1 1", "appended 5 3 3 1"], false),
        ] {
            assert_eq!(!disordered(&journals, &rows(there)).is_empty(), disorder, "{there:?}");
        }
    }

    #[test]
    fn a_full_disk_is_no_crash_of_a_server_and_a_damaged_history_one_of_its_own_kind() {
        let log = "1 [Note] x\n2 [ERROR] [FATAL] InnoDB: Error (Out of disk space) in rollback.\n3 [ERROR] mariadbd got signal 6 ;\n";
        assert_eq!(crashes(log), (vec![], vec![]));
        let end = "3 [ERROR] mariadbd got signal 6 ;".to_owned();
        let log = format!("1 {DAMAGED_HISTORY} line 277\n2 InnoDB: Failing assertion\n{end}\n");
        assert_eq!(crashes(&log), (vec![end.clone()], vec![]));
        assert_eq!(crashes(&format!("1 [Note] x\n{end}\n")), (vec![], vec![end]));
    }

    #[test]
    fn a_row_on_one_node_only_is_a_difference() {
        let [one, two] = [vec![vec!["entry".to_owned(), "1".to_owned()]], Vec::new()];
        assert_eq!(differences("node2", &one, &one), [""; 0]);
        assert_eq!(differences("node2", &one, &two), ["only on node1: entry 1"]);
        assert_eq!(differences("node2", &two, &one), ["only on node2: entry 1"]);
    }
}
