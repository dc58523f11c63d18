//! Certificates for tests, made by `openssl`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{Security, SecurityFiles, TlsFiles};

/// A folder with certificates, keys and secrets.
pub struct TestFiles(TempDir);

impl TestFiles {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    pub fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.path(file);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    fn openssl(&self, arguments: &str) {
        let output = Command::new("openssl").current_dir(self.0.path()).args(arguments.split(' ')).output();
        let output = output.expect("openssl is installed");
        assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A CA: `NAME.pem` and `NAME.key`.
    pub fn ca(&self, name: &str) {
        self.openssl(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN={name} -keyout \
             {name}.key -out {name}.pem"
        ));
    }

    /// A certificate that the CA signs, with these lines as extensions and further arguments.
    pub fn sign(&self, ca: &str, name: &str, new_key: &str, extensions: Option<&str>, more: &str) {
        self.openssl(&format!("req {new_key} -nodes -subj /CN={name} -keyout {name}.key -out {name}.csr"));
        let mut arguments = format!(
            "x509 -req -in {name}.csr -CA {ca}.pem -CAkey {ca}.key -CAcreateserial -days 36500 -out {name}.pem"
        );
        if let Some(extensions) = extensions {
            self.write("extensions", extensions);
            arguments.push_str(" -extfile extensions");
        }
        arguments.push_str(more);
        self.openssl(&arguments);
    }

    /// A node's certificate and key of the CA.
    pub fn node(&self, ca: &str, name: &str) {
        self.sign(ca, name, NEW_EC_KEY, Some("basicConstraints = CA:FALSE"), "");
    }

    pub fn tls(&self, ca: &str, name: &str) -> TlsFiles {
        let path = |file: &str| self.path(&format!("{name}.{file}"));
        TlsFiles { key: path("key"), cert: path("pem"), ca: self.path(&format!("{ca}.pem")) }
    }

    /// The settings of a node with a certificate.
    pub fn security(&self, ca: &str, name: &str) -> Security {
        let files = SecurityFiles { tls: Some(self.tls(ca, name)), ..SecurityFiles::default() };
        Security::load(&files).unwrap()
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }
}

pub const NEW_EC_KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:P-256";
