//! The log as agreement sees it: runs of terms, and who decides.
//!
//! A run is many entries of one leader, so this stays small however long the log grows.

use std::sync::LazyLock;

use super::{Membership, Place, Shape, Term};
use crate::log::Index;

static NOBODY: LazyLock<Membership> = LazyLock::new(Membership::default);

pub(super) struct Shapes {
    /// Right before the first entry.
    base: Place,
    /// From this entry on, that term; all behind the base, both ascending.
    runs: Vec<(Index, Term)>,
    last: Index,
    /// Ascending: the last committed one, and those behind it.
    memberships: Vec<(Index, Membership)>,
}

impl Shapes {
    pub(super) fn new(
        base: Place,
        runs: Vec<(Index, Term)>,
        last: Index,
        memberships: Vec<(Index, Membership)>,
    ) -> Self {
        assert!(last >= base.index, "the log ends before it begins");
        let ends_well = runs.last().is_none_or(|(first, _)| *first <= last);
        let begins_well = match runs.first() {
            Some((first, term)) => *first == base.index.next() && *term >= base.term,
            None => last == base.index,
        };
        let ascends = runs.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1);
        assert!(begins_well && ascends && ends_well, "runs of terms ascend from the base to the end of the log");
        assert!(memberships.is_sorted_by_key(|(index, _)| *index), "memberships ascend");
        Self { base, runs, last, memberships }
    }

    pub(super) fn base(&self) -> Place {
        self.base
    }

    pub(super) fn last(&self) -> Place {
        let term = self.runs.last().map_or(self.base.term, |(_, term)| *term);
        Place { term, index: self.last }
    }

    /// None: before the base, or behind the end.
    pub(super) fn term_at(&self, index: Index) -> Option<Term> {
        if index < self.base.index || index > self.last {
            return None;
        }
        let behind = self.runs.partition_point(|(first, _)| *first <= index);
        Some(if behind == 0 { self.base.term } else { self.runs[behind - 1].1 })
    }

    pub(super) fn place(&self, index: Index) -> Option<Place> {
        self.term_at(index).map(|term| Place { term, index })
    }

    /// The last entry at or before `index` of `term` or an earlier one; the base if there is none behind it.
    pub(super) fn last_not_later(&self, index: Index, term: Term) -> Index {
        let later = self.runs.partition_point(|(_, of)| *of <= term);
        match self.runs.get(later) {
            Some((first, _)) if *first <= index => Index(first.0 - 1),
            _ => index.min(self.last),
        }
    }

    /// The entry before the run that `index` lies in.
    pub(super) fn before_run(&self, index: Index) -> Index {
        let behind = self.runs.partition_point(|(first, _)| *first <= index);
        if behind == 0 { self.base.index } else { Index(self.runs[behind - 1].0.0 - 1) }
    }

    /// One more entry at the end.
    pub(super) fn push(&mut self, shape: &Shape) {
        self.extend(shape.term, self.last.next());
        if let Some(membership) = &shape.membership {
            self.memberships.push((self.last, membership.clone()));
        }
    }

    /// Entries of one term up to `upto`.
    pub(super) fn extend(&mut self, term: Term, upto: Index) {
        if self.last().term != term || self.runs.is_empty() {
            self.runs.push((self.last.next(), term));
        }
        self.last = upto;
    }

    /// It ends before `from`, and who decided before decides again.
    pub(super) fn truncate(&mut self, from: Index) {
        self.last = Index(from.0 - 1);
        self.runs.retain(|(first, _)| *first < from);
        self.memberships.retain(|(index, _)| *index < from);
    }

    /// It begins behind `place`, an entry that it has.
    pub(super) fn move_base(&mut self, place: Place) {
        if place.index <= self.base.index {
            return;
        }
        assert_eq!(self.term_at(place.index), Some(place.term), "the base moves to an entry of the log");
        let first = place.index.next();
        let behind = self.runs.partition_point(|(begin, _)| *begin <= first);
        self.runs.drain(..behind.saturating_sub(1));
        if place.index == self.last {
            self.runs.clear();
        } else {
            self.runs[0].0 = self.runs[0].0.max(first);
        }
        self.base = place;
    }

    /// Memberships that a committed one replaced are forgotten.
    pub(super) fn settle(&mut self, committed: Index) {
        let behind = self.memberships.partition_point(|(index, _)| *index <= committed);
        if behind > 1 {
            self.memberships.drain(..behind - 1);
        }
    }

    pub(super) fn membership(&self) -> &Membership {
        self.memberships.last().map_or(&NOBODY, |(_, membership)| membership)
    }

    /// Where that stands.
    pub(super) fn membership_index(&self) -> Index {
        self.memberships.last().map_or(Index(0), |(index, _)| *index)
    }

    pub(super) fn settled_membership(&self, committed: Index) -> Option<&(Index, Membership)> {
        self.memberships.iter().rfind(|(index, _)| *index <= committed)
    }
}
