//! Valid constraints, and every kind of violation, on real rows.

use std::collections::BTreeSet;
use std::sync::Mutex;

use hortator_check::constraints::{
    Constraint, Finding, ForeignKey, Observer, Scope, Validator, Violation, foreign_keys, unique_keys,
};
use hortator_mysql::catalog::TableName;
use hortator_mysql::{Address, ConnectOptions, Connection, Error};
use hortator_sandbox::{Builder, Temporary};

use crate::{connect, run, server};

/// An observer that ends the validation after that many constraints.
struct Looker {
    ends_after: usize,
    seen: Mutex<BTreeSet<usize>>,
    begun: Mutex<usize>,
}

impl Looker {
    fn patient() -> Self {
        Self { ends_after: usize::MAX, seen: Mutex::default(), begun: Mutex::default() }
    }
}

impl Observer for Looker {
    fn runs_on(&self, validator: usize, connection_id: u32) {
        if connection_id != 0 {
            self.seen.lock().unwrap().insert(validator);
            *self.begun.lock().unwrap() += 1;
        }
    }

    fn is_ended(&self) -> bool {
        *self.begun.lock().unwrap() >= self.ends_after
    }
}

fn table(schema: &str, table: &str) -> TableName {
    TableName { schema: schema.into(), table: table.into() }
}

fn validate(server: &Temporary, constraints: &[Constraint], rows_limit: usize) -> Vec<Finding> {
    Validator { open: &|| open(server), threads: 3, rows_limit, observer: &Looker::patient() }
        .validate(constraints)
        .unwrap()
}

fn open(server: &Temporary) -> Result<Connection, Error> {
    Connection::open(&server.node(0).connect_options())
}

fn keys_of(connection: &mut Connection, scope: &Scope) -> Vec<Constraint> {
    foreign_keys(connection, scope).unwrap().into_iter().map(Constraint::ForeignKey).collect()
}

/// `table.constraint: violation: values; values`
fn shown(finding: &Finding) -> String {
    let name = match &finding.constraint {
        Constraint::ForeignKey(key) => &key.name,
        Constraint::Unique(key) => &key.name,
    };
    let violation = match &finding.violation {
        Violation::Rows { count, first } => {
            let row = |row: &hortator_check::constraints::ViolatingRow| {
                let value = |(_, value): &(Vec<u8>, Option<Vec<u8>>)| {
                    value.as_ref().map_or("NULL".to_owned(), |value| String::from_utf8_lossy(value).into_owned())
                };
                row.values.iter().map(value).collect::<Vec<_>>().join(",")
            };
            let mut rows: Vec<String> = first.iter().map(row).collect();
            rows.sort();
            format!("{count}: {}", rows.join("; "))
        }
        Violation::NoParent => "no parent".to_owned(),
        Violation::NoParentKey => "no parent key".to_owned(),
        Violation::NotValidated(why) => format!("not validated: {why}"),
    };
    format!("{}.{}: {violation}", finding.constraint.table(), String::from_utf8_lossy(name))
}

fn all_shown(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(shown).collect()
}

