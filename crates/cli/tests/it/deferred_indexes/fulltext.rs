//! FULLTEXT and SPATIAL indexes that are built after the rows: they find what those of the client find.

use rustix::process::Signal;

use super::ended::{assert_like_client, end_held, kill, shown};
use super::{LIMIT, POINT, indexes};
use crate::compare::{Terms, assert_same, compare};
use crate::errors::{assert_tells, load_into};
use crate::interrupted::signal;
use crate::programs::{Contender, Dump, run};
use crate::servers::{Server, pair};
use crate::target;

const TERMS: Terms<'_> =
    Terms { contenders: &[Contender::DeferredIndexes], force: false, row_times: true, is_stricter: false, ahead: &[] };

/// Texts of which every third has a word of its own.
fn texts(table: &str, from: usize, count: usize) -> String {
    let row = |id: usize| {
        format!("INSERT INTO {table} VALUES ({id}, 'the word{} of many', 'number {id} and more', {POINT});\n", id % 3)
    };
    (from..from + count).map(row).collect()
}

fn table(name: &str, keys: &str) -> String {
    format!(
        "CREATE TABLE {name} (id INT PRIMARY KEY, v VARCHAR(100), w TEXT, g GEOMETRY NOT NULL, {keys}) ENGINE=InnoDB;\n"
    )
}

#[test]
fn statements_that_need_one_have_it() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let begin =
        table("t", "KEY k (v), SPATIAL KEY g (g), FULLTEXT KEY v (v), FULLTEXT KEY w (w), FULLTEXT KEY vw (v, w)");
    let begin = format!("{begin}{}", texts("t", 0, 9));
    let counted = "SELECT COUNT(*) FROM t WHERE MATCH(v) AGAINST('word1');\nSELECT id, MATCH(v, w) AGAINST('number') > 0 FROM t \
                   WHERE MATCH(w) AGAINST('+number -8' IN BOOLEAN MODE) ORDER BY id;\n";
    let statements = [
        counted,
        "SELECT COUNT(*) FROM t FORCE INDEX (g) WHERE MBRContains(ST_GeomFromText('POLYGON((-1 -1,-1 1,1 1,1 -1,-1 -1))'), g);",
        "CREATE TABLE u (id INT, KEY k (id)) ENGINE=InnoDB;\nINSERT INTO u SELECT id FROM t WHERE MATCH(w) AGAINST('more');",
        "CREATE TABLE u (id INT, KEY k (id)) ENGINE=InnoDB;\n\
         INSERT INTO u VALUES ((SELECT COUNT(*) FROM t WHERE MATCH(w) AGAINST('more')));",
        "CREATE VIEW x AS SELECT id FROM t WHERE MATCH(v, w) AGAINST('word2');\nSELECT * FROM x ORDER BY id;",
        "CREATE TABLE u LIKE t;\nINSERT INTO u SELECT * FROM t;\nSELECT COUNT(*) FROM u WHERE MATCH(v) AGAINST('word1');",
        "ALTER TABLE t ADD FULLTEXT KEY late (w, v);\nALTER TABLE t ADD FULLTEXT KEY later (v), ADD SPATIAL KEY again (g);",
        "CREATE FULLTEXT INDEX late ON t (w, v);\nCREATE FULLTEXT INDEX later ON t (v);",
        "ALTER TABLE t DROP KEY v;",
        "ALTER TABLE t DROP KEY v, DROP KEY w, DROP KEY vw;",
        "ALTER TABLE t ROW_FORMAT=COMPRESSED;",
        "RENAME TABLE t TO u;\nCREATE TABLE t LIKE u;\nINSERT INTO t SELECT * FROM u;",
        "TRUNCATE TABLE t;",
        "DROP TABLE t;\nCREATE TABLE t (id INT, v TEXT, w INT, g INT, FULLTEXT KEY o (v));",
        "ALTER TABLE t RENAME TO s;\nCREATE TABLE t LIKE s;",
        "DELETE FROM t WHERE MATCH(v) AGAINST('word1');\nUPDATE t SET v = 'none' WHERE MATCH(v) AGAINST('word2');",
        "CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET NEW.w = (SELECT COUNT(*) FROM t WHERE MATCH(v) AGAINST('word1'));",
        "BEGIN;\nINSERT INTO t VALUES (700, 'word7', 'x', x'00000000010100000000000000000000000000000000000000');\nROLLBACK;",
        "LOCK TABLES t WRITE;\nALTER TABLE t DISABLE KEYS;\nINSERT INTO t VALUES (701, 'word7', 'x', x'00000000010100000000000000000000000000000000000000');\nALTER TABLE t ENABLE KEYS;\nUNLOCK TABLES;",
        "REPLACE INTO t VALUES (1, 'word9', 'replaced', x'00000000010100000000000000000000000000000000000000');",
        "OPTIMIZE TABLE t;",
        "ALTER TABLE t ADD COLUMN n INT FIRST, DROP COLUMN n;",
    ];
    let mut differing = Vec::new();
    for statement in statements {
        let text = format!("{begin}{statement}\n{}{counted}", texts("t", 100, 2));
        let found = compare(&pair, Dump::Bytes(text.as_bytes()), TERMS);
        differing.extend(found.differences.into_iter().map(|difference| format!("{statement}\n  {difference}")));
    }
    assert_same(&differing);
}

