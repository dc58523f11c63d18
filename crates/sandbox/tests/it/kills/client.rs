//! One client: writes a mix of transactions over its connection until the server is gone.

use std::sync::atomic::{AtomicI64, Ordering};

use hortator_mysql::{Connection, Error};

use super::dice::Dice;
use super::journal::{Change, Journal, Rows};
use super::tables::{ACCOUNTS, COUNTING, DEFINING};

/// Shared by the clients and their observers.
#[derive(Debug, Default)]
pub struct Shared {
    /// The numbers of all transactions of the run.
    numbers: AtomicI64,
    /// The last confirmed value of the counter.
    pub counted: AtomicI64,
    /// The highest seqno that a client has received.
    pub seqno: AtomicI64,
}

pub struct Client<'a> {
    number: usize,
    connection: Connection,
    dice: Dice,
    rows: Rows,
    pub journal: Journal,
    /// The number of rollbacks.
    pub refusals: usize,
    shared: &'a Shared,
}

/// Statements of one transaction, the last of which commits, and their effect.
struct Plan {
    statements: Vec<String>,
    change: Option<Change>,
    fragments: bool,
}

fn plan(statements: Vec<String>, change: Change) -> Plan {
    Plan { statements, change: Some(change), fragments: false }
}

/// The server is gone.
struct Gone;