#[test]
fn foreign_keys_are_validated_as_the_server_checks_them() {
    let server = server();
    let mut root = connect(&server);
    run(
        &mut root,
        &[
            "SET NAMES utf8mb4",
            "CREATE DATABASE one",
            "CREATE DATABASE two",
            "USE one",
            "CREATE TABLE p (a INT, b VARCHAR(20) COLLATE utf8mb4_general_ci, c CHAR(5) CHARACTER SET latin1, d DECIMAL(6,2), \
             PRIMARY KEY (a, b), UNIQUE KEY (c), KEY (d), KEY (b(3))) CHARACTER SET utf8mb4",
            "CREATE TABLE two.far (id BIGINT UNSIGNED PRIMARY KEY)",
            "CREATE TABLE c (id INT PRIMARY KEY, a INT, b VARCHAR(20) COLLATE utf8mb4_general_ci, c CHAR(5) CHARACTER SET \
             latin1, d DECIMAL(6,2), far BIGINT UNSIGNED, up INT, twice INT AS (up + up) STORED, \
             CONSTRAINT pair FOREIGN KEY (a, b) REFERENCES p (a, b), CONSTRAINT latin FOREIGN KEY (c) REFERENCES p (c), \
             CONSTRAINT money FOREIGN KEY (d) REFERENCES p (d), CONSTRAINT far FOREIGN KEY (far) REFERENCES two.far (id), \
             CONSTRAINT self FOREIGN KEY (up) REFERENCES c (id), CONSTRAINT made FOREIGN KEY (twice) REFERENCES c (id)) \
             CHARACTER SET utf8mb4",
            "CREATE TABLE `odd``na.me` (`the key` INT PRIMARY KEY, `r``f` INT, CONSTRAINT `it's` FOREIGN KEY (`r``f`) \
             REFERENCES `odd``na.me` (`the key`))",
            "INSERT INTO p VALUES (1,'Äpfel','é',1.50),(2,'x','b',NULL)",
            "INSERT INTO two.far VALUES (18446744073709551615)",
        ],
    );
    let scope = Scope::schema("one");
    let constraints = keys_of(&mut root, &scope);
    assert_eq!(constraints.len(), 7);
    run(
        &mut root,
        &[
            // Rows that the server accepts with its checks on must be valid: case, accents, padding, NULL in part of a
            // key.
            "INSERT INTO c (id,a,b,c,d,far,up) VALUES (2,NULL,'no',NULL,NULL,NULL,NULL)",
            "INSERT INTO c (id,a,b,c,d,far,up) VALUES (1,1,'APFEL ','é ',1.5,18446744073709551615,1)",
            "INSERT INTO `odd``na.me` VALUES (1,NULL),(2,1)",
        ],
    );
    assert_eq!(all_shown(&validate(&server, &constraints, 5)), Vec::<String>::new());

    run(
        &mut root,
        &[
            "SET foreign_key_checks = 0",
            "INSERT INTO c (id,a,b,c,d,far,up) VALUES (10,1,'x','ö',1.51,1,77),(11,2,'xx','b',NULL,NULL,NULL),(12,3,NULL,'c',NULL,NULL,12)",
            "INSERT INTO `odd``na.me` VALUES (3,4)",
        ],
    );
    let found = [
        "one.c.far: 1: 1,10",
        "one.c.latin: 2: c,12; ö,10",
        "one.c.made: 2: 154,10; 24,12",
        "one.c.money: 1: 1.51,10",
        "one.c.pair: 2: 1,x,10; 2,xx,11",
        "one.c.self: 1: 77,10",
        "one.odd`na.me.it's: 1: 4,3",
    ];
    assert_eq!(all_shown(&validate(&server, &constraints, 5)), found);
    let few = validate(&server, &constraints, 1);
    assert!(matches!(&few[4].violation, Violation::Rows { count: 2, first } if first.len() == 1), "{:?}", few[4]);
}

#[test]
fn the_scope_selects_constraints() {
    let server = server();
    let mut root = connect(&server);
    run(
        &mut root,
        &[
            "CREATE DATABASE one",
            "CREATE DATABASE two",
            "CREATE TABLE one.p (id INT PRIMARY KEY)",
            "CREATE TABLE one.c (p INT, CONSTRAINT near FOREIGN KEY (p) REFERENCES one.p (id))",
            "CREATE TABLE two.c (p INT, CONSTRAINT away FOREIGN KEY (p) REFERENCES one.p (id))",
            "CREATE TABLE two.P (id INT PRIMARY KEY, q INT, CONSTRAINT own FOREIGN KEY (q) REFERENCES two.P (id))",
            "CREATE TABLE two.p (id INT PRIMARY KEY, q INT, CONSTRAINT own2 FOREIGN KEY (q) REFERENCES two.p (id))",
        ],
    );
    let mut names = |scope: &Scope| -> Vec<String> {
        let keys = foreign_keys(&mut root, scope).unwrap();
        keys.iter().map(|key| String::from_utf8_lossy(&key.name).into_owned()).collect()
    };
    let of = |name: TableName| Scope { of: BTreeSet::from([name]), ..Scope::default() };
    let to = |name: TableName| Scope { to: BTreeSet::from([name]), ..Scope::default() };
    assert_eq!(names(&of(table("one", "c"))), ["near"]);
    assert_eq!(names(&of(table("two", "p"))), ["own2"], "names that differ in case only are two tables");
    assert_eq!(names(&to(table("one", "p"))), ["near", "away"]);
    assert_eq!(names(&Scope::schema("one")), ["near", "away"]);
    assert_eq!(names(&Scope::schema("two")), ["own", "away", "own2"]);
    assert_eq!(names(&Scope::default()), Vec::<String>::new());
}

