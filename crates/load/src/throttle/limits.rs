//! The limits of a throttle, as users write them: `threads=30,rate=50000,lag=5`.

use std::fmt;
use std::str::FromStr;

/// The longest text of limits.
pub(super) const LIMITS_TEXT_BYTES: usize = 4 << 10;

/// The limits of a throttle; `None` for none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThrottleLimits {
    /// Whether the load is paused.
    pub is_paused: Option<bool>,
    /// Statements that run on the server at a time, those of the load among them.
    pub threads: Option<u64>,
    /// Rows a second.
    pub rows_per_s: Option<u64>,
    /// Bytes of statements a second.
    pub bytes_per_s: Option<u64>,
    /// The lag of a replica, in seconds.
    pub lag_s: Option<f64>,
}

/// A text is no list of limits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` is no limit: write pause or pause=no, threads=N, rate=ROWS, bytes=BYTES (with K, M or G) or lag=SECONDS, separated by commas"
)]
pub struct LimitsError {
    /// What is not understood.
    found: String,
}

impl ThrottleLimits {
    /// These limits, and where one is missing, that of `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            is_paused: self.is_paused.or(others.is_paused),
            threads: self.threads.or(others.threads),
            rows_per_s: self.rows_per_s.or(others.rows_per_s),
            bytes_per_s: self.bytes_per_s.or(others.bytes_per_s),
            lag_s: self.lag_s.or(others.lag_s),
        }
    }
}

/// Commas and line ends separate limits; `#` begins a comment.
impl FromStr for ThrottleLimits {
    type Err = LimitsError;

    fn from_str(text: &str) -> Result<Self, LimitsError> {
        let mut limits = Self::default();
        let without_comments = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        for part in without_comments.flat_map(|line| line.split(',')).map(str::trim).filter(|part| !part.is_empty()) {
            let error = || LimitsError { found: part.escape_debug().to_string() };
            let (name, value) = part.split_once('=').map_or((part, ""), |(name, value)| (name.trim(), value.trim()));
            match name {
                "pause" if !part.contains('=') => limits.is_paused = Some(true),
                "pause" if value == "no" => limits.is_paused = Some(false),
                "threads" => limits.threads = Some(positive(value).ok_or_else(error)?),
                "rate" => limits.rows_per_s = Some(positive(value).ok_or_else(error)?),
                "bytes" => limits.bytes_per_s = Some(size(value).ok_or_else(error)?),
                "lag" => limits.lag_s = Some(seconds(value).ok_or_else(error)?),
                _ => return Err(error()),
            }
        }
        Ok(limits)
    }
}

fn positive(value: &str) -> Option<u64> {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    value.parse().ok().filter(|number| is_number && *number > 0)
}

fn size(value: &str) -> Option<u64> {
    let factor = match value.bytes().last()?.to_ascii_uppercase() {
        b'K' => 1 << 10,
        b'M' => 1 << 20,
        b'G' => 1 << 30,
        _ => return positive(value),
    };
    positive(&value[..value.len() - 1])?.checked_mul(factor)
}

fn seconds(value: &str) -> Option<f64> {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    value.parse().ok().filter(|seconds: &f64| is_number && seconds.is_finite())
}

/// As they are written; empty for none.
impl fmt::Display for ThrottleLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pause = self.is_paused.map(|is_paused| if is_paused { "pause" } else { "pause=no" }.to_owned());
        let numbers = [("threads", self.threads), ("rate", self.rows_per_s), ("bytes", self.bytes_per_s)];
        let numbers = numbers.into_iter().filter_map(|(name, value)| value.map(|value| format!("{name}={value}")));
        let lag = self.lag_s.map(|lag| format!("lag={lag}"));
        f.write_str(&pause.into_iter().chain(numbers).chain(lag).collect::<Vec<_>>().join(","))
    }
}
