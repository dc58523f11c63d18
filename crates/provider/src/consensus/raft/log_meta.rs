//! Metadata of the log's entries: runs of terms, and memberships.
//!
//! A run holds all consecutive entries of one term, so this stays small for a log of any length.

use std::sync::LazyLock;

use super::{EntryMeta, LogId, Membership, Term};
use crate::log::Index;

static NO_VOTERS: LazyLock<Membership> = LazyLock::new(Membership::default);

pub(super) struct LogMeta {
    /// The entry right before the first one.
    last_purged: LogId,
    /// Each run starts at this index, after `last_purged`; both columns ascend.
    term_runs: Vec<(Index, Term)>,
    last: Index,
    /// Ascending: the last committed membership, and those after it.
    memberships: Vec<(Index, Membership)>,
}

impl LogMeta {
    pub(super) fn new(
        last_purged: LogId,
        term_runs: Vec<(Index, Term)>,
        last: Index,
        memberships: Vec<(Index, Membership)>,
    ) -> Self {
        assert!(last >= last_purged.index, "the log ends before it begins");
        let ends_well = term_runs.last().is_none_or(|(first, _)| *first <= last);
        let begins_well = match term_runs.first() {
            Some((first, term)) => *first == last_purged.index.next() && *term >= last_purged.term,
            None => last == last_purged.index,
        };
        let ascends = term_runs.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1);
        assert!(
            begins_well && ascends && ends_well,
            "term runs must ascend from the last purged entry to the end of \
                                                      the log"
        );
        assert!(memberships.is_sorted_by_key(|(index, _)| *index), "memberships must ascend");
        Self { last_purged, term_runs, last, memberships }
    }

    pub(super) fn last_purged(&self) -> LogId {
        self.last_purged
    }

    pub(super) fn last(&self) -> LogId {
        let term = self.term_runs.last().map_or(self.last_purged.term, |(_, term)| *term);
        LogId { term, index: self.last }
    }

    /// None: before `last_purged`, or after the end.
    pub(super) fn term_at(&self, index: Index) -> Option<Term> {
        if index < self.last_purged.index || index > self.last {
            return None;
        }
        let count = self.term_runs.partition_point(|(first, _)| *first <= index);
        Some(if count == 0 { self.last_purged.term } else { self.term_runs[count - 1].1 })
    }

    pub(super) fn log_id(&self, index: Index) -> Option<LogId> {
        self.term_at(index).map(|term| LogId { term, index })
    }

    /// The last entry at or before `index` with `term` or an earlier one; `last_purged` if there is none.
    pub(super) fn last_not_later(&self, index: Index, term: Term) -> Index {
        let later = self.term_runs.partition_point(|(_, of)| *of <= term);
        match self.term_runs.get(later) {
            Some((first, _)) if *first <= index => Index(first.0 - 1),
            _ => index.min(self.last),
        }
    }

    /// The entry before the run that holds `index`.
    pub(super) fn last_before_run(&self, index: Index) -> Index {
        let count = self.term_runs.partition_point(|(first, _)| *first <= index);
        if count == 0 { self.last_purged.index } else { Index(self.term_runs[count - 1].0.0 - 1) }
    }

    /// Appends one entry.
    pub(super) fn push(&mut self, meta: &EntryMeta) {
        self.extend(meta.term, self.last.next());
        if let Some(membership) = &meta.membership {
            self.memberships.push((self.last, membership.clone()));
        }
    }

    /// Appends entries of one term up to `upto`.
    pub(super) fn extend(&mut self, term: Term, upto: Index) {
        if self.last().term != term || self.term_runs.is_empty() {
            self.term_runs.push((self.last.next(), term));
        }
        self.last = upto;
    }

    /// Removes the entries from `from` on. The previous membership is in force again.
    pub(super) fn truncate(&mut self, from: Index) {
        self.last = Index(from.0 - 1);
        self.term_runs.retain(|(first, _)| *first < from);
        self.memberships.retain(|(index, _)| *index < from);
    }

    /// Removes the entries up to `log_id`, which the log holds.
    pub(super) fn purge_to(&mut self, log_id: LogId) {
        if log_id.index <= self.last_purged.index {
            return;
        }
        assert_eq!(
            self.term_at(log_id.index),
            Some(log_id.term),
            "only an entry of the log can become the last \
                                                                   purged one"
        );
        let first = log_id.index.next();
        let count = self.term_runs.partition_point(|(begin, _)| *begin <= first);
        self.term_runs.drain(..count.saturating_sub(1));
        if log_id.index == self.last {
            self.term_runs.clear();
        } else {
            self.term_runs[0].0 = self.term_runs[0].0.max(first);
        }
        self.last_purged = log_id;
    }

    /// Drops memberships that a committed one has replaced.
    pub(super) fn drop_superseded(&mut self, committed: Index) {
        let count = self.memberships.partition_point(|(index, _)| *index <= committed);
        if count > 1 {
            self.memberships.drain(..count - 1);
        }
    }

    /// Whether the log has exactly this entry.
    pub(super) fn holds(&self, log_id: LogId) -> bool {
        self.term_at(log_id.index) == Some(log_id.term)
    }

    /// The memberships of the entries from `first` on.
    pub(super) fn memberships_from(&self, first: Index) -> impl Iterator<Item = (LogId, Membership)> + '_ {
        let new = self.memberships.iter().filter(move |(index, _)| *index >= first);
        new.filter_map(|(index, membership)| Some((self.log_id(*index)?, membership.clone())))
    }

    /// The index of the membership before the last one in the log.
    pub(super) fn previous_membership_index(&self) -> Option<Index> {
        let in_log = self.memberships.iter().filter(|(index, _)| *index <= self.last);
        in_log.rev().nth(1).map(|(index, _)| *index)
    }

    /// The last committed membership, and those after it.
    pub(super) fn memberships(&self) -> impl Iterator<Item = &Membership> {
        self.memberships.iter().map(|(_, membership)| membership)
    }

    pub(super) fn membership(&self) -> &Membership {
        self.memberships.last().map_or(&NO_VOTERS, |(_, membership)| membership)
    }

    /// The index of the current membership.
    pub(super) fn membership_index(&self) -> Index {
        self.memberships.last().map_or(Index(0), |(index, _)| *index)
    }

    pub(super) fn committed_membership(&self, committed: Index) -> Option<&(Index, Membership)> {
        self.memberships.iter().rfind(|(index, _)| *index <= committed)
    }
}
