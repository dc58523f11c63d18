//! Bulk execution with `execute_raw`.

use hortator_mysql::{Connection, Prepared};

use crate::server::{Server, one_value};

const TYPE_LONG: u8 = 3;
const TYPE_VAR_STRING: u8 = 253;

enum Value<'a> {
    Int(i32),
    Text(&'a [u8]),
    Null,
    Default,
}

/// A COM_STMT_BULK_EXECUTE with the types `types` and the rows `rows`.
fn array(prepared: Prepared, types: &[u8], rows: &[&[Value<'_>]]) -> Vec<u8> {
    let mut packet = vec![0xfa];
    packet.extend(prepared.id.to_le_bytes());
    packet.extend(128_u16.to_le_bytes());
    packet.extend(types.iter().flat_map(|kind| [*kind, 0]));
    for value in rows.iter().copied().flatten() {
        match value {
            Value::Int(number) => {
                packet.push(0);
                packet.extend(number.to_le_bytes());
            }
            Value::Text(text) => {
                packet.extend([0, 0xfd]);
                packet.extend(&u32::try_from(text.len()).unwrap().to_le_bytes()[..3]);
                packet.extend_from_slice(text);
            }
            Value::Null => packet.push(1),
            Value::Default => packet.push(2),
        }
    }
    packet
}

fn table(connection: &mut Connection) -> Prepared {
    connection
        .execute(b"create table t (id int primary key, s longblob default 'dflt', n int default 42) engine=innodb")
        .unwrap();
    connection.prepare(b"insert into t values (?, ?, ?)").unwrap()
}

const TYPES: [u8; 3] = [TYPE_LONG, TYPE_VAR_STRING, TYPE_LONG];

#[test]
fn ints_strings_null_and_default() {
    use Value::{Default, Int, Null, Text};
    let (_server, mut connection) = Server::shared().connection("arrays");
    let prepared = table(&mut connection);
    let rows: [&[Value<'_>]; 3] =
        [&[Int(1), Text(b"\x00\xff'\\"), Null], &[Int(-2), Null, Default], &[Int(3), Default, Int(7)]];
    let done = connection.execute_raw(&array(prepared, &TYPES, &rows)).unwrap();
    assert_eq!(done.affected_rows, 3);
    let stored = "select group_concat(id, ':', ifnull(hex(s), '-'), ':', ifnull(n, '-') order by id) from t";
    assert_eq!(one_value(&mut connection, stored), "-2:-:42,1:00FF275C:-,3:64666C74:7");
    connection.close(prepared).unwrap();
}

#[test]
fn an_error_in_a_bulk_execution_rolls_all_rows_back() {
    use Value::{Int, Null};
    let (_server, mut connection) = Server::shared().connection("middle");
    let prepared = table(&mut connection);
    let rows: [&[Value<'_>]; 4] =
        [&[Int(1), Null, Null], &[Int(2), Null, Null], &[Int(1), Null, Null], &[Int(3), Null, Null]];
    let error = connection.execute_raw(&array(prepared, &TYPES, &rows)).unwrap_err();
    assert_eq!(error.to_string(), "ERROR 1062 (23000): Duplicate entry '1' for key 'PRIMARY'");
    assert_eq!(one_value(&mut connection, "select count(*) from t"), "0");
    // The prepared statement is still usable.
    connection.execute_raw(&array(prepared, &TYPES, &rows[1..])).unwrap();
    assert_eq!(one_value(&mut connection, "select count(*) from t"), "3");
}

#[test]
fn a_bulk_execution_of_several_chunks() {
    use Value::{Int, Null, Text};
    let (_server, mut connection) = Server::shared().connection("long_arrays");
    let prepared = table(&mut connection);
    let text = vec![b'z'; 9_000_000];
    let rows: [&[Value<'_>]; 3] =
        [&[Int(1), Text(&text), Null], &[Int(2), Text(&text), Null], &[Int(3), Text(&text), Null]];
    connection.execute_raw(&array(prepared, &TYPES, &rows)).unwrap();
    assert_eq!(one_value(&mut connection, "select sum(length(s)) from t"), "27000000");
}

#[test]
fn rows_of_a_bulk_execution_are_dropped() {
    use Value::{Int, Null};
    let (_server, mut connection) = Server::shared().connection("returning");
    table(&mut connection);
    let prepared = connection.prepare(b"insert into t values (?, ?, ?) returning id").unwrap();
    let rows: [&[Value<'_>]; 2] = [&[Int(1), Null, Null], &[Int(2), Null, Null]];
    let done = connection.execute_raw(&array(prepared, &TYPES, &rows)).unwrap();
    assert_eq!(done.rows, 2);
    assert_eq!(one_value(&mut connection, "select count(*) from t"), "2");
}
