//! Files as `openssl` makes them: those that can be used, and the message for each that cannot.

use super::super::test_files::{NEW_EC_KEY, TestFiles};
use super::*;

fn error(files: &TlsFiles) -> String {
    TlsConfigs::load(files).unwrap_err().to_string()
}

#[test]
fn keys_of_all_usual_kinds_can_be_used() {
    let files = TestFiles::new();
    files.ca("ca");
    for (name, key) in [
        ("p256", NEW_EC_KEY),
        ("p384", "-newkey ec -pkeyopt ec_paramgen_curve:P-384"),
        ("rsa", "-newkey rsa:2048"),
        ("ed25519", "-newkey ed25519"),
    ] {
        files.sign("ca", name, key, Some("basicConstraints = CA:FALSE"), "");
        assert!(TlsConfigs::load(&files.tls("ca", name)).is_ok(), "{name}: {}", error(&files.tls("ca", name)));
    }
    // One self-signed certificate for all nodes.
    assert!(TlsConfigs::load(&files.tls("ca", "ca")).is_ok());
    // With an intermediate CA.
    files.sign("ca", "middle", NEW_EC_KEY, Some("basicConstraints = CA:TRUE"), "");
    files.node("middle", "n1");
    assert!(error(&files.tls("ca", "n1")).contains("is not signed by a CA in"));
    let [own, middle] = ["n1.pem", "middle.pem"].map(|file| std::fs::read_to_string(files.path(file)).unwrap());
    files.write("n1.pem", &format!("{own}{middle}"));
    assert!(TlsConfigs::load(&files.tls("ca", "n1")).is_ok());
}

#[test]
fn each_unusable_file_is_named_with_the_reason() {
    let files = TestFiles::new();
    files.ca("ca");
    files.ca("other");
    files.node("ca", "n1");
    files.node("ca", "n2");
    let good = files.tls("ca", "n1");
    assert!(TlsConfigs::load(&good).is_ok());

    let stranger = error(&TlsFiles { ca: files.path("other.pem"), ..good.clone() });
    assert!(
        stranger.contains("socket.ssl_cert: ") && stranger.contains("n1.pem is not signed by a CA in"),
        "{stranger}"
    );
    // Another CA of the same name, as after a renewal with a new key.
    let before = ["ca.pem", "ca.key"].map(|file| (files.path(file), std::fs::read(files.path(file)).unwrap()));
    files.ca("ca");
    assert!(error(&good).contains("n1.pem is not signed by a CA in"));
    for (path, bytes) in before {
        std::fs::write(path, bytes).unwrap();
    }
    let mismatch = error(&TlsFiles { key: files.path("n2.key"), ..good.clone() });
    assert!(mismatch.contains("socket.ssl_key: ") && mismatch.contains("n2.key cannot be used with"), "{mismatch}");
    let missing = error(&TlsFiles { ca: files.path("none.pem"), ..good.clone() });
    assert!(missing.contains("socket.ssl_ca: cannot read") && missing.contains("none.pem: No such file"), "{missing}");
    let garbage = TlsFiles { cert: files.write("garbage", "not a certificate"), ..good.clone() };
    assert!(error(&garbage).contains("garbage contains no certificate in PEM format"));
    let torn = "-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n";
    let torn = error(&TlsFiles { cert: files.write("torn", torn), ..good.clone() });
    assert!(torn.contains("torn is not a PEM file"), "{torn}");
    let encrypted = "pkey -in n1.key -aes256 -passout pass:words -out encrypted.key";
    assert!(
        std::process::Command::new("openssl")
            .current_dir(files.folder())
            .args(encrypted.split(' '))
            .status()
            .unwrap()
            .success()
    );
    let encrypted = error(&TlsFiles { key: files.path("encrypted.key"), ..good });
    assert!(encrypted.contains("no unencrypted private key") && encrypted.contains("openssl pkey"), "{encrypted}");

    files.sign("ca", "old", NEW_EC_KEY, None, "");
    let old = error(&files.tls("ca", "old"));
    assert!(old.contains("X.509 certificate of version 1") && old.contains("-extfile"), "{old}");
    files.sign("ca", "web", NEW_EC_KEY, Some("extendedKeyUsage = serverAuth"), "");
    let web = error(&files.tls("ca", "web"));
    assert!(web.contains("must be for servers and for clients"), "{web}");
    files.sign("ca", "past", NEW_EC_KEY, Some("basicConstraints = CA:FALSE"), " -days -1");
    let past = error(&files.tls("ca", "past"));
    assert!(past.contains("is not valid now") && past.contains("Get a new certificate"), "{past}");
}
