//! Rules of a file's shape: its end, its space, its length, its first lines.

use std::path::Path;

use super::{Finding, SourceFile};

/// Ends of names of the files that the rules cover.
pub const KINDS: &[&str] =
    &[".rs", ".toml", ".md", ".sh", ".lua", ".yml", ".sql", "Makefile", "LICENSE-MIT", "LICENSE-APACHE", "Cargo.lock"];
/// Folders of programs, whose files have no ending.
const PROGRAM_FOLDERS: &[&str] = &[".ci", "scripts"];
/// What git ignores, and git itself.
const LEFT_OUT: &[&str] = &[".git", "target", "fuzz/target", "fuzz/corpus", "fuzz/artifacts"];

/// Lines of a source file, unless it says why it has more.
const SOURCE_LIMIT_LINES: usize = 500;
const LONG_BECAUSE: &str = "//! Long because: ";
/// Lines of ARCHITECTURE.md: a map that nobody finishes is none.
const MAP_LIMIT_LINES: usize = 200;

/// Folders of one developer's machine. Spelled in two parts, or this file would be a finding.
const MACHINE_PATHS: &[&str] = &[concat!("/", "work/"), concat!("/", "root/"), concat!("/", "home/")];

/// The commands that set everything up.
const SET_UP_COMMANDS: &[&str] = &["make demo", "make test"];

/// Whether the rules cover this file.
pub fn is_covered(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().unwrap_or(Path::new("")).to_string_lossy();
    KINDS.iter().any(|kind| name.ends_with(kind)) || PROGRAM_FOLDERS.contains(&folder.as_ref())
}

/// Whether a folder is none of ours.
pub fn is_left_out(path: &Path) -> bool {
    LEFT_OUT.iter().any(|folder| path == Path::new(folder))
}

/// Findings in one file. Test data may look as it wants, but name no machine either.
pub fn check(file: &SourceFile) -> Vec<Finding> {
    let mut findings = check_machine_paths(file);
    let is_test_data = file.path.split('/').any(|folder| folder == "testdata");
    if !is_test_data {
        findings.extend(check_space(file));
    }
    if !is_test_data && file.path.ends_with(".rs") {
        findings.extend(check_source(file));
    }
    findings
}

fn check_machine_paths(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for path in MACHINE_PATHS.iter().filter(|path| line.contains(**path)) {
            findings.push(Finding::at(&file.path, index, format!("`{path}` names a folder of one machine")));
        }
    }
    findings
}

fn check_space(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let may_indent_with_tabs = file.path.ends_with("Makefile");
    for (index, line) in file.text.split('\n').enumerate() {
        if line.ends_with([' ', '\t', '\r']) {
            findings.push(Finding::at(&file.path, index, "space at the end of the line"));
        }
        if !may_indent_with_tabs && line.contains('\t') {
            findings.push(Finding::at(&file.path, index, "a tab; indent with spaces, and write \\t in strings"));
        }
    }
    if !file.text.ends_with('\n') || file.text.ends_with("\n\n") {
        findings.push(Finding::new(&file.path, "the file does not end in one newline"));
    }
    findings
}

fn check_source(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let first = file.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !first.starts_with("//! ") || first == "//! Placeholder." {
        findings.push(Finding::new(&file.path, "no `//!` on top that says what the module is for"));
    }
    let lines = file.text.lines().count();
    if lines > SOURCE_LIMIT_LINES && !file.text.contains(LONG_BECAUSE) {
        let advice = format!("more than {SOURCE_LIMIT_LINES}; split it, or say why not with `{LONG_BECAUSE}…`");
        findings.push(Finding::new(&file.path, format!("{lines} lines, {advice}")));
    }
    findings
}

/// The README's code blocks name each command of the set-up once, and no other target of make.
pub fn check_set_up_commands(readme: &str) -> Vec<Finding> {
    let mut in_code = false;
    let mut found = Vec::new();
    for line in readme.lines() {
        let line = line.trim();
        in_code ^= line.starts_with("```");
        let command = line.trim_start_matches("$ ").split('#').next().unwrap_or_default().trim();
        if in_code && command.starts_with("make ") {
            found.push(command);
        }
    }
    found.sort_unstable();
    if found == SET_UP_COMMANDS {
        return Vec::new();
    }
    let what = format!("the set-up is exactly {SET_UP_COMMANDS:?}, each once in a code block; found {found:?}");
    vec![Finding::new("README.md", what)]
}

/// ARCHITECTURE.md stays short.
pub fn check_map(text: &str) -> Vec<Finding> {
    let lines = text.lines().count();
    if lines <= MAP_LIMIT_LINES {
        return Vec::new();
    }
    vec![Finding::new("ARCHITECTURE.md", format!("{lines} lines, more than {MAP_LIMIT_LINES}"))]
}
