//! Bad examples of every rule, and the real tree, which has none.

use super::*;

fn findings(path: &str, text: &str) -> Vec<String> {
    let file = SourceFile { path: path.to_owned(), text: text.to_owned() };
    let found = files::check(&file).into_iter().chain(words::check(&file));
    found.map(|finding| finding.to_string()).collect()
}

/// The one finding, which begins so.
fn assert_finds(path: &str, text: &str, expected: &str) {
    let found = findings(path, text);
    assert!(matches!(&found[..], [one] if one.starts_with(expected)), "{path}: {text}: {found:?}");
}

#[test]
fn the_tree_is_tidy() {
    let found = check(crate::repository()).unwrap();
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "cargo xtask tidy finds:\n{}", lines.join("\n"));
}

#[test]
fn space_and_ends_of_files() {
    assert_finds("a.md", "a \nb\n", "a.md:1: space at the end");
    assert_finds("a.md", "a\r\nb\n", "a.md:1: space at the end");
    assert_finds("a.md", "a\nb\tc\n", "a.md:2: a tab");
    assert_finds("a.md", "a", "a.md: the file does not end in one newline");
    assert_finds("a.md", "a\n\n", "a.md: the file does not end in one newline");
    assert_eq!(findings("a.md", "a\n\nb\n"), [""; 0]);
    assert_eq!(findings("Makefile", "a:\n\tb\n"), [""; 0]);
    assert_eq!(findings("crates/x/testdata/a.sql", "a\t \r\n\n"), [""; 0]);
}

#[test]
fn paths_of_a_machine() {
    for folder in ["work", "root", "home"] {
        let text = format!("//! A.\n// see /{folder}/x\n");
        assert_finds("a.rs", &text, &format!("a.rs:2: `/{folder}/` names a folder of one machine"));
        assert_finds("crates/x/testdata/a.sql", &text, "crates/x/testdata/a.sql:2: ");
    }
    assert_eq!(findings("a.rs", "//! /network/x, /root:/bin/sh\n"), [""; 0]);
}

#[test]
fn module_docs_and_length() {
    assert_finds("a.rs", "use b;\n\n//! Late.\n", "a.rs: no `//!` on top");
    assert_finds("a.rs", "//!\n//! Late.\n", "a.rs: no `//!` on top");
    assert_finds("a.rs", "//! Placeholder.\n", "a.rs: no `//!` on top");
    assert_eq!(findings("a.rs", "\n//! Fine.\n"), [""; 0]);
    let long = |head: &str| format!("{head}{}", "a;\n".repeat(500));
    assert_finds("a.rs", &long("//! A.\n"), "a.rs: 501 lines, more than 500");
    assert_eq!(findings("a.rs", &long("//! A.\n//! Long because: one table.\n")), [""; 0]);
    assert_eq!(findings("a.md", &long("A\n")), [""; 0]);
}

#[test]
fn empty_words() {
    assert_finds("crates/x/src/utils.rs", "//! A.\n", "crates/x/src/utils.rs: `utils` says nothing");
    assert_finds("a/helpers/b.rs", "//! A.\n", "a/helpers/b.rs: `helpers` says nothing");
    assert_finds("a.rs", "//! A.\npub(crate) struct StateManager;\n", "a.rs:2: `manager` says nothing");
    assert_finds("a.rs", "//! A.\nmod test_util;\n", "a.rs:2: `util` says nothing");
    assert_finds("a.rs", "//! A.\npub trait CommonPart {}\n", "a.rs:2: `common` says nothing");
    assert_eq!(
        findings("a.rs", "//! A.\nuse mysql_common::x;\n// a type common to all\nstruct Utilisation;\n"),
        [""; 0]
    );
}

#[test]
fn old_words() {
    let word = ["Sla", "ve"].concat();
    assert_finds("a.rs", &format!("//! A.\nstruct {word};\n"), "a.rs:2: ");
    assert_finds("docs/a.md", &format!("A\n{word}s\n"), "docs/a.md:2: ");
    assert_eq!(findings("crates/sandbox/src/semisync.rs", &format!("//! {word}\n")), [""; 0]);
    assert_eq!(findings("crates/x/testdata/a.sql", &format!("{word}\n")), [""; 0]);
}

#[test]
fn files_that_are_covered() {
    for path in ["a/b.rs", ".cargo/config.toml", "Makefile", ".ci/run", "scripts/packages", "x/testdata/a.sql"] {
        assert!(files::is_covered(Path::new(path)), "{path}");
    }
    for path in ["a/b.gz", "src/run", ".gitignore"] {
        assert!(!files::is_covered(Path::new(path)), "{path}");
    }
    assert!(files::is_left_out(Path::new("target")) && files::is_left_out(Path::new("fuzz/corpus")));
    assert!(!files::is_left_out(Path::new("crates/load/src/target")));
}

