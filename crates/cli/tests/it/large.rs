//! Dumps of several megabytes, so that chunks of the usual size run side by side: made here, from a seed.

use crate::compare::{Terms, assert_same, compare};
use crate::programs::{Contender, Dump};
use crate::random::Dice;
use crate::servers::pair;
use crate::target;

/// Text of one extended INSERT, as `mariadb-dump` writes it by default is 1 MB; smaller, there are more of them.
const STATEMENT_BYTES: usize = 128 << 10;
const PERSONS: u64 = 60_000;
const VISITS: u64 = 120_000;

/// Writes extended INSERTs of about [`STATEMENT_BYTES`].
struct Dumper {
    text: Vec<u8>,
    statement_start: usize,
    head: String,
}

impl Dumper {
    fn new(definitions: &str) -> Dumper {
        let text = definitions.as_bytes().to_vec();
        Dumper { statement_start: text.len(), text, head: String::new() }
    }

    fn table(&mut self, head: &str) {
        self.end_statement();
        self.head = head.to_owned();
    }

    fn row(&mut self, row: &[u8]) {
        if self.text.len() - self.statement_start > STATEMENT_BYTES {
            self.end_statement();
        }
        let separator = if self.text.len() == self.statement_start { self.head.as_bytes() } else { &b",\n"[..] };
        self.text.extend(separator);
        self.text.extend(row);
    }

    fn end_statement(&mut self) {
        if self.text.len() > self.statement_start {
            self.text.extend(b";\n");
        }
        self.statement_start = self.text.len();
    }

    fn say(&mut self, statement: &str) {
        self.end_statement();
        self.text.extend(statement.as_bytes());
        self.statement_start = self.text.len();
    }

    fn finish(mut self) -> Vec<u8> {
        self.end_statement();
        self.text
    }
}

fn check(dump: &[u8], code: Option<u16>) {
    check_by(&[Contender::Default, Contender::Batches], dump, code);
}

fn check_by(contenders: &[Contender], dump: &[u8], code: Option<u16>) {
    for &contender in contenders {
        let terms = Terms { contenders: &[contender], force: false, row_times: true, is_stricter: false, ahead: &[] };
        let comparison = compare(&pair(), Dump::Bytes(dump), terms);
        assert_same(&comparison.differences);
        // What a failure undoes is not counted.
        let is_typed = comparison.arrays > 5 || code.is_some();
        // Where there are no arrays, only statements of many rows are cut into pieces.
        let may_be_text = target::mysql().is_some() && contenders.len() == 1;
        assert!(is_typed || may_be_text || Contender::only_client(), "{contender:?}: nothing travelled as parameters");
        assert_eq!(
            comparison.failures.first().map(|failure| failure.code),
            code.map(Some),
            "{:?}",
            comparison.failures
        );
    }
}

const PERSON: &str = "CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(60) NOT NULL, born DATE, score DECIMAL(8,3), \
                      sex ENUM('f','m'), photo BLOB, KEY (name), UNIQUE KEY (score, id)) ENGINE=InnoDB;\n";

fn person(dice: &mut Dice, id: u64) -> Vec<u8> {
    let names = ["Anneke", "Georgi O''Neil", "\\\"Bo\\\"", "Sumant\\\\", "Kyōichi", "日本; 太郎", "NULL", "--x"];
    let sex = if dice.chance(2) { "NULL" } else { *dice.pick(&["'f'", "'m'"]) };
    let (year, day, score) = (dice.between(1930, 2010), dice.between(1, 28), dice.below(10_000_000));
    let photo: String = (0..dice.below(12)).map(|_| format!("{:02x}", dice.below(256))).collect();
    let photo = if photo.is_empty() { "''".to_owned() } else { format!("0x{photo}") };
    format!(
        "({id},'{} {id}','{year}-05-{day:02}',{}.{:03},{sex},{photo})",
        dice.pick(&names),
        score / 1000,
        score % 1000
    )
    .into_bytes()
}

fn persons(dumper: &mut Dumper, dice: &mut Dice) {
    dumper.table("INSERT INTO `person` VALUES ");
    for id in 1..=PERSONS {
        dumper.row(&person(dice, id));
    }
}

