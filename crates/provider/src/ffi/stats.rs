//! Status variables in the server's form: an array that ends with a variable without a name.

#![allow(unsafe_code)]

use std::ffi::CString;

use super::abi::{RawStatsVar, STATS_DOUBLE, STATS_INT64, STATS_STRING};
use super::text::to_server;
use crate::status::Value;

/// An array for the server, with the texts that it points to.
pub struct StatsBlock {
    variables: Box<[RawStatsVar]>,
    _texts: Vec<CString>,
}

// SAFETY: its pointers lead to its own texts.
unsafe impl Send for StatsBlock {}

impl StatsBlock {
    /// Converts the variables.
    pub fn new(variables: &[(&'static str, Value)]) -> Self {
        let mut texts = Vec::new();
        let mut raw = Vec::new();
        let mut keep = |text: &str| {
            let text = to_server(text);
            let address = text.as_ptr();
            texts.push(text);
            address
        };
        for (name, value) in variables {
            let (kind, value) = match value {
                Value::Text(text) => (STATS_STRING, keep(text) as u64),
                Value::Integer(number) => (STATS_INT64, *number as u64),
                Value::Real(number) => (STATS_DOUBLE, number.to_bits()),
            };
            raw.push(RawStatsVar { name: keep(name), kind, value });
        }
        raw.push(RawStatsVar { name: std::ptr::null(), kind: STATS_INT64, value: 0 });
        Self { variables: raw.into_boxed_slice(), _texts: texts }
    }

    /// The array's address.
    pub fn address(&mut self) -> *mut RawStatsVar {
        self.variables.as_mut_ptr()
    }
}
