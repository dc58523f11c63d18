//! Replaced terms: words that once named a concept for which the field has a standard term.
//!
//! `terms.txt` is the table. A word is refused only in the form in which it named the concept, because most of them are
//! also plain English.

use std::sync::LazyLock;

use super::{Finding, SourceFile};

/// Every replaced term.
static REPLACED: LazyLock<Vec<Replaced>> = LazyLock::new(|| parse(include_str!("terms.txt")));

/// Where replaced terms may stay, and why.
const ALLOWED: &[(&str, &str)] = &[
    ("xtask/src/tidy/", "the table itself"),
    ("CHANGELOG.md", "it tells users of replaced flags"),
    ("crates/provider/src/legacy_file_names", "it renames files of older data folders"),
    ("docs/benchmarks/", "records of earlier measurements"),
];

/// What defines a name in Rust.
const DEFINERS: &[&str] = &["mod", "struct", "enum", "trait", "type", "union", "fn", "const", "static"];

/// The form in which a replaced term is refused, as `terms.txt` describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Name,
    Identifier,
    File,
    Flag,
    Phrase,
}

/// A line of the table.
#[derive(Debug)]
struct Replaced {
    form: Form,
    /// The beginnings of the paths to which it applies.
    scope: Vec<&'static str>,
    old: &'static str,
    new: &'static str,
}

/// Reads the table.
///
/// # Panics
/// When a line is neither a comment, a section nor a pair of terms.
fn parse(table: &'static str) -> Vec<Replaced> {
    let mut all = Vec::new();
    let mut section = None;
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let (form, paths) = header.split_once(": ").unwrap_or((header, ""));
            let form = match form {
                "name" => Form::Name,
                "identifier" => Form::Identifier,
                "file" => Form::File,
                "flag" => Form::Flag,
                "phrase" => Form::Phrase,
                other => panic!("terms.txt: unknown form `{other}`"),
            };
            section = Some((form, paths.split(' ').collect::<Vec<_>>()));
            continue;
        }
        let (old, new) = line.split_once(" -> ").unwrap_or_else(|| panic!("terms.txt: `{line}` is not a pair"));
        let (form, scope) = section.clone().unwrap_or_else(|| panic!("terms.txt: `{line}` is in no section"));
        all.push(Replaced { form, scope, old, new });
    }
    all
}

impl Replaced {
    fn finding(&self, file: &SourceFile, line_index: Option<usize>) -> Finding {
        let what = format!("`{}` is a replaced term: write `{}`", self.old, self.new);
        match line_index {
            Some(index) => Finding::at(&file.path, index, what),
            None => Finding::new(&file.path, what),
        }
    }

    /// Whether the file or a folder above it has this name.
    fn is_in_path(&self, path: &str) -> bool {
        let below = self.scope.iter().find_map(|prefix| path.strip_prefix(prefix)).unwrap_or(path);
        let names: Vec<&str> = below.split('/').filter_map(|part| part.split('.').next()).collect();
        let old: Vec<&str> = self.old.split('/').collect();
        names.windows(old.len()).any(|names| names == old)
    }

    fn is_in_line(&self, line: &str, lower_line: &str, is_source: bool, is_text: bool) -> bool {
        match self.form {
            Form::File => false,
            Form::Name => is_source && defines(line, self.old),
            Form::Identifier => is_text && has_word(line, self.old),
            Form::Flag => has_word(line, &format!("--{}", self.old)),
            Form::Phrase => is_text && has_word(lower_line, self.old),
        }
    }
}

