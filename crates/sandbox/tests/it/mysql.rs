//! MySQL in place of MariaDB. `cargo xtask mysql` tests everything that needs a MySQL server, because Debian 12 has
//! none.

use hortator_sandbox::{Builder, Topology};

#[test]
fn a_missing_server_names_the_package() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let message = Builder::mysql(dir.path()).dir(dir.path()).create("none").unwrap_err().to_string();
    let found = format!("bin/mysqld is not in {}; `scripts/mysql-server FOLDER`", dir.path().display());
    assert!(message.starts_with(&found), "{message}");
    let message = Builder::new(Topology::Mysql).dir(dir.path()).create("none").unwrap_err().to_string();
    assert!(message.contains("--mysql") && message.contains("HORTATOR_MYSQL"), "{message}");
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none(), "nothing is left behind");
}
