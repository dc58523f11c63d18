//! Validates messages of peers before the state machine acts on them.

use super::{LogId, Message};

/// Larger terms and indexes are rejected, so that no computation overflows.
pub(super) const TERM_AND_INDEX_LIMIT: u64 = 1 << 62;

/// Whether a correct node could have sent the message.
pub(super) fn is_valid_message(message: &Message) -> bool {
    let is_place = |log_id: &LogId| log_id.term.0 <= TERM_AND_INDEX_LIMIT && log_id.index.0 <= TERM_AND_INDEX_LIMIT;
    match message {
        Message::VoteRequest { term, last, .. } => {
            term.0 <= TERM_AND_INDEX_LIMIT && is_place(last) && last.term <= *term
        }
        Message::VoteReply { term, memberships, .. } => {
            term.0 <= TERM_AND_INDEX_LIMIT && memberships.iter().all(|membership| !membership.voters.is_empty())
        }
        Message::TimeoutNow { term } => term.0 <= TERM_AND_INDEX_LIMIT,
        Message::AppendReply { term, upto, last, .. } => {
            term.0 <= TERM_AND_INDEX_LIMIT && upto.0 <= TERM_AND_INDEX_LIMIT && last.0 <= TERM_AND_INDEX_LIMIT
        }
        Message::Append(append) => {
            let terms = append.entries.iter().map(|entry| entry.term);
            let ascend =
                terms.clone().is_sorted() && terms.clone().next().is_none_or(|first| first >= append.prev_log_id.term);
            let is_ever_empty = append
                .entries
                .iter()
                .any(|entry| entry.membership.as_ref().is_some_and(|membership| membership.voters.is_empty()));
            let newest = append.entries.last().map_or(append.prev_log_id.term, |entry| entry.term);
            append.term.0 <= TERM_AND_INDEX_LIMIT
                && is_place(&append.prev_log_id)
                && ascend
                && newest <= append.term
                && !is_ever_empty
        }
    }
}
