//! Finds tests: whole suites, single ones, and SQL files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// What runs when nothing is named.
const SUITES: [&str; 11] =
    ["main", "innodb", "gcol", "vcol", "json", "period", "versioning", "compat/oracle", "parts", "funcs_1", "stress"];
const TEST: &str = "test";
const SQL: &str = "sql";

/// A test or a dump, and its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Source {
    /// As in `main.alter_table`.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

impl Source {
    /// Whether it is a dump already.
    pub(crate) fn is_dump(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == SQL)
    }
}

/// The tests of the names; of the usual suites where there are none.
pub(crate) fn sources(root: &Path, names: &[String]) -> anyhow::Result<Vec<Source>> {
    let usual: Vec<String> = SUITES.iter().map(|suite| (*suite).to_owned()).collect();
    let mut sources = Vec::new();
    for name in if names.is_empty() { &usual } else { names } {
        sources.extend(named(root, name)?);
    }
    sources.sort();
    sources.dedup();
    Ok(sources)
}

fn named(root: &Path, name: &str) -> anyhow::Result<Vec<Source>> {
    if Path::new(name).extension().is_some_and(|extension| extension == SQL) {
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(vec![Source { name: stem, path: name.into() }]);
    }
    if let Some(folder) = folder(root, name) {
        let entries = fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        let paths = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<PathBuf>>>()?;
        let tests = paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == TEST));
        return Ok(tests.map(|path| source(name, path)).collect());
    }
    let found = name.split_once('.').and_then(|(suite, test)| {
        let path = folder(root, suite)?.join(format!("{test}.{TEST}"));
        path.is_file().then(|| source(suite, path))
    });
    match found {
        Some(source) => Ok(vec![source]),
        None => bail!(
            "`{name}` is no suite below {}, no test of one, as in main.alter_table, and no SQL file",
            root.display()
        ),
    }
}

/// The folder of a suite's tests.
fn folder(root: &Path, suite: &str) -> Option<PathBuf> {
    let folder = root.join("suite").join(suite);
    [root.join(suite), folder.join("t"), folder]
        .into_iter()
        .find(|folder| folder.is_dir() && !folder.join("t").is_dir() && !suite.is_empty())
}

fn source(suite: &str, path: PathBuf) -> Source {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Source { name: format!("{suite}.{stem}"), path }
}
