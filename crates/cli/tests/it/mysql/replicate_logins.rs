//! Accounts and certificates of sources, MySQL's and MariaDB's: who is let in, and what is said and done where not. The same for a
//! load into MySQL.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use hortator_sandbox::Temporary;
use tempfile::TempDir;

use super::replicate::{mariadb, source};
use crate::programs::{hortator, run as run_program};
use crate::replicate::fan_in::{FanIn, run, texts};
use crate::replicate::line_of;

/// A login: user, password, options of the connection, and what is said where it fails. `DIR` stands for the folder of certificates.
type Login<'l> = (&'l str, &'l str, &'l [(&'l str, &'l str)], Option<&'l str>);

const OFF: (&str, &str) = ("ssl_mode", "DISABLED");
const CERT: (&str, &str) = ("ssl_cert", "DIR/client.pem");
const KEY: (&str, &str) = ("ssl_key", "DIR/client.key");
const CA: (&str, &str) = ("ssl_ca", "DIR/ca.pem");

/// An authority with certificates for a server at 127.0.0.1 and a client, and another authority.
fn certificates() -> TempDir {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let openssl = |arguments: &str| {
        let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    };
    for name in ["ca", "other"] {
        openssl(&format!(
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -keyout {name}.key -out {name}.pem"
        ));
    }
    for (name, extension) in [("server", "subjectAltName=IP:127.0.0.1"), ("client", "extendedKeyUsage=clientAuth")] {
        fs::write(folder.path().join("extension"), extension).unwrap();
        openssl(&format!("req -newkey rsa:2048 -nodes -subj /CN={name} -keyout {name}.key -out {name}.csr"));
        openssl(&format!(
            "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile extension -out {name}.pem"
        ));
        // The servers may run as another account.
        set_mode(&folder.path().join(format!("{name}.key")), 0o644);
    }
    set_mode(folder.path(), 0o755);
    folder
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Settings of a server with these certificates.
fn of_server(folder: &Path) -> Vec<(&'static str, String)> {
    [("ssl_ca", "ca.pem"), ("ssl_cert", "server.pem"), ("ssl_key", "server.key")]
        .map(|(name, file)| (name, folder.join(file).display().to_string()))
        .to_vec()
}

/// Follows the source with each login.
fn follow_with(fan_in: &mut FanIn, folder: &Path, logins: &[Login<'_>]) {
    let port = fan_in.sources[0].node(0).port();
    let mut number = 0;
    for (user, password, options, said) in logins {
        let options: String = options
            .iter()
            .map(|(key, value)| format!("{key} = \"{}\"\n", value.replace("DIR", &folder.display().to_string())))
            .collect();
        fan_in.write(&format!(
            "{}[[source]]\nname = \"s1\"\nhost = \"127.0.0.1\"\nport = {port}\nuser = \"{user}\"\npassword = \"{password}\"\n{options}start = \"now\"\n",
            fan_in.target_table()
        ));
        let name = format!("{user} {password} {options}");
        // The server remembers no password: it asks for all of it.
        run(&fan_in.sources[0], &["SET sql_log_bin = 0", "FLUSH PRIVILEGES"]);
        let (shown, code) = fan_in.says("check");
        match said {
            None => {
                assert_eq!(code, Some(0), "{name}: {shown}");
                let agent = fan_in.start();
                number += 1;
                run(&fan_in.sources[0], &[&format!("INSERT INTO d.t VALUES ({number})")]);
                fan_in.catch_up();
                assert_eq!(texts(&fan_in.target, "SELECT MAX(id) FROM d.t"), [[number.to_string()]], "{name}");
                fan_in.says("stop");
                assert_eq!(agent.end().1, Some(0), "{name}");
            }
            Some(said) => {
                assert!(code == Some(1) && shown.contains(said), "{name}: {code:?} {shown}");
                let agent = fan_in.start_only();
                fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains(" stopped "));
                let (shown, _) = fan_in.says("status");
                assert!(shown.contains(said), "{name}: {shown}");
                assert!(password.is_empty() || !shown.contains(&format!("'{password}'")), "{name}: {shown}");
                fan_in.says("stop");
                assert_eq!(agent.end().1, Some(1), "{name}");
            }
        }
    }
}

/// Loads into the server with each login.
fn load_with(server: &Temporary, folder: &Path, logins: &[Login<'_>]) {
    let dump = folder.join("dump.sql");
    fs::write(&dump, "CREATE TABLE IF NOT EXISTS d.l (id INT);\nINSERT INTO d.l VALUES (1), (2);\n").unwrap();
    let mut loads = 0;
    for (user, password, options, said) in logins {
        let mut load = hortator("load");
        load.args(["--no-defaults", "-h", "127.0.0.1", "-P", &server.node(0).port().to_string(), "-u", user]);
        load.arg(format!("--password={password}")).env_remove("MYSQL_PWD").stdin(Stdio::null());
        for (key, value) in *options {
            load.arg(format!("--{}={}", key.replace('_', "-"), value.replace("DIR", &folder.display().to_string())));
        }
        run(server, &["FLUSH PRIVILEGES"]);
        let outcome = run_program({
            load.arg(&dump);
            load
        });
        loads += u32::from(said.is_none());
        let is_expected = match said {
            None => outcome.status == Some(0),
            Some(said) => outcome.status == Some(1) && outcome.messages.contains(said),
        };
        assert!(is_expected, "{user} {password} {options:?}: {:?} {}", outcome.status, outcome.messages);
    }
    assert_eq!(texts(server, "SELECT COUNT(*) FROM d.l"), [[(2 * loads).to_string()]]);
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn logins_at_mysql_sources() {
    let folder = certificates();
    let settings = of_server(folder.path());
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut fan_in = FanIn::of(vec![source(&settings)], mariadb(&[]));
    run(
        &fan_in.sources[0],
        &[
            "SET sql_log_bin = 0",
            "CREATE USER sha256@'%' IDENTIFIED WITH sha256_password BY 'secret'",
            "CREATE USER sha2@'%' IDENTIFIED BY 'secret'",
            "CREATE USER nothing@'%'",
            "CREATE USER expired@'%' IDENTIFIED BY 'secret' PASSWORD EXPIRE",
            "CREATE USER locked@'%' IDENTIFIED BY 'secret' ACCOUNT LOCK",
            "CREATE USER sealed@'%' IDENTIFIED BY 'secret' REQUIRE SSL",
            "CREATE USER certified@'%' IDENTIFIED BY 'secret' REQUIRE X509",
        ],
    );
    for user in ["sha256", "sha2", "nothing", "expired", "locked", "sealed", "certified"] {
        run(&fan_in.sources[0], &["SET sql_log_bin = 0", &format!("GRANT ALL ON *.* TO {user}@'%'")]);
    }
    run(&fan_in.sources[0], &["SET sql_log_bin = 0", "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    run(&fan_in.target, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    let denied = Some("ERROR 1045 (28000): Access denied for user");
    let logins: &[Login<'_>] = &[
        ("sha2", "secret", &[], None),
        ("sha256", "secret", &[], None),
        ("sha256", "secret", &[OFF], None),
        ("sha256", "wrong", &[OFF], denied),
        ("sha256", "", &[OFF], denied),
        // Under the server's public key.
        ("sha2", "secret", &[OFF], None),
        ("sha2", "wrong", &[], denied),
        ("sha2", "wrong", &[OFF], denied),
        ("sha2", "", &[], denied),
        ("nobody", "secret", &[], denied),
        ("nothing", "", &[], None),
        ("nothing", "", &[OFF], None),
        ("nothing", "secret", &[OFF], denied),
        ("expired", "secret", &[], Some("Your password has expired")),
        ("locked", "secret", &[], Some("Account is locked")),
        ("sealed", "secret", &[OFF], denied),
        ("sealed", "secret", &[("ssl_mode", "REQUIRED")], None),
        ("certified", "secret", &[], denied),
        ("certified", "secret", &[CERT, KEY], None),
        ("certified", "secret", &[CA, CERT, KEY, ("ssl_mode", "VERIFY_IDENTITY")], None),
        ("sha2", "secret", &[CA, ("ssl_mode", "VERIFY_CA")], None),
        (
            "sha2",
            "secret",
            &[("ssl_ca", "DIR/other.pem"), ("ssl_mode", "VERIFY_CA")],
            Some("the server's certificate was not signed by a trusted authority: give its CA file"),
        ),
        ("sha2", "secret", &[("ssl_ca", "DIR/none.pem"), ("ssl_mode", "VERIFY_CA")], Some("none.pem: No such file")),
    ];
    follow_with(&mut fan_in, folder.path(), logins);
    load_with(&fan_in.sources[0], folder.path(), logins);
}

#[test]
#[ignore = "beside those of MySQL: cargo xtask mysql"]
fn logins_at_mariadb_sources() {
    let folder = certificates();
    let settings = of_server(folder.path());
    let mut settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    settings.extend([("log_bin", "bin"), ("binlog_format", "ROW"), ("plugin_load_add", "auth_ed25519")]);
    settings.push(("disconnect_on_expired_password", "ON"));
    let mut fan_in = FanIn::of(vec![mariadb(&settings)], mariadb(&[]));
    run(
        &fan_in.sources[0],
        &[
            "SET sql_log_bin = 0",
            "CREATE USER native@'%' IDENTIFIED VIA mysql_native_password USING PASSWORD('secret')",
            "CREATE USER ed@'%' IDENTIFIED VIA ed25519 USING PASSWORD('secret')",
            "CREATE USER nothing@'%'",
            "CREATE USER expired@'%' IDENTIFIED BY 'secret' PASSWORD EXPIRE",
            "CREATE USER locked@'%' IDENTIFIED BY 'secret' ACCOUNT LOCK",
            "CREATE USER sealed@'%' IDENTIFIED VIA ed25519 USING PASSWORD('secret') REQUIRE SSL",
            "CREATE USER certified@'%' IDENTIFIED BY 'secret' REQUIRE X509",
        ],
    );
    for user in ["native", "ed", "nothing", "expired", "locked", "sealed", "certified"] {
        run(&fan_in.sources[0], &["SET sql_log_bin = 0", &format!("GRANT ALL ON *.* TO {user}@'%'")]);
    }
    run(
        &fan_in.sources[0],
        &["SET sql_log_bin = 0", "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB"],
    );
    run(&fan_in.target, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB"]);
    let denied = Some("ERROR 1045 (28000): Access denied for user");
    let logins: &[Login<'_>] = &[
        ("native", "secret", &[], None),
        ("native", "secret", &[OFF], None),
        ("native", "wrong", &[], denied),
        ("native", "", &[OFF], denied),
        ("ed", "secret", &[], None),
        ("ed", "secret", &[OFF], None),
        ("ed", "wrong", &[OFF], denied),
        ("nothing", "", &[], None),
        ("nothing", "secret", &[], denied),
        ("expired", "secret", &[], Some("Your password has expired")),
        ("locked", "secret", &[], Some("this account is locked")),
        ("sealed", "secret", &[OFF], denied),
        ("sealed", "secret", &[("ssl_mode", "REQUIRED")], None),
        ("certified", "secret", &[], denied),
        ("certified", "secret", &[CERT, KEY], None),
        ("ed", "secret", &[CA, ("ssl_mode", "VERIFY_IDENTITY")], None),
        (
            "ed",
            "secret",
            &[("ssl_ca", "DIR/other.pem"), ("ssl_mode", "VERIFY_CA")],
            Some("the server's certificate was not signed by a trusted authority: give its CA file"),
        ),
    ];
    follow_with(&mut fan_in, folder.path(), logins);
}
