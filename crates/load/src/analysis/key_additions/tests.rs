//! Which statements only add keys, and what becomes of several.

use super::KeyAddition::{Foreign, Key, Primary, Special};
use super::*;

fn parse(text: &[u8], dialect: &Dialect) -> Option<KeyAdditions> {
    parse_key_additions(text, &tokens(text, dialect).collect::<Vec<_>>(), dialect)
}

fn kinds(text: &str) -> Option<Vec<KeyAddition>> {
    parse(text.as_bytes(), &Dialect::mariadb(101_119)).map(|found| found.kinds)
}

#[test]
fn plain_additions() {
    for (text, expected) in [
        ("ALTER TABLE t ADD KEY (a)", &[Key][..]),
        (
            "alter table `s`.`t` add index `i` using btree (`a`(10) DESC, b) comment 'x, y' key_block_size=4 ignored",
            &[Key],
        ),
        ("ALTER TABLE t ADD UNIQUE (a), ADD UNIQUE KEY u (b) USING HASH NOT IGNORED", &[Key, Key]),
        ("ALTER TABLE t ADD PRIMARY KEY USING BTREE (a), ADD KEY type (a)", &[Primary, Key]),
        ("ALTER TABLE t ADD CONSTRAINT PRIMARY KEY (a)", &[Primary]),
        ("ALTER TABLE t ADD CONSTRAINT u UNIQUE INDEX v (a)", &[Key]),
        ("ALTER TABLE t ADD FULLTEXT KEY f (a) WITH PARSER simple", &[Special]),
        ("ALTER TABLE t ADD SPATIAL INDEX (g)", &[Special]),
        (
            "ALTER TABLE t ADD KEY (a), ADD CONSTRAINT `c` FOREIGN KEY (a, b) REFERENCES p (c, d) MATCH FULL ON DELETE SET NULL \
             ON UPDATE NO ACTION, ADD FOREIGN KEY i (b) REFERENCES s.p (c) ON DELETE CASCADE",
            &[Key, Foreign, Foreign],
        ),
        ("CREATE INDEX i ON t (a)", &[Key]),
        ("CREATE UNIQUE INDEX i USING HASH ON s.t (a) COMMENT 'c'", &[Key]),
        ("CREATE FULLTEXT INDEX i ON t (a)", &[Special]),
    ] {
        assert_eq!(kinds(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn anything_else() {
    for text in [
        "ALTER TABLE t ADD COLUMN a INT",
        "ALTER TABLE t ADD a INT",
        "ALTER TABLE t ADD (a INT)",
        "ALTER TABLE t ADD KEY (a), ADD COLUMN b INT",
        "ALTER TABLE t ADD KEY (a), ALGORITHM=COPY",
        "ALTER TABLE t ADD KEY (a), LOCK=NONE",
        "ALTER TABLE t ADD KEY (a), AUTO_INCREMENT=7",
        "ALTER TABLE t ADD KEY (a) PARTITION BY HASH (a)",
        "ALTER TABLE t ADD KEY (a);",
        "ALTER TABLE t ADD KEY (a), ADD",
        "ALTER TABLE t ADD KEY (a",
        "ALTER TABLE t ADD KEY )(",
        "ALTER TABLE t ADD KEY",
        "ALTER TABLE t",
        "ALTER TABLE t ADD KEY IF NOT EXISTS k (a)",
        "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)",
        "ALTER TABLE t ADD CONSTRAINT c KEY (a)",
        "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES p",
        "ALTER TABLE t ADD FOREIGN KEY IF NOT EXISTS f (a) REFERENCES p (a)",
        "ALTER TABLE t ADD KEY (a) made_by='me'",
        "ALTER TABLE t WAIT 5 ADD KEY (a)",
        "ALTER IGNORE TABLE t ADD UNIQUE (a)",
        "ALTER ONLINE TABLE t ADD KEY (a)",
        "ALTER TABLE IF EXISTS t ADD KEY (a)",
        "ALTER TABLE t DROP KEY a, ADD KEY (a)",
        "ALTER TABLE t ADD KEY (a) /*!40000 COMMENT 'x' */",
        "/*!40000 ALTER TABLE t ADD KEY (a) */",
        "CREATE OR REPLACE INDEX i ON t (a)",
        "CREATE INDEX IF NOT EXISTS i ON t (a)",
        "CREATE INDEX i ON t (a) ALGORITHM=INPLACE",
        "CREATE TABLE t (a INT)",
        "",
        // Not to be sent as they are with others.
        "ALTER TABLE t ADD KEY (a), ADD PRIMARY KEY (b)",
        "ALTER TABLE t ADD FULLTEXT (a), ADD FULLTEXT (b)",
        "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES p (a), ADD KEY (a)",
        "ALTER TABLE t ADD PRIMARY KEY (a), ADD FOREIGN KEY (a) REFERENCES p (a)",
    ] {
        assert_eq!(kinds(text), None, "{text}");
    }
    let mysql = Dialect { mariadb: false, ..Dialect::mariadb(80_400) };
    assert_eq!(parse(b"ALTER TABLE t ADD KEY (a)", &mysql), None);
}

#[test]
fn several_as_one() {
    let texts = [
        &b"ALTER TABLE `s`.`t`\n  ADD PRIMARY KEY (`id`),\n  ADD KEY (a) # why\n"[..],
        b"CREATE UNIQUE INDEX `u` USING BTREE ON t (b) COMMENT 'it''s' -- and why",
        b"ALTER TABLE t ADD FULLTEXT (c)",
    ];
    let one = merge_key_additions(texts, &Dialect::mariadb(101_119)).expect("all of them only add");
    let expected = "ALTER TABLE `s`.`t` ADD PRIMARY KEY (`id`),\n  ADD KEY (a), ADD UNIQUE INDEX `u` USING BTREE (b) COMMENT 'it''s', \
                    ADD FULLTEXT (c)";
    assert_eq!(String::from_utf8_lossy(&one), expected);
    assert_eq!(
        parse(&one, &Dialect::mariadb(101_119)).map(|found| found.kinds),
        Some(vec![Primary, Key, Key, Special])
    );
    assert_eq!(merge_key_additions([texts[0], b"DROP TABLE t"], &Dialect::mariadb(101_119)), None);
}
