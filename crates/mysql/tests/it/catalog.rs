//! What a real server says of tables.

use std::collections::BTreeSet;

use hortator_mysql::Connection;
use hortator_mysql::catalog::{
    ColumnKind, RelationKind, TableKind, TableName, children, engines, native_functions, relations, table,
    table_from_information_schema, table_with, tables_with_triggers,
};

use crate::server::Server;

fn name(table: &str) -> TableName {
    TableName { schema: b"catalog_facts".to_vec(), table: table.as_bytes().to_vec() }
}

#[test]
fn tables_are_described_as_the_server_has_them() {
    let (_server, mut connection) = Server::shared().connection("catalog_facts");
    for statement in [
        "CREATE SEQUENCE s",
        "CREATE TABLE parent (id INT PRIMARY KEY)",
        "CREATE TABLE `odd ``name;` (
            id BIGINT AUTO_INCREMENT PRIMARY KEY,
            needed VARCHAR(10) NOT NULL,
            given INT NOT NULL DEFAULT 7,
            told VARCHAR(9) DEFAULT 'now()@',
            asked VARCHAR(99) DEFAULT (CONCAT('@', @x)),
            came TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
            made INT AS (given + 1) STORED,
            hidden DATE INVISIBLE DEFAULT NULL,
            drawn BIGINT DEFAULT NEXTVAL(s),
            bits BIT(3), bytes BLOB, amount DECIMAL(9,2), ratio DOUBLE, seen TIMESTAMP NULL, place POINT, doc JSON,
            parent INT REFERENCES parent (id), self BIGINT REFERENCES `odd ``name;` (id))",
        "CREATE TABLE flat (a INT) ENGINE=MyISAM",
        "CREATE VIEW v AS SELECT 1 AS a",
        "CREATE TRIGGER t BEFORE INSERT ON flat FOR EACH ROW SET NEW.a = 1",
    ] {
        connection.execute(statement.as_bytes()).unwrap();
    }

    let odd = table(&mut connection, &name("odd `name;")).unwrap().unwrap();
    assert_eq!(odd.kind, TableKind::Base { transactional: true });
    assert_eq!(odd.parents, [name("odd `name;"), name("parent")]);
    assert!(odd.refers_to_itself() && !odd.has_triggers);
    assert_eq!(odd.auto_increment(), Some(0));
    let kinds: Vec<ColumnKind> = odd.columns.iter().map(|column| column.kind).collect();
    use ColumnKind as C;
    assert_eq!(
        kinds,
        [
            C::Integer,
            C::Text,
            C::Integer,
            C::Text,
            C::Text,
            C::DateTime,
            C::Integer,
            C::Date,
            C::Integer,
            C::Bit,
            C::Bytes,
            C::Decimal,
            C::Real,
            C::DateTime,
            C::Other,
            C::Text,
            C::Integer,
            C::Integer
        ]
    );
    let column = |column: &[u8]| odd.columns.iter().find(|found| found.name == column).unwrap();
    assert!(!column(b"needed").nullable && !column(b"needed").has_default);
    assert!(!column(b"given").nullable && column(b"given").has_default);
    assert!(column(b"made").generated && !column(b"given").generated);
    assert!(column(b"came").default_varies && !column(b"told").default_varies && !column(b"given").default_varies);
    let readers = odd.columns.iter().filter(|column| column.default_reads_session);
    assert_eq!(readers.map(|column| column.name.as_slice()).collect::<Vec<_>>(), [&b"asked"[..], b"drawn"]);
    assert!(column(b"hidden").invisible && column(b"drawn").draws_from_sequence);

    let flat = table(&mut connection, &name("flat")).unwrap().unwrap();
    assert_eq!((flat.kind, flat.has_triggers), (TableKind::Base { transactional: false }, true));
    assert_eq!((odd.engine.as_slice(), flat.engine.as_slice()), (&b"InnoDB"[..], &b"MyISAM"[..]));
    assert_eq!((odd.merge_children.as_deref(), odd.partitioned, odd.versioned), (Some(&[][..]), false, false));
    for other in ["v", "s"] {
        assert_eq!(table(&mut connection, &name(other)).unwrap().unwrap().kind, TableKind::Other);
    }
    assert_eq!(table(&mut connection, &name("nothing")).unwrap(), None);
}

