//! Maps the server's handle to a transaction: the handle's opaque pointer holds one reference of an `Arc`.

#![allow(unsafe_code)]

use std::sync::Arc;

use super::abi::RawHandle;
use crate::node::Node;
use crate::transaction::Transaction;

/// The handle's transaction, if it has one.
///
/// # Safety
/// `handle` is null or the server's, and its opaque pointer is null or from [`find_or_begin`].
pub unsafe fn find(handle: *const RawHandle) -> Option<Arc<Transaction>> {
    // SAFETY: the caller's promise.
    let opaque = unsafe { handle.as_ref() }?.opaque.cast::<Transaction>().cast_const();
    if opaque.is_null() {
        return None;
    }
    // SAFETY: the pointer holds a reference, which stays: this is another one.
    unsafe {
        Arc::increment_strong_count(opaque);
        Some(Arc::from_raw(opaque))
    }
}

/// The handle's transaction; starts one if there is none.
///
/// # Safety
/// As for [`find`]; no other thread uses the handle meanwhile.
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

/// Drops the handle's reference.
///
/// # Safety
/// As for [`find_or_begin`].
pub unsafe fn forget(handle: *mut RawHandle) {
    // SAFETY: the caller's promise.
    let Some(handle) = (unsafe { handle.as_mut() }) else { return };
    let opaque = handle.opaque.cast::<Transaction>().cast_const();
    handle.opaque = std::ptr::null_mut();
    if !opaque.is_null() {
        // SAFETY: the handle's reference.
        drop(unsafe { Arc::from_raw(opaque) });
    }
}
