//! What stops a copy.

/// Why a source could not be copied.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The source refused something, or the connection is lost.
    #[error("copying, {doing}: {error}")]
    Source {
        /// What was under way.
        doing: String,
        /// The source's answer.
        error: hortator_mysql::Error,
    },

    /// The target refused something, or the connection is lost.
    #[error("copying, {doing} on the target: {error}")]
    Target {
        /// What was under way.
        doing: String,
        /// The target's answer.
        error: hortator_mysql::Error,
    },

    /// The source's log behind the snapshot.
    #[error("copying, watching the source's log: {0}")]
    Log(#[from] crate::source::Error),

    /// The rows did not all reach the target.
    #[error("copying rows: {text}")]
    Rows {
        /// The target's error number; none where the connection was lost.
        code: Option<u16>,
        /// What was found.
        text: String,
    },

    /// A definition has changed under the copy.
    #[error("a definition changed on the source while it was copied: {0}")]
    Changed(String),

    /// The source or the target cannot serve; a person must see to it.
    #[error("{0}")]
    Refused(String),

    /// It shall end.
    #[error("the copy was ended before it was whole: the next start begins it anew")]
    Ended,
}

impl Error {
    /// An error of the source.
    pub(super) fn source(doing: &str) -> impl FnOnce(hortator_mysql::Error) -> Error {
        let doing = doing.to_owned();
        move |error| Error::Source { doing, error }
    }

    /// An error of the target.
    pub(super) fn target(doing: &str) -> impl FnOnce(hortator_mysql::Error) -> Error {
        let doing = doing.to_owned();
        move |error| Error::Target { doing, error }
    }
}
