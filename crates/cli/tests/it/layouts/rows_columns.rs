//! The columns of files of rows, as the table has them and as a header names them.

use super::folder_of;
use super::rows::{create, load_rows};
use crate::errors::assert_tells;
use crate::servers::{DATABASE, pair};

#[test]
fn a_bad_first_record_does_not_decide_on_the_others() {
    let pair = pair();
    for (text, words) in [
        ("1,a,x\n2,b\n3,c\n", &["at line 1", "3 fields, but 2 columns", "failures: 1"][..]),
        ("1\n2,b\n\n3,c\n", &["at line 1", "1 fields, but 2 columns", "failures: 1"]),
        ("\n1,\"a\"x\n2,b\n3,c,\n3,c\n", &["at line 2", "at line 4", "3 fields", "failures: 2"]),
    ] {
        for of_columns in [&[][..], &["--columns=id,v"]] {
            create(&pair.hortator, "id INT PRIMARY KEY, v VARCHAR(9)");
            let folder = folder_of(&[("rows.csv", text)]);
            let arguments = [&["--force", "--table", "t"], of_columns, &["rows.csv"]].concat();
            assert_tells(&load_rows(&pair.hortator, folder.path(), &arguments), 3, words);
            assert_eq!(pair.hortator.rows_of_case("SELECT * FROM t ORDER BY id"), [["2", "b"], ["3", "c"]], "{text}");
        }
    }
    // The table's columns are counted as INSERT counts them, and those of views too.
    create(&pair.hortator, "id INT PRIMARY KEY, v VARCHAR(9)");
    let folder = folder_of(&[("rows.csv", "1\n2,b\n")]);
    let view = format!("CREATE VIEW {DATABASE}.w AS SELECT v, id FROM {DATABASE}.t");
    pair.hortator.connect().execute(view.as_bytes()).unwrap();
    let arguments = ["--force", "--table", "hortator_case.w", "rows.csv"];
    let outcome = load_rows(&pair.hortator, folder.path(), &arguments);
    assert_tells(&outcome, 3, &["at line 1", "1 fields, but 2 columns", "Incorrect integer value: 'b'", "failures: 2"]);
    if crate::target::mysql().is_none() {
        create(&pair.hortator, "id INT PRIMARY KEY, hidden INT INVISIBLE DEFAULT 3, v VARCHAR(9)");
        assert_tells(&load_rows(&pair.hortator, folder.path(), &["-f", "--table=t", "rows.csv"]), 3, &["failures: 1"]);
        assert_eq!(pair.hortator.rows_of_case("SELECT id, hidden, v FROM t"), [["2", "3", "b"]]);
    }
}

