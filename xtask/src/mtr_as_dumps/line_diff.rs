//! Where two lists of lines differ, by Myers' greedy algorithm ("An O(ND) Difference Algorithm and Its Variations", 1986).

use std::ops::Range;

/// More edits than this are not looked for one by one: what is between the equal ends is then one hunk.
const EDITS_LIMIT: usize = 1_500;

/// A stretch that differs: lines of the first in place of lines of the second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) first: Range<usize>,
    pub(super) second: Range<usize>,
}

impl Hunk {
    /// Whether the two replace, or stand beside, the same lines of the first.
    pub(super) fn touches(&self, other: &Hunk) -> bool {
        self.first.start <= other.first.end && other.first.start <= self.first.end
    }
}

/// All hunks in their order.
pub(super) fn hunks<T: PartialEq>(first: &[T], second: &[T]) -> Vec<Hunk> {
    let head = first.iter().zip(second).take_while(|(one, other)| one == other).count();
    let (first_rest, second_rest) = (&first[head..], &second[head..]);
    let tail = first_rest.iter().rev().zip(second_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    let (a, b) = (&first_rest[..first_rest.len() - tail], &second_rest[..second_rest.len() - tail]);
    if a.is_empty() && b.is_empty() {
        return Vec::new();
    }
    let shifted = |range: Range<usize>| range.start + head..range.end + head;
    match equal_pairs(a, b) {
        None => vec![Hunk { first: shifted(0..a.len()), second: shifted(0..b.len()) }],
        Some(pairs) => {
            let mut found = Vec::new();
            let (mut x, mut y) = (0, 0);
            for (next_x, next_y) in pairs.into_iter().chain([(a.len(), b.len())]) {
                if x < next_x || y < next_y {
                    found.push(Hunk { first: shifted(x..next_x), second: shifted(y..next_y) });
                }
                (x, y) = (next_x + 1, next_y + 1);
            }
            found
        }
    }
}

/// The pairs of equal lines of a shortest edit; `None` where that is too long.
fn equal_pairs<T: PartialEq>(a: &[T], b: &[T]) -> Option<Vec<(usize, usize)>> {
    let (n, m) = (a.len().cast_signed(), b.len().cast_signed());
    let limit = (a.len() + b.len()).min(EDITS_LIMIT).cast_signed();
    let index = |diagonal: isize| (diagonal + limit + 1).cast_unsigned();
    let mut furthest = vec![0isize; index(limit + 1) + 1];
    let mut history = Vec::new();
    for edits in 0..=limit {
        history.push(furthest.clone());
        for diagonal in (-edits..=edits).step_by(2) {
            let down = diagonal == -edits
                || diagonal != edits && furthest[index(diagonal - 1)] < furthest[index(diagonal + 1)];
            let mut x = if down { furthest[index(diagonal + 1)] } else { furthest[index(diagonal - 1)] + 1 };
            while x < n && x - diagonal < m && a[x.cast_unsigned()] == b[(x - diagonal).cast_unsigned()] {
                x += 1;
            }
            furthest[index(diagonal)] = x;
            if x >= n && x - diagonal >= m {
                return Some(walk_back(&history, n, m, index));
            }
        }
    }
    None
}

fn walk_back(history: &[Vec<isize>], n: isize, m: isize, index: impl Fn(isize) -> usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut x, mut y) = (n, m);
    for (edits, furthest) in history.iter().enumerate().rev() {
        let (edits, diagonal) = (edits.cast_signed(), x - y);
        let down =
            diagonal == -edits || diagonal != edits && furthest[index(diagonal - 1)] < furthest[index(diagonal + 1)];
        let before = if down { diagonal + 1 } else { diagonal - 1 };
        let (from_x, from_y) =
            if edits == 0 { (0, 0) } else { (furthest[index(before)], furthest[index(before)] - before) };
        while x > from_x && y > from_y {
            (x, y) = (x - 1, y - 1);
            pairs.push((x.cast_unsigned(), y.cast_unsigned()));
        }
        (x, y) = (from_x, from_y);
    }
    pairs.reverse();
    pairs
}
