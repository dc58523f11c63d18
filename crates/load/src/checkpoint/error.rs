//! Why a load's records cannot be had, in words for its user.

/// Why records cannot be kept or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server refused, or is gone.
    #[error("{0}")]
    Server(#[from] hortator_mysql::Error),

    /// The account may not make the schema or its tables.
    #[error(
        "cannot keep progress records in the schema `{schema}`: {reason}; grant the account all rights on it, name \
         another with --checkpoint-schema, or go without (--no-checkpoint)"
    )]
    Unavailable {
        /// The schema.
        schema: String,
        /// The server's words.
        reason: String,
    },

    /// There is nothing to go on with.
    #[error("nothing to resume: no interrupted load of {input} is on record in the schema `{schema}`{hint}")]
    Nothing {
        /// The input asked for.
        input: String,
        /// The schema.
        schema: String,
        /// What is there instead, and what to do; empty where nothing is.
        hint: String,
    },

    /// The load was begun under options that give its statements another meaning.
    #[error("cannot go on with load {load_id} like this: {differs}; go on with the options that it was begun with")]
    OtherOptions {
        /// The load's number.
        load_id: u64,
        /// What it was begun with, and what is asked for now.
        differs: String,
    },

    /// Several loads could be meant.
    #[error("several interrupted loads of {input} are on record: name one with --resume=ID, of {ids}")]
    Several {
        /// The input asked for.
        input: String,
        /// Their numbers.
        ids: String,
    },

    /// Sessions of the load are still there.
    #[error(
        "load {load_id} still has a session on the server (connection {connection_id}): it is running, or the server has \
         not noticed yet that its program is gone; wait, or end it with KILL {connection_id}"
    )]
    Running {
        /// The load's number.
        load_id: u64,
        /// The session.
        connection_id: u64,
    },

    /// The records are written by a later version.
    #[error(
        "load {load_id} was recorded in format {format}, which this version of Hortator does not know: use a later one"
    )]
    Newer {
        /// The load's number.
        load_id: u64,
        /// The format.
        format: u64,
    },
}
