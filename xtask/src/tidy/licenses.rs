//! Rules of licences: what may stand beside `MIT OR Apache-2.0`, and what may be loaded into mariadbd.
//!
//! The expressions are those of SPDX (ISO/IEC 5962, annex D), with the `/` of old manifests for OR.

use super::Finding;

/// A package of the lock file.
pub struct Package {
    pub name: String,
    pub license: Option<String>,
    /// Whether it is linked into the provider.
    pub in_provider: bool,
}

/// Licences that any package may have. deny.toml holds the same for those who have cargo-deny.
pub const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
    "bzip2-1.0.6",
];

/// The crate whose tree is stricter.
pub const PROVIDER: &str = "hortator-provider";

/// Licences that can be linked with mariadbd, which is GPLv2 only: without Apache-2.0, whose patent terms that
/// one does not accept. "MIT OR Apache-2.0" passes by its first half.
pub const ALLOWED_IN_PROVIDER: &[&str] =
    &["0BSD", "BSD-1-Clause", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "ISC", "MIT", "Unicode-3.0", "Zlib"];

/// Every package may be used under a licence of its list.
pub fn check(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Package { name, license, in_provider } in packages {
        let Some(license) = license else {
            findings.push(Finding::new(name, "names no licence"));
            continue;
        };
        if !is_allowed(license, ALLOWED) {
            findings.push(Finding::new(name, format!("its licence `{license}` is not in the list")));
        } else if *in_provider && !is_allowed(license, ALLOWED_IN_PROVIDER) {
            let what = format!("its licence `{license}` cannot be linked with mariadbd, but {PROVIDER} uses it");
            findings.push(Finding::new(name, what));
        }
    }
    findings
}

/// deny.toml's `allow` is the list of this file.
pub fn check_deny_file(deny: &str) -> Vec<Finding> {
    let list = deny.split_once("allow = [").and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    let mut found: Vec<&str> = list.split(',').map(|item| item.trim().trim_matches('"')).collect();
    found.retain(|item| !item.is_empty());
    if found == ALLOWED {
        return Vec::new();
    }
    vec![Finding::new("deny.toml", "its list of licences is not that of xtask's licenses.rs")]
}

/// Whether one of the choices that an expression leaves is in the list. What is not understood is not allowed.
fn is_allowed(expression: &str, list: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut parser = Parser { words: spaced.split_whitespace().collect(), next: 0, list };
    parser.any() == Some(true) && parser.next == parser.words.len()
}

/// OR binds looser than AND. None where the expression is broken.
struct Parser<'a> {
    words: Vec<&'a str>,
    next: usize,
    list: &'a [&'a str],
}

impl Parser<'_> {
    fn take(&mut self, word: &str) -> bool {
        let is_next = self.words.get(self.next) == Some(&word);
        self.next += usize::from(is_next);
        is_next
    }

    fn any(&mut self) -> Option<bool> {
        let mut allowed = self.all()?;
        while self.take("OR") {
            allowed |= self.all()?;
        }
        Some(allowed)
    }

    fn all(&mut self) -> Option<bool> {
        let mut allowed = self.one()?;
        while self.take("AND") {
            allowed &= self.one()?;
        }
        Some(allowed)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let allowed = self.any()?;
            return self.take(")").then_some(allowed);
        }
        let mut name = (*self.words.get(self.next)?).to_owned();
        self.next += 1;
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.words.get(self.next)?);
            self.next += 1;
        }
        Some(self.list.contains(&name.as_str()))
    }
}
