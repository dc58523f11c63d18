//! Steps of statements, by what is known of the session and the catalog.

use super::*;
use crate::analysis::{FunctionSet, SessionFacts, analyze};
use crate::lexer::Dialect;

/// A schema `d` whose list of relations is known: a table `t`, a view `v`, and nothing else. Of `e` nothing is known, and of
/// `f` that a table `plain` is plain.
struct Relations;

impl Relations {
    fn in_list(name: &TableName, relations: &[&str]) -> Option<bool> {
        (name.schema == b"d").then(|| relations.iter().any(|relation| relation.as_bytes() == name.table))
    }
}

impl Catalog for Relations {
    fn known(&self, name: &TableName) -> Option<Option<&Table>> {
        (self.exists(name) == Some(false)).then_some(None)
    }

    fn exists(&self, name: &TableName) -> Option<bool> {
        Self::in_list(name, &["t", "v"])
    }

    fn is_table(&self, name: &TableName) -> Option<bool> {
        Self::in_list(name, &["t"])
    }

    fn is_plain(&self, name: &TableName) -> bool {
        name.schema == b"f" && name.table == b"plain"
    }

    fn may_replace(&self, _name: &TableName) -> bool {
        false
    }
}

/// The session at a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Plain,
    Forced,
    InTransaction,
    InTransactionWithLocks,
    WithTemporaryTables,
}
use At::*;

fn step(at: At, statement: &str) -> String {
    let functions = FunctionSet::all();
    let facts = SessionFacts { dialect: Dialect::mariadb(101_119), functions: &functions, known_head: None };
    let info = analyze(statement.as_bytes(), &facts);
    let in_transaction = matches!(at, InTransaction | InTransactionWithLocks);
    let serial = match at {
        Plain | Forced => None,
        InTransaction | InTransactionWithLocks => Some("in a transaction"),
        WithTemporaryTables => Some("temporary tables"),
    };
    let planned = plan(
        &info,
        &PlanFacts {
            serial,
            in_transaction,
            has_left_out_locks: at == InTransactionWithLocks,
            is_closed: false,
            session: &SessionState::default(),
            names: Names { database: Some(b"d"), folds_case: false, are_utf8: true },
            catalog: &Relations,
            form: None,
            gathered: None,
            is_forced: at == Forced,
            is_numbered_in_main: false,
            numbers_by_session: false,
        },
    );
    let names = |tables: &[TableName]| tables.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    match planned {
        Step::LookUp(name) => format!("look up {name}"),
        Step::ListRelations(name) => format!("list {name}"),
        Step::Skip => "skip".to_owned(),
        Step::CommitInstead => "commit instead".to_owned(),
        Step::Rows(_) => "rows".to_owned(),
        Step::TableDdl { tables, references, drains } => {
            let references = if references.is_empty() { String::new() } else { format!(" to {}", names(&references)) };
            format!("table {}{references}{}", names(&tables), if drains { " behind all" } else { "" })
        }
        Step::OtherDdl { tables, effect } => format!("{effect:?} {}", names(&tables)).trim_end().to_owned(),
        Step::Set => "set".to_owned(),
        Step::Use => "use".to_owned(),
        Step::Constant => "constant".to_owned(),
        Step::Main { reason } => format!("main: {reason}"),
    }
}

#[test]
fn steps_by_what_is_known() {
    let cases = [
        (Plain, "CREATE TABLE a (id INT)", "table d.a"),
        (Plain, "CREATE TABLE a (id INT, FOREIGN KEY (id) REFERENCES t (id))", "table d.a to d.t"),
        (Plain, "CREATE TABLE e.a (id INT, FOREIGN KEY (id) REFERENCES t (id))", "list e.a"),
        (Forced, "CREATE TABLE e.a (id INT, FOREIGN KEY (id) REFERENCES t (id))", "table e.a to e.t"),
        (Plain, "CREATE OR REPLACE TABLE t (id INT)", "table d.t behind all"),
        (Plain, "CREATE OR REPLACE TABLE a (id INT)", "table d.a"),
        (Plain, "ALTER TABLE t ADD COLUMN n INT", "look up d.t"),
        (Plain, "ALTER TABLE a ADD COLUMN n INT", "table d.a"),
        (Plain, "ALTER TABLE e.plain ADD COLUMN n INT", "look up e.plain"),
        (Plain, "ALTER TABLE f.plain ADD COLUMN n INT", "table f.plain"),
        (WithTemporaryTables, "CREATE TABLE a (id INT)", "main: temporary tables"),
        (Plain, "ALTER TABLE mysql.innodb_table_stats FORCE", "main: it changes a table of the server itself"),
        (Plain, "DROP TABLE IF EXISTS a", "None d.a"),
        (Plain, "DROP TABLE IF EXISTS t", "Drops d.t"),
        (Plain, "DROP TABLE IF EXISTS a, t", "Drops d.a d.t"),
        (Plain, "DROP TABLE IF EXISTS e.a", "list e.a"),
        (Forced, "DROP TABLE IF EXISTS e.a", "Defines e.a"),
        (Plain, "CREATE DATABASE f", "CreatesSchema([102])"),
        (Plain, "CREATE VIEW a AS SELECT 1", "Defines d.a"),
        (Plain, "CREATE OR REPLACE VIEW v AS SELECT 1", "Drops d.v"),
        (Plain, "LOCK TABLES t WRITE", "skip"),
        (Plain, "LOCK TABLES v WRITE", "skip"),
        (Plain, "LOCK TABLES a WRITE", "main: the statement names a table that does not exist"),
        (Plain, "LOCK TABLES e.a WRITE", "list e.a"),
        (Plain, "ALTER TABLE t DISABLE KEYS", "skip"),
        (Plain, "ALTER TABLE v DISABLE KEYS", "main: the statement names a table that does not exist"),
        (InTransaction, "ALTER TABLE t DISABLE KEYS", "commit instead"),
        (InTransaction, "LOCK TABLES t WRITE", "commit instead"),
        (InTransaction, "LOCK TABLES a WRITE", "main: in a transaction"),
        (InTransaction, "UNLOCK TABLES", "skip"),
        (InTransactionWithLocks, "UNLOCK TABLES", "commit instead"),
        (WithTemporaryTables, "UNLOCK TABLES", "main: temporary tables"),
        (Plain, "SET @a = 1", "set"),
        (Plain, "SET GLOBAL max_connections = 1", "main: SET changes or reads more than the session"),
        (InTransaction, "SET @a = 1", "main: in a transaction"),
        (Plain, "USE e", "use"),
        (Plain, "SELECT 1", "constant"),
    ];
    for (at, statement, expected) in cases {
        assert_eq!(step(at, statement), expected, "{statement}");
    }
}
