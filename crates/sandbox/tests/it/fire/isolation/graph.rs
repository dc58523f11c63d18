//! Dependencies between transactions, and their cycles.

use std::collections::{HashMap, HashSet, VecDeque};

/// Cycles that are told at most, of a kind.
const LIMIT: usize = 1_000;
/// The most transactions between a missed write and the one that missed it.
const LONGEST_WAY: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Edge {
    /// The second wrote the version behind one of the first (ww).
    Overwrites,
    /// The second read what the first wrote (wr).
    Reads,
    /// The first read the version before that of the second (rw).
    Misses,
}

impl Edge {
    /// From the first to the second.
    pub fn words(self) -> &'static str {
        match self {
            Edge::Overwrites => "was overwritten by",
            Edge::Reads => "was read by",
            Edge::Misses => "has missed",
        }
    }
}

/// Transactions by their indexes, each with the edge to the next; the last leads to the first.
pub type Cycle = Vec<(usize, Edge)>;

#[derive(Debug)]
pub struct Graph {
    next: Vec<Vec<(Edge, usize)>>,
}

impl Graph {
    pub fn new(size: usize) -> Graph {
        Graph { next: vec![Vec::new(); size] }
    }

    pub fn add(&mut self, from: usize, edge: Edge, to: usize) {
        if from != to && !self.next[from].contains(&(edge, to)) {
            self.next[from].push((edge, to));
        }
    }

    /// One cycle of each strongly connected component of these edges.
    pub fn cycles(&self, edges: &[Edge]) -> Vec<Cycle> {
        let components = self.components(edges);
        let knots = components.iter().filter(|component| component.len() > 1).take(LIMIT);
        knots
            .filter_map(|component| {
                let inside: HashSet<usize> = component.iter().copied().collect();
                let from = component[0];
                self.way(from, from, edges, Some(&inside), component.len())
            })
            .collect()
    }

    /// Cycles with one missed write, and otherwise writes over and reads of one another, from these transactions.
    pub fn cycles_with_one_miss(&self, of: impl Iterator<Item = usize>) -> Vec<Cycle> {
        let missed = |from: usize| {
            let misses = self.next[from].iter().filter(|(edge, _)| *edge == Edge::Misses);
            misses.map(move |(_, to)| (from, *to))
        };
        let cycles = of.flat_map(missed).filter_map(|(from, to)| {
            let way = self.way(to, from, &[Edge::Overwrites, Edge::Reads], None, LONGEST_WAY)?;
            Some([vec![(from, Edge::Misses)], way].concat())
        });
        cycles.take(LIMIT).collect()
    }

    /// The shortest way, of one edge or more, without the end.
    fn way(
        &self,
        from: usize,
        to: usize,
        edges: &[Edge],
        inside: Option<&HashSet<usize>>,
        longest: usize,
    ) -> Option<Cycle> {
        let mut came: HashMap<usize, (usize, Edge)> = HashMap::new();
        let mut queue = VecDeque::from([(from, 0)]);
        while let Some((at, length)) = queue.pop_front() {
            if length >= longest {
                continue;
            }
            for (edge, next) in self.next[at].iter().filter(|(edge, _)| edges.contains(edge)) {
                if inside.is_some_and(|inside| !inside.contains(next)) || came.contains_key(next) {
                    continue;
                }
                came.insert(*next, (at, *edge));
                if *next == to {
                    return Some(back(&came, from, to));
                }
                queue.push_back((*next, length + 1));
            }
        }
        None
    }

    /// Strongly connected components (R. Tarjan, 1972), without recursion.
    fn components(&self, edges: &[Edge]) -> Vec<Vec<usize>> {
        const NONE: usize = usize::MAX;
        let size = self.next.len();
        let (mut index, mut low, mut is_open) = (vec![NONE; size], vec![0; size], vec![false; size]);
        let (mut open, mut components, mut count) = (Vec::new(), Vec::new(), 0);
        for root in 0..size {
            if index[root] != NONE {
                continue;
            }
            // Each with the position of its next edge.
            let mut path = vec![(root, 0)];
            while let Some((at, edge)) = path.last_mut() {
                let at = *at;
                if *edge == 0 && index[at] == NONE {
                    (index[at], low[at], is_open[at]) = (count, count, true);
                    count += 1;
                    open.push(at);
                }
                let next = self.next[at][*edge..].iter().position(|(edge, _)| edges.contains(edge));
                match next.map(|offset| *edge + offset) {
                    Some(position) => {
                        *edge = position + 1;
                        let to = self.next[at][position].1;
                        if index[to] == NONE {
                            path.push((to, 0));
                        } else if is_open[to] {
                            low[at] = low[at].min(index[to]);
                        }
                    }
                    None => {
                        path.pop();
                        if let Some((parent, _)) = path.last() {
                            low[*parent] = low[*parent].min(low[at]);
                        }
                        if low[at] == index[at] {
                            let begin = open.iter().rposition(|one| *one == at).expect("it is open");
                            let component = open.split_off(begin);
                            component.iter().for_each(|one| is_open[*one] = false);
                            components.push(component);
                        }
                    }
                }
            }
        }
        components
    }
}

fn back(came: &HashMap<usize, (usize, Edge)>, from: usize, to: usize) -> Cycle {
    let mut way = Vec::new();
    let mut at = to;
    while let Some((before, edge)) = came.get(&at) {
        way.push((*before, *edge));
        at = *before;
        if at == from {
            break;
        }
    }
    way.reverse();
    way
}
