//! What the program says of itself: `hortator man`, `hortator completions`, `hortator --version`.

use std::fs;
use std::process::{Command, Output};

fn hortator(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_hortator")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn text(arguments: &[&str]) -> String {
    String::from_utf8(hortator(arguments).stdout).unwrap()
}

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let list = help.split_once("Commands:\n").map_or("", |(_, rest)| rest.split_once("\n\n").unwrap().0);
    let names = list.lines().filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn each_command_has_a_man_page_with_its_options() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man");
    hortator(&["man", pages.to_str().unwrap()]);
    let top = commands(&text(&["--help"]));
    assert!(top.contains(&"load".to_owned()), "{top:?}");
    for name in top {
        let page = fs::read_to_string(pages.join(format!("hortator-{name}.1"))).unwrap();
        assert!(page.contains(".TH"), "{name}: {page}");
        for further in commands(&text(&[&name, "--help"])) {
            fs::metadata(pages.join(format!("hortator-{name}-{further}.1"))).unwrap();
        }
    }
    let load = fs::read_to_string(pages.join("hortator-load.1")).unwrap();
    assert!(load.contains("\\-\\-resume") && load.contains("\\-\\-host"), "{load}");
    assert!(!load.contains("chunk\\-bytes"), "an option that the help does not show");
}

#[test]
fn each_option_of_load_stands_below_its_heading() {
    let help = text(&["load", "--help"]);
    let heading_of = |option: &str| {
        let before = help.split_once(option).unwrap_or_else(|| panic!("{option}: {help}")).0;
        before.lines().rev().find(|line| line.ends_with(':') && !line.starts_with(' ')).unwrap().to_owned()
    };
    for (option, heading) in [
        ("  -?, --help", "Options:"),
        ("--ignore-lines <N>", "Rows:"),
        ("--nodes <HOST", "Cluster:"),
        ("--throttle <LIMIT", "Throttle:"),
        ("--in-doubt <applied", "Checkpoints:"),
        ("--defaults-file <FILE>", "Connection:"),
    ] {
        assert_eq!(heading_of(option), heading, "{option}");
    }
}

#[test]
fn a_cause_is_told_once() {
    let output = Command::new(env!("CARGO_BIN_EXE_hortator"))
        .args(["load", "--defaults-file=/nowhere/my.cnf", "dump.sql"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let expected = "hortator: cannot read the option file /nowhere/my.cnf: No such file or directory (os error 2)\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
}

#[test]
fn bash_completes_commands_and_options() {
    let script = "source <(\"$1\" completions bash); shift
        COMP_WORDS=(hortator \"$@\"); COMP_CWORD=$#; _hortator hortator \"${!#}\" \"${@: -2:1}\"; echo \"${COMPREPLY[@]}\"";
    let complete = |words: &[&str]| {
        let program = env!("CARGO_BIN_EXE_hortator");
        let output = Command::new("bash").args(["-c", script, "bash", program]).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete(&["repl"]), "replicate");
    assert_eq!(complete(&["load", "--resu"]), "--resume");
    assert_eq!(complete(&["replicate", "copy"]), "copy-again");
}

#[test]
fn every_shell_has_a_script() {
    for (shell, sign) in [("bash", "complete -F"), ("zsh", "#compdef hortator"), ("fish", "complete -c hortator")] {
        let script = text(&["completions", shell]);
        assert!(script.contains(sign), "{shell}: {script}");
    }
}

#[test]
fn the_version_names_the_commit_and_the_formats() {
    let version = text(&["--version"]);
    let lines: Vec<&str> = version.lines().collect();
    assert_eq!(lines[0], format!("hortator {}", env!("CARGO_PKG_VERSION")));
    assert_eq!(text(&["-V"]).trim(), lines[0]);
    let commit = lines[1].strip_prefix("commit: ").unwrap();
    // The build's own: the repository may be at another one by now.
    assert_eq!(commit, env!("HORTATOR_COMMIT"));
    let is_commit =
        |text: &str| text.split_once(" of ").is_some_and(|(hash, day)| hash.len() >= 7 && day.starts_with("20"));
    assert!(commit == "unknown" || is_commit(commit), "{commit}");
    assert_eq!(lines[2], "dumps: plain, gzip, zstd, xz, bzip2, lz4");
}

#[test]
fn a_folder_for_man_pages_that_cannot_be_made_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_hortator")).args(["man", "/proc/nowhere"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.starts_with("hortator: creating /proc/nowhere: "), "{message}");
}
