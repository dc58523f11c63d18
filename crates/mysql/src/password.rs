//! A password that cannot be printed by accident.

use std::fmt;

/// A password. `Debug` shows stars, there is no `Display`, and errors never hold one.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Vec<u8>);

impl Password {
    /// A password of any bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Password {
        Password(bytes.into())
    }

    /// The password itself. Pass it to an authentication method or a child's environment only.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Password {
    fn from(text: &str) -> Password {
        Password::new(text)
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
