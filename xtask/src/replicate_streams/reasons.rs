//! Why files do not end equal, where that is known.

/// A known reason.
pub(super) struct Reason {
    /// What the message or the difference contains.
    contains: &'static str,
    /// The reason, for the page.
    pub(super) text: &'static str,
}

const REASONS: &[Reason] = &[
    Reason { contains: "XA transactions are not supported", text: "XA is not implemented yet" },
    Reason {
        contains: "'max_allowed_packet' bytes",
        text: "a row is larger than the target's max_allowed_packet takes as base64; a replica has slave_max_allowed_packet",
    },
    Reason { contains: "AUTO_INCREMENT=", text: "the log does not say how far the counter is ahead of the last row" },
    Reason { contains: "'COM_SELECT'", text: "a counter of each server, which a statement reads" },
    Reason { contains: "a user variable's geometry type", text: "no SQL gives a user variable this type" },
    Reason { contains: "(the replica: ", text: "a stock replica stops, too" },
    Reason { contains: "the replica stops: ", text: "a stock replica stops, and Hortator does not" },
];

/// The reason of a message or difference.
pub(super) fn reason(found: &str) -> Option<&'static str> {
    REASONS.iter().find(|reason| found.contains(reason.contains)).map(|reason| reason.text)
}