#[test]
fn tables_of_all_kinds() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let count = "SELECT COUNT(*) FROM t WHERE MATCH(v) AGAINST('the' IN BOOLEAN MODE);\nSELECT COUNT(*) FROM t WHERE \
                 MATCH(v) AGAINST('word1');\nSHOW CREATE TABLE t;\n";
    let own_ids =
        "CREATE TABLE t (FTS_DOC_ID BIGINT UNSIGNED NOT NULL PRIMARY KEY, v TEXT, w INT, KEY w (w), FULLTEXT KEY v (v)";
    let id_rows = |ids: &[u64]| -> String {
        ids.iter().map(|id| format!("INSERT INTO t VALUES ({id}, 'the word{id}', 1);\n")).collect()
    };
    let odd_then_2: Vec<u64> = (0..500).map(|number| number * 2 + 1).chain([2, 2001]).collect();
    let dumps = [
        // The words that are left out are those of the session that creates the table.
        format!("SET innodb_ft_enable_stopword = OFF;\n{}{}", table("t", "FULLTEXT KEY v (v)"), texts("t", 0, 6)),
        format!(
            "SET innodb_ft_enable_stopword = OFF;\n{}SET innodb_ft_enable_stopword = ON;\n{}",
            table("t", "FULLTEXT KEY v (v)"),
            texts("t", 0, 6)
        ),
        format!(
            "CREATE TABLE stop (value VARCHAR(30)) ENGINE=InnoDB;\nINSERT INTO stop VALUES ('word1');\n\
             SET innodb_ft_user_stopword_table = 'hortator_case/stop';\n{}{}",
            table("t", "KEY k (v), FULLTEXT KEY v (v)"),
            texts("t", 0, 6)
        ),
        // A table that numbers its documents itself takes ascending numbers only.
        format!("{own_ids}) ENGINE=InnoDB;\n{}", id_rows(&[1, 2, 9])),
        format!("{own_ids}, UNIQUE KEY FTS_DOC_ID_INDEX (FTS_DOC_ID)) ENGINE=InnoDB;\n{}", id_rows(&[5, 3, 6])),
        format!("{own_ids}) ENGINE=InnoDB;\n{}", id_rows(&[1, 900_000, 2])),
        // What it takes depends on what is committed.
        format!("{own_ids}) ENGINE=InnoDB;\n{}", id_rows(&odd_then_2)),
        format!(
            "{own_ids}) ENGINE=InnoDB;\nBEGIN;\n{}COMMIT;\nINSERT INTO t VALUES (4, 'the word4', 1), (6, 'the word6', 1);\n",
            id_rows(&[1, 5, 3])
        ),
        format!(
            "{}{}",
            table("t", "FULLTEXT KEY v (v)")
                .replace("ENGINE=InnoDB", "ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8"),
            texts("t", 0, 6)
        ),
        format!(
            "{}{}",
            table("t", "KEY k (w(5)), FULLTEXT KEY v (v)")
                .replace("ENGINE=InnoDB", "ENGINE=InnoDB ROW_FORMAT=REDUNDANT"),
            texts("t", 0, 6)
        ),
        format!("{}{}", table("t", "FULLTEXT KEY v (v)").replace("ENGINE=InnoDB", "ENGINE=MyISAM"), texts("t", 0, 6)),
        format!(
            "{}{}",
            table("t", "FULLTEXT KEY v (v)").replace("ENGINE=InnoDB", "ENGINE=InnoDB PARTITION BY HASH (id)"),
            texts("t", 0, 6)
        ),
        format!(
            "{}{}",
            table(
                "t",
                "FULLTEXT KEY v (v), FULLTEXT KEY same (v), KEY i (v) IGNORED, FULLTEXT KEY `od``d, (x)` (w) COMMENT 'it''s \\\\ a `key`, /* 1 */'"
            ),
            texts("t", 0, 6)
        ),
        format!(
            "{}{}",
            table("t", "FULLTEXT KEY v (v)")
                .replace("v VARCHAR(100)", "v VARCHAR(100) CHARACTER SET latin1 COLLATE latin1_german2_ci"),
            texts("t", 0, 6)
        ),
        // Without rows, with rows that are no texts, with shapes that are empty.
        table("t", "FULLTEXT KEY v (v), FULLTEXT KEY w (w)"),
        format!(
            "{}INSERT INTO t VALUES (1, NULL, '', {POINT}), (2, '', NULL, x'000000000107000000');\n",
            table("t", "SPATIAL KEY g (g), FULLTEXT KEY v (v), FULLTEXT KEY w (w)")
                + "INSERT INTO t VALUES (0, '', '', x'00000000010700000000000000');\n"
        ),
        format!("{}INSERT INTO t VALUES (2, '', NULL, NULL);\n", table("t", "SPATIAL KEY g (g), FULLTEXT KEY v (v)")),
        // Statements that put rows in one by one, in part, or not at all.
        format!(
            "{}{}INSERT INTO t VALUES (50, 'a', 'b', {POINT}), (3, 'a', 'b', {POINT});\n",
            table("t", "FULLTEXT KEY v (v)"),
            texts("t", 0, 6)
        ),
        format!(
            "{}{}INSERT IGNORE INTO t VALUES (50, 'word1', 'b', {POINT}), (3, 'word1', 'b', {POINT});\n",
            table("t", "FULLTEXT KEY v (v)"),
            texts("t", 0, 6)
        ),
    ];
    let mut differing = Vec::new();
    for dump in dumps {
        let found = compare(&pair, Dump::Bytes(format!("{dump}{count}").as_bytes()), TERMS);
        differing.extend(found.differences.into_iter().map(|difference| format!("{dump}\n  {difference}")));
    }
    assert_same(&differing);
}

