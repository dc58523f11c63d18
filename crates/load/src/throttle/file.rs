//! The file of `--throttle-file`: limits that change while the load runs.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::limits::{LIMITS_TEXT_BYTES, ThrottleLimits};

/// Opens without waiting for the other end of a FIFO.
const O_NONBLOCK: i32 = 0o4000;

/// Reads the limits in a file; none where there is no file. An error says what is wrong with it.
pub(super) fn read_limits(path: &Path) -> Result<ThrottleLimits, String> {
    let shown = path.display();
    let cannot_read = |error: io::Error| format!("cannot read the throttle file {shown}: {error}");
    let file = match OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ThrottleLimits::default()),
        opened => opened.map_err(cannot_read)?,
    };
    if !file.metadata().map_err(cannot_read)?.is_file() {
        return Err(format!("the throttle file {shown} is not a regular file"));
    }
    let mut text = Vec::new();
    file.take(LIMITS_TEXT_BYTES as u64 + 1).read_to_end(&mut text).map_err(cannot_read)?;
    if text.len() > LIMITS_TEXT_BYTES {
        return Err(format!("the throttle file {shown} has more than {LIMITS_TEXT_BYTES} bytes"));
    }
    let text = String::from_utf8_lossy(&text);
    text.parse().map_err(|error| format!("the throttle file {shown}: {error}"))
}