#[test]
fn edges_between_crates() {
    let check = |name: &str, uses: &[&str], tests_use: &[&str]| -> Vec<String> {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let it = crates::Crate { name: name.to_owned(), uses: names(uses), tests_use: names(tests_use) };
        crates::check_edges(&[it]).iter().map(ToString::to_string).collect()
    };
    assert_eq!(check("hortator-mysql", &["hortator-core"], &["hortator-sandbox"]), [""; 0]);
    assert_eq!(check("hortator-load", &["hortator-mysql"], &["hortator-sandbox", "hortator-core"]), [""; 0]);
    let upward = "hortator-mysql: may not use hortator-sandbox: imports run downward only";
    assert_eq!(check("hortator-mysql", &["hortator-sandbox"], &[]), [upward]);
    let tested = "hortator-core: its tests may not use hortator-sandbox";
    assert_eq!(check("hortator-core", &[], &["hortator-sandbox"]), [tested]);
    assert_eq!(check("other", &[], &[]), ["other: a crate that xtask's table of edges does not have"]);
}

#[test]
fn lock_file_and_toolchain() {
    let package = |source: &str| format!("[[package]]\nname = \"a\"\nsource = \"{source}\"\n");
    let crates_io = package("registry+https://github.com/rust-lang/crates.io-index");
    assert_eq!(crates::check_lock(&crates_io.repeat(203)), []);
    let many = crates::check_lock(&crates_io.repeat(204));
    assert_eq!(many, [Finding::new("Cargo.lock", "204 packages, more than 203")]);
    let mirror = crates::check_lock(&package("sparse+https://mirror.example/"));
    assert_eq!(mirror[0].to_string(), "Cargo.lock:3: \"sparse+https://mirror.example/\" is not crates.io");
    assert_eq!(crates::check_toolchain("[toolchain]\nchannel = \"1.95.0\"\n"), []);
    for moving in ["channel = \"stable\"\n", "channel = \"1.95\"\n", ""] {
        assert_eq!(crates::check_toolchain(moving).len(), 1, "{moving}");
    }
}

#[test]
fn licences() {
    let found = |license: &str, in_provider: bool| -> Vec<String> {
        let license = Some(license.to_owned()).filter(|license| !license.is_empty());
        let package = licenses::Package { name: "a".to_owned(), license, in_provider };
        licenses::check(&[package]).iter().map(ToString::to_string).collect()
    };
    for license in [
        "MIT OR Apache-2.0",
        "MIT/Apache-2.0",
        "Unlicense OR MIT",
        "MIT OR LGPL-2.1-or-later",
        "(MIT OR GPL-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        "MIT AND (ISC OR X)",
    ] {
        assert_eq!(found(license, false), [""; 0], "{license}");
    }
    for license in
        ["GPL-2.0", "MIT AND GPL-2.0", "ISC AND (X OR Y)", "MIT OR", "(MIT", "MIT MIT", "MIT WITH X", "X OR Y"]
    {
        assert_eq!(found(license, false), [format!("a: its licence `{license}` is not in the list")]);
    }
    assert_eq!(found("", false), ["a: names no licence"]);
    assert_eq!(found("MIT OR Apache-2.0", true), [""; 0]);
    for license in ["Apache-2.0", "Apache-2.0 AND ISC", "Apache-2.0 WITH LLVM-exception"] {
        assert_eq!(found(license, false), [""; 0]);
        assert!(found(license, true)[0].contains("cannot be linked with mariadbd"), "{license}");
    }
    assert!(licenses::ALLOWED_IN_PROVIDER.iter().all(|license| licenses::ALLOWED.contains(license)));
}

#[test]
fn the_deny_file_has_the_same_list() {
    let list: String = licenses::ALLOWED.iter().map(|license| format!("    \"{license}\",\n")).collect();
    assert_eq!(licenses::check_deny_file(&format!("[licenses]\nallow = [\n{list}]\n")), []);
    assert_eq!(licenses::check_deny_file("[licenses]\nallow = [\n    \"MIT\",\n]\n").len(), 1);
    assert_eq!(licenses::check_deny_file("").len(), 1);
}

#[test]
fn the_readme_has_two_commands() {
    let good = "# A\n\n```sh\nmake demo   # runs it\n$ make test\n```\nThen make it so.\n";
    assert_eq!(files::check_set_up_commands(good), []);
    for bad in ["make demo\nmake test\n", "```\nmake demo\n```\n", "```\nmake demo\nmake test\nmake install\n```\n"] {
        assert_eq!(files::check_set_up_commands(bad).len(), 1, "{bad}");
    }
    assert_eq!(files::check_map(&"a\n".repeat(201)).len(), 1);
    assert_eq!(files::check_map(&"a\n".repeat(200)), []);
}

#[test]
fn the_tree_of_a_package_is_what_is_linked() {
    let tree = tree_of(crate::repository(), "hortator-mysql").unwrap();
    let has = |name: &str| tree.iter().any(|found| found == name);
    assert!(has("hortator-mysql") && has("mysql_common") && has("ring"));
    assert!(!has("hortator-sandbox"), "only its tests use that");
    // Its features of rustls are its own.
    assert!(!tree_of(crate::repository(), licenses::PROVIDER).unwrap().contains(&"ring".to_owned()));
    assert!(tree_of(crate::repository(), "nobody").is_err());
}
