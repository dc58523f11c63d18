//! Gives the program the commit that it is built from, for `--version`.

use std::process::Command;

/// Names the commit where there is no repository, as in a package's build.
const VARIABLE: &str = "HORTATOR_COMMIT";

fn main() {
    println!("cargo:rerun-if-env-changed={VARIABLE}");
    // Git writes a line there at each commit and checkout.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
        .filter(|path| std::fs::exists(path).is_ok_and(|is_there| is_there))
    {
        println!("cargo:rerun-if-changed={log}");
    } else {
        println!("cargo:rerun-if-changed=build.rs");
    }
    let named = std::env::var(VARIABLE).ok().filter(|commit| !commit.is_empty());
    let commit = named.or_else(|| git(&["log", "-1", "--format=%h of %cs"])).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env={VARIABLE}={commit}");
}

/// The line that git prints; None without git or a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|line| !line.is_empty())
}
