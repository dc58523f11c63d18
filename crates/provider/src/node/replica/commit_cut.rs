//! Up to which seqno a commit cut may go.
//!
//! A commit cut purges the certification index on all nodes. A write set that has seen less than the commit cut then
//! fails, because what it may conflict with is unknown. So a commit cut goes no further than
//!
//! - every member has applied, and
//! - every proposal has seen that waits for its seqno: its last-seen seqno is from the moment of the client's COMMIT. It
//!   waits while flow control holds it back, while its thread gets no processor, and while a new leader is elected.
//!
//! A proposal that waits for very long gives way, so that the index has a limit; its transaction then fails (error 1213).

#[cfg(test)]
mod tests;

/// A commit cut waits for proposals until the index holds this many write sets …
const RETAINED_SEQNOS_LIMIT: i64 = 65_536;
/// … or this many keys: about 200 MB.
const RETAINED_KEYS_LIMIT: usize = 2_000_000;

/// What a member has reported. Nothing: it has applied nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemberSeqnos {
    /// The seqno up to which its tables are applied.
    pub applied: i64,
    /// None of its write sets that are not ordered yet, or that it will propose, has seen less than this. At most
    /// `applied`.
    pub oldest_seen: i64,
}

/// The seqno up to which a commit cut may go; 0 if the view is not known. `last`: the last ordered seqno; `keys`: the
/// keys in the index.
pub(super) fn upto(members: impl IntoIterator<Item = MemberSeqnos>, last: i64, keys: usize) -> i64 {
    let least = |one: MemberSeqnos, other: MemberSeqnos| MemberSeqnos {
        applied: one.applied.min(other.applied),
        oldest_seen: one.oldest_seen.min(other.oldest_seen),
    };
    let MemberSeqnos { applied, oldest_seen } = members.into_iter().reduce(least).unwrap_or_default();
    let is_full = last - oldest_seen > RETAINED_SEQNOS_LIMIT || keys > RETAINED_KEYS_LIMIT;
    let upto = if is_full { applied } else { applied.min(oldest_seen) };
    upto.min(last)
}
