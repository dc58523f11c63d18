//! Query events and other bytes, before and after.

use super::*;

fn event(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut event = vec![0; HEAD_BYTES];
    event[4] = kind;
    event[9..13].copy_from_slice(&((HEAD_BYTES + body.len()) as u32).to_le_bytes());
    event.extend(body);
    event
}

fn query(text: &str) -> Vec<u8> {
    let mut body = vec![0; QUERY_HEAD_BYTES];
    body[8] = 1;
    body[11] = 3;
    body.extend(b"vvvd\0");
    body.extend(text.as_bytes());
    event(QUERY, &body)
}

#[test]
fn only_create_table_changes() {
    let rows = event(23, b"CREATE TABLE `rows`");
    for (text, replaced) in [
        ("CREATE TABLE `d`.`t` (\n  `id` int)", "CREATE OR REPLACE TABLE `d`.`t` (\n  `id` int)"),
        ("CREATE OR REPLACE TABLE `d`.`t` (\n  `id` int)", "CREATE OR REPLACE TABLE `d`.`t` (\n  `id` int)"),
        ("CREATE TABLE IF NOT EXISTS `d`.`t` (\n  `id` int)", "CREATE TABLE IF NOT EXISTS `d`.`t` (\n  `id` int)"),
        ("INSERT INTO t VALUES ('CREATE TABLE `')", "INSERT INTO t VALUES ('CREATE TABLE `')"),
    ] {
        let around = |text: &str| [rows.clone(), query(text), rows.clone(), query("COMMIT")].concat();
        assert_eq!(replacing_tables(around(text)), around(replaced), "{text}");
    }
}

#[test]
fn other_bytes_stay() {
    let whole = [query("CREATE TABLE `t` (a int)"), event(23, b"rows")].concat();
    for length in 0..query("CREATE TABLE `t` (a int)").len() {
        assert_eq!(replacing_tables(whole[..length].to_vec()), whole[..length], "{length} bytes");
    }
    for bytes in [vec![0; 40], vec![0xff; 40], event(QUERY, &[0xff; 20])] {
        assert_eq!(replacing_tables(bytes.clone()), bytes);
    }
}