/// Keys of all kinds, many rows, then one that waits for a row which may be held.
pub fn held_dump(tail: &str) -> Vec<u8> {
    let mut text = "CREATE TABLE t (id INT PRIMARY KEY, a INT, v VARCHAR(60), w TEXT, g POINT NOT NULL, p INT, KEY p (p), KEY a (a), \
                    SPATIAL KEY g (g), FULLTEXT KEY v (v) COMMENT 'it''s', FULLTEXT KEY vw (v, w), FULLTEXT KEY w (w), \
                    CONSTRAINT held FOREIGN KEY (p) REFERENCES hortator_held.held (id)) ENGINE=InnoDB;\n"
        .to_owned();
    for number in 0..40 {
        let row =
            |row| format!("({}, {row}, 'value {row}', 'text{row} of {number}', {POINT}, NULL)", number * 50 + row);
        let rows: Vec<String> = (0..50).map(row).collect();
        text += &format!("INSERT INTO t VALUES {};\n", rows.join(", "));
    }
    (text + &format!("INSERT INTO t VALUES (9000, 1, 'last', 'text7', {POINT}, 1);\n") + tail).into_bytes()
}

/// How many rows the FULLTEXT keys of the table of [`held_dump`] find.
pub const FOUND: &str = "SELECT (SELECT COUNT(*) FROM t WHERE MATCH(v) AGAINST('+value +7' IN BOOLEAN MODE)), \
                         (SELECT COUNT(*) FROM t WHERE MATCH(v, w) AGAINST('last')), \
                         (SELECT COUNT(*) FROM t WHERE MATCH(w) AGAINST('text7'))";
