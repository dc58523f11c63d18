//! A random dump: statements whose outcome depends on their order, under a session whose state changes in between.

use super::dice::Dice;
use super::tables::{Identity, Table, name};
use super::values::{Charset, Spelling, value};
use super::{collisions, detours, inserts};
use crate::servers::DATABASE;

/// Statements of one dump, about.
const STEPS: u64 = 26;

/// A dump under way.
pub struct Script {
    pub dice: Dice,
    pub tables: Vec<Table>,
    pub spelling: Spelling,
    statements: Vec<Vec<u8>>,
    next_name: usize,
}

/// The statements of the dump of a seed, each with its delimiter and line end. Any of them may be left out and the rest
/// still be a dump.
pub fn statements(seed: u64) -> Vec<Vec<u8>> {
    let mut dice = Dice::new(seed);
    // NOW() is another time on each side unless it is fixed; and a session whose time is fixed is in one piece, which
    // leaves nothing to run in parallel.
    let has_fixed_time = dice.chance(15);
    let spelling = Spelling {
        no_backslash_escapes: false,
        ansi_quotes: false,
        charset: Charset::Utf8mb4,
        has_fixed_time,
        only_literals: dice.chance(60),
    };
    let mut script = Script { dice, tables: Vec::new(), spelling, statements: Vec::new(), next_name: 0 };
    script.write();
    script.statements
}

impl Script {
    fn write(&mut self) {
        if self.spelling.has_fixed_time {
            self.say("SET timestamp=1600000000, time_zone='+00:00'");
        }
        self.say("CREATE TABLE log (seq INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(80))");
        for _ in 0..self.dice.below(3) + 1 {
            self.create_table();
        }
        for _ in 0..STEPS {
            self.step();
        }
    }

    fn step(&mut self) {
        const WEIGHTS: [u64; 17] = [34, 12, 6, 5, 12, 7, 4, 6, 7, 4, 5, 5, 4, 3, 5, 5, 5];
        const PLAIN_WEIGHTS: [u64; 17] = [34, 14, 4, 3, 7, 4, 2, 4, 4, 2, 6, 6, 1, 2, 12, 2, 2];
        let weights = if self.spelling.only_literals { &PLAIN_WEIGHTS } else { &WEIGHTS };
        match self.dice.weighted(weights) {
            0 => self.insert_run(),
            1 => self.insert_in_turns(),
            2 => self.update(),
            3 => self.delete(),
            4 => self.change_session(),
            5 => self.transaction(),
            6 => self.insert_select(),
            7 => self.select(),
            8 => self.change_schema(),
            9 => self.variables(),
            10 => self.locked(),
            11 => self.create_table(),
            12 => self.trigger(),
            13 => self.use_elsewhere(),
            14 => self.long_run(),
            15 => collisions::run(self),
            _ => detours::run(self),
        }
    }

    /// Adds a statement. Each begins on a line of its own: of a second one on a line the client tells a wrong line in errors.
    pub fn say(&mut self, statement: impl AsRef<[u8]>) {
        let mut text = statement.as_ref().to_vec();
        text.extend(match self.dice.below(24) {
            0 => &b" ;\n-- a comment; it's one\n"[..],
            1 => b"; # another; \"\n",
            2 => b"\n;\n\n",
            3 => b"/* ; */;\n",
            _ => b";\n",
        });
        self.statements.push(text);
    }

    /// Adds a text that brings its own delimiters.
    pub fn say_as_it_is(&mut self, text: String) {
        self.statements.push(text.into_bytes());
    }

    /// A number that no name has yet.
    pub fn new_number(&mut self) -> usize {
        self.next_name += 1;
        self.next_name
    }

    pub fn some_table(&mut self) -> usize {
        usize::try_from(self.dice.below(self.tables.len() as u64)).expect("an index fits")
    }

    fn create_table(&mut self) {
        // Tables are only ever renamed, so a table's number is its place, and names from numbers are free.
        let table = Table::random(&mut self.dice, &self.tables);
        self.say(table.create());
        self.tables.push(table);
    }

    fn insert_run(&mut self) {
        let table = self.some_table();
        for _ in 0..self.dice.below(6) + 1 {
            self.insert(table);
        }
    }

    fn insert_in_turns(&mut self) {
        let (one, other) = (self.some_table(), self.some_table());
        for _ in 0..self.dice.below(4) + 2 {
            self.insert(one);
            self.insert(other);
        }
    }

    /// Enough statements to be spread over connections, into tables that may refer to each other.
    fn long_run(&mut self) {
        let tables = [self.some_table(), self.some_table(), self.some_table()];
        let in_turns = self.dice.chance(50);
        for _ in 0..self.dice.below(40) + 10 {
            let table = if in_turns { *self.dice.pick(&tables) } else { tables[0] };
            self.insert(table);
        }
    }

