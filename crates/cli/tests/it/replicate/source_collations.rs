//! The collation of a character set that a statement names without one: `character_set_collations` of MariaDB 11.2.

use std::fs;
use std::path::Path;

use super::fan_in::{FanIn, run, texts};
use super::files::Recovery;

/// Gives the variable a value where the server has it.
fn set(scope: &str, value: &str) -> String {
    format!("SET @set = 1 /*M!110201 , {scope} character_set_collations = '{value}' */")
}

/// The collations of the columns `a` of tables, by their names.
fn of_columns(fan_in: &FanIn) -> Vec<String> {
    let query = "SELECT COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'd1' AND COLUMN_NAME = 'a' \
                 ORDER BY TABLE_NAME";
    texts(&fan_in.target, query).concat()
}

fn knows_variable(fan_in: &FanIn) -> bool {
    let query = "SELECT 1 FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME = 'CHARACTER_SET_COLLATIONS'";
    !texts(&fan_in.target, query).is_empty()
}

/// The value of the source's session counts, and not that of the target.
#[test]
fn of_the_session() {
    let fan_in = FanIn::new(1, &[]);
    run(&fan_in.target, &[&set("GLOBAL", "utf8mb4=utf8mb4_swedish_ci,latin1=latin1_danish_ci")]);
    let _agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &[
            "CREATE DATABASE d1",
            "USE d1",
            "CREATE TABLE by_default (a CHAR(3) CHARACTER SET utf8mb4)",
            &set("SESSION", "utf8mb4=utf8mb4_bin,latin1=latin1_german2_ci"),
            "CREATE TABLE changed (a CHAR(3) CHARACTER SET utf8mb4, b CHAR(3) CHARACTER SET latin1)",
            "CREATE DATABASE d2 CHARACTER SET utf8mb4",
            "CREATE TABLE d2.t (a CHAR(3))",
            "ALTER TABLE by_default ADD b CHAR(3) CHARACTER SET latin1",
            &set("SESSION", ""),
            "CREATE TABLE none (a CHAR(3) CHARACTER SET utf8mb4, b CHAR(3) CHARACTER SET latin1) CHARACTER SET utf8mb4",
            "CREATE TABLE not_named (a CHAR(3))",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    fan_in.assert_equal(&["d2"]);
    let expected = match knows_variable(&fan_in) {
        true => ["utf8mb4_uca1400_ai_ci", "utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_general_ci"],
        false => ["utf8mb4_general_ci"; 4],
    };
    assert_eq!(of_columns(&fan_in), expected);
}

/// MariaDB keeps the collation with which a table was first opened. Statements that name no character set open it, too.
#[test]
fn of_expressions() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let columns =
        "(id INT PRIMARY KEY, a VARCHAR(10) CHARACTER SET latin1, i INT AS (CONVERT(a USING utf8mb4) = 's') STORED)";
    run(&fan_in.sources[0], &["CREATE DATABASE d1"]);
    for (table, format) in [("by_statement", "STATEMENT"), ("by_row", "ROW")] {
        run(&fan_in.sources[0], &[&format!("CREATE TABLE d1.{table} {columns}")]);
        fan_in.catch_up();
        run(&fan_in.target, &["FLUSH TABLES"]);
        run(
            &fan_in.sources[0],
            &[
                &format!("SET SESSION binlog_format = {format}"),
                "SET NAMES utf8mb4",
                &format!("CREATE DATABASE n_{table}"),
                &format!("INSERT INTO d1.{table} VALUES (8, 'ß', DEFAULT)"),
            ],
        );
        fan_in.catch_up();
        let query = format!("SELECT i FROM d1.{table}");
        let of_both = [&fan_in.sources[0], &fan_in.target].map(|server| texts(server, &query));
        assert_eq!(of_both[0], of_both[1], "{table}");
    }
}

/// The log of a server of another version, ready to be applied.
pub(super) fn log_of(name: &str) -> Recovery {
    let recovery = Recovery::with("bin.000001:4", &[]);
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../replicate/testdata/mariadb").join(name);
    fs::copy(log, recovery.path("bin.000001")).unwrap();
    recovery
}

/// The same, applied.
pub(super) fn apply_log(name: &str) -> Recovery {
    let recovery = log_of(name);
    recovery.check("", 0, "all files are applied");
    recovery
}

/// A source that does not know the variable means the default collations that character sets always had.
#[test]
fn of_an_older_source() {
    let recovery = apply_log("10_11.000001");
    assert_eq!(of_columns(&recovery.fan_in), ["utf8mb4_general_ci"; 3]);
}

/// On a target that does not know the variable, the collations are named.
#[test]
fn of_a_newer_source() {
    let recovery = apply_log("11_8.000001");
    assert_eq!(of_columns(&recovery.fan_in), ["utf8mb4_uca1400_ai_ci", "utf8mb4_general_ci", "utf8mb4_bin"]);
}

/// What a rule leaves out needs no collation. Names of columns are no types.
#[test]
fn of_what_is_skipped() {
    let mut recovery = log_of("11_8_skipped.000001");
    let target = recovery.fan_in.target_table();
    recovery.fan_in.write(&format!(
        "{target}[[source]]\nname = \"s1\"\nstart = \"bin.000001:4\"\n[[source.rule]]\nmatch = \"d1.skipped\"\nskip = true\n"
    ));
    recovery.check("", 0, "all files are applied");
    assert_eq!(texts(&recovery.fan_in.target, "SELECT id, unicode FROM d1.t"), [["1", "1"]]);
}
