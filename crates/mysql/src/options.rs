//! Turns what a DBA says of a connection (option files, environment, command line) into [`ConnectOptions`].
//!
//! Layers, each over the one before: defaults, environment, option files in their order, command line. That
//! the files win over the environment is the client's rule (10.11), and so is all of the choice between socket
//! and port, which `tests.rs` lists case by case as the client was seen to behave.
//!
//! What it is not: it asks nobody. It has no terminal, and knows the environment only as far as it is handed
//! in, so that every rule is a function of its inputs. A `-p` without a password comes back as
//! [`Resolved::ask_password`].

mod draft;
mod files;
mod names;

use std::ffi::OsString;
use std::fmt;

use crate::option_file::{self, Entry, Place};
use crate::{ConnectOptions, Password};

pub use files::{FileChoice, SYSTEM_FILES, os_user_name};
pub use names::GROUPS;

/// The socket of Debian's packages, and so of most servers that run beside us.
pub const DEFAULT_SOCKET: &str = "/run/mysqld/mysqld.sock";

/// An environment variable's value by its name.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// All that was said of a connection.
#[derive(Clone, Copy)]
pub struct Layers<'a> {
    /// `MYSQL_HOST`, `MYSQL_TCP_PORT`, `MYSQL_UNIX_PORT` or `MARIADB_UNIX_PORT`, `MYSQL_PWD`.
    pub environment: Environment<'a>,
    /// The options of the files in their order; the groups have no order of their own.
    pub files: &'a [Entry],
    /// The options of the command line in their order: of `--port`, `--socket` and `--protocol` the last
    /// decides between socket and port.
    pub arguments: &'a [Argument],
    /// The user when nothing names one: [`os_user_name`]; only then is it asked.
    pub default_user: &'a dyn Fn() -> Result<String, Error>,
}

/// One option of the command line.
#[derive(Clone, PartialEq, Eq)]
pub struct Argument {
    /// The long name without its dashes, such as `port` or `skip-ssl`.
    pub name: String,
    /// The value, if one was given.
    pub value: Option<OsString>,
}

impl fmt::Debug for Argument {
    /// Without the value: it may be a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{}", self.name)
    }
}

/// What the layers come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// How to connect.
    pub options: ConnectOptions,
    /// A password was announced but not given: ask the user, with [`with_password`](Resolved::with_password).
    pub ask_password: bool,
    /// Texts for the user: options that were ignored and matter.
    pub warnings: Vec<String>,
}

impl Resolved {
    /// The same with the password that the user typed.
    #[must_use]
    pub fn with_password(mut self, password: Password) -> Resolved {
        self.options.password = Some(password);
        self.ask_password = false;
        self
    }
}

/// Where an option was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// In an option file's group.
    File {
        /// The line.
        place: Place,
        /// The group.
        group: String,
    },
    /// In this environment variable.
    Environment(&'static str),
    /// On the command line.
    CommandLine,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { place, group } => write!(f, "{place} in [{group}]"),
            Origin::Environment(variable) => write!(f, "environment variable {variable}"),
            Origin::CommandLine => write!(f, "command line"),
        }
    }
}

/// Why the connection options do not come to anything.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option file is missing or not understood.
    #[error(transparent)]
    File(#[from] option_file::Error),
    /// A name that no connection option has.
    #[error("{origin}: no option is named `{name}`; names are written in full, and `loose-{name}` would be ignored")]
    Unknown {
        /// Where.
        origin: Origin,
        /// The name as written.
        name: String,
    },
    /// A value that the option does not take.
    #[error("{origin}: `{name}` is {}, but takes {takes}", found.as_ref().map_or_else(|| "without a value".to_owned(), |found| format!("`{found}`")))]
    Value {
        /// Where.
        origin: Origin,
        /// The name as written.
        name: String,
        /// The value, never that of a password.
        found: Option<String>,
        /// What would be right.
        takes: &'static str,
    },
    /// Nothing names a user.
    #[error("the operating system has no name for user id {uid}, and no option names a user; give one with --user")]
    NoUser {
        /// The effective user id of this process.
        uid: u32,
    },
}

/// What the layers come to.
///
/// # Errors
/// When an option is unknown where it may not be, or has a value that it does not take, or nothing names a user.
pub fn resolve(layers: Layers<'_>) -> Result<Resolved, Error> {
    let mut draft = draft::Draft::default();
    for (variable, option) in names::VARIABLES {
        if let Some(value) = (layers.environment)(variable).filter(|value| !value.is_empty()) {
            let origin = Origin::Environment(variable);
            draft.apply(&names::Given {
                origin,
                name: (*option).to_owned(),
                value: Some(value.into_encoded_bytes()),
            })?;
        }
    }
    for entry in layers.files {
        let origin = Origin::File { place: entry.place.clone(), group: entry.group.clone() };
        draft.apply(&names::Given { origin, name: entry.name.clone(), value: entry.value.clone() })?;
    }
    for argument in layers.arguments {
        let value = argument.value.clone().map(OsString::into_encoded_bytes);
        draft.apply(&names::Given { origin: Origin::CommandLine, name: argument.name.clone(), value })?;
    }
    draft.finish(layers.default_user)
}

#[cfg(test)]
mod tests;
