//! Scripts of statements that touch one row each: much to do for each row, little data.

use crate::Error;

use super::super::script::Script;
use super::tables::{order, order_definition, remark};

/// Rows that later statements find.
const PRODUCTS: u64 = 1_000;

/// How statements are grouped into transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transactions {
    /// Each statement is its own.
    Autocommit,
    /// One holds all.
    Single,
    /// Each holds so many statements.
    Blocks(u64),
}

/// Each INSERT is its own transaction.
pub(in super::super) fn autocommit(script: &mut Script) -> Result<(), Error> {
    inserts(script, Transactions::Autocommit, 6_000)
}

/// All INSERTs are one transaction.
pub(in super::super) fn one_transaction(script: &mut Script) -> Result<(), Error> {
    inserts(script, Transactions::Single, 20_000)
}

/// Transactions of 100 INSERTs.
pub(in super::super) fn blocks_of_100(script: &mut Script) -> Result<(), Error> {
    inserts(script, Transactions::Blocks(100), 20_000)
}

fn inserts(script: &mut Script, transactions: Transactions, rows: u64) -> Result<(), Error> {
    script.statement(order_definition("orders", "InnoDB"))?;
    grouped(script, transactions, rows, insert)
}

fn insert(script: &mut Script, id: u64) -> Result<(), Error> {
    let mut statement = b"INSERT INTO `orders` VALUES (".to_vec();
    statement.extend(order(&mut script.random, id));
    statement.push(b')');
    script.statement(statement)
}