#[test]
fn tables_that_refer_to_each_other() {
    let mut dice = Dice::new(1);
    let mut dumper = Dumper::new(PERSON);
    dumper.say(
        "CREATE TABLE visit (id INT AUTO_INCREMENT PRIMARY KEY, person INT NOT NULL, at DATETIME(3), note TEXT, KEY (at), \
         FOREIGN KEY (person) REFERENCES person (id)) ENGINE=InnoDB;\n",
    );
    persons(&mut dumper, &mut dice);
    dumper.table("INSERT INTO `visit` VALUES ");
    for id in 1..=VISITS {
        let (person, second) = (dice.below(PERSONS) + 1, dice.below(60));
        dumper.row(format!("({id},{person},'2020-02-02 12:00:{second:02}.{:03}','n{second}')", id % 1000).as_bytes());
    }
    // Ids that the server gives, behind those that the dump gave.
    dumper.table("INSERT INTO `visit` (person, note) VALUES ");
    for id in 1..=5_000 {
        dumper.row(format!("({id},'late {id}')").as_bytes());
    }
    dumper.say("UPDATE visit SET note = 'changed' WHERE id MOD 1000 = 7;\nDELETE FROM visit WHERE person < 50;\n");
    dumper.say("DELETE FROM person WHERE id < 50;\nSELECT COUNT(*), MAX(id) FROM visit;\n");
    check(&dumper.finish(), None);
}

#[test]
fn a_duplicate_of_a_row_far_before() {
    let mut dice = Dice::new(2);
    let mut dumper = Dumper::new(PERSON);
    persons(&mut dumper, &mut dice);
    dumper.end_statement();
    // A dump in which one of the last rows has the id of one of the first.
    let text = String::from_utf8(dumper.finish()).expect("these names are UTF-8");
    let late = PERSONS - 3_000;
    let from = text.find(&format!("\n({late},")).expect("the row is there") + 1;
    let broken = format!("{}(17,{}", &text[..from], &text[from + format!("({late},").len()..]);
    check(broken.as_bytes(), Some(1062));
}

#[test]
fn an_orphan_in_the_middle() {
    let mut dumper = Dumper::new(
        "CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB;\n\
         CREATE TABLE child (id INT PRIMARY KEY, p INT, note VARCHAR(100), FOREIGN KEY (p) REFERENCES parent (id)) ENGINE=InnoDB;\n",
    );
    dumper.table("INSERT INTO parent VALUES ");
    for id in 1..=20_000 {
        dumper.row(format!("({id})").as_bytes());
    }
    dumper.table("INSERT INTO child VALUES ");
    for id in 1..=100_000 {
        let parent = if id == 70_001 { 20_001 } else { id % 20_000 + 1 };
        dumper.row(
            format!("({id},{parent},'a note that makes the row of child {id} somewhat longer than it were')")
                .as_bytes(),
        );
    }
    check(&dumper.finish(), Some(1452));
}

#[test]
fn single_rows_by_the_thousand() {
    let mut text = PERSON.as_bytes().to_vec();
    text.extend(b"CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=InnoDB;\n");
    let mut dice = Dice::new(3);
    for id in 1..=12_000 {
        text.extend([b"INSERT INTO `person` VALUES ", &person(&mut dice, id)[..], b";\n"].concat());
        if id % 10 == 0 {
            text.extend(format!("INSERT INTO counted (v) VALUES ({id});\n").bytes());
        }
    }
    check(&text, None);
}

#[test]
fn rows_of_megabytes() {
    let mut dice = Dice::new(4);
    let mut text = b"CREATE TABLE t (id INT PRIMARY KEY, b LONGBLOB, v LONGTEXT CHARACTER SET utf8mb4);\n".to_vec();
    for id in 0..6_u64 {
        text.extend(format!("INSERT INTO t VALUES ({id},").bytes());
        let bytes: Vec<u8> =
            (0..(id + 1) * 300_000).map(|_| u8::try_from(dice.below(256)).expect("below 256")).collect();
        if id % 2 == 0 {
            text.extend(b"0x");
            text.extend(bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()));
        } else {
            text.extend(b"_binary '");
            text.extend(bytes.iter().flat_map(|byte| match byte {
                0 => b"\\0".to_vec(),
                b'\n' => b"\\n".to_vec(),
                b'\r' => b"\\r".to_vec(),
                b'\'' | b'\\' => vec![b'\\', *byte],
                _ => vec![*byte],
            }));
            text.push(b'\'');
        }
        text.extend(format!(",'{}');\n", "é; ''\\n日".repeat(50_000)).bytes());
    }
    check_by(&[Contender::Default], &text, None);
}

/// Where the protocol's length prefixes change; the shorter ones are in `values/lengths.sql`.
#[test]
fn strings_of_telling_lengths() {
    let mut text = b"CREATE TABLE t (id INT PRIMARY KEY, v LONGTEXT, b LONGBLOB);\n".to_vec();
    for (number, length) in [65_534, 65_535, 65_536, 65_537].into_iter().enumerate() {
        let (one, other) = (number * 2, number * 2 + 1);
        let (long, short) = ("x".repeat(length), "y".repeat(number));
        text.extend(format!("INSERT INTO t VALUES ({one},'{long}','{short}'),({other},'{short}',NULL);\n").bytes());
        text.extend(format!("INSERT INTO t VALUES ({},'','{long}');\n", number + 100).bytes());
    }
    check_by(&[Contender::Default], &text, None);
}
