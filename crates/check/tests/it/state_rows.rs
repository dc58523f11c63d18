//! Different values that look alike as text.

use hortator_check::state::{Options, describe_with};

use crate::{connect, run, server};

const ANY_NAME: Options = Options { any_name: true, row_times: false };

#[test]
fn values_that_look_alike_differ() {
    // A column's definition, and two values of it.
    let cases = [
        ("FLOAT", "1.0000001", "1.0000002"),
        ("DOUBLE", "0.1", "0.1000000000000001"),
        ("ENUM('a', '')", "''", "'nothing like it'"),
        ("BIT(9)", "b'100000000'", "b'000000000'"),
        ("VARCHAR(10) CHARSET latin1", "_latin1 X'e9'", "'e'"),
        ("VARCHAR(10) COLLATE utf8mb4_general_ci", "'a'", "'A'"),
        ("CHAR(10) CHARSET sjis", "_sjis X'835c'", "_sjis X'8353'"),
        ("VARCHAR(10)", "'a'", "'a '"),
        ("BLOB", "X'00'", "X''"),
        ("BLOB", "X'00ff'", "X'00fe'"),
        ("BINARY(3)", "'a'", "'a '"),
        ("VARCHAR(10)", "NULL", "'NULL'"),
        ("DATETIME(6)", "'2000-01-01 00:00:00.000001'", "'2000-01-01'"),
        ("DATE", "'0000-00-00'", "'2000-00-00'"),
        ("TIMESTAMP(3) NULL", "'2000-01-01 00:00:00.1'", "'2000-01-01 00:00:00.2'"),
        ("DECIMAL(40, 10)", "12345678901234567890.0000000001", "12345678901234567890.0000000002"),
        ("POINT", "ST_GeomFromText('POINT(1 2)', 0)", "ST_GeomFromText('POINT(1 2)', 4326)"),
        ("INT INVISIBLE", "1", "2"),
        ("UUID", "'00000000-0000-0000-0000-000000000001'", "'00000000-0000-0000-0000-000000000002'"),
        ("INET6", "'::1'", "'::2'"),
        ("JSON", "'{\"a\": 1}'", "'{\"a\":1}'"),
    ];
    let server = server();
    let mut connection = connect(&server);
    for (definition, one, other) in cases {
        for (schema, value) in [("one", one), ("other", other), ("again", one)] {
            run(
                &mut connection,
                &[
                    &format!("CREATE OR REPLACE DATABASE {schema}"),
                    &format!("CREATE TABLE {schema}.t (id INT, v {definition})"),
                    "SET sql_mode = ''",
                    &format!("INSERT INTO {schema}.t (id, v) VALUES (1, {value})"),
                ],
            );
        }
        let [one_state, other_state, again] =
            ["one", "other", "again"].map(|schema| describe_with(&mut connection, schema, ANY_NAME).unwrap());
        assert_eq!(one_state.differences(&again), [""; 0], "{definition}");
        assert!(!one_state.differences(&other_state).is_empty(), "{definition}: {one} and {other} look the same");
    }
}

#[test]
fn history_of_versioned_rows_is_compared_and_its_times_on_request() {
    let server = server();
    let mut connection = connect(&server);
    for schema in ["one", "other"] {
        run(
            &mut connection,
            &[
                &format!("CREATE DATABASE {schema}"),
                &format!("USE {schema}"),
                "CREATE TABLE implicit (x INT) WITH SYSTEM VERSIONING",
                "CREATE TABLE explicit (x INT, s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, \
                 e TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING",
                "INSERT INTO implicit VALUES (1)",
                "INSERT INTO explicit (x) VALUES (1)",
                "UPDATE implicit SET x = 2",
                "UPDATE explicit SET x = 2",
                "DO SLEEP(0.01)",
            ],
        );
    }
    let mut differences = |options| {
        let [one, other] = ["one", "other"].map(|schema| describe_with(&mut connection, schema, options).unwrap());
        assert_eq!(one.row_count(), 4);
        one.differences(&other)
    };
    assert_eq!(differences(ANY_NAME), [""; 0]);
    assert_eq!(differences(Options { row_times: true, ..ANY_NAME }).len(), 2);

    run(&mut connection, &["UPDATE other.implicit SET x = 1", "UPDATE other.implicit SET x = 2"]);
    let [one, other] = ["one", "other"].map(|schema| describe_with(&mut connection, schema, ANY_NAME).unwrap());
    assert_eq!(one.differences(&other).len(), 1);
}
