//! Logs of sources in which neither the names of files nor the GTIDs tell what stands behind what.

use std::fs;

use super::fan_in::{FanIn, run, texts};
use super::line_of;

const TABLES: [&str; 3] =
    ["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT) ENGINE=InnoDB", "CREATE TABLE d1.u (id INT) ENGINE=InnoDB"];

fn write(fan_in: &FanIn, statements: &[&str]) {
    run(&fan_in.sources[0], statements);
}

/// Restarts the source as one whose log had another base name until now: `log_bin` was changed, and `log_bin_index` was not.
fn rename_log(fan_in: &FanIn) {
    let node = fan_in.sources[0].node(0);
    let logs = texts(&fan_in.sources[0], "SHOW BINARY LOGS");
    node.stop().unwrap();
    let folder = node.data_dir();
    for log in &logs {
        fs::rename(folder.join(&log[0]), folder.join(format!("shop-{}", log[0]))).unwrap();
    }
    let index = fs::read_to_string(folder.join("bin.index")).unwrap();
    fs::write(folder.join("bin.index"), index.replace("bin.0", "shop-bin.0")).unwrap();
    node.start().unwrap();
    run(&fan_in.target, &["UPDATE hortator.replicate_positions SET file = CONCAT('shop-', file) WHERE source = 's1'"]);
}

#[test]
fn a_log_that_is_renamed() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    write(&fan_in, &TABLES);
    write(&fan_in, &["INSERT INTO d1.t VALUES (1)"]);
    fan_in.catch_up();
    drop(agent);
    rename_log(&fan_in);
    write(&fan_in, &["INSERT INTO d1.t VALUES (2)"]);
    let _agent = fan_in.start_only();
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

#[test]
fn tables_copied_again_from_a_log_that_is_renamed() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    write(&fan_in, &TABLES);
    fan_in.catch_up();
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    write(&fan_in, &["INSERT INTO d1.t VALUES (1)", "INSERT INTO d1.u VALUES (1)"]);
    rename_log(&fan_in);
    write(&fan_in, &["INSERT INTO d1.t VALUES (2)", "INSERT INTO d1.u VALUES (2)"]);
    assert_eq!(fan_in.says("copy-again s1 --table d1.t"), (String::new(), Some(0)));
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}
