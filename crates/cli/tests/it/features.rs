//! What `mariadb-dump` writes of a schema with each feature, by many of its options.
//!
//! The schemas are files of `crates/load/testdata/schemas`, one feature each. A dump that the client itself cannot load
//! without an error (`--compact` leaves out what makes it loadable) is compared with `--force` on both sides.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::compare::{Terms, assert_same, compare};
use crate::programs::{Contender, Dump, run};
use crate::servers::{DATABASE, Pair, Server, pair};
use crate::target;

/// Options of one dump; a dump may be several runs, one behind the other.
struct Variant {
    name: &'static str,
    runs: &'static [&'static [&'static str]],
}

/// Everything that a schema holds, which is not what a dump holds by default.
const WHOLE: [&str; 3] = ["--routines", "--events", "--triggers"];

const VARIANTS: [Variant; 12] = [
    Variant { name: "default", runs: &[&[]] },
    Variant { name: "hex, complete", runs: &[&["--hex-blob", "--complete-insert", "--net-buffer-length=4096"]] },
    Variant { name: "single rows", runs: &[&["--skip-extended-insert"]] },
    Variant { name: "no-autocommit", runs: &[&["--no-autocommit", "--single-transaction"]] },
    Variant { name: "databases", runs: &[&["--add-drop-database", "--add-drop-trigger", "--databases"]] },
    Variant { name: "skip-opt", runs: &[&["--skip-opt"]] },
    // Triggers, views and routines are there before the rows.
    Variant {
        name: "schema, then rows",
        runs: &[&["--no-data"], &["--no-create-info", "--skip-triggers", "--replace"]],
    },
    Variant { name: "rows twice", runs: &[&[], &["--no-create-info", "--insert-ignore", "--complete-insert"]] },
    Variant { name: "compact", runs: &[&["--compact"]] },
    Variant { name: LATIN1, runs: &[&["--default-character-set=latin1"]] },
    Variant { name: BINARY, runs: &[&["--default-character-set=binary"]] },
    Variant { name: HISTORY, runs: &[&["--skip-tz-utc", "--order-by-primary", "--dump-history"]] },
];

const CONTENDERS: [Contender; 6] = [
    Contender::OneThread,
    Contender::Deferred,
    Contender::ManyChunks,
    Contender::Batches,
    Contender::Default,
    Contender::SmallBatches,
];

const LATIN1: &str = "latin1";
const BINARY: &str = "binary";
const HISTORY: &str = "history, own time zone";

/// Combinations that say nothing.
const LEFT_OUT: [(&str, &str); 4] = [
    // mariadb-dump refuses: its own names do not exist in the charset that it is to speak.
    (LATIN1, "latin1"),
    (LATIN1, "sjis"),
    (LATIN1, "utf8mb4"),
    // Texts of UUIDs are wrong values on a connection of charset binary, and MariaDB's bulk insert tells its first error
    // only when it commits, as another one.
    (BINARY, "uuid_and_inet"),
];

/// Dumps without LOCK TABLES: mariadb-dump's leaves out the sequences that columns take their defaults from, so that the
/// client cannot load its output at all. Hortator can, as it leaves LOCK TABLES out.
const WITHOUT_LOCKS: [&str; 1] = ["sequences"];

/// Schemas with rows whose parents are missing, as their dumps have them: with checks deferred, that is found out.
const WITH_ORPHANS: [&str; 1] = ["cyclic_keys"];
const ORPHAN: &str = "a_child: 1 row(s) have no parent row: (parent) is not in";

macro_rules! features {
    ($($feature:ident),* $(,)?) => {
        pub const FEATURES: &[&str] = &[$(stringify!($feature)),*];

        $(
            #[test]
            fn $feature() {
                check_feature(stringify!($feature));
            }
        )*
    };
}

features!(
    auto_increment,
    binary,
    bit,
    cyclic_keys,
    engines_and_options,
    enum_and_set,
    events,
    generated_columns,
    json,
    latin1,
    names,
    partitions,
    routines,
    self_references,
    sequences,
    sjis,
    spatial,
    system_versioning,
    times_and_numbers,
    triggers,
    utf8mb4,
    uuid_and_inet,
    views,
);

#[test]
fn every_schema_is_a_feature() {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = files.map(|path| path.file_stem().unwrap().to_string_lossy().into()).collect();
    names.sort();
    assert_eq!(names, FEATURES);
}

fn check_feature(feature: &str) {
    assert_same(&check_schema(&pair(), &folder().join(format!("{feature}.sql"))));
}

/// Dumps a schema in all variants and loads the dumps; what differs.
pub fn check_schema(pair: &Pair, schema: &Path) -> Vec<String> {
    let feature = schema.file_stem().unwrap().to_string_lossy().into_owned();
    let dumps = dumps(&pair.client, schema, &feature);
    let mut differences = Vec::new();
    for (number, (variant, dump)) in dumps.iter().enumerate() {
        // Each variant by one contender: over all of them every feature meets every contender.
        let contender = CONTENDERS[number % CONTENDERS.len()];
        let mut found = check(pair, dump, contender, *variant == HISTORY);
        if contender == Contender::Deferred && WITH_ORPHANS.contains(&&*feature) && !Contender::only_client() {
            let is_told = |found: &String| found.contains("status Some(1) instead of 0") && found.contains(ORPHAN);
            match found.iter().position(is_told) {
                Some(at) => drop(found.remove(at)),
                None => found.push("the orphan is not told".to_owned()),
            }
        }
        differences.extend(found.into_iter().map(|found| format!("== {feature}, {variant}: {found}")));
    }
    differences
}

fn check(pair: &Pair, dump: &[u8], contender: Contender, row_times: bool) -> Vec<String> {
    let run = |contender, force| {
        compare(
            pair,
            Dump::Bytes(dump),
            Terms { contenders: &[contender], force, row_times, is_stricter: false, ahead: &[] },
        )
    };
    let once = run(contender, false);
    // What ran beside a failed statement is no matter of this test; with --force nothing stays undone. With checks put
    // off, not the same statements fail.
    match once.failures.is_empty() {
        true => once.differences,
        false if contender == Contender::Deferred => run(Contender::ManyChunks, true).differences,
        false => run(contender, true).differences,
    }
}

/// The dumps of a schema, made by the client's server.
fn dumps(server: &Server, schema: &Path, feature: &str) -> Vec<(&'static str, Vec<u8>)> {
    create(server, schema, feature);
    let variants = VARIANTS.iter().filter(|variant| !LEFT_OUT.contains(&(variant.name, feature)));
    let variants = variants.filter(|variant| target::mysql().is_none() || variant.name != HISTORY);
    variants.map(|variant| (variant.name, dump(server, feature, variant))).collect()
}

/// What `mariadb-dump` writes of a feature's schema without further options.
pub fn default_dump(server: &Server, feature: &str) -> Vec<u8> {
    create(server, &folder().join(format!("{feature}.sql")), feature);
    dump(server, feature, &VARIANTS[0])
}

/// Makes a schema, and nothing else.
fn create(server: &Server, schema: &Path, feature: &str) {
    server.reset();
    let schema = File::open(schema).unwrap();
    let mut create = connected(target::client(), server);
    create.args(["--default-character-set=utf8mb4", DATABASE]).stdin(schema);
    if target::mysql().is_some() {
        // What MySQL does not have is left out of the schema, and the rest is dumped.
        create.args(["--force", "--commands"]);
    }
    let created = run(create);
    let is_there = created.status == Some(0) || target::mysql().is_some();
    assert!(is_there, "{feature}: {}", created.messages);
}

fn dump(server: &Server, feature: &str, variant: &Variant) -> Vec<u8> {
    let mut dump = Vec::new();
    for options in variant.runs {
        let mut command = connected(target::dumper(), server);
        command.args(WHOLE).args(*options);
        if WITHOUT_LOCKS.contains(&feature) {
            command.arg("--skip-add-locks");
        }
        command.arg(DATABASE);
        let dumped = run(command);
        assert_eq!(dumped.status, Some(0), "{feature}, {}: {}", variant.name, dumped.messages);
        dump.extend(dumped.rows);
    }
    dump
}

fn connected(mut command: Command, server: &Server) -> Command {
    command.arg("--no-defaults").arg("-S").arg(server.socket()).args(["-u", "root"]).env("LC_ALL", "C.UTF-8");
    command
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../load/testdata/schemas")
}
