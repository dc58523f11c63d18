//! Scripts of statements that have a record of their own each: routines and blocks, what is asked right behind a write, other
//! engines than InnoDB, accounts, and definitions that a load that resumes cannot just repeat.

use crate::Error;

use super::super::script::Script;
use super::tables::{order, order_definition};

/// A procedure writes one row.
pub(in super::super) fn calls(script: &mut Script) -> Result<(), Error> {
    notes(script, "InnoDB")?;
    script.text("DELIMITER ;;\nCREATE PROCEDURE `add_note`(note_id INT, amount INT) INSERT INTO `notes` VALUES (note_id, amount) ;;\nDELIMITER ")?;
    script.text(";\n")?;
    each_note(script, 8_000, |script, id, amount| script.statement(format!("CALL `add_note`({id}, {amount})")))
}

/// A block writes one row.
pub(in super::super) fn blocks(script: &mut Script) -> Result<(), Error> {
    notes(script, "InnoDB")?;
    script.text("DELIMITER ;;\n")?;
    each_note(script, 8_000, |script, id, amount| {
        script.text(format!("BEGIN NOT ATOMIC INSERT INTO `notes` VALUES ({id}, {amount}); END ;;\n"))
    })?;
    script.text("DELIMITER ")?;
    script.text(";\n")
}

/// Each INSERT gives back what it has stored.
pub(in super::super) fn returning(script: &mut Script) -> Result<(), Error> {
    notes(script, "InnoDB")?;
    each_note(script, 2_000, |script, id, amount| {
        script.statement(format!("INSERT INTO `notes` VALUES ({id}, {amount}) RETURNING `id`"))
    })
}

/// INSERTs into a view of a table.
pub(in super::super) fn into_view(script: &mut Script) -> Result<(), Error> {
    notes(script, "InnoDB")?;
    script.statement("CREATE VIEW `all_notes` AS SELECT `id`, `amount` FROM `notes`")?;
    each_note(script, 2_000, |script, id, amount| {
        script.statement(format!("INSERT INTO `all_notes` VALUES ({id}, {amount})"))
    })
}

/// The warnings of each INSERT are asked for.
pub(in super::super) fn warnings(script: &mut Script) -> Result<(), Error> {
    script.statement(order_definition("orders", "InnoDB"))?;
    each(script, 1_000, |script, id| {
        let mut statement = b"INSERT INTO `orders` VALUES (".to_vec();
        statement.extend(order(&mut script.random, id));
        statement.push(b')');
        script.statement(statement)?;
        script.statement("SHOW WARNINGS")
    })
}

/// UPDATEs by key of a table that is not transactional.
pub(in super::super) fn myisam_updates(script: &mut Script) -> Result<(), Error> {
    notes(script, "MyISAM")?;
    let notes = script.count(1_000);
    let rows: Vec<String> = (1..=notes).map(|id| format!("({id},0)")).collect();
    script.statement(format!("INSERT INTO `notes` VALUES {}", rows.join(",")))?;
    each(script, 4_000, |script, _| {
        let id = script.random.between(1, notes);
        script.statement(format!(
            "UPDATE `notes` SET `amount` = `amount` * 3 + 1 WHERE `id` = {id} AND `amount` < 100000"
        ))
    })
}

/// Accounts and schemas that come and go.
pub(in super::super) fn accounts(script: &mut Script) -> Result<(), Error> {
    each(script, 200, |script, id| {
        script.statement(format!("CREATE USER 'clerk{id}'@'localhost'"))?;
        script.statement(format!("DROP USER 'clerk{id}'@'localhost'"))?;
        script.statement(format!("CREATE DATABASE `branch{id}`"))?;
        script.statement(format!("DROP DATABASE `branch{id}`"))
    })
}

/// Sequences are set to a value.
pub(in super::super) fn setval(script: &mut Script) -> Result<(), Error> {
    script.statement("CREATE SEQUENCE `numbers`")?;
    each(script, 20_000, |script, value| {
        let statement = if value % 2 == 0 { "SELECT" } else { "DO" };
        script.statement(format!("{statement} SETVAL(`numbers`, {value})"))
    })
}

/// Tables are created like another, emptied, changed while they are empty, and dropped.
pub(in super::super) fn empty_tables(script: &mut Script) -> Result<(), Error> {
    notes(script, "InnoDB")?;
    each(script, 60, |script, number| {
        script.statement(format!("CREATE TABLE `copy{number}` LIKE `notes`"))?;
        script.statement(format!("TRUNCATE TABLE `copy{number}`"))?;
        script.statement(format!("ALTER TABLE `copy{number}` ADD COLUMN `remark` varchar(20)"))?;
        script.statement(format!("DROP TABLE `copy{number}`"))
    })
}

fn notes(script: &mut Script, engine: &str) -> Result<(), Error> {
    script.statement(format!(
        "CREATE TABLE `notes` (`id` int NOT NULL PRIMARY KEY, `amount` int NOT NULL) ENGINE={engine}"
    ))
}

/// Numbers from 1, each with an amount.
fn each_note(
    script: &mut Script,
    at_scale_1: u64,
    write: impl Fn(&mut Script, u64, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    each(script, at_scale_1, |script, id| {
        let amount = script.random.below(1_000);
        write(script, id, amount)
    })
}

/// Numbers from 1.
fn each(
    script: &mut Script,
    at_scale_1: u64,
    write: impl Fn(&mut Script, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let last = script.count(at_scale_1);
    (1..=last).try_for_each(|number| write(script, number))
}
