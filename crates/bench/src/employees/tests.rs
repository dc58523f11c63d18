//! The dump is the same every time, has the expected rows, and satisfies the keys of its own schema.

use std::collections::HashSet;

use super::*;

/// The values of every row of a table, as text without quotes.
fn rows(dump: &Dump, table: &str) -> Vec<Vec<String>> {
    let (_, files) = TABLES.iter().find(|(name, _)| *name == table).unwrap();
    let mut rows = Vec::new();
    for file in *files {
        for line in fs::read_to_string(dump.folder.join(file)).unwrap().lines() {
            let values = &line[line.find('(').unwrap() + 1..line.rfind(')').unwrap()];
            rows.push(values.split(',').map(|value| value.trim_matches('\'').to_owned()).collect());
        }
    }
    rows
}

fn keys(rows: &[Vec<String>], columns: &[usize]) -> HashSet<Vec<String>> {
    rows.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect()
}

#[test]
fn the_same_bytes_every_time() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let one = generate(first.path(), 0.01).unwrap();
    let other = generate(second.path(), 0.01).unwrap();
    assert_eq!(one.checksum, other.checksum);
    // If this number changes, earlier figures were measured on another dump.
    assert_eq!(format!("{:032x}", one.checksum), "22473d1e7a9bd122d89a4e469e7bff3f");
}

#[test]
fn has_the_rows_of_its_shape() {
    for scale in [0.000_2, 0.003, 0.01] {
        let folder = tempfile::tempdir().unwrap();
        let dump = generate(folder.path(), scale).unwrap();
        let shape = Shape::scaled(scale).unwrap();
        assert_eq!(dump.rows, shape.rows(), "scale {scale}");
        assert_eq!(rows(&dump, "salaries").len() as u64, shape.salaries, "scale {scale}");
        assert_eq!(rows(&dump, "dept_manager").len(), 24, "scale {scale}");
    }
}

#[test]
fn the_whole_has_the_samples_rows() {
    assert_eq!(Shape::scaled(1.0).unwrap().rows(), 3_919_015);
}

#[test]
fn keeps_its_keys() {
    let folder = tempfile::tempdir().unwrap();
    let dump = generate(folder.path(), 0.01).unwrap();
    let employees = keys(&rows(&dump, "employees"), &[0]);
    let departments = keys(&rows(&dump, "departments"), &[0]);
    for (table, primary_key) in [
        ("employees", &[0][..]),
        ("dept_emp", &[0, 1]),
        ("dept_manager", &[0, 1]),
        ("titles", &[0, 1, 2]),
        ("salaries", &[0, 2]),
    ] {
        let rows = rows(&dump, table);
        assert_eq!(keys(&rows, primary_key).len(), rows.len(), "{table} has a key twice");
        assert!(keys(&rows, &[0]).is_subset(&employees), "{table} names an employee who is not there");
        if table.starts_with("dept_") {
            assert!(keys(&rows, &[1]).is_subset(&departments), "{table} names a department that is not there");
        }
    }
}

#[test]
fn a_cached_dump_is_reused_and_a_damaged_one_is_generated_again() {
    let parent = tempfile::tempdir().unwrap();
    let dump = cached(parent.path(), 0.001).unwrap();
    let file = dump.folder.join("load_titles.dump");
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(cached(parent.path(), 0.001).unwrap(), dump);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), written);

    fs::write(&file, "cut off").unwrap();
    assert_eq!(cached(parent.path(), 0.001).unwrap(), dump);
    assert_ne!(fs::read(&file).unwrap(), b"cut off");
}

#[test]
fn a_scale_out_of_range_is_an_error() {
    for scale in [0.0, -1.0, f64::NAN, 1e9] {
        assert!(matches!(generate(Path::new("/nowhere"), scale), Err(Error::Scale { .. })));
    }
}
