//! The generators: each writes one dump.

pub(super) mod binlogs;
pub(super) mod databases;
pub(super) mod extended;
mod mariadb_dump;
pub(super) mod objects;
pub(super) mod recorded;
pub(super) mod single_rows;
mod tables;
