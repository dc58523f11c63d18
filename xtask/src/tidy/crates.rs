//! Rules of crates: who may use whom, how many packages there are, where they come from, which compiler.

use super::Finding;

/// A crate of the workspace and those of the workspace that it depends on.
pub struct Crate {
    pub name: String,
    pub uses: Vec<String>,
    pub tests_use: Vec<String>,
}

/// Who may use whom: downward only, as ARCHITECTURE.md draws it. A new crate starts here.
const EDGES: &[(&str, &[&str])] = &[
    (
        "hortator",
        &[
            "hortator-bench",
            "hortator-check",
            "hortator-load",
            "hortator-mysql",
            "hortator-replicate",
            "hortator-sandbox",
        ],
    ),
    ("hortator-bench", &["hortator-check", "hortator-core", "hortator-mysql", "hortator-sandbox"]),
    ("hortator-load", &["hortator-check", "hortator-core", "hortator-mysql"]),
    ("hortator-check", &["hortator-mysql"]),
    ("hortator-replicate", &["hortator-check", "hortator-core", "hortator-load", "hortator-mysql"]),
    ("hortator-sandbox", &["hortator-mysql"]),
    ("hortator-mysql", &["hortator-core"]),
    ("hortator-provider", &["hortator-core"]),
    ("hortator-witness", &["hortator-provider"]),
    ("hortator-core", &[]),
    ("xtask", &["hortator-check", "hortator-mysql", "hortator-sandbox"]),
];

/// What tests may use in addition, of any crate but those that stand alone: they need real servers.
const FOR_TESTS: &[&str] = &["hortator-sandbox"];

/// How many packages Cargo.lock may hold.
const PACKAGES_LIMIT: usize = 203;

/// Where they come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Every edge between crates is in the table.
pub fn check_edges(crates: &[Crate]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Crate { name, uses, tests_use } in crates {
        let Some((_, allowed)) = EDGES.iter().find(|(known, _)| known == name) else {
            findings.push(Finding::new(name, "a crate that xtask's table of edges does not have"));
            continue;
        };
        for used in uses.iter().filter(|used| !allowed.contains(&used.as_str())) {
            findings.push(Finding::new(name, format!("may not use {used}: imports run downward only")));
        }
        let for_tests = if allowed.is_empty() { &[][..] } else { FOR_TESTS };
        let tests_may = |used: &str| allowed.contains(&used) || for_tests.contains(&used);
        for used in tests_use.iter().filter(|used| !tests_may(used)) {
            findings.push(Finding::new(name, format!("its tests may not use {used}")));
        }
    }
    findings
}

/// Cargo.lock stays small, and everybody can fetch what it names.
pub fn check_lock(lock: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    if packages > PACKAGES_LIMIT {
        findings.push(Finding::new("Cargo.lock", format!("{packages} packages, more than {PACKAGES_LIMIT}")));
    }
    for (index, line) in lock.lines().enumerate() {
        if let Some(source) = line.strip_prefix("source = ")
            && source.trim_matches('"') != REGISTRY
        {
            findings.push(Finding::at("Cargo.lock", index, format!("{source} is not crates.io")));
        }
    }
    findings
}

/// The compiler is one version, not a moving name.
pub fn check_toolchain(toolchain: &str) -> Vec<Finding> {
    let channel = toolchain.lines().find_map(|line| line.strip_prefix("channel = "));
    let parts: Vec<&str> = channel.unwrap_or_default().trim_matches('"').split('.').collect();
    if parts.len() == 3 && parts.iter().all(|part| part.parse::<u16>().is_ok()) {
        return Vec::new();
    }
    vec![Finding::new("rust-toolchain.toml", "the channel is not one version, such as 1.95.0")]
}
