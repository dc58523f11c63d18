//! Rows that meet in their keys again and again, so that the state tells in which order they came.

use super::script::Script;

/// Rows of one statement, at most.
const ROWS: u64 = 4;

/// A table of its own, and a run of statements that all write the same few keys.
pub fn run(script: &mut Script) {
    let table = format!("hot{}", script.new_number());
    let engine = *script.dice.pick(&["InnoDB", "InnoDB", "InnoDB", "Aria", "MyISAM"]);
    let unique = *script.dice.pick(&["", ", UNIQUE KEY (u)"]);
    let id = *script.dice.pick(&["INT PRIMARY KEY", "INT AUTO_INCREMENT PRIMARY KEY"]);
    script.say(format!(
        "CREATE TABLE {table} (id {id}, u INT, hits INT DEFAULT 0, trail VARCHAR(200) DEFAULT ''{unique}) ENGINE={engine}"
    ));
    let width = 5 + script.dice.below(30);
    for number in 0..script.dice.below(20) + 6 {
        let statement = match script.dice.below(10) {
            0..=2 => format!("INSERT IGNORE INTO {table} (id, u, trail) VALUES {}", rows(script, width, number)),
            3..=4 => format!("REPLACE INTO {table} (id, u, trail) VALUES {}", rows(script, width, number)),
            5..=7 => format!(
                "INSERT INTO {table} (id, u, trail) VALUES {} ON DUPLICATE KEY UPDATE hits = hits + 1, \
                 trail = CONCAT(trail, VALUES(trail))",
                rows(script, width, number)
            ),
            8 => format!("DELETE FROM {table} WHERE id = {}", script.dice.below(width)),
            _ => format!("UPDATE {table} SET hits = hits + 10 WHERE id MOD 3 = {} ORDER BY id", script.dice.below(3)),
        };
        script.say(statement);
    }
    if script.dice.chance(40) {
        script.say(format!("SELECT COUNT(*), SUM(hits), MAX(trail) FROM {table}"));
    }
}

fn rows(script: &mut Script, width: u64, number: u64) -> String {
    let rows = (0..=script.dice.below(ROWS)).map(|row| {
        let id = if script.dice.chance(8) { "NULL".to_owned() } else { (script.dice.below(width) + 1).to_string() };
        format!("({id}, {}, '{number}.{row} ')", script.dice.below(width))
    });
    rows.collect::<Vec<_>>().join(",")
}
