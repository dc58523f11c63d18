//! Folders by the names in them, and what is made of each.

use std::fs;
use std::path::Path;

use super::*;

/// A folder with these files, whose members are named without the folder.
pub(super) fn members_of(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let prefix = format!("{}/", folder.path().display());
    let shown = |error: &str| error.replace(&prefix[..prefix.len() - 1], "DIR");
    match Input::new(&[folder.path().to_owned()], &RowsOptions::default()) {
        Ok(Input { unreadable_rows, .. }) if !unreadable_rows.is_empty() => Err(shown(&unreadable_rows[0].error)),
        Ok(input) => Ok(input.members().iter().map(|member| member.name().replace(&prefix, "")).collect()),
        Err(error) => Err(shown(&error.to_string())),
    }
}

#[test]
fn a_folder_of_sql_files_is_read_in_the_order_of_the_names() {
    let found = members_of(&[("10.sql", ""), ("2.sql.gz", ""), ("a.sql", ""), ("B.sql", ""), (".hidden", "")]);
    assert_eq!(found.unwrap(), ["10.sql", "2.sql.gz", "B.sql", "a.sql"]);
}

#[test]
fn what_else_is_in_a_folder_is_named() {
    let strange = members_of(&[("a.sql", ""), ("notes.md", ""), ("more/b.sql", "")]).unwrap_err();
    assert!(strange.contains("DIR is a folder of .sql files") && strange.contains("notes.md, more/"), "{strange}");
    let empty = members_of(&[("notes.md", "")]).unwrap_err();
    assert!(empty.contains("DIR holds no file of a dump"), "{empty}");
}

#[test]
fn a_file_that_is_there_plain_and_compressed_is_refused() {
    let tab = [("t.sql", "CREATE TABLE `t` (`id` int);\n"), ("t.txt", "1\n")];
    for (twin, files) in [
        ("a.sql.gz", &[("a.sql", ""), ("b.sql", "")][..]),
        ("t.sql.zst", &tab),
        ("t.txt.gz", &tab),
        ("shop/t.sql.gz", &[("shop/t.sql", tab[0].1), ("shop/t.txt", "1\n")]),
        ("d.t.00000.sql.gz", &[("metadata", ""), ("d.t-schema.sql", ""), ("d.t.00000.sql", "")]),
    ] {
        let error = members_of(&[files, &[(twin, "")]].concat()).unwrap_err();
        let name = twin.rsplit('/').next().unwrap();
        let plain = crate::input::plain_name(name);
        assert!(error.contains(&format!("holds {plain} and {name}, which are one file of a dump")), "{error}");
    }
}

#[test]
fn a_view_stands_behind_the_views_that_it_reads() {
    let view =
        |body: &str| format!("/*!50001 DROP VIEW IF EXISTS `v`*/;\n/*!50001 CREATE */ /*!50001 VIEW {body} */;\n");
    let table = "CREATE TABLE `t` (`v` int);\n";
    let found = members_of(&[
        ("a/u.sql", &view("`u` AS select `v`.`v` AS `v` from `v`")),
        ("a/v.sql", &view("`v` AS select `v`.`v` AS `u` from `b`.`v`")),
        ("b/t.sql", table),
        ("b/t.txt", ""),
        ("b/v.sql", &view("`v` AS select `t`.`v` AS `v` from `t`")),
    ]);
    let found: Vec<_> = found.unwrap().into_iter().filter(|name| !name.starts_with("(settings")).collect();
    assert_eq!(found, ["b/t.sql", "b/t.txt", "b/v.sql", "a/v.sql", "a/u.sql"]);
}

#[test]
fn only_tables_with_rows_of_their_own_need_a_file_of_rows() {
    let rows = [("a.sql", "CREATE TABLE `a` (`id` int) ENGINE=InnoDB;\n"), ("a.txt", "")];
    let found = |name: &str, text: &str| members_of(&[&rows[..], &[(name, text)]].concat()).map(drop);
    let columns = "(\n  `id` int(11) DEFAULT NULL\n)";
    for engine in
        ["MRG_MyISAM DEFAULT CHARSET=utf8mb4 UNION=(`a`)", "FEDERATED", "CONNECT `TABLE_TYPE`='CSV'", "SPIDER"]
    {
        assert_eq!(found("t.sql", &format!("CREATE TABLE `t` {columns} ENGINE={engine};\n")), Ok(()));
    }
    for engine in ["InnoDB", "CSV", "BLACKHOLE", "MyISAM COMMENT='ENGINE=FEDERATED'"] {
        let error = found("t.sql", &format!("CREATE TABLE `t` {columns} ENGINE={engine};\n")).unwrap_err();
        assert!(error.contains("lacks the file t.txt (t.sql defines its table)"), "{error}");
    }
    let log = format!("CREATE TABLE IF NOT EXISTS `slow_log` {columns} ENGINE=CSV;\n");
    let of_schema = |schema| format!("-- Host: localhost    Database: {schema}\n--\n{log}");
    assert_eq!(found("slow_log.sql", &of_schema("mysql")), Ok(()));
    assert!(found("slow_log.sql", &of_schema("shop")).unwrap_err().contains("lacks the file slow_log.txt"));
    let folders = [("mysql/slow_log.sql", &log[..]), ("shop/a.sql", rows[0].1), ("shop/a.txt", "")];
    assert_eq!(members_of(&folders).map(drop), Ok(()));
}

