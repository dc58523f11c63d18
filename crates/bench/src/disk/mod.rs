//! The disk below a folder, and limits on its input and output for single processes.
//!
//! ```text
//!   folder ──► Disk         file system and device, from /proc/self/mountinfo and /sys/dev/block
//!                │
//!                ▼
//!          IoController     the kernel's control groups, version 1 (blkio) or 2 (io); or why there is none to use
//!                │
//!                ▼
//!            IoGroup        processes that share a limit, until this value is dropped
//! ```
//!
//! What the kernel writes late for a process is limited with version 2 only: version 1 limits direct input and output, and what
//! the process itself syncs. Servers with `innodb_flush_method=O_DIRECT` do little else.

mod device;
mod io_controller;
mod mounts;

pub use device::Disk;
pub use io_controller::{IoController, IoGroup, Operations};