#[test]
fn nor_does_it_in_a_plan_nor_for_the_line_of_a_violating_row() {
    let pair = pair();
    create(&pair.hortator, "id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES t (id)");
    let folder = folder_of(&[("rows.csv", "1\n2,2\n3,7\n")]);
    let load = |options: &[&str]| {
        load_rows(&pair.hortator, folder.path(), &[&["--force", "--table=t"], options, &["rows.csv"]].concat())
    };
    let planned = load(&["--plan"]);
    assert_tells(&planned, 1, &["at line 1 in file: 'rows.csv'", "1 fields, but 2 columns"]);
    assert!(!planned.messages.contains("at line 2"), "{}", planned.messages);
    let loaded = load(&["--foreign-keys=deferred"]);
    assert_tells(&loaded, 1, &["1 fields, but 2 columns", "no parent row", "at line 3 in file: 'rows.csv': p = 7"]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t ORDER BY id"), [["2"], ["3"]]);
}

/// The table comes from the input too, and may not be there yet when the file is opened.
#[test]
fn nor_does_it_where_the_input_creates_the_table_before() {
    let pair = pair();
    let create = "CREATE TABLE a (id INT, v INT);\n";
    for (sql, status, words) in [(create, 3, "1 fields, but 2 columns"), ("SELECT 1;\n", 3, "ERROR 1146")] {
        pair.hortator.reset();
        let folder = folder_of(&[("first.sql", sql), ("tab/a.txt", "1\n2\t3\n4\t5\n"), ("tab/b.txt", "")]);
        let outcome = load_rows(&pair.hortator, folder.path(), &["--force", "--skip=*.b", "first.sql", "tab"]);
        assert_tells(&outcome, status, &[words, "in file: 'tab/a.txt'"]);
        if sql == create {
            assert_tells(&outcome, status, &["failures: 1"]);
            assert_eq!(pair.hortator.rows_of_case("SELECT id, v FROM a ORDER BY id"), [["2", "3"], ["4", "5"]]);
        }
    }
    // And where nothing of the table is there, neither rows nor the table, that is an error as well.
    pair.hortator.reset();
    let folder = folder_of(&[("first.sql", create), ("tab/a.txt", ""), ("tab/b.txt", "")]);
    assert_tells(
        &load_rows(&pair.hortator, folder.path(), &["first.sql", "tab"]),
        1,
        &["ERROR 1146", "hortator_case.b"],
    );
}

#[test]
fn a_missing_table_is_an_error_without_a_row_too() {
    let pair = pair();
    create(&pair.hortator, "id INT");
    let folder =
        folder_of(&[("header.csv", "id\n"), ("empty.csv", ""), ("rows.csv", "1\n2\n"), ("all.csv", "id\n1\n")]);
    let load = |arguments: &[&str]| load_rows(&pair.hortator, folder.path(), arguments);
    for file in [&["--header", "header.csv"][..], &["empty.csv"], &["--columns=id", "empty.csv"], &["rows.csv"]] {
        for table in ["missing", "nowhere.missing"] {
            let arguments = [&["--table", table], file].concat();
            assert_tells(&load(&arguments), 1, &["ERROR 1146", table, "doesn't exist", "failures: 1"]);
        }
        let failures = if file == ["rows.csv"] { "failures: 2" } else { "failures: 1" };
        assert_tells(&load(&[&["--force", "--table=missing"], file].concat()), 3, &["ERROR 1146", failures]);
        assert_tells(&load(&[&["--table=t"], file].concat()), 0, &[]);
    }
    // The second file of two.
    let outcome = load(&["--force", "--header", "--table=missing", "all.csv", "header.csv"]);
    assert_tells(&outcome, 3, &["in file: 'all.csv'", "in file: 'header.csv'", "failures: 2"]);
}

#[test]
fn a_header_that_the_table_does_not_have_ends_its_file() {
    let pair = pair();
    for (header, words) in [
        ("id,nothing", &["ERROR 1054", "nothing", "correct the names in this header"][..]),
        ("id,ID", &["ERROR 1110", "correct the names in this header"]),
        ("id,", &["a column without a name"]),
        ("id,\"v\"x", &["text follows a closing quote"]),
    ] {
        let text = format!("{header}\n1,a\n2,b\n");
        let folder = folder_of(&[("bad.csv", &text), ("good.csv", "v,Id\nc,3\nd,4\n")]);
        for (force, status, expected) in [(&[][..], 1, &[][..]), (&["--force"], 3, &["3", "4"])] {
            create(&pair.hortator, "id INT PRIMARY KEY, v VARCHAR(9)");
            let arguments = [force, &["--table=t", "--header", "bad.csv", "good.csv"]].concat();
            let outcome = load_rows(&pair.hortator, folder.path(), &arguments);
            let words = [&["at line 1 in file: 'bad.csv'", "failures: 1"], words].concat();
            assert_tells(&outcome, status, &words);
            assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t ORDER BY id").concat(), expected, "{header}");
        }
    }
    create(&pair.hortator, "id INT PRIMARY KEY, v VARCHAR(9)");
    let folder = folder_of(&[("rows.csv", "1,a\n2,b\n")]);
    let outcome = load_rows(&pair.hortator, folder.path(), &["--force", "--table=t", "--columns=id,w", "rows.csv"]);
    assert_tells(&outcome, 3, &["ERROR 1054", "of --columns", "failures: 1"]);
    // Under another name of the schema.
    let mapped = ["--table=elsewhere.t", "--database-map=elsewhere=hortator_case", "--columns=id,v", "rows.csv"];
    assert_tells(&load_rows(&pair.hortator, folder.path(), &mapped), 0, &[]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t ORDER BY id"), [["1"], ["2"]]);
}

/// The table of rows that are recorded may have other columns by the time that the load is resumed, or be gone.
#[test]
fn a_resumed_load_asks_nothing_of_rows_that_are_in() {
    let pair = pair();
    for then in ["RENAME TABLE a TO z", "ALTER TABLE a ADD COLUMN w INT", "ALTER TABLE a DROP COLUMN v"] {
        create(&pair.hortator, "id INT");
        pair.hortator.connect().execute(b"CREATE TABLE hortator_case.a (id INT, v INT)").unwrap();
        let sql = format!("{then};\nINSERT INTO missing VALUES (1);\n");
        let folder = folder_of(&[("tab/a.txt", "1\t2\n2\t3\n"), ("tab/t.txt", ""), ("then.sql", &sql)]);
        let arguments = ["tab", "then.sql"];
        let failed = load_rows(&pair.hortator, folder.path(), &arguments);
        assert_tells(&failed, 1, &["ERROR 1146", "hortator_case.missing", "--resume"]);
        pair.hortator.connect().execute(b"CREATE TABLE hortator_case.missing (id INT)").unwrap();
        let resumed = load_rows(&pair.hortator, folder.path(), &["--resume", "tab", "then.sql"]);
        assert_tells(&resumed, 0, &[]);
        let table = if then.starts_with("RENAME") { "z" } else { "a" };
        assert_eq!(
            pair.hortator.rows_of_case(&format!("SELECT id FROM {table} ORDER BY id")),
            [["1"], ["2"]],
            "{then}"
        );
        assert_eq!(pair.hortator.rows_of_case("SELECT COUNT(*) FROM missing"), [["1"]]);
    }
}
