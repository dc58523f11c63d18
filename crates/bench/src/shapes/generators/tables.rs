//! The tables that most dumps are about, and their rows.

use std::fmt::Write as _;

use crate::employees::random::Random;

/// Gives the values of the row with this key, without parentheses.
pub(super) type Row = fn(&mut Random, u64) -> Vec<u8>;

/// A table's columns, as `--complete-insert` lists them.
pub(super) const ORDER_COLUMNS: &str = "(`id`, `customer_id`, `created_at`, `state`, `total`, `reference`, `note`)";

const STATES: [&str; 4] = ["new", "paid", "sent", "returned"];

/// Words of remarks; some need an escape.
const WORDS: [&str; 16] = [
    "parcel",
    "it\\'s",
    "late",
    "fragile",
    "\\\"gift\\\"",
    "naïve",
    "ring",
    "twice",
    "leave",
    "at",
    "the",
    "gate",
    "größer",
    "line\\nbreak",
    "50%",
    "back\\\\slash",
];

/// References stay unique, and in no order: an odd factor permutes the numbers below a power of two.
const REFERENCE_FACTOR: u64 = 0x5851_f42d_4c95_7f2d;
const REFERENCE_BITS: u64 = (1 << 48) - 1;

/// The statement that creates a table of orders: a generated key, a unique key in random order, and a plain key.
pub(super) fn order_definition(name: &str, engine: &str) -> String {
    format!(
        "CREATE TABLE `{name}` (\n  `id` int(11) NOT NULL AUTO_INCREMENT,\n  `customer_id` int(11) NOT NULL,\n  \
         `created_at` datetime NOT NULL,\n  `state` enum('new','paid','sent','returned') NOT NULL,\n  \
         `total` decimal(10,2) NOT NULL,\n  `reference` char(12) NOT NULL,\n  `note` varchar(200) DEFAULT NULL,\n  \
         PRIMARY KEY (`id`),\n  UNIQUE KEY `reference` (`reference`),\n  KEY `customer_id` (`customer_id`)\n\
         ) ENGINE={engine} DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci"
    )
}

/// The values of order `id`, without parentheses.
pub(super) fn order(random: &mut Random, id: u64) -> Vec<u8> {
    let customer = random.between(1, 5_000);
    let (month, day) = (random.between(1, 12), random.between(1, 28));
    let (hour, minute) = (random.below(24), random.below(60));
    let state = random.pick(&STATES);
    let (whole, cents) = (random.below(2_000), random.below(100));
    let reference = id.wrapping_mul(REFERENCE_FACTOR) & REFERENCE_BITS;
    let note = if random.below(5) == 0 { "NULL".to_owned() } else { remark(random) };
    format!(
        "{id},{customer},'2024-{month:02}-{day:02} {hour:02}:{minute:02}:00','{state}',{whole}.{cents:02},\
         '{reference:012x}',{note}"
    )
    .into_bytes()
}

/// A few words in quotes.
pub(super) fn remark(random: &mut Random) -> String {
    let mut text = String::from("'");
    for index in 0..random.between(2, 6) {
        let space = if index == 0 { "" } else { " " };
        let _ = write!(text, "{space}{}", random.pick(&WORDS));
    }
    text.push('\'');
    text
}

/// The statement that creates a table of a game's objects: many numbers, a name, one key that is not unique.
pub(super) fn game_definition(name: &str, engine: &str) -> String {
    format!(
        "CREATE TABLE `{name}` (\n  `entry` int(10) unsigned NOT NULL,\n  `map` smallint(5) unsigned NOT NULL,\n  \
         `zone` smallint(5) unsigned NOT NULL,\n  `x` float NOT NULL,\n  `y` float NOT NULL,\n  `z` float NOT NULL,\n  \
         `level` tinyint(3) unsigned NOT NULL,\n  `health` int(10) unsigned NOT NULL,\n  \
         `flags` int(10) unsigned NOT NULL,\n  `name` varchar(100) NOT NULL,\n  `script` varchar(64) NOT NULL,\n  \
         PRIMARY KEY (`entry`),\n  KEY `map_zone` (`map`,`zone`)\n\
         ) ENGINE={engine} DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci"
    )
}

/// The values of object `entry`, without parentheses.
pub(super) fn game_object(random: &mut Random, entry: u64) -> Vec<u8> {
    let (map, zone) = (random.below(600), random.below(4_000));
    let mut place = || format!("{}.{}", random.below(4_000), random.between(1, 9));
    let (x, y, z) = (place(), place(), place());
    let (level, health, flags) = (random.between(1, 80), random.below(100_000), random.next_u64() & 0xffff);
    let name = remark(random);
    format!("{entry},{map},{zone},{x},-{y},{z},{level},{health},{flags},{name},'npc_{entry:06}'").into_bytes()
}
