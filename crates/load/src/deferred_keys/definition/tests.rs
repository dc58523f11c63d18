//! Definitions as MariaDB prints them, and which keys of theirs are deferred.

use super::*;

fn table(items: &str) -> String {
    format!(
        "CREATE TABLE `t (x)` (\n  `id` int(11) NOT NULL,\n  `a` int(11) DEFAULT 7 COMMENT 'KEY `no` (`a`), ''AUTO_INCREMENT''',\n{items}\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='PARTITION BY'"
    )
}

fn deferred(items: &str, referenced: &[&str]) -> Result<Vec<String>, KeptReason> {
    let referenced = referenced.iter().map(|name| name.as_bytes().to_vec()).collect();
    let keys = deferrable(table(items).as_bytes(), &referenced)?;
    Ok(keys.into_iter().map(|key| key.definition).collect())
}

#[test]
fn keys_behind_the_last_that_stays() {
    let some = |keys: &[&str]| Ok(keys.iter().map(ToString::to_string).collect::<Vec<_>>());
    for (items, referenced, expected) in [
        ("  PRIMARY KEY (`id`)", &[][..], Err(NO_KEYS)),
        ("  PRIMARY KEY (`id`),\n  UNIQUE KEY `u` (`a`)", &[], Err(NO_KEYS)),
        (
            "  PRIMARY KEY (`id`),\n  KEY `k` (`a` DESC,`id`) USING BTREE COMMENT 'it''s, `k`)'",
            &[],
            some(&["KEY `k` (`a` DESC,`id`) USING BTREE COMMENT 'it''s, `k`)'"]),
        ),
        ("  KEY `x``,y` (`a`),\n  FULLTEXT KEY `f` (`c`)", &[], some(&["KEY `x``,y` (`a`)"])),
        ("  KEY `k` (`a`),\n  SPATIAL KEY `s` (`g`),\n  KEY `l` (`a`)", &[], some(&["KEY `l` (`a`)"])),
        ("  KEY `k` (`a`),\n  KEY `l` (`b`),\n  KEY `m` (`a`,`b`)", &["b"], some(&["KEY `m` (`a`,`b`)"])),
        ("  KEY `k` (`a`),\n  KEY `l` (`b`)", &["b"], Err(ALL_NEEDED)),
        (
            "  KEY `k` (`b`),\n  KEY `l` (`a`),\n  CONSTRAINT `c` FOREIGN KEY (`b`) REFERENCES `p` (`id`)",
            &[],
            some(&["KEY `l` (`a`)"]),
        ),
        ("  `n` int(11) NOT NULL AUTO_INCREMENT,\n  KEY `n` (`n`),\n  KEY `l` (`a`)", &[], some(&["KEY `l` (`a`)"])),
        ("  `n` int(11) GENERATED ALWAYS AS (`a` + 1) VIRTUAL,\n  KEY `n` (`n`)", &[], Err("it has computed columns")),
        (
            "  KEY `k` (`a`),\n  CONSTRAINT `c` CHECK (`v` <> 'x\\\\y')",
            &[],
            Err("it has an expression with a string that depends on the session"),
        ),
        ("  KEY `k` (`a`) /* `foo`='1' */", &[], Err(ALL_NEEDED)),
        ("  KEY `k` (`a`),\n  CONSTRAINT `FOREIGN KEY` CHECK (`a` <> 'FOREIGN KEY')", &[], some(&["KEY `k` (`a`)"])),
    ] {
        assert_eq!(deferred(items, referenced), expected, "{items}");
    }
}

#[test]
fn tables_that_are_not_deferred() {
    let of = |text: &str| deferrable(text.as_bytes(), &BTreeSet::new());
    assert_eq!(of("CREATE ALGORITHM=UNDEFINED VIEW `v` AS select 1"), Err(NOT_PRINTED));
    assert_eq!(of("CREATE TABLE `t` (\n  KEY `k` (`a`"), Err(NOT_PRINTED));
    assert_eq!(of("CREATE TABLE `t` (\n  KEY `k` (`a`)\n) ENGINE=Aria"), Err("its engine is not InnoDB"));
    let parted = "CREATE TABLE `t` (\n  KEY `k` (`a`)\n) ENGINE=InnoDB\n PARTITION BY HASH (`a`)";
    assert_eq!(of(parted), Err("it is partitioned"));
    let versioned = "CREATE TABLE `t` (\n  KEY `k` (`a`)\n) ENGINE=InnoDB WITH SYSTEM VERSIONING";
    assert_eq!(of(versioned), Err("it is system-versioned"));
}

#[test]
fn names_of_keys_and_of_foreign_keys() {
    let text = table(
        "  PRIMARY KEY (`id`),\n  UNIQUE KEY `u` (`a`),\n  KEY `k``1` (`a`),\n  FULLTEXT KEY `f` (`b`),\n  \
         CONSTRAINT `KEY ` FOREIGN KEY (`b`) REFERENCES `s`.`p` (`c`,`d`) ON DELETE CASCADE",
    );
    let shown = |names: Option<BTreeSet<Vec<u8>>>| {
        names.map(|names| names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect::<Vec<_>>())
    };
    assert_eq!(shown(key_names(text.as_bytes())).unwrap(), ["f", "k`1", "u"]);
    assert_eq!(shown(names_in_foreign_keys(text.as_bytes())).unwrap(), ["KEY ", "b", "c", "d", "p", "s"]);
}
