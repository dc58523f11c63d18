//! Layers in, connection out: each case names the file, the environment and the command line.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::{Identity, Tls, TlsSettings, Verify};

const TAKES_PORT: &str = "a port from 1 to 65535 (0 for the default)";

/// Options of a file's `[client]` group, or of `[hortator]` when the text begins with that.
fn entries(text: &str) -> Vec<Entry> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.cnf");
    let head = if text.starts_with('[') { "" } else { "[client]\n" };
    fs::write(&path, format!("{head}{text}")).unwrap();
    let mut reader = option_file::Reader::new(GROUPS.iter().map(ToString::to_string).collect(), None);
    reader.read(&path).unwrap();
    let (mut entries, warnings) = reader.finish();
    assert_eq!(warnings, Vec::<String>::new());
    for entry in &mut entries {
        entry.source_line.path = Arc::from(std::path::Path::new("my.cnf"));
    }
    entries
}

/// `NAME=value NAME=value`.
fn variables(text: &str) -> impl Fn(&str) -> Option<OsString> {
    let pairs: Vec<(String, OsString)> = text
        .split_whitespace()
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    move |name| pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

/// `--name=value --name`.
fn arguments(text: &str) -> Vec<Argument> {
    text.split_whitespace()
        .map(|argument| argument.trim_start_matches("--"))
        .map(|argument| match argument.split_once('=') {
            Some((name, value)) => Argument { name: name.to_owned(), value: Some(value.into()) },
            None => Argument { name: argument.to_owned(), value: None },
        })
        .collect()
}

fn resolve_texts(file: &str, environment: &str, command_line: &str) -> Result<Resolved, Error> {
    resolve(Layers {
        environment: &variables(environment),
        files: &entries(file),
        arguments: &arguments(command_line),
        default_user: &|| Ok("somebody".to_owned()),
    })
}

fn resolved(file: &str, environment: &str, command_line: &str) -> Resolved {
    resolve_texts(file, environment, command_line).unwrap_or_else(|error| panic!("{file} {command_line}: {error}"))
}

/// Each line was tried with the client of MariaDB 10.11.19 (strace of its connect), but for the default socket,
/// which is compiled in and may differ elsewhere.
#[test]
fn socket_or_port() {
    let socket = DEFAULT_SOCKET;
    for (file, environment, command_line, expected) in [
        ("", "", "", socket),
        ("", "", "--host=localhost", socket),
        ("", "", "--host=LOCALHOST", "LOCALHOST:3306"),
        ("", "", "--host=127.0.0.1", "127.0.0.1:3306"),
        ("", "", "--host=::1", "[::1]:3306"),
        ("", "", "--host=", socket),
        ("", "", "--port=3307", "localhost:3307"),
        ("", "", "--host= --port=33", "localhost:33"),
        ("", "", "--host=localhost --port=3307", "localhost:3307"),
        ("", "", "--host=localhost --port=0", "localhost:3306"),
        ("", "", "--host=localhost --protocol=tcp", "localhost:3306"),
        ("", "", "--protocol=TCP", "localhost:3306"),
        ("", "", "--socket=/s", "/s"),
        ("", "", "--host=127.0.0.1 --socket=/s", "127.0.0.1:3306"),
        ("", "", "--protocol=socket --host=127.0.0.1", "127.0.0.1:3306"),
        // The last of port, socket and protocol decides …
        ("", "", "--socket=/s --port=3307", "localhost:3307"),
        ("", "", "--port=3307 --socket=/s", "/s"),
        ("", "", "--protocol=socket --port=33", "localhost:33"),
        ("", "", "--port=33 --protocol=socket", socket),
        ("", "", "--socket=/s --protocol=tcp", "localhost:3306"),
        ("", "", "--protocol=tcp --socket=/s", "/s"),
        ("protocol=tcp", "", "--socket=/s", "/s"),
        ("protocol=tcp", "", "", "localhost:3306"),
        // … but only on the command line.
        ("port=3307", "", "", socket),
        ("port=3307", "", "--host=localhost", socket),
        ("port=3307", "", "--protocol=tcp", "localhost:3307"),
        ("host=127.0.0.9\nport=99", "", "--socket=/s", "127.0.0.9:99"),
        ("host=127.0.0.9\nport=99", "", "--socket=/s --host=localhost", "/s"),
        ("socket=/f\nhost=127.0.0.7", "", "--port=88", "127.0.0.7:88"),
        ("socket=/f\nhost=127.0.0.7", "", "--host=localhost", "/f"),
        ("host=", "", "", socket),
        // The environment is the lowest layer.
        ("", "MYSQL_HOST=127.0.0.1", "", "127.0.0.1:3306"),
        ("", "MYSQL_HOST=127.0.0.3", "--socket=/s", "127.0.0.3:3306"),
        ("", "MYSQL_TCP_PORT=3308", "", socket),
        ("", "MYSQL_TCP_PORT=3308 MYSQL_HOST=127.0.0.1", "", "127.0.0.1:3308"),
        ("", "MYSQL_TCP_PORT=33", "--protocol=tcp", "localhost:33"),
        ("", "MARIADB_UNIX_PORT=/m", "", "/m"),
        ("", "MARIADB_UNIX_PORT=/m MYSQL_UNIX_PORT=/u", "", "/u"),
        ("socket=/f", "MYSQL_UNIX_PORT=/u", "", "/f"),
        ("host=localhost\nport=3307", "MYSQL_HOST=127.0.0.2 MYSQL_UNIX_PORT=/u", "", "/u"),
        ("host=127.0.0.1\nport=77", "MYSQL_HOST=127.0.0.2 MYSQL_TCP_PORT=3308", "", "127.0.0.1:77"),
    ] {
        let address = resolved(file, environment, command_line).options.address;
        assert_eq!(address.to_string(), expected, "file {file:?}, environment {environment:?}, {command_line:?}");
    }
}

#[test]
fn the_last_word_counts() {
    let options = resolved("user=a\nconnect_timeout=3\nuser=b\ndatabase=d", "", "--database=e").options;
    assert_eq!(options.user, "b");
    assert_eq!(options.database.as_deref(), Some("e"));
    assert_eq!(options.connect_timeout, Duration::from_secs(3));
    assert_eq!(options.charset, "utf8mb4");
    let options =
        resolved("user=a\n[hortator]\nuser=h\ndefault-character-set=Latin1\n", "", "--connect-timeout=0").options;
    assert_eq!((options.user.as_str(), options.charset.as_str()), ("h", "latin1"));
    assert_eq!(options.connect_timeout, crate::DEFAULT_CONNECT_TIMEOUT);
    let options = resolved("[hortator]\nuser=h\ndefault_character_set=auto\n[client]\nuser=c", "", "").options;
    assert_eq!((options.user.as_str(), options.charset.as_str()), ("c", "utf8mb4"));
    assert_eq!(resolved("", "", "").options.user, "somebody");
}

#[test]
fn passwords() {
    let given = |text: &str| (Some(Password::from(text)), false);
    for (file, environment, command_line, expected) in [
        ("", "", "", (None, false)),
        ("", "MYSQL_PWD=env", "", given("env")),
        ("password=file", "MYSQL_PWD=env", "", given("file")),
        ("password=", "MYSQL_PWD=env", "", given("")),
        ("password=file", "", "--password=arg", given("arg")),
        ("password=file", "", "--skip-password", given("")),
        ("password=file", "MYSQL_PWD=env", "--password", (None, true)),
        ("password", "", "", (None, true)),
        ("password", "", "--password=arg", given("arg")),
    ] {
        let resolved = resolved(file, environment, command_line);
        let actual = (resolved.options.password.clone(), resolved.ask_password);
        assert!(actual == expected, "file {file:?}, environment {environment:?}, {command_line:?}");
        if resolved.ask_password {
            let asked = resolved.with_password(Password::from("typed"));
            assert!(!asked.ask_password && asked.options.password == Some(Password::from("typed")));
        }
    }
}

#[test]
fn encryption() {
    let ca = || Some(PathBuf::from("ca"));
    let identity = |certificate: &str, key: &str| {
        Some(Identity { certificate: PathBuf::from(certificate), key: PathBuf::from(key) })
    };
    let required = |verify, ca, identity| Tls::Required(TlsSettings { verify, ca, identity });
    for (file, command_line, expected) in [
        ("", "--host=db", Tls::Preferred),
        ("", "", Tls::Disabled),
        ("", "--ssl", required(Verify::Nothing, None, None)),
        ("ssl", "--host=db", required(Verify::Nothing, None, None)),
        ("ssl=OFF", "--host=db", Tls::Disabled),
        ("SKIP_SSL", "--host=db", Tls::Disabled),
        ("disable-ssl=0", "--host=db", required(Verify::Nothing, None, None)),
        ("loose-skip-ssl", "--host=db", Tls::Disabled),
        ("ssl-ca=ca", "--host=db", required(Verify::Authority, ca(), None)),
        ("ssl-ca=ca", "--host=db --skip-ssl", Tls::Disabled),
        ("skip-ssl", "--host=db --ssl-ca=ca", required(Verify::Authority, ca(), None)),
        ("ssl-verify-server-cert", "--host=db", required(Verify::Host, None, None)),
        ("ssl-verify-server-cert", "--host=db --ssl-ca=ca", required(Verify::Host, ca(), None)),
        ("ssl-ca=ca\nssl-verify-server-cert=0", "", required(Verify::Authority, ca(), None)),
        ("skip-ssl-verify-server-cert", "--host=db", Tls::Preferred),
        ("ssl-cert=c\nssl-key=k", "", required(Verify::Nothing, None, identity("c", "k"))),
        ("ssl-cert=c", "", required(Verify::Nothing, None, identity("c", "c"))),
        ("ssl-key=k", "", required(Verify::Nothing, None, identity("k", "k"))),
        ("ssl-mode=disabled", "--host=db", Tls::Disabled),
        ("ssl-mode=PREFERRED\nssl-ca=ca", "", Tls::Preferred),
        ("ssl-mode=VERIFY_CA", "", required(Verify::Authority, None, None)),
        ("ssl-mode=VERIFY_IDENTITY", "--ssl-ca=ca", required(Verify::Host, ca(), None)),
    ] {
        assert_eq!(resolved(file, "", command_line).options.tls, expected, "file {file:?}, {command_line:?}");
    }
}

#[test]
fn names_that_are_not_ours() {
    let warnings = |file: &str| resolved(file, "", "").warnings;
    assert_eq!(warnings("compress\nmax_allowed_packet=1G\nskip-auto-rehash\nlocal-infile=1"), Vec::<String>::new());
    assert_eq!(
        warnings("user=a\nssl-crl=x\nloose-future"),
        [
            "my.cnf:3 in [client]: `ssl-crl` is ignored, because Hortator does not have this option",
            "my.cnf:4 in [client]: `loose-future` is ignored, because Hortator does not have this option",
        ]
    );
    assert_eq!(
        warnings("[hortator]\nloose-future"),
        ["my.cnf:2 in [hortator]: `loose-future` is ignored, because Hortator does not have this option"]
    );
    let advice = "write names in full; `loose-NAME` would be ignored";
    for (file, command_line, expected) in [
        ("[hortator]\n\ncompress", "", "my.cnf:3 in [hortator]: unknown option `compress`"),
        ("[hortator]\nconnect-time=7", "", "my.cnf:2 in [hortator]: unknown option `connect-time`"),
        ("[hortator]\nskip-host", "", "my.cnf:2 in [hortator]: unknown option `skip-host`"),
        ("", "--future=1", "command line: unknown option `future`"),
    ] {
        let error = resolve_texts(file, "", command_line).unwrap_err().to_string();
        let name = error.split('`').nth(1).unwrap().to_owned();
        assert_eq!(error, format!("{expected}: {}", advice.replace("NAME", &name)));
    }
}

#[test]
fn invalid_option_values() {
    for (file, environment, command_line, expected) in [
        ("port=abc", "", "", format!("my.cnf:2 in [client]: `port` is `abc`: give {TAKES_PORT}")),
        ("", "MYSQL_TCP_PORT=x", "", format!("environment variable MYSQL_TCP_PORT: `port` is `x`: give {TAKES_PORT}")),
        ("", "", "--port=99999", format!("command line: `port` is `99999`: give {TAKES_PORT}")),
        ("host", "", "", "my.cnf:2 in [client]: `host` is without a value: give a name in UTF-8".to_owned()),
        ("ssl=yes", "", "", "my.cnf:2 in [client]: `ssl` is `yes`: give ON, TRUE, 1, OFF, FALSE or 0".to_owned()),
        ("protocol=pipe", "", "", "my.cnf:2 in [client]: `protocol` is `pipe`: give tcp or socket".to_owned()),
    ] {
        assert_eq!(resolve_texts(file, environment, command_line).unwrap_err().to_string(), expected);
    }
    for line in
        ["default-character-set=ucs2", "default-character-set=x'y", "ssl-mode=ON", "connect-timeout=-1", "ssl-ca"]
    {
        assert!(matches!(resolve_texts(line, "", ""), Err(Error::Value { .. })), "{line}");
    }
}

#[test]
fn passwords_stay_out_of_debug_output() {
    let arguments = arguments("--password=secret");
    let shown = format!("{arguments:?} {:?}", resolved("password=secret", "MYSQL_PWD=secret", "--password=secret"));
    assert!(!shown.contains("secret"), "{shown}");
}

/// The order of the client: `mariadb --help` lists it, but for the two in the middle.
#[test]
fn files_and_groups_are_read_in_the_order_of_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("[client]\nuser={name}\n[client_s]\nuser={name}_s\n[client_t]\nuser={name}_t"))
            .unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (system, extra) = (file("system"), file("extra"));
    file("home/.my.cnf");
    file("mariadb/my.cnf");
    file("mysql/my.cnf");
    let root = folder.path().to_str().unwrap();
    let home = format!("HOME={root}/home");
    let users = |choice: &FileChoice, environment: &str| -> String {
        let (entries, _) = choice.read(&[&system, "/nowhere/my.cnf"], &variables(environment)).unwrap();
        let values: Vec<_> =
            entries.iter().map(|entry| String::from_utf8(entry.value.clone().unwrap()).unwrap()).collect();
        values.join(" ")
    };
    let plain = FileChoice::default();
    let with_extra = FileChoice { extra_file: Some(extra.clone().into()), ..FileChoice::default() };
    let suffix = |suffix: &str| FileChoice { group_suffix: Some(suffix.to_owned()), ..FileChoice::default() };
    assert_eq!(users(&plain, ""), "system");
    assert_eq!(users(&plain, &format!("{home} MYSQL_HOME={root}/mysql")), "system mysql/my.cnf home/.my.cnf");
    assert_eq!(users(&plain, &format!("MYSQL_HOME={root}/mysql MARIADB_HOME={root}/mariadb")), "system mariadb/my.cnf");
    let all = format!("{home} MYSQL_HOME={root}/mysql");
    assert_eq!(users(&with_extra, &all), "system mysql/my.cnf extra home/.my.cnf");
    let only = FileChoice { defaults_file: Some("~/.my.cnf".into()), ..FileChoice::default() };
    assert_eq!(users(&only, &home), "home/.my.cnf");
    let none = FileChoice { no_defaults: true, ..FileChoice::default() };
    assert_eq!(users(&none, &home), "");
    assert_eq!(users(&plain, "MYSQL_GROUP_SUFFIX=_s"), "system system_s");
    assert_eq!(users(&plain, "MYSQL_GROUP_SUFFIX=_s MARIADB_GROUP_SUFFIX=_t"), "system system_t");
    assert_eq!(users(&suffix("_t"), "MYSQL_GROUP_SUFFIX=_s"), "system system_t");
    let missing = FileChoice { defaults_file: Some("/nowhere/my.cnf".into()), ..FileChoice::default() };
    assert!(matches!(missing.read(&[], &variables("")), Err(Error::File(option_file::Error::Unreadable { .. }))));
}

#[test]
fn the_operating_system_names_the_user() {
    let passwd = b"root:x:0:0:root:/root:/bin/bash\nmysql:x:104:105::/nonexistent:/bin/false\nbroken\n";
    assert_eq!(files::name_in(passwd, 104).as_deref(), Some("mysql"));
    assert_eq!(files::name_in(passwd, 10), None);
    let id = std::process::Command::new("id").arg("-un").output().unwrap();
    assert_eq!(os_user_name(&variables("USER=other")).unwrap(), String::from_utf8(id.stdout).unwrap().trim());
}
