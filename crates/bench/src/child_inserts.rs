//! Threads that insert salaries and titles of existing employees, a statement of each table in turn, each of them a
//! transaction.

use std::fmt;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hortator_mysql::Connection;

use crate::employees::{ForeignKeys, SCHEMA, departments};
use crate::load_generator::{Generated, Task, Threads};
use crate::nodes::Nodes;
use crate::{Error, foreign_key_validation};

/// Employees that are there before.
const EMPLOYEES: u64 = 10_000;
/// Parents of a thread, if not all employees are.
const FEW: u64 = 100;
/// Days that the rows' dates can be: years of twelve months of 28 days, from the year 1000 on.
const DAYS: u64 = 9_000 * 12 * 28;
/// The query for the rows that were inserted.
const COUNT: &str = "SELECT (SELECT COUNT(*) FROM employees.salaries) + (SELECT COUNT(*) FROM employees.titles)";

/// The employees that the rows of a thread belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parents {
    /// The same hundred for all threads, in turn from row to row.
    Shared,
    /// A hundred of each thread's own, in turn from row to row.
    Own,
    /// All ten thousand, in turn from row to row.
    Many,
    /// All ten thousand, in turn from statement to statement: all rows of a statement have the same.
    One,
}

impl Parents {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Shared, Self::Own, Self::Many, Self::One];

    /// The parents of this name, as `own`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|parents| parents.to_string() == name)
    }

    /// What it is, in a sentence.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Shared => "all threads insert children of the same 100 employees, in turn from row to row",
            Self::Own => "each thread inserts children of 100 employees of its own, in turn from row to row",
            Self::Many => "the rows of a statement are children of different employees, of 10,000",
            Self::One => "all rows of a statement are children of one employee, the next statement's of the next",
        }
    }

    /// The employee and the date's number of a row, which no other row of the thread and the table has.
    fn place(self, thread: u64, statement: u64, row: u64, rows: u64) -> (u64, u64) {
        let number = statement * rows + row;
        match self {
            Self::Shared => (number % FEW, number / FEW),
            Self::Own => ((thread * FEW + number % FEW) % EMPLOYEES, number / FEW),
            Self::Many => (number % EMPLOYEES, number / EMPLOYEES),
            Self::One => (statement % EMPLOYEES, statement / EMPLOYEES * rows + row),
        }
    }
}

impl fmt::Display for Parents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shared => "shared",
            Self::Own => "own",
            Self::Many => "many",
            Self::One => "one",
        })
    }
}

/// What is inserted, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChildInserts {
    pub(crate) keys: ForeignKeys,
    pub(crate) threads: Threads,
    /// Rows of a statement.
    pub(crate) rows: u64,
    pub(crate) parents: Parents,
    pub(crate) time: Duration,
}

impl ChildInserts {
    /// Inserts into new tables for the time. Checks that all nodes have the confirmed rows and that each row has its
    /// parent, with foreign keys and without.
    pub(crate) fn run(&self, nodes: &Nodes, stop: &AtomicBool) -> Result<Generated, Error> {
        nodes.quiesce_without(SCHEMA)?;
        let Self { keys, threads, rows, .. } = *self;
        let task = Task {
            work: format!("{} threads × {rows}-row inserts", threads.count),
            threads,
            set_up: &|connection| set_up(connection, keys),
            rows,
            count: COUNT,
        };
        let generated = task.run(nodes, self.time, stop, |thread| {
            let mut number = 0;
            move |sql: &mut String| {
                self.statement(thread, number, sql);
                number += 1;
            }
        })?;
        foreign_key_validation::check(nodes)?;
        Ok(generated)
    }

    /// Salaries and titles in turn.
    fn statement(&self, thread: usize, number: u64, sql: &mut String) {
        let (table, value) = if number.is_multiple_of(2) { ("salaries", "60000") } else { ("titles", "'Engineer'") };
        let first_day = DAYS / self.threads.count as u64 * thread as u64;
        let _ = write!(sql, "INSERT INTO {SCHEMA}.{table} VALUES ");
        for row in 0..self.rows {
            let (parent, day) = self.parents.place(thread as u64, number / 2, row, self.rows);
            let comma = if row == 0 { "" } else { "," };
            let _ = write!(sql, "{comma}({parent},{value},'");
            date(sql, first_day + day);
            sql.push_str("','9999-01-01')");
        }
    }
}

fn date(sql: &mut String, day: u64) {
    let _ = write!(sql, "{:04}-{:02}-{:02}", 1000 + day / (12 * 28), day / 28 % 12 + 1, day % 28 + 1);
}

/// Empty tables, but departments and employees.
fn set_up(connection: &mut Connection, keys: ForeignKeys) -> Result<(), hortator_mysql::Error> {
    let definitions = keys.definitions();
    let departments: Vec<String> = departments().map(|(number, name)| format!("('{number}','{name}')")).collect();
    let employee = |number| format!("({number},'1960-01-01','Aino','Ahlberg','F','1990-01-01')");
    let employees: Vec<String> = (0..EMPLOYEES).map(employee).collect();
    let rows = [
        format!("INSERT INTO departments VALUES {}", departments.join(",")),
        format!("INSERT INTO employees VALUES {}", employees.join(",")),
    ];
    // Those that are for the eyes only have a result.
    let definitions = definitions.split(";\n").map(str::trim);
    let definitions = definitions.filter(|statement| !statement.is_empty() && !statement.starts_with("SELECT"));
    definitions.chain(rows.iter().map(String::as_str)).try_for_each(|sql| connection.execute(sql.as_bytes()).map(drop))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Each key once, also with several threads, whose rows share parents.
    #[test]
    fn no_two_rows_have_the_same_key() {
        for parents in Parents::ALL {
            let threads = Threads { count: 3, nodes: 1 };
            let (keys, time) = (ForeignKeys::With, Duration::ZERO);
            let inserts = ChildInserts { keys, threads, rows: 50, parents, time };
            let mut seen = HashSet::new();
            for (thread, number) in (0..3).flat_map(|thread| (0..40).map(move |number| (thread, number))) {
                let mut sql = String::new();
                inserts.statement(thread, number, &mut sql);
                let (table, values) = sql.split_once(" VALUES ").unwrap();
                let rows: Vec<&str> = values.split("),(").collect();
                assert_eq!(rows.len(), 50);
                for row in rows {
                    assert!(
                        seen.insert((table.to_owned(), row.trim_matches(['(', ')']).to_owned())),
                        "{parents}: {row}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_date_is_one_that_the_server_takes() {
        let text = |day| {
            let mut text = String::new();
            date(&mut text, day);
            text
        };
        assert_eq!(
            [0, 27, 28, 12 * 28, DAYS - 1].map(text),
            ["1000-01-01", "1000-01-28", "1000-02-01", "1001-01-01", "9999-12-28"]
        );
    }
}
