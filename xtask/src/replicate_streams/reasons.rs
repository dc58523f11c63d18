//! Why files do not end equal, where that is known.

/// A known reason.
pub(super) struct Reason {
    /// What the message or the difference contains.
    contains: &'static str,
    /// The reason, for the page.
    pub(super) text: &'static str,
}

const REASONS: &[Reason] =
    &[Reason { contains: "XA transactions are not supported", text: "XA is not implemented yet" }];

/// The reason of a message or difference.
pub(super) fn reason(found: &str) -> Option<&'static str> {
    REASONS.iter().find(|reason| found.contains(reason.contains)).map(|reason| reason.text)
}
