//! Command lines as a DBA types them.

use std::fs;
use std::io;

use clap::{CommandFactory, Parser, Subcommand};
use hortator_mysql::Password;

use super::password::{Found, read_line, take_password};
use super::*;

#[derive(Debug, Parser)]
struct Program {
    #[command(subcommand)]
    subcommand: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    Load {
        #[command(flatten)]
        connection: ConnectionArgs,
        #[arg(short, long)]
        force: bool,
        #[arg(short, long)]
        threads: Option<u32>,
        files: Vec<String>,
    },
    Sandbox {
        #[arg(short)]
        ports: Option<String>,
    },
}

fn parse(line: &str) -> Result<ConnectionArgs, clap::Error> {
    let words = ["hortator", "load"].into_iter().chain(line.split_whitespace());
    Program::try_parse_from(words).map(|program| match program.subcommand {
        Sub::Load { connection, .. } => connection,
        Sub::Sandbox { .. } => unreachable!("the line begins with load"),
    })
}

fn resolve(line: &str) -> Resolved {
    parse(line).unwrap().resolve_in(&[], &|_| None).unwrap()
}

#[test]
fn the_command_line_is_kept_in_order() {
    let address = |line: &str| resolve(line).options.address.to_string();
    assert_eq!(address("-h db -P 3307 dump.sql"), "db:3307");
    assert_eq!(address("-hdb -P3307"), "db:3307");
    assert_eq!(address("-h a -h b"), "b:3306");
    assert_eq!(address("-S /a -P 3307"), "localhost:3307");
    assert_eq!(address("-P 3307 --force -S /a"), "/a");
    assert_eq!(address("-P 1 -S /a -P 2"), "localhost:2");
    assert_eq!(address("--protocol=tcp"), "localhost:3306");
    let options = resolve("-uanna --database=d --default-character-set latin1 --skip-ssl -hdb").options;
    assert_eq!(
        (options.user.as_str(), options.database.as_deref(), options.charset.as_str()),
        ("anna", Some("d"), "latin1")
    );
    assert_eq!(options.tls, hortator_mysql::Tls::Disabled);
    assert!(matches!(resolve("--ssl -hdb").options.tls, hortator_mysql::Tls::Required(_)));
    assert!(matches!(resolve("--skip-ssl --ssl -hdb").options.tls, hortator_mysql::Tls::Required(_)));
    assert!(matches!(resolve("--ssl --skip-ssl -hdb").options.tls, hortator_mysql::Tls::Disabled));
    assert!(matches!(resolve("--ssl=0 -hdb").options.tls, hortator_mysql::Tls::Disabled));
}

#[test]
fn passwords_are_attached_or_prompted_for() {
    assert!(resolve("-p dump.sql").ask_password);
    assert!(resolve("--password dump.sql").ask_password);
    assert!(!resolve("-p --skip-password").ask_password);
    assert!(resolve("--skip-password -p").ask_password);
    assert_eq!(resolve("--password=x").options.password, Some(Password::from("x")));
    assert_eq!(resolve("").options.password, None);
}

#[test]
fn help_is_a_question_mark() {
    for line in ["-?", "--help"] {
        assert_eq!(parse(line).unwrap_err().kind(), ErrorKind::DisplayHelp);
    }
    Program::command().debug_assert();
}

#[test]
fn option_files_are_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.cnf");
    fs::write(&file, "[client]\nuser=file\nssl-crl=x\n[hortator_s]\nuser=suffix\n").unwrap();
    let file = file.to_str().unwrap();
    let resolved = resolve(&format!("--defaults-file={file}"));
    assert_eq!(resolved.options.user, "file");
    assert_eq!(resolved.warnings.len(), 1, "{:?}", resolved.warnings);
    assert_eq!(resolve(&format!("--defaults-extra-file {file} --defaults-group-suffix=_s")).options.user, "suffix");
    assert_eq!(resolve(&format!("--defaults-file={file} -u me")).options.user, "me");
    assert!(parse("--no-defaults --defaults-file=x").is_err());
    assert!(parse("--defaults-extra-file=x --defaults-file=x").is_err());
    let error = parse("--defaults-file=/nowhere/my.cnf").unwrap().resolve_in(&[], &|_| None).unwrap_err();
    assert!(error.to_string().contains("cannot read the option file /nowhere/my.cnf"), "{error}");
}

#[test]
fn passwords_are_found_in_arguments() {
    let found = |line: &str| {
        let arguments = line.split_whitespace().map(OsString::from).collect();
        take_password(&Program::command(), arguments).map(|Found { arguments, index, password }| {
            let text = |word: &OsString| word.to_str().unwrap().to_owned();
            (arguments.iter().map(text).collect::<Vec<_>>().join(" "), index, text(&password))
        })
    };
    let some = |line: &str, index, password: &str| Some((line.to_owned(), index, password.to_owned()));
    assert_eq!(found("hortator load -psecret a"), some("hortator load a", 2, "secret"));
    assert_eq!(found("hortator load a --password=s=1"), some("hortator load a", 3, "s=1"));
    assert_eq!(found("hortator load -p=s"), some("hortator load", 2, "=s"));
    assert_eq!(found("hortator load -fpsecret a"), some("hortator load -f a", 3, "secret"));
    assert_eq!(found("hortator load -pa -u u -pb"), some("hortator load -u u", 4, "b"));
    assert_eq!(found("hortator load --password="), some("hortator load", 2, ""));
    for line in [
        "hortator load -p secret",
        "hortator load --password secret",
        "hortator load -upeter -t4 -fu peter",
        "hortator load -- -pfile --password=file",
        "hortator sandbox -p5000",
        "hortator -psecret",
        "hortator",
    ] {
        assert_eq!(found(line), None, "{line}");
    }
}

#[test]
fn a_typed_line_is_edited() {
    let line =
        |keys: &str| read_line(keys.bytes().map(io::Result::Ok)).unwrap().map(|line| String::from_utf8(line).unwrap());
    assert_eq!(line("secret\n").as_deref(), Some("secret"));
    assert_eq!(line("sex\x7fcret\r").as_deref(), Some("secret"));
    assert_eq!(line("s\u{e9}\x08e\u{e9}\x08\n").as_deref(), Some("se"));
    assert_eq!(line("\x7fwrong\x15right\n").as_deref(), Some("right"));
    assert_eq!(line("\n").as_deref(), Some(""));
    assert_eq!(line("sec\x03ret\n"), None);
    assert_eq!(line("sec"), None);
}