#[test]
fn every_way_to_ask_gives_the_same_facts() {
    let schema = "catalog_facts_together";
    let (server, mut one_by_one) = Server::shared().connection(schema);
    let mut together = Connection::open(&server.options()).unwrap();
    together.take_several_statements().unwrap();
    // The session's settings do not reach the answers.
    together
        .execute(
            b"SET sql_mode = 'ANSI_QUOTES,NO_FIELD_OPTIONS,NO_TABLE_OPTIONS,NO_BACKSLASH_ESCAPES', \
        sql_quote_show_create = 0",
        )
        .unwrap();
    let tables = [
        ("parent", "(id INT PRIMARY KEY)"),
        ("parent 2", "(a INT, b INT, PRIMARY KEY (a, b))"),
        (
            "it's; a 'child'",
            "(id INT PRIMARY KEY AUTO_INCREMENT, p INT REFERENCES parent (id), a INT, b INT,
            CONSTRAINT `FOREIGN` FOREIGN KEY (a, b) REFERENCES `parent 2` (a, b) ON DELETE CASCADE,
            self INT REFERENCES `it's; a 'child'` (id), KEY (p), other INT,
            FOREIGN KEY (other) REFERENCES parent (id)) AUTO_INCREMENT = 7",
        ),
        ("abroad", "(a INT REFERENCES `catalog_facts abroad`.`ü(` (id))"),
        ("history", "(id INT, plain INT WITHOUT SYSTEM VERSIONING) WITH SYSTEM VERSIONING"),
        (
            "periods",
            "(a TIMESTAMP(6) GENERATED ALWAYS AS ROW START, b TIMESTAMP(6) GENERATED ALWAYS AS ROW END,
            PERIOD FOR SYSTEM_TIME (a, b), c DATE, d DATE, PERIOD FOR p (c, d)) WITH SYSTEM VERSIONING",
        ),
        (
            "parts",
            "(id INT, d DATE) COMMENT='PARTITION BY' PARTITION BY RANGE (YEAR(d))
            (PARTITION p VALUES LESS THAN (2000), PARTITION q VALUES LESS THAN MAXVALUE)",
        ),
        (
            "flat",
            "(id INT UNSIGNED ZEROFILL NOT NULL DEFAULT 3 COMMENT 'AUTO_INCREMENT') ENGINE=Aria
            COMMENT='it''s \\\\ ENGINE=InnoDB WITH SYSTEM VERSIONING' TRANSACTIONAL=1",
        ),
        ("memory", "(id INT, UNIQUE KEY USING HASH (id)) ENGINE=MEMORY"),
        (
            "numbers",
            "(a TINYINT(1), b SMALLINT, c MEDIUMINT, d BIGINT UNSIGNED NOT NULL, e DECIMAL(10,2) DEFAULT -1.5,
            f FLOAT(7,3), g DOUBLE UNSIGNED DEFAULT (RAND()), h BIT(5) DEFAULT b'101', i BOOLEAN NOT NULL DEFAULT TRUE,
            j SERIAL, k YEAR DEFAULT 2000, l DOUBLE PRECISION DEFAULT 1e10, m DEC)",
        ),
        (
            "texts",
            "(a CHAR(9) DEFAULT 'a`''\\\\(@', b VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'NOT NULL',
            c TEXT COMPRESSED, d ENUM('a,b)', 'it''s') DEFAULT 'it''s', e SET('DEFAULT', 'x') NOT NULL, f JSON,
            g BINARY(4) DEFAULT X'00ff', h VARBINARY(9), i LONGBLOB NOT NULL, j UUID DEFAULT UUID(), k INET6,
            l NATIONAL VARCHAR(10), m TINYTEXT DEFAULT (CONCAT('it''s', '\\\\', @x)), FULLTEXT KEY (b), KEY (a(2)))",
        ),
        (
            "times",
            "(a DATE DEFAULT (CURDATE() + INTERVAL 1 DAY), b DATETIME(3) DEFAULT NOW(3) ON UPDATE NOW(3),
            c TIMESTAMP NOT NULL, d TIMESTAMP NULL, e TIME DEFAULT '10:00:00', f DATETIME ON UPDATE NOW())",
        ),
        ("places", "(a POINT NOT NULL, b GEOMETRY, c POLYGON REF_SYSTEM_ID=4326, SPATIAL KEY (a))"),
        (
            "computed",
            "(a INT, b INT AS (a + 1), c INT AS (a * (2 + 1)) STORED UNIQUE COMMENT 'DEFAULT 1', d INT INVISIBLE,
            e INT INVISIBLE DEFAULT (@x := 3) CHECK (e IN (1, 2)), f INT NOT NULL CHECK (f > 1),
            g INT DEFAULT NEXTVAL(s), CHECK (a > f), CONSTRAINT `FOREIGN KEY` CHECK (a > 5))",
        ),
    ];
    one_by_one.execute(b"CREATE OR REPLACE DATABASE `catalog_facts abroad`").unwrap();
    one_by_one.execute("CREATE TABLE `catalog_facts abroad`.`ü(` (id INT PRIMARY KEY)".as_bytes()).unwrap();
    one_by_one.execute(b"CREATE SEQUENCE s").unwrap();
    for (name, definition) in tables {
        one_by_one.execute(format!("CREATE TABLE `{name}` {definition}").as_bytes()).unwrap();
    }
    one_by_one.execute("CREATE VIEW `sicht ü` AS SELECT * FROM parent".as_bytes()).unwrap();
    one_by_one.execute(b"CREATE TRIGGER t BEFORE INSERT ON parent FOR EACH ROW SET @a = 1").unwrap();

    for name in tables.iter().map(|(name, _)| *name).chain(["s", "sicht ü", "missing"]) {
        let name = TableName { schema: schema.into(), table: name.into() };
        let facts = table_from_information_schema(&mut one_by_one, &name).unwrap();
        let fires = name.table == b"parent";
        assert_eq!(facts.as_ref().is_some_and(|table| table.has_triggers), fires, "{name}");
        assert_eq!(facts.is_none(), name.table == b"missing");
        assert_eq!(table_from_information_schema(&mut together, &name).unwrap(), facts, "{name}");
        assert_eq!(table(&mut one_by_one, &name).unwrap(), facts, "{name}");
        assert_eq!(table(&mut together, &name).unwrap(), facts, "{name}");
        assert_eq!(table_with(&mut together, &name, fires).unwrap(), facts, "{name}");
    }
}