    fn insert(&mut self, table: usize) {
        let text = inserts::insert(self, table);
        self.say(text);
    }

    /// A condition that picks the same rows whatever the order in which they came.
    fn condition(&mut self, table: usize) -> String {
        let id = self.dice.between(0, 30);
        match self.tables[table].identity {
            Identity::Given | Identity::Counted => match self.dice.below(3) {
                0 => format!("id = {id}"),
                1 => format!("id > {id}"),
                _ => format!("id MOD 5 = {}", id % 5),
            },
            Identity::Named => format!("id LIKE 'k{id}%'"),
            Identity::None => {
                let column = self.tables[table].columns[0].name.clone();
                format!("{column} IS {}NULL", self.dice.pick(&["", "NOT "]))
            }
        }
    }

    fn update(&mut self) {
        let table = self.some_table();
        let condition = self.condition(table);
        let Table { name: table_name, identity, engine, .. } = self.tables[table].clone();
        // Which row of several fails first must not be left to the order in which they lie.
        let order = match identity {
            Identity::None if engine != "InnoDB" => return,
            Identity::None => "",
            _ => " ORDER BY id",
        };
        let columns: Vec<_> = self.tables[table].given().cloned().collect();
        let column = self.dice.pick(&columns).clone();
        let new = match column.parent {
            Some(parent) => inserts::parent_id(self, parent).into_bytes(),
            None => value(&mut self.dice, column.kind, self.spelling),
        };
        let head = format!("UPDATE {} SET {} = ", name(&table_name), column.name);
        self.say([head.as_bytes(), &new, format!(" WHERE {condition}{order}").as_bytes()].concat());
    }

    fn delete(&mut self) {
        let table = self.some_table();
        let condition = self.condition(table);
        let table_name = name(&self.tables[table].name);
        // None of these is sure to be there any more, and no child should count on it.
        self.tables[table].known_ids.clear();
        self.say(format!("DELETE FROM {table_name} WHERE {condition}"));
    }

    fn change_session(&mut self) {
        let statement = match self.dice.below(9) {
            0..=2 => self.change_sql_mode(),
            3 => format!("SET time_zone='{}'", self.dice.pick(&["+00:00", "+05:30", "-03:00"])),
            4 => format!("SET foreign_key_checks={}", self.dice.below(2)),
            5 => format!("SET SESSION auto_increment_increment={}", self.dice.below(3) + 1),
            6 if self.spelling.has_fixed_time => format!("SET timestamp={}", 1_600_000_000 + self.dice.below(1000)),
            6 => "SET unique_checks=1".to_owned(),
            7 => format!("SET check_constraint_checks={}", self.dice.below(2)),
            _ => {
                self.spelling.charset = *self.dice.pick(&Charset::ALL);
                format!("SET NAMES {}", self.spelling.charset.name())
            }
        };
        self.say(statement);
    }

    fn change_sql_mode(&mut self) -> String {
        const MODES: [&str; 8] = [
            "",
            "STRICT_TRANS_TABLES",
            "STRICT_ALL_TABLES,NO_ZERO_DATE",
            "ANSI_QUOTES",
            "NO_BACKSLASH_ESCAPES",
            "NO_AUTO_VALUE_ON_ZERO",
            "ALLOW_INVALID_DATES",
            "PIPES_AS_CONCAT,STRICT_TRANS_TABLES",
        ];
        let mode = *self.dice.pick(&MODES);
        self.spelling.no_backslash_escapes = mode.contains("NO_BACKSLASH_ESCAPES");
        self.spelling.ansi_quotes = mode.contains("ANSI_QUOTES");
        format!("SET sql_mode='{mode}'")
    }

    fn transaction(&mut self) {
        let by_autocommit = self.dice.chance(25);
        self.say(if by_autocommit { "SET autocommit=0" } else { "BEGIN" });
        let with_savepoint = self.dice.chance(40);
        if with_savepoint {
            self.say("SAVEPOINT here");
        }
        for _ in 0..self.dice.below(4) + 1 {
            match self.dice.below(8) {
                0 => self.say("SAVEPOINT here"),
                1 if with_savepoint => self.say("ROLLBACK TO here"),
                2 => self.update(),
                3 => self.select(),
                _ => self.insert_run(),
            }
        }
        let end = *self.dice.pick(&["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"]);
        self.say(end);
        if by_autocommit {
            self.say("SET autocommit=1");
        }
    }

    fn insert_select(&mut self) {
        let table = self.some_table();
        let Table { identity, name: table_name, .. } = self.tables[table].clone();
        if identity != Identity::Given {
            return;
        }
        let columns: Vec<String> = self.tables[table].given().map(|column| column.name.clone()).collect();
        let (columns, table_name) = (columns.join(", "), name(&table_name));
        let ignore = self.dice.pick(&["", " IGNORE"]);
        let shift = 1000 * (1 + self.dice.below(5));
        self.say(format!(
            "INSERT{ignore} INTO {table_name} (id, {columns}) SELECT id + {shift}, {columns} FROM {table_name} WHERE id < 1000 ORDER BY id"
        ));
    }

