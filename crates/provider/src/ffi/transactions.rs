//! The server's handle of a transaction and ours: the handle's opaque pointer holds one count of an `Arc`.

#![allow(unsafe_code)]

use std::sync::Arc;

use super::abi::RawHandle;
use crate::node::Node;
use crate::transaction::Transaction;

/// The handle's transaction; none where it has none.
///
/// # Safety
/// `handle` is null or the server's, and its opaque null or of [`find_or_begin`].
pub unsafe fn find(handle: *const RawHandle) -> Option<Arc<Transaction>> {
    // SAFETY: the caller's promise.
    let opaque = unsafe { handle.as_ref() }?.opaque.cast::<Transaction>().cast_const();
    if opaque.is_null() {
        return None;
    }
    // SAFETY: the pointer holds a count, which stays: this is one more.
    unsafe {
        Arc::increment_strong_count(opaque);
        Some(Arc::from_raw(opaque))
    }
}

/// The handle's transaction, made where it has none.
///
/// # Safety
/// As for [`find`]; nobody else uses the handle meanwhile.
pub unsafe fn find_or_begin(node: &Node, handle: *mut RawHandle) -> Option<Arc<Transaction>> {
    // SAFETY: the caller's promise.
    if let Some(transaction) = unsafe { find(handle) } {
        return Some(transaction);
    }
    // SAFETY: the caller's promise.
    let handle = unsafe { handle.as_mut() }?;
    let transaction = node.begin(handle.trx_id);
    handle.opaque = Arc::into_raw(Arc::clone(&transaction)).cast_mut().cast();
    Some(transaction)
}

/// Takes the handle's count away.
///
/// # Safety
/// As for [`find_or_begin`].
pub unsafe fn forget(handle: *mut RawHandle) {
    // SAFETY: the caller's promise.
    let Some(handle) = (unsafe { handle.as_mut() }) else { return };
    let opaque = handle.opaque.cast::<Transaction>().cast_const();
    handle.opaque = std::ptr::null_mut();
    if !opaque.is_null() {
        // SAFETY: the count that the handle held.
        drop(unsafe { Arc::from_raw(opaque) });
    }
}
