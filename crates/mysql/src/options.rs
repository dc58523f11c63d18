//! Resolves the connection settings of a DBA (option files, environment, command line) into [`ConnectOptions`].
//!
//! Each layer overrides the one before: defaults, environment, option files in order, command line. It is the client's
//! rule (10.11) that files override the environment, and so is the choice between socket and port; `tests.rs` lists the
//! observed behaviour of the client case by case.
//!
//! Not in this module: prompts. It has no terminal, and gets the environment as an argument, so that every rule is a
//! function of its inputs. A `-p` without a password is returned as [`Resolved::ask_password`].

mod builder;
mod files;
mod names;

use std::ffi::OsString;
use std::fmt;

use crate::option_file::{self, Entry, SourceLine};
use crate::{ConnectOptions, Password};

pub use files::{FileChoice, SYSTEM_FILES, os_user_name};
pub use names::GROUPS;

/// The socket of Debian's packages, and so of most local servers.
pub const DEFAULT_SOCKET: &str = "/run/mysqld/mysqld.sock";

/// An environment variable's value by its name.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// All settings of a connection.
#[derive(Clone, Copy)]
pub struct Layers<'a> {
    /// `MYSQL_HOST`, `MYSQL_TCP_PORT`, `MYSQL_UNIX_PORT` or `MARIADB_UNIX_PORT`, `MYSQL_PWD`.
    pub environment: Environment<'a>,
    /// The options of the files, in order; groups have no order of their own.
    pub files: &'a [Entry],
    /// The options of the command line, in order: the last of `--port`, `--socket` and `--protocol` decides between
    /// socket and port.
    pub arguments: &'a [Argument],
    /// The default user, [`os_user_name`]; called only if no option gives a user.
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

/// The resolved settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// How to connect.
    pub options: ConnectOptions,
    /// The options request a password prompt: ask the user, and use [`with_password`](Resolved::with_password).
    pub ask_password: bool,
    /// Warnings for the user: relevant options that were ignored.
    pub warnings: Vec<String>,
}

impl Resolved {
    /// The same settings with the password that the user typed.
    #[must_use]
    pub fn with_password(mut self, password: Password) -> Resolved {
        self.options.password = Some(password);
        self.ask_password = false;
        self
    }
}

/// The origin of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A group of an option file.
    File {
        /// The line.
        source_line: SourceLine,
        /// The group.
        group: String,
    },
    /// This environment variable.
    Environment(&'static str),
    /// The command line.
    CommandLine,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { source_line, group } => write!(f, "{source_line} in [{group}]"),
            Origin::Environment(variable) => write!(f, "environment variable {variable}"),
            Origin::CommandLine => write!(f, "command line"),
        }
    }
}

/// The errors of connection settings.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option file is missing or invalid.
    #[error(transparent)]
    File(#[from] option_file::Error),
    /// The option is unknown.
    #[error("{origin}: unknown option `{name}`: write names in full; `loose-{name}` would be ignored")]
    Unknown {
        /// Its origin.
        origin: Origin,
        /// The name as written.
        name: String,
    },
    /// The value of an option is invalid.
    #[error("{origin}: `{name}` is {}: give {takes}", found.as_ref().map_or_else(|| "without a value".to_owned(), |found| format!("`{found}`")))]
    Value {
        /// Its origin.
        origin: Origin,
        /// The name as written.
        name: String,
        /// The value, never that of a password.
        found: Option<String>,
        /// The valid values.
        takes: &'static str,
    },
    /// No option names a user.
    #[error("the operating system has no name for user id {uid}: give a user with --user")]
    NoUser {
        /// The effective user id of this process.
        uid: u32,
    },
}

/// Resolves the layers.
///
/// # Errors
/// When an option is unknown where only known options are allowed, or has an invalid value, or the user is unknown.
pub fn resolve(layers: Layers<'_>) -> Result<Resolved, Error> {
    let mut builder = builder::ConnectOptionsBuilder::default();
    for (variable, option) in names::VARIABLES {
        if let Some(value) = (layers.environment)(variable).filter(|value| !value.is_empty()) {
            let origin = Origin::Environment(variable);
            builder.apply(&names::OptionValue {
                origin,
                name: (*option).to_owned(),
                value: Some(value.into_encoded_bytes()),
            })?;
        }
    }
    for entry in layers.files {
        let origin = Origin::File { source_line: entry.source_line.clone(), group: entry.group.clone() };
        builder.apply(&names::OptionValue { origin, name: entry.name.clone(), value: entry.value.clone() })?;
    }
    for argument in layers.arguments {
        let value = argument.value.clone().map(OsString::into_encoded_bytes);
        builder.apply(&names::OptionValue { origin: Origin::CommandLine, name: argument.name.clone(), value })?;
    }
    builder.finish(layers.default_user)
}

#[cfg(test)]
mod tests;
