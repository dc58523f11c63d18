//! Catalog information of a real server.

use hortator_mysql::catalog::{ColumnKind, TableKind, TableName, table};

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
            told VARCHAR(9) DEFAULT 'now()',
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
    assert!(column(b"hidden").invisible && column(b"drawn").draws_from_sequence);

    let flat = table(&mut connection, &name("flat")).unwrap().unwrap();
    assert_eq!((flat.kind, flat.has_triggers), (TableKind::Base { transactional: false }, true));
    assert_eq!(table(&mut connection, &name("v")).unwrap().unwrap().kind, TableKind::Other);
    assert_eq!(table(&mut connection, &name("nothing")).unwrap(), None);
}