/// The definition of its keys, without the name of the constraint.
const KEYS: &str = "KEY `p` (`p`),\n  KEY `a` (`a`),\n  SPATIAL KEY `g` (`g`),\n  FULLTEXT KEY `v` (`v`) COMMENT 'it''s',\n  \
                    FULLTEXT KEY `vw` (`v`,`w`),\n  FULLTEXT KEY `w` (`w`),\n";

#[test]
fn loads_that_end_early() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let text = held_dump(&format!("INSERT INTO t VALUES (9001, 1, 'more', 'text7', {POINT}, NULL);\n"));
    let definition = "SHOW CREATE TABLE hortator_case.t";
    let told = "hortator_case.t: a, g, v, vw, w in ";

    // Ctrl-C builds them.
    let (_folder, file, outcome) = end_held(server, &text, |running| {
        signal(&running, Signal::INT);
        Some(running.finish_within(LIMIT))
    });
    assert_tells(&outcome.unwrap(), 130, &["building the deferred indexes of 1 table(s)", told]);
    assert!(shown(server, definition).contains(KEYS), "{}", shown(server, definition));
    assert_tells(&run(load_into(server, &["--resume", &file])), 0, &["loaded 2,002 rows"]);
    assert_like_client(server, &pair.client, &text);
    assert_eq!(server.rows_of_case(FOUND), pair.client.rows_of_case(FOUND));

    // After a kill they are on record.
    let (_folder, file, _) = end_held(server, &text, kill);
    assert_eq!(indexes(server, "t"), "0");
    let status = run(load_into(server, &["--status"]));
    let status = String::from_utf8_lossy(&status.rows).into_owned();
    let alters = "ALTER TABLE `hortator_case`.`t` ADD KEY `a` (`a`), ADD SPATIAL KEY `g` (`g`), ADD FULLTEXT KEY `v` (`v`) COMMENT \
                  'it''s'; ALTER TABLE `hortator_case`.`t` ADD FULLTEXT KEY `vw` (`v`,`w`); ALTER TABLE `hortator_case`.`t` ADD \
                  FULLTEXT KEY `w` (`w`)";
    assert!(status.contains(alters), "{status}");
    assert_tells(&run(load_into(server, &["--resume", &file])), 0, &["loaded 2,002 rows", told]);
    assert_like_client(server, &pair.client, &text);
    assert_eq!(server.rows_of_case(FOUND), pair.client.rows_of_case(FOUND));

    // What discards the record builds them, too.
    let (_folder, _, _) = end_held(server, &text, kill);
    let discarded = run(load_into(server, &["--discard-checkpoint"]));
    assert_eq!(discarded.status, Some(0), "{}", discarded.messages);
    assert!(shown(server, definition).contains(KEYS), "{}", shown(server, definition));
}

/// A server that has lost its memory of the documents' numbers goes on with the right ones.
#[test]
fn a_server_that_is_killed_before_the_build() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &Server::start(&[("innodb_flush_log_at_trx_commit", "1")]);
    let text = held_dump(&format!("INSERT INTO t VALUES (9001, 1, 'more', 'text7', {POINT}, NULL);\n"));
    let (_folder, _, outcome) = end_held(server, &text, |running| {
        signal(&running, Signal::STOP);
        server.sandbox().node(0).kill().unwrap();
        server.sandbox().node(0).start().unwrap();
        // What held the row is gone with the server, and the row too.
        server.connect().execute(b"INSERT INTO hortator_held.held VALUES (1)").unwrap();
        signal(&running, Signal::CONT);
        Some(running.finish_within(LIMIT))
    });
    assert_tells(&outcome.unwrap(), 0, &["hortator_case.t: a, g, v, vw, w in "]);
    assert_like_client(server, &pair.client, &text);
    assert_eq!(server.rows_of_case(FOUND), pair.client.rows_of_case(FOUND));
}