#[test]
fn engines_can_roll_back_as_the_server_says() {
    let (_server, mut connection) = Server::shared().connection("catalog_engines");
    let listed = connection.fetch(b"SELECT ENGINE, TRANSACTIONS FROM information_schema.ENGINES").unwrap();
    let listed: Vec<_> =
        listed.into_iter().map(|row| (row[0].clone().unwrap(), row[1] == Some(b"YES".to_vec()))).collect();
    for engine in ["InnoDB", "MyISAM", "Aria", "MEMORY", "CSV"] {
        connection.execute(format!("CREATE OR REPLACE TABLE t (a INT NOT NULL) ENGINE={engine}").as_bytes()).unwrap();
        let name = TableName { schema: b"catalog_engines".to_vec(), table: b"t".to_vec() };
        let found = table(&mut connection, &name).unwrap().unwrap();
        let (_, transactional) = listed.iter().find(|(name, _)| *name == found.engine).unwrap();
        assert_eq!(found.kind, TableKind::Base { transactional: *transactional }, "{engine}");
    }
}

#[test]
fn merge_tables_name_their_children() {
    let (_server, mut connection) = Server::shared().connection("catalog_merge");
    for statement in [
        "CREATE TABLE a (id INT, s VARCHAR(9) COMMENT 'UNION=(`x`)') ENGINE=MyISAM",
        "CREATE TABLE `b``,(` (id INT, s VARCHAR(9)) ENGINE=MyISAM",
        "CREATE TABLE m (id INT, s VARCHAR(9)) ENGINE=MERGE COMMENT='UNION=(`y`)' UNION=(a, `b``,(`) INSERT_METHOD=LAST",
        "CREATE TABLE empty (id INT) ENGINE=MERGE",
        "CREATE TABLE broken (id INT) ENGINE=MERGE UNION=(nowhere)",
    ] {
        connection.execute(statement.as_bytes()).unwrap();
    }
    let name = |table: &str| TableName { schema: b"catalog_merge".to_vec(), table: table.into() };
    let mut facts = |table_name| {
        let found = table(&mut connection, &name(table_name)).unwrap().unwrap();
        assert_eq!((found.kind, found.engine.as_slice()), (TableKind::Other, &b"MRG_MyISAM"[..]));
        found.merge_children
    };
    assert_eq!(facts("m"), Some(vec![name("a"), name("b`,(")]));
    assert_eq!(facts("empty"), Some(Vec::new()));
    assert_eq!(facts("broken"), None);
}

