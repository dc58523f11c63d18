//! The provider behind the server's table between init and free, and the guard around every call.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::abi::{InitArgs, Status, Wsrep};
use super::callbacks::{Callbacks, gtid};
use super::process::{binary_log, discard_saved, save_at_exit};
use super::stats::StatsBlock;
use super::text::from_server;
use crate::galera_lines::KnownMessage;
use crate::identity::Gtid;
use crate::metrics::MetricsWriter;
use crate::node::{self, Node, Setup};
use crate::server::{Level, Server};

/// A provider, from init to free.
pub struct Provider {
    /// Its node.
    pub node: Arc<Node>,
    /// The server's callbacks.
    pub server: Arc<dyn Server>,
    /// Arrays of status variables that the server has not freed yet, by address.
    pub stats: Mutex<HashMap<usize, StatsBlock>>,
    /// Writes the metrics file.
    metrics: Option<MetricsWriter>,
}

impl Provider {
    /// Creates the provider and stores it in the table.
    ///
    /// # Safety
    /// As the API requires for init.
    pub unsafe fn init(wsrep: *mut Wsrep, args: *const InitArgs) -> Status {
        // SAFETY: the caller's promise.
        let (Some(wsrep), Some(args)) = (unsafe { wsrep.as_mut() }, unsafe { args.as_ref() }) else {
            return Status::Fatal;
        };
        let Some(callbacks) = Callbacks::new(args) else { return Status::Fatal };
        let server: Arc<dyn Server> = Arc::new(callbacks);
        // SAFETY: texts and position are the server's, and live until this returns.
        let setup = unsafe {
            Setup {
                name: from_server(args.node_name),
                incoming: from_server(args.node_incoming),
                node_address: from_server(args.node_address),
                data_dir: PathBuf::from(from_server(args.data_dir)),
                options: from_server(args.options),
                position: args.state_id.as_ref().map_or(Gtid::UNDEFINED, |raw| gtid(*raw)),
                binary_log: binary_log(),
            }
        };
        discard_saved();
        server.log(Level::Note, concat!("wsrep provider ", env!("CARGO_PKG_VERSION"), ", EXPERIMENTAL"));
        match Node::new(setup, Arc::clone(&server)) {
            Ok(node) => {
                let node = Arc::new(node);
                let metrics = MetricsWriter::start(&node, &server).unwrap_or_else(|error| {
                    server.log(Level::Warning, &format!("metrics.file: no thread can be started: {error}"));
                    None
                });
                let provider = Self { node, server, stats: Mutex::default(), metrics };
                wsrep.ctx = Box::into_raw(Box::new(provider)).cast();
                Status::Ok
            }
            Err(error) => {
                server.log_error(KnownMessage::of(&error).as_ref(), &error.to_string());
                Status::NodeFail
            }
        }
    }

    /// Logs an error of a call.
    pub fn log_error(&self, error: &node::Error) {
        self.server.log_error(KnownMessage::of(error).as_ref(), &error.to_string());
    }

    /// Removes the provider from the table and drops it. The server calls it twice: the second time there is none.
    ///
    /// # Safety
    /// As the API requires for free: no other call runs.
    pub unsafe fn free(wsrep: *mut Wsrep) {
        // SAFETY: the caller's promise.
        let Some(wsrep) = (unsafe { wsrep.as_mut() }) else { return };
        if !wsrep.ctx.is_null() {
            // SAFETY: it was made by init, and is taken away once.
            let mut provider = unsafe { Box::from_raw(wsrep.ctx.cast::<Self>()) };
            wsrep.ctx = std::ptr::null_mut();
            provider.metrics = None;
            if let Some(finished) = provider.node.finish() {
                save_at_exit(finished);
            }
        }
    }
}

impl Provider {
    /// The arrays of status variables in use.
    pub fn blocks(&self) -> MutexGuard<'_, HashMap<usize, StatsBlock>> {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `body` with the provider of the table; returns `missing` if there is none, and after a panic.
///
/// # Safety
/// `wsrep` is the server's table, from init to free.
pub unsafe fn with<T>(wsrep: *mut Wsrep, missing: T, body: impl FnOnce(&Provider) -> T) -> T {
    // SAFETY: the caller's promise; between init and free the provider is only shared.
    let provider = unsafe { wsrep.as_ref().and_then(|wsrep| wsrep.ctx.cast::<Provider>().as_ref()) };
    let Some(provider) = provider else { return missing };
    match catch_unwind(AssertUnwindSafe(|| body(provider))) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            let _ = catch_unwind(AssertUnwindSafe(|| provider.node.fail(&format!("a bug in the provider: {text}"))));
            missing
        }
    }
}

/// Catches panics of calls without a provider.
pub fn guarded<T>(fallback: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(fallback)
}