#[test]
fn unreadable_parents() {
    let server = server();
    let mut root = connect(&server);
    run(
        &mut root,
        &[
            "CREATE DATABASE d",
            "USE d",
            "SET foreign_key_checks = 0",
            "CREATE TABLE gone (p INT, CONSTRAINT gone FOREIGN KEY (p) REFERENCES nowhere (id))",
            "CREATE TABLE p (id INT PRIMARY KEY, k INT, m INT, KEY k (k, m))",
            "CREATE TABLE bare (k INT, m INT, CONSTRAINT bare FOREIGN KEY (k, m) REFERENCES p (k, m))",
            "ALTER TABLE p DROP KEY k, ADD KEY (m, k)",
        ],
    );
    let mut constraints = keys_of(&mut root, &Scope::schema("d"));
    // A column that is missing at the time of the query.
    constraints.push(Constraint::ForeignKey(ForeignKey {
        name: "late".into(),
        child: table("d", "bare"),
        columns: vec!["nix".into()],
        parent: table("d", "p"),
        parent_columns: vec!["id".into()],
    }));
    let found = all_shown(&validate(&server, &constraints, 5));
    assert_eq!(found[0], "d.bare.bare: no parent key");
    assert_eq!(found[1], "d.gone.gone: no parent");
    assert!(found[2].starts_with("d.bare.late: not validated: error 1054: Unknown column 'c.nix'"), "{}", found[2]);
    assert_eq!(found.len(), 3);
}

#[test]
fn a_large_table_is_validated_by_key_ranges() {
    let server = server();
    let mut root = connect(&server);
    run(
        &mut root,
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE p (id BIGINT PRIMARY KEY)",
            "CREATE TABLE c (id INT PRIMARY KEY, p BIGINT, CONSTRAINT c_p FOREIGN KEY (p) REFERENCES p (id))",
            "INSERT INTO p SELECT seq FROM seq_1_to_250000",
            "INSERT INTO c SELECT seq, seq FROM seq_1_to_250000",
            "ANALYZE TABLE c",
        ],
    );
    let constraints = keys_of(&mut root, &Scope::schema("d"));
    let observer = Looker::patient();
    let validator = Validator { open: &|| open(&server), threads: 3, rows_limit: 5, observer: &observer };
    assert_eq!(all_shown(&validator.validate(&constraints).unwrap()), Vec::<String>::new());
    assert!(*observer.begun.lock().unwrap() > 6, "it was not cut: {:?}", observer.begun);

    // At both ends, beyond them, at a bound and in between.
    run(&mut root, &["SET foreign_key_checks = 0", "DELETE FROM p WHERE id IN (1, 20834, 125000, 250000)"]);
    run(&mut root, &["INSERT INTO c VALUES (250001, -9), (250002, 999999), (250003, NULL)"]);
    let found = all_shown(&validator.validate(&constraints).unwrap());
    assert!(found.len() == 1 && found[0].starts_with("d.c.c_p: 6: "), "{found:?}");
    let all = all_shown(&Validator { rows_limit: 9, ..validator }.validate(&constraints).unwrap());
    assert_eq!(all, ["d.c.c_p: 6: -9,250001; 1,1; 125000,125000; 20834,20834; 250000,250000; 999999,250002"]);
}

