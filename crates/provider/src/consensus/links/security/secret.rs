//! The shared secret: the file, and message authentication codes (HMAC-SHA-256, RFC 2104).

use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{Error, content, read_file};

/// Bytes of a code.
pub const MAC_BYTES: usize = 32;
/// A shorter secret can be guessed by trying.
const LEAST_BYTES: usize = 16;
/// Limit of secrets in the file.
const SECRETS_LIMIT: usize = 4;
/// Bytes of a block of SHA-256.
const BLOCK_BYTES: usize = 64;
const OPTION: &str = "auth.secret_file";
/// Others than the owner and the group may read or write the file.
const OTHERS_ACCESS: u32 = 0o006;

/// The secrets of the file, one on each line. A node proves that it knows the first; it accepts proofs of each, so that
/// the nodes of a running cluster can change to another one by one.
pub struct Secrets(Vec<Vec<u8>>);

/// Secrets are in no log.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({} of them)", self.0.len())
    }
}

impl Secrets {
    /// Reads the file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let bytes = read_file(OPTION, path)?;
        let is_public = path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & OTHERS_ACCESS != 0);
        if is_public {
            let what = "can be read or written by every account of this machine: take that right away with chmod o-rw";
            return Err(content(OPTION, path, what));
        }
        Self::parse(&bytes).map_err(|what| content(OPTION, path, what))
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        let secrets: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
        if secrets.is_empty() {
            return Err("contains no secret: write one line with the output of `openssl rand -hex 32` into it, the \
                        same on all nodes"
                .to_owned());
        }
        if secrets.len() > SECRETS_LIMIT {
            return Err(format!(
                "contains {} secrets, one a line, and at most {SECRETS_LIMIT} are possible",
                secrets.len()
            ));
        }
        if let Some(short) = secrets.iter().find(|secret| secret.len() < LEAST_BYTES) {
            return Err(format!(
                "contains a secret of {} bytes, and at least {LEAST_BYTES} are needed: use the output of `openssl rand \
                 -hex 32`, the same on all nodes",
                short.len()
            ));
        }
        Ok(Self(secrets))
    }

    /// The code of a text with the first secret.
    pub fn mac(&self, text: &[u8]) -> [u8; MAC_BYTES] {
        hmac(&self.0[0], text)
    }

    /// Whether the code is that of the text with one of the secrets. The time tells nothing about the secrets.
    pub fn is_mac(&self, text: &[u8], mac: &[u8; MAC_BYTES]) -> bool {
        self.0.iter().fold(subtle::Choice::from(0), |found, secret| found | hmac(secret, text).ct_eq(mac)).into()
    }
}

#[cfg(test)]
impl Secrets {
    /// One secret.
    pub fn of(secret: &str) -> Self {
        Self::parse(secret.as_bytes()).unwrap()
    }
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; MAC_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    if key.len() > BLOCK_BYTES {
        block[..MAC_BYTES].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let inner = Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(block.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn codes_are_those_of_rfc_4231() {
        for (key, text, code) in [
            (vec![0x0b; 20], &b"Hi There"[..], "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe".to_vec(),
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                vec![0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(hex(&hmac(&key, text)), code);
        }
    }

    #[test]
    fn a_file_has_one_to_four_secrets_of_sixteen_bytes() {
        for (text, found) in [
            ("", "contains no secret"),
            ("\n \n", "contains no secret"),
            ("fifteen-bytes-x\n", "contains a secret of 15 bytes, and at least 16"),
            ("0123456789abcdef\nshort", "contains a secret of 5 bytes"),
            (&"0123456789abcdef\n".repeat(5), "contains 5 secrets"),
        ] {
            let error = Secrets::parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(found), "{error}");
        }
        // The end of a line is not part of the secret.
        let [unix, windows] = ["0123456789abcdef\n", "0123456789abcdef\r\n\r\n"].map(Secrets::of);
        assert!(unix.is_mac(b"text", &windows.mac(b"text")));
    }

    #[test]
    fn proofs_of_each_secret_count_and_the_first_proves() {
        let [old, new, both] = ["the-old-secret-of-1999", "the-new-secret-of-2000", ""].map(|text| match text {
            "" => Secrets::of("the-new-secret-of-2000\nthe-old-secret-of-1999\n"),
            text => Secrets::of(text),
        });
        assert!(both.is_mac(b"text", &old.mac(b"text")) && both.is_mac(b"text", &new.mac(b"text")));
        assert!(new.is_mac(b"text", &both.mac(b"text")) && !old.is_mac(b"text", &both.mac(b"text")));
        assert!(!both.is_mac(b"other text", &new.mac(b"text")));
        assert!(!format!("{both:?}").contains("secret-of"));
    }

    #[test]
    fn a_file_that_every_account_can_read_or_write_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "0123456789abcdef\n").unwrap();
        for (mode, is_good) in [(0o644, false), (0o604, false), (0o602, false), (0o640, true), (0o600, true)] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let loaded = Secrets::load(file.path());
            assert_eq!(loaded.is_ok(), is_good, "{mode:o}");
            if let Err(error) = loaded {
                assert!(error.to_string().contains("chmod o-rw"), "{error}");
            }
        }
    }
}