#[test]
fn a_schemas_relations_and_their_engines() {
    let (_server, mut connection) = Server::shared().connection("catalog_relations");
    for statement in [
        "CREATE TABLE `t ü` (id INT) ENGINE=InnoDB",
        "CREATE TABLE flat (id INT) ENGINE=Aria",
        "CREATE TABLE history (id INT) ENGINE=InnoDB WITH SYSTEM VERSIONING",
        "CREATE VIEW v AS SELECT 1",
        "CREATE SEQUENCE s ENGINE=InnoDB",
        "CREATE TRIGGER r BEFORE INSERT ON flat FOR EACH ROW SET @a = 1",
        "CREATE TRIGGER q AFTER INSERT ON flat FOR EACH ROW SET @a = 1",
    ] {
        connection.execute(statement.as_bytes()).unwrap();
    }
    let found: Vec<_> = relations(&mut connection, b"catalog_relations").unwrap().into_iter().collect();
    let relation = |name: &str, kind| (name.as_bytes().to_vec(), kind);
    use RelationKind as K;
    assert_eq!(
        found,
        [
            relation("flat", K::Table),
            relation("history", K::Table),
            relation("s", K::Sequence),
            relation("t ü", K::Table),
            relation("v", K::View)
        ]
    );
    assert!(relations(&mut connection, b"catalog_nothing").unwrap().is_empty());
    assert_eq!(relations(&mut connection, b"information_schema").unwrap()[&b"TABLES"[..]], K::Other);
    let engines: Vec<_> = engines(&mut connection, b"catalog_relations").unwrap().into_iter().collect();
    let engine = |name: &str, engine: &str| (name.as_bytes().to_vec(), engine.as_bytes().to_vec());
    assert_eq!(
        engines,
        [engine("flat", "Aria"), engine("history", "InnoDB"), engine("s", "InnoDB"), engine("t ü", "InnoDB")]
    );
    assert_eq!(
        tables_with_triggers(&mut connection, b"catalog_relations").unwrap(),
        BTreeSet::from([b"flat".to_vec()])
    );
}

#[test]
fn relations_are_told_while_a_table_is_locked() {
    let (server, mut connection) = Server::shared().connection("catalog_locked");
    connection.execute(b"CREATE TABLE held (id INT PRIMARY KEY)").unwrap();
    let mut holder = Connection::open(&server.options()).unwrap();
    holder.select_db(b"catalog_locked").unwrap();
    holder.execute(b"LOCK TABLES held WRITE").unwrap();
    // Whoever waited for the lock would fail at once.
    connection.execute(b"SET lock_wait_timeout = 0").unwrap();
    assert_eq!(relations(&mut connection, b"catalog_locked").unwrap().len(), 1);
    let name = TableName { schema: b"catalog_locked".to_vec(), table: b"held".to_vec() };
    assert!(children(&mut connection, &name).unwrap().is_empty());
}

#[test]
fn children_are_those_of_foreign_keys() {
    let (server, mut connection) = Server::shared().connection("catalog_children");
    for statement in [
        "CREATE OR REPLACE DATABASE `catalog-children 2`",
        "CREATE TABLE `pa-ü` (id INT PRIMARY KEY, self INT REFERENCES `pa-ü` (id))",
        "CREATE TABLE `c,1` (a INT REFERENCES `pa-ü` (id), b INT REFERENCES `pa-ü` (id))",
        "CREATE TABLE `catalog-children 2`.`c%2` (a INT REFERENCES catalog_children.`pa-ü` (id))",
        "CREATE TABLE pa (id INT PRIMARY KEY)",
        "CREATE TABLE c3 (a INT REFERENCES pa (id)) ENGINE=InnoDB",
        "CREATE OR REPLACE USER catalog_reader",
        "GRANT ALL ON catalog_children.* TO catalog_reader",
    ] {
        connection.execute(statement.as_bytes()).unwrap();
    }
    let name = |schema: &str, table: &str| TableName { schema: schema.into(), table: table.into() };
    let parent = name("catalog_children", "pa-ü");
    let own = [name("catalog_children", "c,1"), name("catalog_children", "pa-ü")];
    let all = [&[name("catalog-children 2", "c%2")], &own[..]].concat();
    assert_eq!(children(&mut connection, &parent).unwrap(), all);
    assert_eq!(children(&mut connection, &name("catalog_children", "pa")).unwrap(), [name("catalog_children", "c3")]);
    assert!(children(&mut connection, &name("catalog_children", "c3")).unwrap().is_empty());
    // Without the privilege for InnoDB's list.
    let mut reader = Connection::open(&server.tcp_options("catalog_reader", "")).unwrap();
    assert_eq!(children(&mut reader, &parent).unwrap(), own);
}

#[test]
fn the_servers_own_functions() {
    let (_server, mut connection) = Server::shared().connection("catalog_functions");
    let functions = native_functions(&mut connection).unwrap().unwrap();
    assert!(functions.contains(&b"concat_ws"[..]) && functions.contains(&b"uuid"[..]));
    assert!(!functions.contains(&b"uuid_to_bin"[..]));
}
