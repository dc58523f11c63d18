//! What is believed of what a peer says: nothing that no node could truly say.

use super::{Message, Place};

/// No term or index of a peer beyond this is believed: what is computed from one cannot overflow.
pub(super) const BELIEVED_LIMIT: u64 = 1 << 62;

/// Whether a message can be true at all.
pub(super) fn is_believable(message: &Message) -> bool {
    let is_place = |place: &Place| place.term.0 <= BELIEVED_LIMIT && place.index.0 <= BELIEVED_LIMIT;
    match message {
        Message::VoteRequest { term, last, .. } => term.0 <= BELIEVED_LIMIT && is_place(last) && last.term <= *term,
        Message::VoteReply { term, .. } | Message::TakeOver { term } => term.0 <= BELIEVED_LIMIT,
        Message::AppendReply { term, upto, .. } => term.0 <= BELIEVED_LIMIT && upto.0 <= BELIEVED_LIMIT,
        Message::Append(append) => {
            let terms = append.entries.iter().map(|entry| entry.term);
            let ascend =
                terms.clone().is_sorted() && terms.clone().next().is_none_or(|first| first >= append.before.term);
            let is_ever_empty = append
                .entries
                .iter()
                .any(|entry| entry.membership.as_ref().is_some_and(|membership| membership.voters.is_empty()));
            let newest = append.entries.last().map_or(append.before.term, |entry| entry.term);
            append.term.0 <= BELIEVED_LIMIT
                && is_place(&append.before)
                && ascend
                && newest <= append.term
                && !is_ever_empty
        }
    }
}
