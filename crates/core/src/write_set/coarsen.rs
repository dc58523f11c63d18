//! What a write set does when it has too many keys: it says the same more coarsely.
//!
//! The rows of a table become the whole table, shared when all of them are only read, exclusive otherwise; when there
//! are no rows left, tables become their schema; at last everything becomes the server. A coarser set excludes all
//! that the finer one did: it can only wait more.

use hashbrown::{HashMap, HashSet};

use super::WriteSet;
use crate::{Key, Level, Mode};

impl WriteSet {
    /// Brings the set to half its limit, so that the next keys do not bring it here again at once. Folds first the
    /// places with the most keys below: they free the most, and lock the fewest bystanders for it.
    pub(super) fn coarsen(&mut self) {
        let target = (self.keys_limit / 2).max(1);
        for level in [Level::Row, Level::Table, Level::Schema] {
            if self.claims.len() > target {
                self.fold(level, self.claims.len() - target);
            }
        }
        self.index_all();
    }

    /// Folds keys of that level into the places right above, until `excess` are gone or none are left.
    fn fold(&mut self, level: Level, excess: usize) {
        let mut below: HashMap<Key, usize> = HashMap::new();
        for claim in self.claims.iter().filter(|claim| claim.key.level() == level) {
            *below
                .entry(claim.key.parent().expect("only the server has no parent, and it is never folded"))
                .or_insert(0) += 1;
        }
        let mut largest: Vec<(Key, usize)> = below.into_iter().collect();
        // Ties by key: every node that gets the same keys must come to the same set.
        largest.sort_unstable_by_key(|&(parent, count)| (std::cmp::Reverse(count), parent));
        let mut gone = 0;
        let folded: HashSet<Key> = largest
            .into_iter()
            .take_while(|&(_, count)| {
                let more = gone < excess;
                gone += count;
                more
            })
            .map(|(parent, _)| parent)
            .collect();
        // What lies deeper than the folded level would be left without a parent; it has been folded before.
        self.claims.retain(|claim| {
            claim.key.level() != level || !claim.key.parent().is_some_and(|parent| folded.contains(&parent))
        });
        for claim in self.claims.iter_mut().filter(|claim| folded.contains(&claim.key)) {
            // Its intention knows already whether something below is written, and then this gives exclusive.
            claim.mode = claim.mode.join(Mode::Shared);
        }
    }
}