    fn select(&mut self) {
        let table = self.some_table();
        let Table { identity, name: table_name, .. } = self.tables[table].clone();
        let table_name = name(&table_name);
        let statement = match (self.dice.below(4), identity) {
            (0, Identity::Given | Identity::Counted | Identity::Named) => {
                format!("SELECT * FROM {table_name} ORDER BY id LIMIT 4")
            }
            (1, _) => "SELECT seq, what FROM log ORDER BY seq DESC LIMIT 3".to_owned(),
            (2, _) => format!("INSERT INTO log (what) SELECT COUNT(*) FROM {table_name}"),
            _ => format!("SELECT COUNT(*) FROM {table_name}"),
        };
        self.say(statement);
    }

    fn change_schema(&mut self) {
        let table = self.some_table();
        let table_name = name(&self.tables[table].name);
        let column = self.tables[table].columns[0].name.clone();
        let number = self.new_number();
        match self.dice.below(6) {
            0 => self.say(format!("ALTER TABLE {table_name} ADD COLUMN late{number} INT DEFAULT {number}")),
            1 => self.say(format!("ALTER TABLE {table_name} ADD KEY late{number} ({column}(5))")),
            2 => {
                self.say(format!("CREATE TABLE copy{number} LIKE {table_name}"));
                self.say(format!("INSERT INTO copy{number} (log) VALUES (1)"));
            }
            3 => {
                let new = format!("renamed {number}");
                self.say(format!("RENAME TABLE {table_name} TO {}", name(&new)));
                self.tables[table].name = new;
            }
            4 => {
                self.tables[table].known_ids.clear();
                self.say(format!("TRUNCATE TABLE {table_name}"));
            }
            _ => {
                self.say(format!("CREATE VIEW v{number} AS SELECT * FROM {table_name}"));
                self.say(format!("SELECT COUNT(*) FROM v{number}"));
            }
        }
    }

    fn variables(&mut self) {
        let table = self.some_table();
        let table_name = name(&self.tables[table].name);
        match self.dice.below(3) {
            0 => {
                self.say(format!("SELECT COUNT(*) INTO @n FROM {table_name}"));
                self.say("INSERT INTO log (what) VALUES (@n), (CONCAT('n is ', @n))");
            }
            1 => self.say("INSERT INTO log (what) VALUES ('of the last'), (LAST_INSERT_ID())"),
            _ => {
                let start = self.dice.below(50);
                self.say(format!("SET @i := {start}"));
                self.say("INSERT INTO log (what) VALUES (@i := @i + 1), (@i := @i + 1)");
            }
        }
    }

    /// As mysqldump puts it around the rows of a table.
    fn locked(&mut self) {
        let table = self.some_table();
        let table_name = name(&self.tables[table].name);
        self.say(format!("LOCK TABLES {table_name} WRITE"));
        self.say(format!("/*!40000 ALTER TABLE {table_name} DISABLE KEYS */"));
        self.insert_run_of(table);
        self.say(format!("/*!40000 ALTER TABLE {table_name} ENABLE KEYS */"));
        self.say("UNLOCK TABLES");
    }

    fn insert_run_of(&mut self, table: usize) {
        for _ in 0..self.dice.below(3) + 1 {
            self.insert(table);
        }
    }

    fn trigger(&mut self) {
        let table = self.some_table();
        let Table { identity, name: table_name, .. } = self.tables[table].clone();
        let (number, table_name) = (self.new_number(), name(&table_name));
        let new = if identity == Identity::None { "'row'" } else { "NEW.id" };
        self.say_as_it_is(format!(
            "DELIMITER //\nCREATE TRIGGER tr{number} AFTER INSERT ON {table_name} FOR EACH ROW\nBEGIN\n  -- it's; a comment\n  \
             INSERT INTO log (what) VALUES (CONCAT('tr{number}; ', {new}));\nEND//\nDELIMITER ;\n"
        ));
        if self.dice.chance(30) {
            self.insert_run_of(table);
            self.say(format!("DROP TRIGGER tr{number}"));
        }
    }

    /// Rows while another database is the default.
    fn use_elsewhere(&mut self) {
        self.say("CREATE DATABASE IF NOT EXISTS `else where`");
        self.say("USE `else where`");
        self.say("CREATE TABLE IF NOT EXISTS log (seq INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(80))");
        self.say("INSERT INTO log (what) VALUES ('elsewhere'), ('too')");
        self.say(format!("INSERT INTO {DATABASE}.log (what) VALUES ('from elsewhere')"));
        self.say(format!("USE {DATABASE}"));
    }
}
