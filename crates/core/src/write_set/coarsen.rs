//! How a write set with too many keys becomes coarser.
//!
//! The rows of a table become the whole table: shared if all of them are only read, otherwise exclusive. When no rows
//! are left, tables become their schema; in the end everything becomes the server. A coarser set excludes everything
//! that the finer one excludes: it can only wait more.

use hashbrown::{HashMap, HashSet};

use super::WriteSet;
use crate::{Key, Level, Mode};

impl WriteSet {
    /// Reduces the set to half its limit, so that the next keys do not exceed the limit again at once. Folds the
    /// parents with the most keys first: they free the most, and lock the fewest unrelated keys.
    pub(super) fn coarsen(&mut self) {
        let target = (self.keys_limit / 2).max(1);
        for level in [Level::Row, Level::Table, Level::Schema] {
            if self.requests.len() > target {
                self.fold(level, self.requests.len() - target);
            }
        }
        self.index_all();
    }

    /// Folds keys of that level into their parents, until `excess` keys are gone or none are left.
    fn fold(&mut self, level: Level, excess: usize) {
        let mut below: HashMap<Key, usize> = HashMap::new();
        for request in self.requests.iter().filter(|request| request.key.level() == level) {
            *below
                .entry(request.key.parent().expect("only the server has no parent, and it is never folded"))
                .or_insert(0) += 1;
        }
        let mut largest: Vec<(Key, usize)> = below.into_iter().collect();
        // Ties by key: every node must compute the same set from the same keys.
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
        // Deeper keys would lose their parent; they have been folded before.
        self.requests.retain(|request| {
            request.key.level() != level || !request.key.parent().is_some_and(|parent| folded.contains(&parent))
        });
        for request in self.requests.iter_mut().filter(|request| folded.contains(&request.key)) {
            // The intention records whether something below is written; in that case the join is exclusive.
            request.mode = request.mode.join(Mode::Shared);
        }
    }
}
