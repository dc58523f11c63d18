//! Builds the program of `tests/harness` and the library that it loads, each once.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use self::cargo::cargo;

#[path = "../../../sandbox/tests/it/cargo.rs"]
mod cargo;

struct Built {
    program: PathBuf,
    library: PathBuf,
}

fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let test = env::current_exe().unwrap();
        let folder = test.parent().and_then(Path::parent).expect("a test lies in PROFILE/deps");
        Built { program: build_program(&test), library: build_library(folder) }
    })
}

/// Builds the shared library: a test run alone does not, so an existing one may be old.
fn build_library(folder: &Path) -> PathBuf {
    let mut build = cargo();
    build.args(["build", "--quiet", "--locked", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    build.arg("--target-dir").arg(folder.parent().unwrap());
    if folder.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().unwrap().success(), "the library cannot be built");
    let library = folder.join("libhortator_wsrep.so");
    assert!(library.is_file(), "{} is not there", library.display());
    library
}

fn build_program(test: &Path) -> PathBuf {
    let program = test.with_extension("harness");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/harness");
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "c");
    let sources = fs::read_dir(sources).unwrap().map(|entry| entry.unwrap().path()).filter(is_source);
    let mut compile = Command::new("cc");
    compile.args(["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-pthread", "-o"]);
    compile.arg(&program).args(sources).arg("-ldl");
    assert!(compile.status().expect("cc is there, for Rust links with it").success());
    program
}

/// The library.
pub fn library() -> &'static Path {
    &built().library
}

/// Starts the program with these arguments; its output is kept.
pub fn start(arguments: &[&str]) -> Child {
    let built = built();
    let mut command = Command::new(&built.program);
    command.arg(&built.library).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Runs the program, which must succeed. Returns its output.
pub fn run(arguments: &[&str]) -> String {
    let output = start(arguments).wait_with_output().unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{arguments:?}: {}\n{output_text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    output_text.into_owned()
}

/// The numbers at the ends of lines, summed by the text before them.
#[derive(Default)]
pub struct Counts(HashMap<String, u64>);

impl Counts {
    pub fn add(&mut self, output_text: &str) {
        for line in output_text.lines() {
            if let Some((name, number)) = line.rsplit_once(' ')
                && let Ok(number) = number.parse::<u64>()
            {
                *self.0.entry(name.to_owned()).or_default() += number;
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|number| *number > 0)
    }

    /// Whether each of these events has happened.
    pub fn has_all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.has(name))
    }

    /// A run without one of these events proves nothing.
    pub fn assert_some(&self, names: &[&str]) {
        for name in names {
            assert!(self.has(name), "nothing was {name}: {:?}", self.0);
        }
    }
}

/// The seeds of a run: the one of `HORTATOR_SEED`, or new ones.
pub fn seeds(many: u64) -> Vec<u64> {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let number = |name| env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let first = RandomState::new().build_hasher().finish() % 1_000_000;
    let seeds = match number("HORTATOR_SEED") {
        Some(seed) => vec![seed],
        None => (first..).take(usize::try_from(number("HORTATOR_SEEDS").unwrap_or(many)).unwrap()).collect(),
    };
    println!("seeds (HORTATOR_SEED replays one): {seeds:?}");
    seeds
}