/// With change buffering, `unique_checks = 0` lets a duplicate into a key whose pages are not in memory, and neither
/// the server nor CHECK TABLE ever finds it.
#[test]
fn duplicates_that_were_inserted_unchecked() {
    let settings = [
        ("innodb_change_buffering", "all"),
        ("innodb_buffer_pool_load_at_startup", "OFF"),
        ("innodb_stats_auto_recalc", "OFF"),
    ];
    let builder = settings.iter().fold(Builder::standalone(), |builder, (name, value)| builder.set(*name, *value));
    let server = builder.start_temporary().unwrap();
    let mut root = connect(&server);
    run(
        &mut root,
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, u INT NOT NULL, n INT, v VARCHAR(40), pad CHAR(100) DEFAULT 'x', \
             UNIQUE KEY u (u), UNIQUE KEY n (n, u), UNIQUE KEY v (v(10)))",
            "INSERT INTO t (id, u, n, v) SELECT seq, (seq * 7919) % 1000003, IF(seq % 3 = 0, NULL, seq), NULL FROM seq_1_to_200000",
        ],
    );
    let scope = Scope { of: BTreeSet::from([table("d", "t")]), ..Scope::default() };
    let keys: Vec<Constraint> = unique_keys(&mut root, &scope).unwrap().into_iter().map(Constraint::Unique).collect();
    assert_eq!(keys.len(), 4);
    assert_eq!(all_shown(&validate(&server, &keys, 5)), Vec::<String>::new());

    // So that no page is in memory.
    server.node(0).stop().unwrap();
    server.node(0).start().unwrap();
    let mut root = connect(&server);
    let same =
        "INSERT IGNORE INTO t (id, u, n) SELECT 400000 + seq, seq * 10000 * 7919 % 1000003, NULL FROM seq_1_to_10";
    run(&mut root, &["USE d", "SET unique_checks = 0", same]);
    let went_in: u64 = {
        let rows = root.fetch(b"SELECT COUNT(*) FROM t WHERE id > 400000").unwrap();
        String::from_utf8(rows[0][0].clone().unwrap()).unwrap().parse().unwrap()
    };
    assert!(went_in > 0, "this server buffers no changes: there is no duplicate to find");
    let checked = root.fetch(b"CHECK TABLE t EXTENDED").unwrap();
    assert_eq!(
        checked[0][3].as_deref(),
        Some(&b"OK"[..]),
        "CHECK TABLE finds duplicates now: docs/load.md says it does not"
    );
    let found = validate(&server, &keys, 2);
    let Violation::Rows { count, first } = &found[0].violation else { panic!("{found:?}") };
    assert_eq!((found.len(), *count, first.len()), (1, went_in * 2, 2), "{found:?}");
    assert_eq!((first[0].rows, &first[0].values[0].0), (2, &b"u".to_vec()));
}

#[test]
fn a_cancelled_validation_and_one_that_loses_its_server() {
    let server = server();
    let mut root = connect(&server);
    run(&mut root, &["CREATE DATABASE d", "CREATE TABLE d.p (id INT PRIMARY KEY)"]);
    for number in 0..20 {
        let child = format!("CREATE TABLE d.c{number} (p INT, FOREIGN KEY (p) REFERENCES d.p (id))");
        run(&mut root, &[&child]);
    }
    let constraints = keys_of(&mut root, &Scope::schema("d"));
    let looker = Looker { ends_after: 3, ..Looker::patient() };
    Validator { open: &|| open(&server), threads: 2, rows_limit: 1, observer: &looker }.validate(&constraints).unwrap();
    assert!((3..=5).contains(&*looker.begun.lock().unwrap()), "{:?}", looker.begun);
    assert!(looker.seen.lock().unwrap().len() <= 2);

    let nobody = ConnectOptions::new(Address::Socket("/nobody/listens/here".into()), "root");
    let observer = Looker::patient();
    let validator = Validator { open: &|| Connection::open(&nobody), threads: 2, rows_limit: 1, observer: &observer };
    assert!(matches!(validator.validate(&constraints), Err(Error::Connect { .. })));
    assert!(validator.validate(&[]).unwrap().is_empty(), "without constraints no connection is needed");
}
