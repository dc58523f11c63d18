//! Why a load's records cannot be had, in words for its user.

/// Why records cannot be kept or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server refused, or is gone.
    #[error("{0}")]
    Server(#[from] hortator_mysql::Error),

    /// The account may not make the schema or its tables.
    #[error(
        "cannot write checkpoints to the schema `{schema}`: {reason}; grant the account all rights on the schema, choose \
         another schema with --checkpoint-schema, or load with --no-checkpoint"
    )]
    Unavailable {
        /// The schema.
        schema: String,
        /// The server's words.
        reason: String,
    },

    /// There is nothing to go on with.
    #[error("nothing to resume: the schema `{schema}` has no checkpoint of a load of {input}{hint}")]
    Nothing {
        /// The input asked for.
        input: String,
        /// The schema.
        schema: String,
        /// What is there instead, and what to do; empty where nothing is.
        hint: String,
    },

    /// The load was begun under options that give its statements another meaning.
    #[error("cannot resume load {load_id} with these options: {differs}; resume with the options of the first run")]
    OtherOptions {
        /// The load's number.
        load_id: u64,
        /// What it was begun with, and what is asked for now.
        differs: String,
    },

    /// Several loads could be meant.
    #[error("several loads of {input} are interrupted: choose one with --resume=ID ({ids})")]
    Several {
        /// The input asked for.
        input: String,
        /// Their numbers.
        ids: String,
    },

    /// Sessions of the load are still there.
    #[error(
        "load {load_id} still has a session on the server (connection {connection_id}): the load is running, or the server \
         has not yet detected that the client is gone; wait, or end the session with KILL {connection_id}"
    )]
    Running {
        /// The load's number.
        load_id: u64,
        /// The session.
        connection_id: u64,
    },

    /// The records are written by a later version.
    #[error(
        "load {load_id} has checkpoints in format {format}, which this version of Hortator does not support: use a later version"
    )]
    Newer {
        /// The load's number.
        load_id: u64,
        /// The format.
        format: u64,
    },
}