/// Findings in one file. Test data are as servers and users wrote them.
pub fn check(file: &SourceFile) -> Vec<Finding> {
    let is_test_data = file.path.split('/').any(|folder| folder == "testdata");
    if is_test_data || ALLOWED.iter().any(|(prefix, _)| file.path.starts_with(prefix)) {
        return Vec::new();
    }
    let applies = |term: &&Replaced| term.scope.iter().any(|prefix| file.path.starts_with(prefix));
    let terms: Vec<&Replaced> = REPLACED.iter().filter(applies).collect();
    let files = terms.iter().filter(|term| term.form == Form::File && term.is_in_path(&file.path));
    let mut findings: Vec<Finding> = files.map(|term| term.finding(file, None)).collect();
    let is_source = file.path.ends_with(".rs");
    let is_text = is_source || file.path.ends_with(".md");
    for (index, line) in file.text.lines().enumerate() {
        let lower = line.to_ascii_lowercase();
        let in_line = terms.iter().filter(|term| term.is_in_line(line, &lower, is_source, is_text));
        findings.extend(in_line.map(|term| term.finding(file, Some(index))));
    }
    findings
}

/// Whether the line defines this name.
fn defines(line: &str, name: &str) -> bool {
    let code = line.trim_start();
    if code.starts_with("//") || !has_word(line, name) {
        return false;
    }
    let mut tokens = code.split(|c: char| !is_word(c)).filter(|token| !token.is_empty()).peekable();
    while let Some(token) = tokens.next() {
        if DEFINERS.contains(&token) && tokens.peek() == Some(&name) {
            return true;
        }
    }
    false
}

/// Whether the text has this word or phrase with no word character beside it.
fn has_word(text: &str, phrase: &str) -> bool {
    let is_flag = phrase.starts_with('-');
    let touches = |c: Option<char>| c.is_some_and(|c| is_word(c) || (is_flag && c == '-'));
    text.match_indices(phrase).any(|(start, _)| {
        let (before, after) = (text[..start].chars().next_back(), text[start + phrase.len()..].chars().next());
        !(touches(before) || touches(after) && phrase.ends_with(is_word))
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = SourceFile { path: path.to_owned(), text: text.to_owned() };
        check(&file).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_form_is_refused() {
        for (path, text, expected) in [
            ("crates/core/src/a.rs", "pub(super) struct Gate {", "crates/core/src/a.rs:1: `Gate` is a replaced term"),
            ("crates/load/src/a.rs", "x\n// see [`Surroundings`]", "crates/load/src/a.rs:2: `Surroundings` is"),
            ("crates/load/src/produce/mod.rs", "", "crates/load/src/produce/mod.rs: `produce` is a replaced term"),
            ("crates/provider/src/group/mod.rs", "", "crates/provider/src/group/mod.rs: `src/group` is"),
            ("crates/bench/src/ways.rs", "", "crates/bench/src/ways.rs: `ways` is a replaced term: write `contenders`"),
            ("docs/load.md", "hortator load --unsettled=done", "docs/load.md:1: `unsettled` is"),
            ("docs/provider.md", "The node is Out of touch.", "docs/provider.md:1: `out of touch` is"),
            ("crates/provider/src/a.rs", "    fn lose_touch(&self) {", "crates/provider/src/a.rs:1: `lose_touch` is"),
        ] {
            let found = found(path, text);
            assert!(matches!(&found[..], [one] if one.starts_with(expected)), "{path}: {text}: {found:?}");
        }
    }

    #[test]
    fn plain_english_and_other_scopes_are_not_refused() {
        for (path, text) in [
            ("crates/mysql/src/a.rs", "// The gate of the class is a place.\nstruct Gate;"),
            ("crates/core/src/a.rs", "let gate = 1; // a struct that has a Gate"),
            ("crates/provider/src/gate.rs", ""),
            ("crates/provider/src/consensus/raft/tests/group.rs", ""),
            ("docs/load.md", "--forgetful --unsettled-x ---ways indoors"),
            ("docs/benchmarks/load.md", "--ways"),
            ("CHANGELOG.md", "--unsettled is now --in-doubt"),
            ("crates/x/testdata/a.sql", "-- out of touch"),
        ] {
            assert_eq!(found(path, text), [""; 0], "{path}: {text}");
        }
    }

    #[test]
    fn the_table_has_each_term_once() {
        let mut seen = Vec::new();
        for Replaced { form, scope, old, new } in REPLACED.iter() {
            assert!(!seen.contains(&(form, scope, old)) && old != new, "{old} -> {new}");
            seen.push((form, scope, old));
        }
    }
}
