//! The kinds of option values, and how a value is read.

use std::time::Duration;

use crate::consensus::raft::WEIGHT_LIMIT;

/// The kind of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number; a decimal or hexadecimal one is taken too.
    Number,
    /// A decimal number.
    Fraction,
    /// A number that stands for something else, such as a version or a mask.
    Code,
    /// yes, no, true, false, on, off, 1, 0.
    Boolean,
    /// A number, with an optional K, M, G or T for powers of 1024.
    Bytes,
    /// ISO 8601 (PT30S, PT1M30.5S, P1D), or seconds.
    Duration,
}

impl Kind {
    pub fn takes(self, value: &str) -> bool {
        match self {
            Text => true,
            Number | Fraction | Code => number(value).is_some(),
            Boolean => boolean(value).is_some(),
            Bytes => bytes(value).is_some(),
            Time => duration(value).is_some(),
        }
    }

    pub fn describe(self) -> &'static str {
        match self {
            Text => "a text",
            Number | Fraction | Code => "a number",
            Boolean => "yes or no",
            Bytes => "a size such as 128M",
            Time => "a time such as PT30S",
        }
    }
}

use Kind::{Boolean, Bytes, Code, Duration as Time, Fraction, Number, Text};

/// The option with the number of votes.
pub const WEIGHT: &str = "pc.weight";

/// Options with a smallest and a largest time, in seconds, and the reason.
const TIME_RANGES: &[(&str, f64, f64, &str)] = &[
    (
        "log.retain_time",
        5.0,
        86_400.0,
        "but it must be PT5S to P1D, and more than twice innodb_flush_log_at_timeout: InnoDB flushes its own log that \
         rarely, and after a power failure the provider's log must hold what InnoDB has lost",
    ),
    ("metrics.interval", 1.0, 3_600.0, "but it must be PT1S to PT1H"),
    ("raft.election_timeout", 0.3, 60.0, "but it must be PT0.3S to PT1M"),
    ("raft.heartbeat_interval", 0.05, 10.0, "but it must be PT0.05S to PT10S"),
];

/// A leader sends at least this many heartbeats in an election timeout.
pub const HEARTBEATS_PER_ELECTION: f64 = 3.0;

/// Why a valid value is out of the range of its option.
pub fn out_of_range(name: &str, value: &str) -> Option<&'static str> {
    if name == WEIGHT {
        return weight(value)
            .is_none()
            .then_some("but it must be a whole number from 1 to 16: a node of the view has a vote");
    }
    let (_, least, most, why) = TIME_RANGES.iter().find(|(of, ..)| *of == name)?;
    let seconds = duration(value)?.as_secs_f64();
    (seconds < *least || seconds > *most).then_some(why)
}

/// The number of votes of a node.
pub fn weight(value: &str) -> Option<u8> {
    let number = number(value).filter(|number| number.fract() == 0.0)?;
    (1.0..=f64::from(WEIGHT_LIMIT)).contains(&number).then_some(number as u8)
}

pub fn boolean(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "yes" | "true" | "on" | "1" => Some(true),
        "no" | "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

pub fn number(value: &str) -> Option<f64> {
    match value.strip_prefix("0x") {
        Some(rest) => u64::from_str_radix(rest, 16).ok().map(|number| number as f64),
        None => value.parse().ok().filter(|number: &f64| number.is_finite()),
    }
}

pub fn bytes(value: &str) -> Option<u64> {
    let (digits, shift) = match value.char_indices().last()? {
        (at, unit) if unit.is_ascii_alphabetic() => {
            let shift = match unit.to_ascii_uppercase() {
                'K' => 10,
                'M' => 20,
                'G' => 30,
                'T' => 40,
                _ => return None,
            };
            (&value[..at], shift)
        }
        _ => (value, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

pub fn duration(value: &str) -> Option<Duration> {
    let Some(rest) = value.strip_prefix('P') else {
        return Duration::try_from_secs_f64(value.parse().ok()?).ok();
    };
    let (days, time) = rest.split_once('T').unwrap_or((rest, ""));
    let mut seconds = 0.0;
    for (part, units) in [(days, &[('D', 86_400.0)][..]), (time, &[('H', 3600.0), ('M', 60.0), ('S', 1.0)][..])] {
        let mut rest = part;
        for (unit, factor) in units {
            if let Some((number, after)) = rest.split_once(*unit) {
                seconds += number.parse::<f64>().ok()? * factor;
                rest = after;
            }
        }
        if !rest.is_empty() {
            return None;
        }
    }
    Duration::try_from_secs_f64(seconds).ok().filter(|_| rest.len() > 1)
}