/// Calls `write` for the numbers from 1, and opens and ends transactions around the calls.
fn grouped(
    script: &mut Script,
    transactions: Transactions,
    count: u64,
    mut write: impl FnMut(&mut Script, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let last = script.count(count);
    let size = match transactions {
        Transactions::Autocommit => 0,
        Transactions::Single => last,
        Transactions::Blocks(size) => size,
    };
    for number in 1..=last {
        if size > 0 && (number - 1) % size == 0 {
            script.statement("BEGIN")?;
        }
        write(script, number)?;
        if size > 0 && (number % size == 0 || number == last) {
            script.statement("COMMIT")?;
        }
    }
    Ok(())
}

/// A trigger writes a second row for each that is inserted.
pub(in super::super) fn trigger(script: &mut Script) -> Result<(), Error> {
    script.statement(order_definition("orders", "InnoDB"))?;
    script.statement(
        "CREATE TABLE `audit` (`order_id` int NOT NULL PRIMARY KEY, `total` decimal(10,2) NOT NULL) ENGINE=InnoDB",
    )?;
    script.statement(
        "CREATE TRIGGER `orders_audit` AFTER INSERT ON `orders` FOR EACH ROW \
         INSERT INTO `audit` VALUES (NEW.`id`, NEW.`total`)",
    )?;
    grouped(script, Transactions::Autocommit, 4_000, insert)
}

/// Counters, of which three of four statements meet one that is there.
pub(in super::super) fn on_duplicate_key_update(script: &mut Script) -> Result<(), Error> {
    counters(script)?;
    let keys = script.count(1_000);
    grouped(script, Transactions::Autocommit, 4_000, |script, number| count_hit(script, number, keys))
}

fn counters(script: &mut Script) -> Result<(), Error> {
    script.statement(
        "CREATE TABLE `counters` (`page` int NOT NULL PRIMARY KEY, `hits` int NOT NULL, `last_visitor` int NOT NULL) \
         ENGINE=InnoDB",
    )
}

fn count_hit(script: &mut Script, number: u64, keys: u64) -> Result<(), Error> {
    let page = script.random.between(1, keys);
    script.statement(format!(
        "INSERT INTO `counters` VALUES ({page},1,{number}) \
         ON DUPLICATE KEY UPDATE `hits` = `hits` + 1, `last_visitor` = VALUES(`last_visitor`)"
    ))
}

/// Each row is computed from one of another table.
pub(in super::super) fn insert_select(script: &mut Script) -> Result<(), Error> {
    products(script)?;
    grouped(script, Transactions::Autocommit, 4_000, copy_product)
}

fn products(script: &mut Script) -> Result<(), Error> {
    script.statement(
        "CREATE TABLE `products` (`id` int NOT NULL PRIMARY KEY, `name` varchar(100) NOT NULL, \
         `price` decimal(10,2) NOT NULL) ENGINE=InnoDB",
    )?;
    script.statement(
        "CREATE TABLE `items` (`id` int NOT NULL PRIMARY KEY, `product_id` int NOT NULL, `amount` int NOT NULL, \
         `price` decimal(12,2) NOT NULL, KEY `product_id` (`product_id`)) ENGINE=InnoDB",
    )?;
    let mut rows = Vec::new();
    for id in 1..=PRODUCTS {
        let name = remark(&mut script.random);
        rows.push(format!("({id},{name},{}.{:02})", script.random.below(500), script.random.below(100)));
    }
    script.statement(format!("INSERT INTO `products` VALUES {}", rows.join(",")))
}

fn copy_product(script: &mut Script, id: u64) -> Result<(), Error> {
    let (product, amount) = (script.random.between(1, PRODUCTS), script.random.between(1, 9));
    script.statement(format!(
        "INSERT INTO `items` SELECT {id}, `id`, {amount}, {amount} * `price` FROM `products` WHERE `id` = {product}"
    ))
}

/// Rows of one INSERT, updated one by one.
pub(in super::super) fn updates(script: &mut Script) -> Result<(), Error> {
    let orders = stored_orders(script, 5_000)?;
    grouped(script, Transactions::Autocommit, 4_000, |script, _| update(script, orders))
}

fn stored_orders(script: &mut Script, count: u64) -> Result<u64, Error> {
    script.statement(order_definition("orders", "InnoDB"))?;
    let last = script.count(count);
    let mut statement = b"INSERT INTO `orders` VALUES ".to_vec();
    for id in 1..=last {
        statement.extend_from_slice(if id > 1 { b",\n(" } else { b"(" });
        statement.extend(order(&mut script.random, id));
        statement.push(b')');
    }
    script.statement(statement)?;
    Ok(last)
}

fn update(script: &mut Script, orders: u64) -> Result<(), Error> {
    let (id, factor) = (script.random.between(1, orders), script.random.between(1, 3));
    script.statement(format!(
        "UPDATE `orders` SET `state` = 'paid', `total` = MOD(`total` * {factor} + 1, 10000) WHERE `id` = {id}"
    ))
}

/// DELETEs by key between INSERTs.
pub(in super::super) fn deletes_and_inserts(script: &mut Script) -> Result<(), Error> {
    script.statement(order_definition("orders", "InnoDB"))?;
    grouped(script, Transactions::Autocommit, 2_000, |script, id| {
        insert(script, id)?;
        let gone = id.saturating_sub(script.random.below(50)).max(1);
        script.statement(format!("DELETE FROM `orders` WHERE `id` = {gone}"))
    })
}

/// Statements of many kinds, in transactions of 100.
pub(in super::super) fn mixed_blocks(script: &mut Script) -> Result<(), Error> {
    let orders = stored_orders(script, 5_000)?;
    products(script)?;
    counters(script)?;
    let keys = script.count(1_000);
    grouped(script, Transactions::Blocks(25), 4_000, |script, number| {
        insert(script, orders + number)?;
        update(script, orders)?;
        copy_product(script, number)?;
        count_hit(script, number, keys)
    })
}

/// Work that needs one session: user variables and temporary tables between INSERTs.
pub(in super::super) fn session_state(script: &mut Script) -> Result<(), Error> {
    const INSERTS: u64 = 20;
    script.statement(order_definition("orders", "InnoDB"))?;
    script.statement(
        "CREATE TABLE `totals` (`batch` int NOT NULL PRIMARY KEY, `orders` int NOT NULL, `total` decimal(12,2)) \
         ENGINE=InnoDB",
    )?;
    for batch in 1..=script.count(150) {
        script.statement(format!("SET @batch := {batch}"))?;
        script.statement("CREATE TEMPORARY TABLE `staging` (`id` int NOT NULL PRIMARY KEY, `total` decimal(10,2))")?;
        let first = (batch - 1) * INSERTS + 1;
        for id in first..first + INSERTS {
            insert(script, id)?;
        }
        let last = first + INSERTS - 1;
        script.statement(format!(
            "INSERT INTO `staging` SELECT `id`, `total` FROM `orders` WHERE `id` BETWEEN {first} AND {last}"
        ))?;
        script.statement("SELECT COUNT(*), SUM(`total`) INTO @count, @total FROM `staging`")?;
        script.statement("INSERT INTO `totals` VALUES (@batch, @count, @total)")?;
        script.statement("DROP TEMPORARY TABLE `staging`")?;
    }
    Ok(())
}
