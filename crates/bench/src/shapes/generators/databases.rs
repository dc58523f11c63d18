//! Dumps of many tables and many schemas, as `mariadb-dump` writes them.

use crate::Error;

use super::super::script::Script;
use super::mariadb_dump::{self, Options, footer, header};
use super::tables::{Row, game_definition, game_object, order, order_definition};

/// Rows of a game's database with tables of very different sizes: about 20 MB.
const GAME_ROWS: u64 = 170_000;
const GAME_TABLES: u64 = 100;

/// A thousand tables of few rows.
pub(in super::super) fn small_tables(script: &mut Script) -> Result<(), Error> {
    header(script)?;
    small_tables_only(script)?;
    footer(script)
}

/// The same without the settings at its head and end, checks of keys being on.
pub(in super::super) fn small_tables_only(script: &mut Script) -> Result<(), Error> {
    for number in 1..=script.count(1_000) {
        let name = format!("table_{number:05}");
        let keys = 1..=script.random.between(1, 10);
        mariadb_dump::table(script, Options::default(), (&name, &order_definition(&name, "InnoDB")), keys, order)?;
    }
    Ok(())
}

/// A game's database in MyISAM.
pub(in super::super) fn game_in_myisam(script: &mut Script) -> Result<(), Error> {
    uneven_tables(script, GAME_TABLES, GAME_ROWS, |name| game_definition(name, "MyISAM"), game_object)
}

/// The same in InnoDB.
pub(in super::super) fn game_in_innodb(script: &mut Script) -> Result<(), Error> {
    uneven_tables(script, GAME_TABLES, GAME_ROWS, |name| game_definition(name, "InnoDB"), game_object)
}

/// Forty tables for a schema that already has them.
pub(in super::super) fn reload(script: &mut Script) -> Result<(), Error> {
    uneven_tables(script, 40, 160_000, |name| order_definition(name, "InnoDB"), order)
}

/// So many tables of `rows` rows together, of which each has less than the one before it (Zipf's law). Their names are
/// in another order, as large tables come anywhere in a dump.
fn uneven_tables(
    script: &mut Script,
    tables: u64,
    rows: u64,
    definition: impl Fn(&str) -> String,
    row: Row,
) -> Result<(), Error> {
    header(script)?;
    let sum: f64 = (1..=tables).map(|rank| 1.0 / rank as f64).sum();
    for index in 0..tables {
        // 37 shares no factor with the numbers of tables: each rank comes once.
        let rank = index * 37 % tables + 1;
        let name = format!("table_{index:03}");
        let keys = 1..=script.count((rows as f64 / rank as f64 / sum) as u64);
        mariadb_dump::table(script, Options::default(), (&name, &definition(&name)), keys, row)?;
    }
    footer(script)
}

/// A thousand schemas with a table of few rows each.
pub(in super::super) fn schemas(script: &mut Script) -> Result<(), Error> {
    header(script)?;
    for number in 1..=script.count(1_000) {
        let schema = format!("tenant_{number:05}");
        script.lines(&format!(
            "\n--\n-- Current Database: `{schema}`\n--\n\nCREATE DATABASE /*!32312 IF NOT EXISTS*/ `{schema}` \
             /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci */;\n\nUSE `{schema}`;\n"
        ))?;
        let keys = 1..=script.random.between(1, 5);
        let table = ("orders", order_definition("orders", "InnoDB"));
        mariadb_dump::table(script, Options::default(), (table.0, &table.1), keys, order)?;
    }
    footer(script)
}