impl<'a> Client<'a> {
    pub fn new(number: usize, connection: Connection, seed: u64, rows: Rows, shared: &'a Shared) -> Client<'a> {
        let journal = Journal::new(rows.clone());
        Client { number, connection, dice: Dice::new(seed), rows, journal, refusals: 0, shared }
    }

    /// Writes until the connection is lost.
    pub fn write(&mut self) {
        loop {
            let plan = match self.number {
                COUNTING => self.count(),
                DEFINING => self.define(),
                _ => self.mix(),
            };
            if let Some(plan) = plan
                && self.run(plan).is_err()
            {
                return;
            }
        }
    }

    fn run(&mut self, plan: Plan) -> Result<(), Gone> {
        if plan.fragments {
            self.send("SET SESSION wsrep_trx_fragment_unit = 'rows', wsrep_trx_fragment_size = 3")?;
        }
        let last = plan.statements.len() - 1;
        for (index, statement) in plan.statements.iter().enumerate() {
            if index == last
                && let Some(change) = &plan.change
            {
                self.journal.attempt(change.clone());
            }
            if !self.send(statement)? {
                self.journal.refuse();
                self.send("ROLLBACK")?;
                return Ok(());
            }
        }
        if let Some(change) = plan.change {
            self.journal.confirm();
            self.take(&change);
        }
        if plan.fragments {
            self.send("SET SESSION wsrep_trx_fragment_size = 0")?;
        }
        if self.dice.chance(10) {
            self.ask_place()?;
        }
        Ok(())
    }

    /// Returns whether the statement succeeded; otherwise the transaction was rolled back.
    fn send(&mut self, sql: &str) -> Result<bool, Gone> {
        match self.connection.execute(sql.as_bytes()) {
            Ok(_) => Ok(true),
            Err(Error::Lost { .. }) => Err(Gone),
            Err(error) if error.is_transient() => {
                self.refusals += 1;
                Ok(false)
            }
            // The server ends its threads one by one: their clients get these errors.
            Err(error) => panic!("client {}: {sql}: {error}", self.number),
        }
    }

    fn ask_place(&mut self) -> Result<(), Gone> {
        let Ok(rows) = self.connection.fetch(b"SHOW STATUS LIKE 'wsrep_last_committed'") else { return Err(Gone) };
        let seqno = String::from_utf8(rows[0][1].clone().unwrap()).unwrap();
        self.shared.seqno.fetch_max(seqno.parse().unwrap(), Ordering::SeqCst);
        Ok(())
    }

    fn take(&mut self, change: &Change) {
        for row in &change.removes {
            let left = self.rows.get_mut(row).unwrap_or_else(|| panic!("{row} was there"));
            *left -= 1;
            if *left == 0 {
                self.rows.remove(row);
            }
        }
        for row in &change.adds {
            *self.rows.entry(row.clone()).or_insert(0) += 1;
        }
        if let Some(counted) = change.adds.first().and_then(|row| row.strip_prefix("counter|")) {
            self.shared.counted.store(counted.parse().unwrap(), Ordering::SeqCst);
        }
    }

    fn fresh(&self) -> i64 {
        self.shared.numbers.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// The numbers in one of its rows of a table.
    fn any(&mut self, table: &str) -> Option<Vec<i64>> {
        let prefix = format!("{table}|");
        let all: Vec<&String> = self
            .rows
            .range(prefix.clone()..)
            .map(|(row, _)| row)
            .take_while(|row| row.starts_with(&prefix))
            .take(200)
            .collect();
        let row = self.dice.pick(&all)?;
        Some(row[prefix.len()..].split('|').map(|number| number.parse().unwrap()).collect())
    }

    fn mix(&mut self) -> Option<Plan> {
        let (c, t) = (self.number, self.fresh());
        let change = Change::default();
        Some(match self.dice.below(14) {
            0 | 1 => {
                let v = self.dice.below(1000);
                let sql = format!("INSERT INTO keyed (c, k, v) VALUES ({c}, {t}, {v})");
                plan(vec![sql], change.add(format!("keyed|{t}|{v}")))
            }
            2 | 3 => {
                plan(vec![format!("INSERT INTO counted (c, t) VALUES ({c}, {t})")], change.add(format!("counted|{t}")))
            }
            4 => {
                let mut statements = vec!["BEGIN".to_owned()];
                statements.extend(["pair_a", "pair_b"].map(|table| format!("INSERT INTO {table} VALUES ({t}, {c})")));
                statements.push("COMMIT".to_owned());
                plan(statements, change.add(format!("pair_a|{t}")).add(format!("pair_b|{t}")))
            }
            5 | 6 => self.transfer(t),
            7 => {
                let [k, v] = self.any("keyed")?[..] else { unreachable!() };
                let sql =
                    format!("UPDATE keyed SET v = v + 1, note = REPEAT('n', {}) WHERE c = {c} AND k = {k}", v % 80);
                plan(vec![sql], change.remove(format!("keyed|{k}|{v}")).add(format!("keyed|{k}|{}", v + 1)))
            }
            8 => {
                let [k, v] = self.any("keyed")?[..] else { unreachable!() };
                plan(
                    vec![format!("DELETE FROM keyed WHERE c = {c} AND k = {k}")],
                    change.remove(format!("keyed|{k}|{v}")),
                )
            }
            9 => {
                let child = self.fresh();
                let parent = match self.any("parent") {
                    Some(parent) if self.dice.chance(50) => parent[0],
                    _ => t,
                };
                let mut statements = vec!["BEGIN".to_owned()];
                let mut change = change.add(format!("child|{child}|{parent}"));
                if parent == t {
                    statements.push(format!("INSERT INTO parent VALUES ({parent}, {c})"));
                    change = change.add(format!("parent|{parent}"));
                }
                statements.push(format!("INSERT INTO child VALUES ({child}, {parent}, {c})"));
                statements.push("COMMIT".to_owned());
                plan(statements, change)
            }
            10 => {
                let parent = self.any("parent")?[0];
                let children: Vec<String> = self
                    .rows
                    .keys()
                    .filter(|row| row.starts_with("child|") && row.ends_with(&format!("|{parent}")))
                    .cloned()
                    .collect();
                let change = children.into_iter().fold(change, Change::remove).remove(format!("parent|{parent}"));
                plan(vec![format!("DELETE FROM parent WHERE id = {parent}")], change)
            }
            11 if self.dice.chance(30) => {
                let t = self.any("keyless")?[0];
                let count = self.rows[&format!("keyless|{t}")];
                let change = (0..count).fold(change, |change, _| change.remove(format!("keyless|{t}")));
                plan(vec![format!("DELETE FROM keyless WHERE c = {c} AND t = {t}")], change)
            }
            11 => {
                let row = format!("({c}, {t}, 'the same')");
                let change = (0..3).fold(change, |change, _| change.add(format!("keyless|{t}")));
                plan(vec![format!("INSERT INTO keyless VALUES {row}, {row}, {row}")], change)
            }
            _ => self.stream(t),
        })
    }

    fn transfer(&mut self, t: i64) -> Plan {
        let (c, source, amount) = (self.number, self.dice.between(1, ACCOUNTS), self.dice.between(1, 9));
        let target = (source + self.dice.between(0, ACCOUNTS - 2)) % ACCOUNTS + 1;
        let take = format!("UPDATE account SET balance = balance - {amount} WHERE id = {source}");
        let give = format!("UPDATE account SET balance = balance + {amount} WHERE id = {target}");
        let tell = format!("INSERT INTO ledger VALUES ({t}, {c}, {source}, {target}, {amount})");
        let moved = if source < target || self.dice.chance(20) { [take, give] } else { [give, take] };
        let mut statements = vec!["BEGIN".to_owned()];
        statements.extend(moved);
        statements.extend([tell, "COMMIT".to_owned()]);
        plan(statements, Change::default().add(format!("ledger|{t}|{source}|{target}|{amount}")))
    }

    /// A streaming transaction.
    fn stream(&mut self, t: i64) -> Plan {
        let c = self.number;
        let mut statements = vec!["BEGIN".to_owned()];
        let mut change = Change::default();
        for n in 1..=self.dice.between(10, 30) {
            statements.push(format!("INSERT INTO streamed VALUES ({t}, {n}, {c})"));
            change = change.add(format!("streamed|{t}|{n}"));
        }
        if let Some(row) = self.any("keyed") {
            statements.push(format!("UPDATE keyed SET v = v + 5 WHERE c = {c} AND k = {}", row[0]));
            change =
                change.remove(format!("keyed|{}|{}", row[0], row[1])).add(format!("keyed|{}|{}", row[0], row[1] + 5));
        }
        let commits = self.dice.chance(75);
        statements.push(if commits { "COMMIT" } else { "ROLLBACK" }.to_owned());
        Plan { statements, change: commits.then_some(change), fragments: true }
    }

    fn count(&mut self) -> Option<Plan> {
        let v = self.any("counter")?[0];
        let change = Change::default().add(format!("counter|{}", v + 1)).remove(format!("counter|{v}"));
        Some(plan(vec!["UPDATE counter SET v = v + 1".to_owned()], change))
    }

    fn define(&mut self) -> Option<Plan> {
        let t = self.fresh();
        let change = Change::default();
        let tables: Vec<String> = self.rows.keys().filter(|row| row.contains("|of ")).cloned().collect();
        let what = self.dice.below(20);
        let Some(table) = self.dice.pick(&tables).filter(|_| what > 0 && tables.len() < 12) else {
            if tables.len() >= 12 {
                return Some(self.drop_table(&tables[0]));
            }
            let mut sql = format!("CREATE TABLE x_{t} (id BIGINT PRIMARY KEY)");
            let mut change = change.add(format!("x_{t}|of 1"));
            if self.dice.chance(50) {
                sql += " SELECT 1 AS id UNION SELECT 2";
                change = change.add(format!("x_{t}|row|1")).add(format!("x_{t}|row|2"));
            }
            return Some(plan(vec![sql], change));
        };
        let (name, columns) = table.split_once("|of ").unwrap();
        let columns: usize = columns.parse().unwrap();
        Some(match what {
            1 => self.drop_table(table),
            2 => {
                let rows = self.rows_of(name);
                plan(vec![format!("TRUNCATE TABLE {name}")], rows.into_iter().fold(change, Change::remove))
            }
            3 => {
                let change = change.remove(table.clone()).add(format!("{name}|of {}", columns + 1));
                plan(vec![format!("ALTER TABLE {name} ADD COLUMN a{columns} INT, ADD KEY (a{columns})")], change)
            }
            4 => {
                let new = format!("x_{t}");
                let renamed = |row: &String| row.replacen(name, &new, 1);
                let rows = self.rows_of(name);
                let change =
                    rows.iter().map(renamed).fold(change, Change::add).remove(table.clone()).add(renamed(table));
                plan(vec![format!("RENAME TABLE {name} TO {new}")], rows.into_iter().fold(change, Change::remove))
            }
            _ => plan(vec![format!("INSERT INTO {name} (id) VALUES ({t})")], change.add(format!("{name}|row|{t}"))),
        })
    }

    fn rows_of(&self, table: &str) -> Vec<String> {
        let prefix = format!("{table}|row|");
        self.rows.keys().filter(|row| row.starts_with(&prefix)).cloned().collect()
    }

    fn drop_table(&self, table: &str) -> Plan {
        let name = table.split('|').next().unwrap();
        let change = self.rows_of(name).into_iter().fold(Change::default().remove(table.to_owned()), Change::remove);
        plan(vec![format!("DROP TABLE {name}")], change)
    }
}
