//! Clusters whose nodes link by TLS or with a secret: who may join, what both error logs say, and changes while clients
//! write.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use hortator_sandbox::{Builder, Node, Sandbox, set_provider_options};
use tempfile::TempDir;

use crate::cluster_fixture::{Writers, assert_logged, define, since, size, wait_for};
use crate::kills::arguments;
use crate::manual_server::{Own, is_ready};
use crate::{ask, provider, run};

const SECRET: &str = "0123456789abcdef-of-all-nodes\n";

/// A folder that the servers' account can read.
pub struct Files(TempDir);

impl Files {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        Self(folder)
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn openssl(&self, arguments: &str) {
        let output = Command::new("openssl").current_dir(self.0.path()).args(arguments.split(' ')).output().unwrap();
        assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A CA, and a certificate of it with the same number: `ca1.pem`, `node1.pem`, `node1.key`.
    pub fn certificates(&self, number: u32) {
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
        fs::write(self.path("extensions"), "basicConstraints = CA:FALSE").unwrap();
        self.openssl(&format!("req -x509 {key} -days 9999 -subj /CN=ca -keyout ca{number}.key -out ca{number}.pem"));
        self.openssl(&format!("req {key} -subj /CN=node -keyout node{number}.key -out node{number}.csr"));
        self.openssl(&format!(
            "x509 -req -in node{number}.csr -CA ca{number}.pem -CAkey ca{number}.key -CAcreateserial -days 9999 -extfile \
             extensions -out node{number}.pem"
        ));
        fs::set_permissions(self.path(&format!("node{number}.key")), Permissions::from_mode(0o644)).unwrap();
    }

    /// The TLS options with these certificates.
    pub fn tls(&self, number: u32) -> String {
        let path = |file: String| self.path(&file).display().to_string();
        format!(
            "socket.ssl=yes;socket.ssl_key={};socket.ssl_cert={};socket.ssl_ca={}",
            path(format!("node{number}.key")),
            path(format!("node{number}.pem")),
            path(format!("ca{number}.pem"))
        )
    }

    /// A file with a secret that only the servers' account may read.
    pub fn secret(&self, file: &str, text: &str) -> String {
        let path = self.path(file);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        // Tests that run as root start servers with the account mysql.
        let _ = Command::new("chown").arg("mysql").arg(&path).status();
        format!("auth.secret_file={}", path.display())
    }
}

fn cluster_with(nodes: usize, options: &str) -> hortator_sandbox::Temporary {
    provider::build();
    Builder::cluster(nodes).set("wsrep_provider_options", options).start_temporary().unwrap()
}

/// A server's command line with more wsrep_provider_options; the later value of an option counts.
fn with_options(arguments: &[String], options: &str) -> Vec<String> {
    let add = |argument: &String| match argument.starts_with("--wsrep-provider-options=") {
        true => format!("{argument};{options}"),
        false => argument.clone(),
    };
    arguments.iter().map(add).collect()
}

/// Restarts a node with more options, and waits until it is a member.
fn restart(node: Node<'_>, options: &str) -> Own {
    let arguments = with_options(&arguments(node), options);
    node.stop().unwrap();
    let own = Own::start(node, &arguments, &[]);
    wait_for("the node to be a member", || is_ready(node));
    own
}

pub fn set_options(node: Node<'_>, options: &str) -> Result<(), String> {
    set_provider_options(&mut node.connect().unwrap(), options).map_err(|error| error.to_string())
}

fn logs(sandbox: &Sandbox) -> Vec<String> {
    sandbox.nodes().map(|node| since(node, 0)).collect()
}

/// All nodes have the row that one of them wrote.
fn assert_replicates(sandbox: &Sandbox) {
    define(sandbox, &["CREATE DATABASE s", "CREATE TABLE s.t (id INT PRIMARY KEY)"]);
    for (node, id) in sandbox.nodes().zip(1..) {
        run(node, &[&format!("INSERT INTO s.t VALUES ({id})")]);
    }
    for node in sandbox.nodes() {
        let mut connection = node.connect().unwrap();
        connection.execute(b"SET SESSION wsrep_sync_wait = 1").unwrap();
        let rows = connection.fetch(b"SELECT COUNT(*) FROM s.t").unwrap();
        assert_eq!(rows[0][0].as_deref(), Some(sandbox.nodes().count().to_string().as_bytes()), "{}", node.name());
    }
}

/// A node is stopped, and started with other options. It stays out, and both logs say why.
fn assert_stays_out(sandbox: &Sandbox, options: &str, its_log: &str, other_log: &str) {
    let (node, other) = (sandbox.node(2), sandbox.node(0));
    let arguments = with_options(&arguments(node), options);
    let from = [node, other].map(|node| since(node, 0).len());
    node.stop().unwrap();
    let own = Own::spawn(&arguments, &[]);
    wait_for("both logs", || since(node, from[0]).contains(its_log) && since(other, from[1]).contains(other_log));
    thread::sleep(Duration::from_secs(3));
    assert_eq!(size(other).as_deref(), Some("2"));
    // Each line once a minute, in spite of an attempt each second from each side.
    for (node, from, text) in [(node, from[0], its_log), (other, from[1], other_log)] {
        let lines = since(node, from).lines().filter(|line| line.contains(text)).count();
        assert!(lines <= 4, "{lines} lines in the log of {}", node.name());
    }
    drop(own);
    node.start().unwrap();
    wait_for("it to be back", || size(other).as_deref() == Some("3"));
}

#[test]
fn three_nodes_with_tls_and_a_node_with_another_certificate() {
    let files = Files::new();
    files.certificates(1);
    files.certificates(2);
    let cluster = cluster_with(3, &files.tls(1));
    assert_replicates(&cluster);
    for log in logs(&cluster) {
        assert_logged(&log, &["linked to", "): TLS"]);
        assert!(!log.contains("): without TLS"), "{log}");
    }
    let unknown = "is not signed by a CA in socket.ssl_ca of this node";
    assert_stays_out(&cluster, &files.tls(2), unknown, unknown);
    assert_stays_out(&cluster, "socket.ssl=no", "this node links by TLS only", "this node links by TLS only");
}

#[test]
fn three_nodes_with_a_secret_and_a_node_with_another_one() {
    let files = Files::new();
    let cluster = cluster_with(3, &files.secret("secret", SECRET));
    assert_replicates(&cluster);
    for log in logs(&cluster) {
        assert_logged(&log, &["): secret, without TLS"]);
        assert!(!log.contains(SECRET.trim()), "{log}");
    }
    let shown = ask(cluster.node(0), "SHOW VARIABLES LIKE 'wsrep_provider_options'");
    assert!(!shown[0][1].contains(SECRET.trim()));
    let wrong = "proves another secret than that of this node";
    assert_stays_out(&cluster, &files.secret("other", "fedcba9876543210-of-others"), wrong, wrong);
    assert_stays_out(
        &cluster,
        "auth.secret_file=",
        "prove that they know its secret",
        "prove that they know its secret",
    );
}

#[test]
fn tls_comes_to_a_running_cluster_and_new_certificates_too() {
    let files = Files::new();
    files.certificates(1);
    let cluster = cluster_with(3, "");
    let writers = Writers::on(&cluster, &[0, 1, 2]);
    writers.wait_for_more();
    let servers: Vec<Own> =
        cluster.nodes().map(|node| restart(node, &format!("{};socket.dynamic=yes", files.tls(1)))).collect();
    writers.wait_for_more();
    let from: Vec<usize> = cluster.nodes().map(|node| since(node, 0).len()).collect();
    for node in cluster.nodes() {
        set_options(node, "socket.dynamic=no").unwrap();
    }
    let sizes = || cluster.nodes().map(size).all(|size| size.as_deref() == Some("3"));
    wait_for("all members by TLS", sizes);
    writers.wait_for_more();
    for (node, from) in cluster.nodes().zip(&from) {
        assert!(!since(node, *from).contains("): without TLS"), "{}", since(node, *from));
    }

    // A broken file keeps the old ones, and the statement says that it failed.
    let first = cluster.node(0);
    let key = fs::read(files.path("node1.key")).unwrap();
    fs::write(files.path("node1.key"), "torn").unwrap();
    set_options(first, "socket.ssl_reload=1").unwrap_err();
    assert_logged(&since(first, from[0]), &["node1.key contains no unencrypted private key in PEM format"]);
    fs::write(files.path("node1.key"), key).unwrap();

    // Another CA, in two steps: all nodes trust both, then get their certificates of the new one.
    let old_ca = fs::read_to_string(files.path("ca1.pem")).unwrap();
    files.certificates(2);
    let new_ca = fs::read_to_string(files.path("ca2.pem")).unwrap();
    fs::write(files.path("ca1.pem"), old_ca + &new_ca).unwrap();
    for node in cluster.nodes() {
        set_options(node, "socket.ssl_reload=1").unwrap();
    }
    for (from, to) in [("node2.pem", "node1.pem"), ("node2.key", "node1.key")] {
        fs::copy(files.path(from), files.path(to)).unwrap();
    }
    for node in cluster.nodes() {
        set_options(node, "socket.ssl_reload=1").unwrap();
    }
    let before: Vec<usize> = cluster.nodes().map(|node| since(node, 0).len()).collect();
    set_options(first, "gmcast.isolate=1").unwrap();
    wait_for("it to be alone", || since(cluster.node(1), before[1]).contains("is down"));
    set_options(first, "gmcast.isolate=0").unwrap();
    wait_for("it to link with its new certificate", || since(first, before[0]).contains("): TLS"));
    wait_for("all to be members", sizes);
    writers.wait_for_more();
    writers.stop(&cluster);
    drop(servers);
}

#[test]
fn settings_that_would_not_protect_stop_the_start() {
    let files = Files::new();
    files.certificates(1);
    files.certificates(2);
    let cluster = cluster_with(1, "");
    let node = cluster.node(0);
    let arguments = arguments(node);
    node.stop().unwrap();
    let [first, second] = [1, 2].map(|number| files.path(&format!("ca{number}.pem")).display().to_string());
    let public = files.secret("public", SECRET);
    fs::set_permissions(files.path("public"), Permissions::from_mode(0o644)).unwrap();
    for (options, message) in [
        (
            "socket.ssl=yes".to_owned(),
            "socket.ssl=yes needs socket.ssl_key and socket.ssl_cert, and socket.ssl_key is not set",
        ),
        (files.tls(1).replace(&first, &second), "node1.pem is not signed by a CA in"),
        (files.tls(1).replace("node1.key", "missing.key"), "socket.ssl_key: cannot read"),
        (files.secret("short", "short"), "contains a secret of 5 bytes, and at least 16 are needed"),
        (public, "can be read or written by every account of this machine"),
    ] {
        let from = since(node, 0).len();
        let status = Own::spawn(&with_options(&arguments, &options), &[]).end(node);
        assert!(!status.success());
        assert_logged(&since(node, from), &[message]);
    }
    // A key and a certificate alone turn TLS on.
    let own = Own::start(node, &with_options(&arguments, &files.tls(1).replace("socket.ssl=yes;", "")), &[]);
    assert!(ask(node, "SHOW VARIABLES LIKE 'wsrep_provider_options'")[0][1].contains("socket.ssl = yes;"));
    own.shut_down();
}

#[test]
fn the_servers_allowlist_is_asked() {
    let cluster = cluster_with(3, "");
    let (node, other) = (cluster.node(2), cluster.node(0));
    assert_replicates(&cluster);
    run(other, &["INSERT INTO mysql.wsrep_allowlist (ip) VALUES ('192.0.2.1')"]);
    for node in cluster.nodes() {
        wait_for("the list to be everywhere", || ask(node, "SELECT ip FROM mysql.wsrep_allowlist").len() == 1);
    }
    let refused = "127.0.0.1, the address of node3, is not in mysql.wsrep_allowlist of node1";
    let arguments = arguments(node);
    let from = [node, other].map(|node| since(node, 0).len());
    node.stop().unwrap();
    let own = Own::spawn(&arguments, &[]);
    wait_for("both logs", || since(node, from[0]).contains(refused) && since(other, from[1]).contains(refused));
    assert_eq!(size(other).as_deref(), Some("2"));
    run(other, &["INSERT INTO mysql.wsrep_allowlist (ip) VALUES ('127.0.0.1')"]);
    wait_for("it to be a member", || size(other).as_deref() == Some("3"));
    wait_for("it to be ready", || is_ready(node));
    for log in logs(&cluster) {
        assert_logged(&log, &["linked to"]);
    }
    own.shut_down();
}
