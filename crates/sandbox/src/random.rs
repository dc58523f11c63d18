//! Random names.

use std::fs;
use std::path::Path;

use crate::Error;
use crate::error::At;

/// The kernel's random number source (random(4)).
const RANDOM_UUID: &str = "/proc/sys/kernel/random/uuid";

/// A random UUID in its usual form of 36 characters.
pub(crate) fn random_uuid() -> Result<String, Error> {
    let path = Path::new(RANDOM_UUID);
    Ok(fs::read_to_string(path).at("read", path)?.trim().to_owned())
}
