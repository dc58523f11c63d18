//! Definitions as MariaDB prints them, and which keys of theirs are deferred.

use super::*;

fn table(items: &str) -> String {
    format!(
        "CREATE TABLE `t (x)` (\n  `id` int(11) NOT NULL,\n  `a` int(11) DEFAULT 7 COMMENT 'KEY `no` (`a`), ''AUTO_INCREMENT''',\n{items}\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='PARTITION BY'"
    )
}

fn deferred(items: &str, referenced: &[&str]) -> Result<Vec<String>, KeptReason> {
    let referenced = referenced.iter().map(|name| name.as_bytes().to_vec()).collect();
    let keys = deferrable(table(items).as_bytes(), &referenced, true)?;
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
        (
            "  KEY `x``,y` (`a`),\n  FULLTEXT KEY `f` (`c`),\n  FULLTEXT KEY `g` (`c`,`d`) COMMENT 'g'",
            &[],
            some(&["KEY `x``,y` (`a`)", "FULLTEXT KEY `f` (`c`)", "FULLTEXT KEY `g` (`c`,`d`) COMMENT 'g'"]),
        ),
        (
            "  KEY `k` (`a`),\n  SPATIAL KEY `s` (`g`),\n  KEY `l` (`a`)",
            &[],
            some(&["KEY `k` (`a`)", "SPATIAL KEY `s` (`g`)", "KEY `l` (`a`)"]),
        ),
        (
            "  SPATIAL KEY `s` (`g`),\n  KEY `k` (`b`),\n  SPATIAL KEY `r` (`g`),\n  FULLTEXT KEY `f` (`c`)",
            &["b"],
            some(&["SPATIAL KEY `r` (`g`)", "FULLTEXT KEY `f` (`c`)"]),
        ),
        ("  FULLTEXT KEY `f` (`b`) IGNORED", &["b"], some(&["FULLTEXT KEY `f` (`b`) IGNORED"])),
        (
            "  FULLTEXT KEY `f` (`c`) /*!50100 WITH PARSER `words` */ ,\n  FULLTEXT KEY `g` (`d`)",
            &[],
            some(&["FULLTEXT KEY `f` (`c`) /*!50100 WITH PARSER `words` */", "FULLTEXT KEY `g` (`d`)"]),
        ),
        (
            "  FULLTEXT KEY `f` (`c`) /*!50100 WITH PARSER `words` */  /* `foo`='1' */,\n  FULLTEXT KEY `g` (`d`)",
            &[],
            some(&["FULLTEXT KEY `g` (`d`)"]),
        ),
        (
            "  `FTS_DOC_ID` bigint(20) unsigned NOT NULL,\n  KEY `k` (`a`),\n  FULLTEXT KEY `f` (`c`)",
            &[],
            some(&["KEY `k` (`a`)"]),
        ),
        ("  `FTS_DOC_ID` bigint(20) unsigned NOT NULL,\n  FULLTEXT KEY `f` (`c`)", &[], Err(NUMBERS_DOCUMENTS)),
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
    let of = |text: &str| deferrable(text.as_bytes(), &BTreeSet::new(), false);
    assert_eq!(of("CREATE ALGORITHM=UNDEFINED VIEW `v` AS select 1"), Err(NOT_PRINTED));
    assert_eq!(of("CREATE TABLE `t` (\n  KEY `k` (`a`"), Err(NOT_PRINTED));
    assert_eq!(of("CREATE TABLE `t` (\n  KEY `k` (`a`)\n) ENGINE=Aria"), Err("its engine is not InnoDB"));
    let parted = "CREATE TABLE `t` (\n  KEY `k` (`a`)\n) ENGINE=InnoDB\n PARTITION BY HASH (`a`)";
    assert_eq!(of(parted), Err("it is partitioned"));
    let versioned = "CREATE TABLE `t` (\n  KEY `k` (`a`)\n) ENGINE=InnoDB WITH SYSTEM VERSIONING";
    assert_eq!(of(versioned), Err("it is system-versioned"));
    assert_eq!(of("CREATE TABLE `t` (\n  FULLTEXT KEY `k` (`a`)\n) ENGINE=InnoDB"), Err(HAS_STOPWORDS));
}

#[test]
fn one_fulltext_key_a_statement() {
    let names = ["a", "f", "s", "g", "h"];
    let kinds = ["KEY", "FULLTEXT KEY", "SPATIAL KEY", "FULLTEXT KEY", "FULLTEXT KEY"];
    let key = |(name, kind): (&str, &str)| Key { name: name.to_owned(), definition: format!("{kind} `{name}` (`c`)") };
    let all: Vec<Key> = names.into_iter().zip(kinds).map(key).collect();
    let shown = |keys: &[&Key]| {
        let statements = by_statement(keys).into_iter();
        statements
            .map(|keys| keys.iter().map(|key| key.name.as_str()).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    assert_eq!(shown(&all.iter().collect::<Vec<_>>()), ["a s f", "g", "h"]);
    assert_eq!(shown(&[&all[3], &all[4]]), ["g", "h"]);
    assert_eq!(shown(&[&all[0], &all[2]]), ["a s"]);
    assert!(by_statement(&[]).is_empty());
}

#[test]
fn fulltext_keys_are_found() {
    assert!(has_fulltext(table("  KEY `k` (`a`),\n  FULLTEXT KEY `f` (`c`)").as_bytes()));
    assert!(!has_fulltext(table("  KEY `FULLTEXT KEY ` (`a`)").as_bytes()));
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

/// ALTER TABLE computes a constant expression anew; literals and functions of each row are what they were.
#[test]
fn defaults_that_are_expressions() {
    for (default, is_kept) in [
        ("DEFAULT 'it''s DEFAULT (1)' COMMENT 'x'", false),
        ("DEFAULT NULL", false),
        ("NOT NULL DEFAULT -7.5 COMMENT 'x'", false),
        ("DEFAULT 1e10", false),
        ("DEFAULT b'01' CHECK (`d` <> 3)", false),
        ("NOT NULL DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6)", false),
        ("NOT NULL DEFAULT nextval(`a b`.`s`) INVISIBLE", false),
        ("DEFAULT uuid()", false),
        ("NOT NULL COMMENT 'DEFAULT (1)'", false),
        ("DEFAULT (1 / 3)", true),
        ("DEFAULT 1 / 3", true),
        ("DEFAULT 'a' = 'A'", true),
        ("DEFAULT unix_timestamp('2020-01-01')", true),
        ("DEFAULT (cast('10:00:00.9' as time))", true),
        ("DEFAULT concat('x','y') COMMENT 'z'", true),
    ] {
        let found = deferred(&format!("  `d` varchar(20) {default},\n  KEY `k` (`a`)"), &[]);
        let expected = if is_kept { Err(COMPUTED_DEFAULT) } else { Ok(vec!["KEY `k` (`a`)".to_owned()]) };
        assert_eq!(found, expected, "{default}");
    }
}
