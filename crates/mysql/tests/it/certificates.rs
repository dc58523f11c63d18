//! A certificate authority, and its certificates for a server and a client, created by the `openssl` program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use hortator_mysql::Identity;

/// Files in a folder that is removed with this value.
pub struct Certificates {
    folder: tempfile::TempDir,
}

impl Certificates {
    /// The server's name is localhost. All files are readable for the server's account.
    pub fn make() -> Certificates {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let at = folder.path();
        authority(at, "ca");
        authority(at, "other");
        leaf(at, "server", "subjectAltName=DNS:localhost");
        leaf(at, "client", "extendedKeyUsage=clientAuth");
        Certificates { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn client(&self) -> Identity {
        Identity { certificate: self.path("client.pem"), key: self.path("client.key") }
    }
}

fn authority(at: &Path, name: &str) {
    openssl(
        at,
        &format!("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -keyout {name}.key -out {name}.pem"),
    );
}

fn leaf(at: &Path, name: &str, extension: &str) {
    fs::write(at.join(format!("{name}.ext")), extension).unwrap();
    openssl(at, &format!("req -newkey rsa:2048 -nodes -subj /CN={name} -keyout {name}.key -out {name}.csr"));
    openssl(
        at,
        &format!(
            "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile {name}.ext -out {name}.pem"
        ),
    );
    fs::set_permissions(at.join(format!("{name}.key")), fs::Permissions::from_mode(0o644)).unwrap();
}

fn openssl(at: &Path, arguments: &str) {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(at).output().unwrap();
    assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}
