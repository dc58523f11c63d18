//! Why the checkpoints of a load are not available.

/// Why a load cannot write checkpoints or resume from them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server refused, or the connection is lost.
    #[error("{0}")]
    Server(#[from] hortator_mysql::Error),

    /// The account may not create the schema or its tables.
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

    /// There is nothing to resume.
    #[error("nothing to resume: the schema `{schema}` has no checkpoint of a load of {input}{hint}")]
    Nothing {
        /// The input asked for.
        input: String,
        /// The schema.
        schema: String,
        /// What is there instead, and what to do; empty where nothing is.
        hint: String,
    },

    /// The load was started with options that change the meaning of its statements.
    #[error("cannot resume load {load_id} with these options: {differs}; resume with the options of the first run")]
    OtherOptions {
        /// The load's number.
        load_id: u64,
        /// The options then and now.
        differs: String,
    },

    /// Tables of a load with a local record have changed since it was killed.
    #[error(
        "cannot resume load {load_id}: it was killed when it had inserted {recorded} rows into the new table {table}, which has \
         more rows now: if somebody has loaded it since, give this load up with --discard-checkpoint={load_id}; else delete the \
         other rows and resume"
    )]
    MoreRows {
        /// The load's number.
        load_id: u64,
        /// The table, as `schema.table`.
        table: String,
        /// The rows of the load.
        recorded: u64,
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

    /// The load has dropped keys, to be built after the rows, and they cannot be built.
    #[error("the checkpoints of load {load_id} cannot be discarded, because they record missing keys: {message}")]
    MissingKeys {
        /// The load's number.
        load_id: u64,
        /// What the server says, and what to do.
        message: String,
    },

    /// A later version wrote the checkpoints.
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

impl Error {
    /// As an error of the server or the connection.
    pub(super) fn into_server(self) -> hortator_mysql::Error {
        match self {
            Self::Server(error) => error,
            other => hortator_mysql::Error::Unsupported(other.to_string()),
        }
    }
}
