//! Converts texts and bytes from and to the server.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char};
use std::slice;

use super::abi::{RawBuffer, RawKey};

/// A text of the server; empty if it is null.
///
/// # Safety
/// `text` is null or ends with a zero.
pub unsafe fn from_server(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A text for the server; cut at the first zero byte.
pub fn to_server(text: &str) -> CString {
    let whole = text.split('\0').next().unwrap_or_default();
    CString::new(whole).expect("zeros are cut off")
}

/// A copy that the server frees with free().
pub fn to_malloc(text: &str) -> *mut c_char {
    let text = to_server(text);
    // SAFETY: strdup copies a zero-terminated text; null if there is no memory.
    unsafe { libc::strdup(text.as_ptr()) }
}

/// The bytes of a buffer; none if it is null or empty.
///
/// # Safety
/// `buffer` is null, or points to a buffer whose bytes live as long as `'a`.
pub unsafe fn bytes<'a>(buffer: *const RawBuffer) -> &'a [u8] {
    // SAFETY: the caller's promise.
    let Some(buffer) = (unsafe { buffer.as_ref() }) else { return &[] };
    if buffer.ptr.is_null() || buffer.len == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(buffer.ptr.cast(), buffer.len) }
}

/// Several buffers.
///
/// # Safety
/// `buffers` points to `count` buffers, or `count` is 0; as for [`bytes`].
pub unsafe fn all_bytes<'a>(buffers: *const RawBuffer, count: usize) -> Vec<&'a [u8]> {
    if buffers.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    (0..count).map(|at| unsafe { bytes(buffers.add(at)) }).collect()
}

/// The parts of each key.
///
/// # Safety
/// `keys` points to `count` keys, or `count` is 0; as for [`all_bytes`].
pub unsafe fn keys<'a>(keys: *const RawKey, count: usize) -> Vec<Vec<&'a [u8]>> {
    if keys.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(keys, count) }
        .iter()
        // SAFETY: as above.
        .map(|key| unsafe { all_bytes(key.parts, key.parts_num) })
        .collect()
}
