//! The dump, loaded with the server's own client.

use hortator_bench::employees::{self, TABLES};
use hortator_bench::server_copy;

use crate::{client, connect, server};

#[test]
fn the_client_loads_every_row_and_the_keys_hold() {
    let folder = tempfile::tempdir().unwrap();
    let dump = employees::generate(folder.path(), 0.01).unwrap();
    let server = server();
    client(&server, &dump.entry());
    let mut connection = connect(&server);
    assert_eq!(server_copy::loaded_rows(&mut connection).unwrap(), dump.rows);

    // Current departments: everybody is or was in one, so the view has each employee once.
    let counts = "SELECT COUNT(*), COUNT(DISTINCT emp_no), (SELECT COUNT(*) FROM employees.employees) \
                  FROM employees.current_dept_emp";
    let row = connection.fetch(counts.as_bytes()).unwrap().swap_remove(0);
    assert_eq!(row[1], row[2]);
    assert_eq!(row[0], row[1]);

    let keys = "SELECT COUNT(*) FROM information_schema.REFERENTIAL_CONSTRAINTS \
                WHERE CONSTRAINT_SCHEMA = 'employees' AND DELETE_RULE = 'CASCADE'";
    assert_eq!(connection.fetch(keys.as_bytes()).unwrap(), [[Some(b"6".to_vec())]]);
    let tables = "SELECT COUNT(*) FROM information_schema.TABLES \
                  WHERE TABLE_SCHEMA = 'employees' AND TABLE_TYPE = 'BASE TABLE' AND ENGINE = 'InnoDB'";
    assert_eq!(connection.fetch(tables.as_bytes()).unwrap(), [[Some(TABLES.len().to_string().into_bytes())]]);
}