#[test]
fn columns_in_which_characters_look_like_separators_are_refused() {
    let error = |definition: &str| members_of(&[("t.sql", definition), ("t.txt.gz", "x")]).map(drop);
    let table =
        |column: &str, options: &str| format!("CREATE TABLE `t` (\n  `id` int(11),\n  `v` {column}\n) {options};\n");
    for charset in ["ucs2", "utf16", "utf16le", "utf32"] {
        for (column, of_table) in [
            (format!("varchar(5) CHARACTER SET {charset}"), "latin1".to_owned()),
            (format!("enum('a') COLLATE {charset}_bin"), "latin1".to_owned()),
            ("text".to_owned(), charset.to_owned()),
        ] {
            let definition = table(&column, &format!("ENGINE=InnoDB DEFAULT CHARSET={of_table}"));
            let found = error(&definition).unwrap_err();
            assert!(found.contains(&format!("cannot load DIR/t.txt.gz: column v is in {charset}")), "{found}");
            // Rows that the dump has converted have other bytes.
            assert_eq!(error(&format!("/*!40101 SET NAMES latin1 */;\n{definition}")), Ok(()));
            assert_eq!(members_of(&[("t.sql", &definition), ("t.txt", "")]).map(drop), Ok(()));
        }
    }
    assert_eq!(error(&table("int(11)", "ENGINE=InnoDB DEFAULT CHARSET=utf16")), Ok(()));
    assert_eq!(error(&table("text CHARACTER SET sjis", "ENGINE=InnoDB DEFAULT CHARSET=ujis")), Ok(()));
    // Of --skip-create-options.
    assert_eq!(error(&table("text CHARACTER SET ujis", "")), Ok(()));
    assert_eq!(error(&table("text CHARACTER SET sjis", "")), Ok(()));
    // Of --skip-quote-names.
    let found = error(&table("text CHARACTER SET sjis", "").replace('`', "")).unwrap_err();
    assert!(found.contains("not certain which of its columns are in sjis"), "{found}");
}

#[test]
fn patterns() {
    let is_match = |pattern: &str, name: &str| pattern::is_match(pattern.as_bytes(), name.as_bytes());
    for (pattern, name) in [("*.sql", "a.sql"), ("*", ""), ("a?c*", "abc"), ("*a*b", "xaayb"), ("a*", "a")] {
        assert!(is_match(pattern, name), "{pattern} {name}");
    }
    for (pattern, name) in [("*.sql", "a.sqlx"), ("?", ""), ("a?c", "abbc"), ("*a*b", "xaay"), ("", "a")] {
        assert!(!is_match(pattern, name), "{pattern} {name}");
    }
    assert!(pattern::is_pattern(Path::new("dir/*.sql")) && !pattern::is_pattern(Path::new("d*r/a.sql")));
}

#[test]
fn a_mydumper_directory_is_read_by_what_its_files_are_for() {
    let schema = |name| format!("CREATE DATABASE `{name}`;\n");
    let (shop, dotted) = (schema("shop"), schema("my.shop"));
    let found = members_of(&[
        ("metadata", "Started dump at: x\n"),
        ("shop-schema-create.sql", &shop),
        ("my.shop-schema-create.sql.gz", &dotted),
        ("shop.t-schema.sql", ""),
        ("shop.t.00002.sql", ""),
        ("shop.t.00010.sql.zst", "SELECT 1;\n"),
        ("shop.t.100000.sql", ""),
        ("shop.t-schema-triggers.sql", ""),
        ("shop.o-schema-schema.sql", ""),
        ("shop.o-schema.00001.sql.gz", "SELECT 1;\n"),
        ("shop.o-schema.sql", ""),
        ("shop.v-schema.sql", ""),
        ("shop.v-schema-view.sql", ""),
        ("shop-schema-post.sql", ""),
        ("my.shop.a-metadata", "0"),
        ("my.shop.a-schema.sql", ""),
        ("all-schema-create-tablespace.sql", ""),
    ]);
    let files: Vec<_> = found.unwrap().into_iter().filter(|name| !name.starts_with("(settings")).collect();
    let expected = [
        "all-schema-create-tablespace.sql",
        "my.shop-schema-create.sql.gz",
        "shop-schema-create.sql",
        "my.shop.a-schema.sql",
        "shop.o-schema-schema.sql",
        "shop.t-schema.sql",
        "shop.v-schema.sql",
        "shop.o-schema.sql",
        "shop.o-schema.00001.sql.gz",
        "shop.t.00002.sql",
        "shop.t.00010.sql.zst",
        "shop.t.100000.sql",
        "shop.t-schema-triggers.sql",
        "shop-schema-post.sql",
        "shop.v-schema-view.sql",
    ];
    assert_eq!(files, expected);
}
