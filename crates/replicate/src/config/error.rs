//! What is wrong with a configuration.

/// Why a configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No TOML, a key that is missing, or a value of another type; with line and column.
    #[error("{0}")]
    Syntax(String),

    /// A key that is not known.
    #[error(
        "{table} has the unknown key `{key}`: see docs/replicate.md; options of a connection have the names of the command \
         line"
    )]
    UnknownKey {
        /// The table.
        table: String,
        /// The key.
        key: String,
    },

    /// A value that cannot be used.
    #[error("{table}, `{key}`: {found}")]
    Value {
        /// The table.
        table: String,
        /// The key.
        key: String,
        /// What was found, and what to do.
        found: String,
    },

    /// Nothing to read.
    #[error("there is no source: add a table [[source]] with name, host, user and start")]
    NoSource,

    /// A name stands for one source.
    #[error("two sources have the name {0}: positions and messages are kept by it")]
    TwoSources(String),

    /// A source needs a name.
    #[error("`{0}` is no name of a source: give 1 to 64 bytes")]
    Name(String),
}
