//! What a dump may come as: several files, compressed, sourced from elsewhere, standard input among files.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::errors::{assert_tells, load_into};
use crate::programs::{hortator, run};
use crate::servers::pair;

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("it is in a folder")).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn several_files_share_one_session() {
    let pair = pair();
    pair.hortator.reset();
    let folder = tempfile::tempdir().unwrap();
    let first = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10));\nSET sql_mode='NO_BACKSLASH_ESCAPES', @n = 7;\n\
                 INSERT INTO t VALUES (1, 'a\\');\n";
    write(folder.path(), "first.sql", first);
    write(folder.path(), "last.sql", "INSERT INTO t VALUES (@n, 'b\\');\n");
    let mut command = load_into(&pair.hortator, &["first.sql", "-", "last.sql"]);
    let (reader, mut writer) = std::io::pipe().unwrap();
    std::io::Write::write_all(&mut writer, b"INSERT INTO t VALUES (3, 'piped');\n").unwrap();
    drop(writer);
    command.current_dir(folder.path()).stdin(reader);
    assert_tells(&run(command), 0, &[]);
    let rows = pair.hortator.rows_of_case("SELECT id, v FROM t ORDER BY id");
    assert_eq!(rows, [["1", "a\\"], ["3", "piped"], ["7", "b\\"]]);
}

#[test]
fn sourced_files_are_found_from_the_file_that_names_them() {
    let pair = pair();
    pair.hortator.reset();
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "dump/all.sql",
        "CREATE TABLE t (v VARCHAR(20));\nsource parts/one.sql\n\\. parts/two.sql.gz\n",
    );
    write(folder.path(), "dump/parts/one.sql", "INSERT INTO t VALUES ('one');\nsource deeper/three.sql\n");
    write(folder.path(), "dump/parts/deeper/three.sql", "INSERT INTO t VALUES ('three');\n");
    write(folder.path(), "dump/parts/two.sql", "INSERT INTO t VALUES ('two');\n");
    let zipped = Command::new("gzip").arg(folder.path().join("dump/parts/two.sql")).status().unwrap();
    assert!(zipped.success());
    let mut command = load_into(&pair.hortator, &["dump/all.sql"]);
    command.current_dir(folder.path());
    assert_tells(&run(command), 0, &[]);
    let rows = pair.hortator.rows_of_case("SELECT v FROM t ORDER BY v");
    assert_eq!(rows, [["one"], ["three"], ["two"]]);
}

#[test]
fn compressed_by_whatever_program_and_name() {
    let pair = pair();
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..5000).map(|id| format!("INSERT INTO t VALUES ({id}, 'row {}');\n", id * 7919)).collect();
    let dump = folder.path().join("dump.sql");
    fs::write(&dump, format!("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40));\n{rows}")).unwrap();
    let mut tried = 0;
    for program in ["gzip", "xz", "bzip2", "zstd", "lz4"] {
        let Ok(packed) = Command::new(program).arg("-c").arg(&dump).stderr(Stdio::null()).output() else { continue };
        assert!(packed.status.success(), "{program}");
        // Nothing in the name tells.
        let path = folder.path().join("packed");
        fs::write(&path, &packed.stdout).unwrap();
        pair.hortator.reset();
        assert_tells(&run(load_into(&pair.hortator, &[path.to_str().unwrap()])), 0, &[]);
        assert_eq!(pair.hortator.rows_of_case("SELECT COUNT(*), MAX(id) FROM t"), [["5000", "4999"]], "{program}");
        tried += 1;
    }
    assert!(tried > 0, "none of the programs is here");
}

#[test]
fn the_connection_may_come_from_an_option_file() {
    let pair = pair();
    pair.hortator.reset();
    let folder = tempfile::tempdir().unwrap();
    let options =
        format!("[client]\nsocket={}\nuser=nobody\n[hortator]\nuser=root\n", pair.hortator.socket().display());
    write(folder.path(), "my.cnf", &options);
    write(folder.path(), "dump.sql", "CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\n");
    let mut command = hortator("load");
    command.args(["--defaults-file=my.cnf", "-D", crate::servers::DATABASE, "dump.sql"]).current_dir(folder.path());
    command.stdin(Stdio::null());
    assert_tells(&run(command), 0, &[]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t"), [["1"]]);
}

#[test]
fn a_plan_writes_nothing() {
    let pair = pair();
    pair.hortator.reset();
    let folder = tempfile::tempdir().unwrap();
    let dump =
        "CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1), (2);\nUPDATE t SET id = 9 WHERE id = 1;\n";
    write(folder.path(), "dump.sql", dump);
    let mut command = load_into(&pair.hortator, &["--plan", "dump.sql"]);
    command.current_dir(folder.path());
    let outcome = run(command);
    assert_tells(&outcome, 0, &[]);
    let plan = String::from_utf8_lossy(&outcome.rows).into_owned();
    assert!(plan.contains("t") && plan.contains("barrier") && plan.contains("UPDATE"), "{plan}");
    assert!(pair.hortator.rows_of_case("SHOW TABLES").is_empty());
}
