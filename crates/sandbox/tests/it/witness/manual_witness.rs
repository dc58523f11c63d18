//! A witness that the test starts itself.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use hortator_sandbox::Sandbox;
use tempfile::TempDir;

use crate::signal;

/// A witness that the test starts itself.
pub struct Own {
    child: Child,
    /// Its folder is `w` in there, and what it says is `output`.
    pub folder: TempDir,
}

impl Own {
    /// A new one for that cluster.
    pub fn start(sandbox: &Sandbox, name: &str, further: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), sandbox, name, further)
    }

    pub fn start_in(folder: TempDir, sandbox: &Sandbox, name: &str, further: &[&str]) -> Self {
        let output = fs::File::create(folder.path().join("output")).unwrap();
        let hosts: Vec<String> = sandbox.nodes().map(|node| format!("127.0.0.1:{}", node.ports().group)).collect();
        let mut command = Command::new(program());
        command.arg(format!("--dir={}", folder.path().join("w").display()));
        command.arg(format!("--cluster-address=gcomm://{}", hosts.join(",")));
        command.args(["--listen=127.0.0.1:0", &format!("--cluster-name={name}")]).args(further);
        let child = command.stdin(Stdio::null()).stderr(output).spawn().unwrap();
        Self { child, folder }
    }

    pub fn output(&self) -> String {
        fs::read_to_string(self.folder.path().join("output")).unwrap()
    }

    /// Ends it: its exit status, and what it said.
    pub fn stop(&mut self) -> (Option<i32>, String) {
        signal(self.child.id(), "-TERM");
        let status = self.child.wait().unwrap();
        (status.code(), self.output())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// The program that the tests have built.
pub fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("hortator-witness")
}
