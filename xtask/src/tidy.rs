//! The rules of this repository that no compiler checks, each with its data in one place.
//!
//! A rule is a function from texts to findings, so its tests are bad examples; [`check`] reads the texts. A test runs
//! it on the real tree, so `cargo test` enforces every rule.

mod crates;
mod files;
mod licenses;
mod terms;
mod words;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, MetadataCommand};

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// `path`, `path:line`, or the name of a package.
    pub place: String,
    /// The violation, and the remedy.
    pub what: String,
}

impl Finding {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Finding {
        Finding { place: place.into(), what: what.into() }
    }

    fn at(path: &str, line_index: usize, what: impl Into<String>) -> Finding {
        Finding::new(format!("{path}:{}", line_index + 1), what)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// A file of the repository.
struct SourceFile {
    /// Relative to the root, with `/`.
    path: String,
    /// Bytes that are not UTF-8 (dumps in `testdata` hold any bytes) are replaced.
    text: String,
}

/// A rule for one file's text.
type Rule = fn(&str) -> Vec<Finding>;

/// Files with a rule of their own.
const SINGLE_FILES: &[(&str, Rule)] = &[
    ("ARCHITECTURE.md", files::check_map),
    ("Cargo.lock", crates::check_lock),
    ("README.md", files::check_set_up_commands),
    ("deny.toml", licenses::check_deny_file),
    ("rust-toolchain.toml", crates::check_toolchain),
];

/// Prints what breaks a rule; an error if anything does.
pub fn run(root: &Path) -> Result<()> {
    let findings = check(root)?;
    for finding in &findings {
        eprintln!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} findings", findings.len());
    }
    Ok(())
}

/// All findings in a repository.
///
/// # Errors
/// When its files or its packages cannot be read.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let files = read_files(root)?;
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .other_options(vec!["--locked".to_owned()])
        .exec()
        .context("cargo metadata --locked")?;
    let mut findings = Vec::new();
    for file in &files {
        findings.extend(files::check(file));
        findings.extend(words::check(file));
        findings.extend(terms::check(file));
    }
    findings.extend(crates::check_edges(&crates_of(&metadata)));
    findings.extend(licenses::check(&packages_of(&metadata, &tree_of(root, licenses::PROVIDER)?)));
    for (path, rule) in SINGLE_FILES {
        match fs::read_to_string(root.join(path)) {
            Ok(text) => findings.extend(rule(&text)),
            Err(error) => findings.push(Finding::new(*path, format!("cannot be read: {error}"))),
        }
    }
    Ok(findings)
}

fn read_files(root: &Path) -> Result<Vec<SourceFile>> {
    let mut paths = Vec::new();
    list(root, Path::new(""), &mut paths)?;
    let read = |path: PathBuf| -> Result<SourceFile> {
        let bytes = fs::read(root.join(&path)).with_context(|| path.display().to_string())?;
        let path = path.to_string_lossy().into_owned();
        Ok(SourceFile { path, text: String::from_utf8_lossy(&bytes).into_owned() })
    };
    paths.into_iter().map(read).collect()
}

/// Lists the files that [`files::KINDS`] covers, except those that git ignores.
fn list(root: &Path, folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries: Vec<_> = fs::read_dir(root.join(folder))?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = folder.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() && !files::is_left_out(&path) {
            list(root, &path, paths)?;
        } else if kind.is_file() && files::is_covered(&path) {
            paths.push(path);
        }
    }
    Ok(())
}

fn crates_of(metadata: &Metadata) -> Vec<crates::Crate> {
    let members = metadata.workspace_packages();
    let is_member = |name: &str| members.iter().any(|member| member.name.as_str() == name);
    let dependencies = |package: &cargo_metadata::Package, for_tests: bool| -> Vec<String> {
        let of_kind = package.dependencies.iter().filter(|dependency| {
            (dependency.kind == cargo_metadata::DependencyKind::Development) == for_tests && is_member(&dependency.name)
        });
        of_kind.map(|dependency| dependency.name.clone()).collect()
    };
    let describe = |package: &&cargo_metadata::Package| crates::Crate {
        name: package.name.to_string(),
        uses: dependencies(package, false),
        tests_use: dependencies(package, true),
    };
    members.iter().map(describe).collect()
}

fn packages_of(metadata: &Metadata, in_provider: &[String]) -> Vec<licenses::Package> {
    let describe = |package: &cargo_metadata::Package| licenses::Package {
        name: package.name.to_string(),
        license: package.license.clone(),
        in_provider: in_provider.iter().any(|name| package.name.as_str() == name),
    };
    metadata.packages.iter().map(describe).collect()
}

/// The names of a package and of all that are linked into it when it is built alone. The metadata tell of the whole
/// workspace, in which another crate's features of a common dependency count too.
fn tree_of(root: &Path, name: &str) -> Result<Vec<String>> {
    let mut tree = Command::new(env!("CARGO"));
    tree.current_dir(root).args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    let output = tree.args(["--package", name]).output().context("cargo tree")?;
    if !output.status.success() {
        bail!("cargo tree --package {name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let lines = String::from_utf8(output.stdout).context("cargo tree prints text")?;
    Ok(lines.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests;
