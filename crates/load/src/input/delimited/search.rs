//! The search for the one reading of a record in which BIT fields have several.
//!
//! The readings of a record are the ways through its *positions*: BIT fields by their number and where they start. What follows a
//! position does not depend on the way to it, so each position is looked at once, in the order of the fields.
//!
//! Of several readings that end at different places, those remain behind which more records follow.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Content;
use super::bits::{Reading, Readings};
use super::split::{FieldStop, Found, Malformed, Record, Splitter};

/// A BIT field: how many fields are before it, and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) field: usize,
    pub(super) start: usize,
}

/// How a position is reached.
struct Reached {
    /// The position before it, and the reading there; `None` for the first position.
    from: Option<(Position, Reading)>,
    /// No other way leads to it.
    is_only_way: bool,
}

/// A reading of the whole record that has as many fields as the table has columns.
struct Fit {
    end: usize,
    last: Position,
    reading: Reading,
}

/// What follows a reading of a BIT field.
#[derive(Clone, Copy)]
enum Next {
    Position(Position),
    /// The end of a record of the table.
    Fit(usize),
    /// No record of the table.
    Nothing,
    Truncated,
    Incomplete,
}

/// All readings of a record.
struct Search {
    reached: HashMap<Position, Reached>,
    fits: Vec<Fit>,
    /// The text ends within one of them.
    is_truncated: bool,
}

/// More text is needed.
struct Incomplete;

/// Records that are read ahead to tell readings apart.
const AHEAD_RECORDS: usize = 32;

impl Splitter<'_> {
    /// Reads the rest of a record from `first` on, a BIT field that has several readings.
    pub(super) fn search(&self, first: Position, record: &mut Record) -> Found {
        let Ok(found) = self.search_from(Next::Position(first)) else { return Found::Incomplete };
        let what =
            if found.is_truncated && found.fits.is_empty() { Malformed::Truncated } else { Malformed::AmbiguousBits };
        let unreadable = Found::Malformed(what, self.text.len());
        let ends: BTreeSet<usize> = found.fits.iter().map(|fit| fit.end).collect();
        let Ok(followed) = self.followed(&ends) else { return Found::Incomplete };
        let likely: Vec<&Fit> = found.fits.iter().filter(|fit| followed.contains(&fit.end)).collect();
        let Some(shortest) = likely.iter().min_by_key(|fit| fit.end) else { return unreadable };
        self.write(shortest, &found.reached, record);
        let Ok(is_certain) = self.is_certain(shortest, &likely) else { return Found::Incomplete };
        if is_certain && found.reached[&shortest.last].is_only_way { Found::Record(shortest.end) } else { unreadable }
    }

    fn search_from(&self, first: Next) -> Result<Search, Incomplete> {
        let mut waiting = BTreeMap::new();
        let mut search = Search { reached: HashMap::new(), fits: Vec::new(), is_truncated: false };
        match first {
            Next::Incomplete => return Err(Incomplete),
            Next::Truncated => search.is_truncated = true,
            Next::Position(first) => {
                waiting.insert(first, Reached { from: None, is_only_way: true });
            }
            Next::Nothing | Next::Fit(_) => {}
        }
        let mut passed = Record::default();
        while let Some((position, way)) = waiting.pop_first() {
            let is_only_way = way.is_only_way;
            search.reached.insert(position, way);
            let found = match self.readings_at(position) {
                Readings::Incomplete => return Err(Incomplete),
                Readings::Truncated => {
                    search.is_truncated = true;
                    continue;
                }
                Readings::Known(found) => found,
            };
            for reading in found {
                match self.follow(position.field + 1, reading.next, &mut passed) {
                    Next::Incomplete => return Err(Incomplete),
                    Next::Truncated => search.is_truncated = true,
                    Next::Nothing => {}
                    Next::Fit(end) => search.fits.push(Fit { end, last: position, reading }),
                    Next::Position(next) => {
                        waiting
                            .entry(next)
                            .and_modify(|way| way.is_only_way = false)
                            .or_insert(Reached { from: Some((position, reading)), is_only_way });
                    }
                }
            }
        }
        Ok(search)
    }

    /// Those of these ends of the record behind which whole records follow, as far as is looked; all, where that tells nothing.
    fn followed(&self, ends: &BTreeSet<usize>) -> Result<BTreeSet<usize>, Incomplete> {
        // Where records may begin, and behind which of the ends.
        let mut waiting: BTreeMap<usize, BTreeSet<usize>> =
            ends.iter().map(|&end| (end, BTreeSet::from([end]))).collect();
        let mut at_end = BTreeSet::new();
        for _ in 0..AHEAD_RECORDS {
            // Nothing that is read tells them apart any more.
            let mut sets = waiting.values();
            let first = sets.next();
            if at_end.is_empty() && sets.all(|set| Some(set) == first) {
                break;
            }
            let Some((start, behind)) = waiting.pop_first() else { break };
            if start == self.text.len() {
                if !self.is_last {
                    return Err(Incomplete);
                }
                at_end.extend(behind);
                continue;
            }
            let found = self.search_from(self.follow(0, start, &mut Record::default()))?;
            if found.is_truncated && found.fits.is_empty() {
                at_end.extend(&behind);
            }
            for fit in found.fits {
                waiting.entry(fit.end).or_default().extend(&behind);
            }
        }
        let followed: BTreeSet<usize> = waiting.into_values().flatten().chain(at_end).collect();
        Ok(if followed.is_empty() { ends.clone() } else { followed })
    }

    /// Whether the shortest of the likely readings is the record.
    fn is_certain(&self, shortest: &Fit, likely: &[&Fit]) -> Result<bool, Incomplete> {
        if likely.iter().filter(|fit| fit.end == shortest.end).count() > 1 {
            return Ok(false);
        }
        // A value that looks like the end of a line is rarer than NULL at the end of one.
        let differs_in_last_alone =
            |fit: &&&Fit| fit.last == shortest.last && shortest.last.field + 1 == self.contents.len();
        let others: Vec<usize> = likely
            .iter()
            .filter(|fit| fit.end != shortest.end && !differs_in_last_alone(fit))
            .map(|fit| fit.end)
            .collect();
        let Some(&furthest) = others.iter().max() else { return Ok(true) };
        // Several whole lines, mostly of NULLs, are likelier than one with values that look like the rest of a line, its end and
        // the beginning of the next one.
        let lines = self.ends_of_records(shortest.end, furthest)?;
        Ok(others.iter().all(|end| lines.contains(end)))
    }

    /// Where records end that begin at `start` or behind one another, up to `limit`.
    fn ends_of_records(&self, start: usize, limit: usize) -> Result<BTreeSet<usize>, Incomplete> {
        let (mut ends, mut waiting) = (BTreeSet::new(), BTreeSet::from([start]));
        while let Some(start) = waiting.pop_first() {
            let found = self.search_from(self.follow(0, start, &mut Record::default()))?;
            for end in found.fits.iter().map(|fit| fit.end).filter(|end| *end <= limit) {
                if ends.insert(end) && end < limit {
                    waiting.insert(end);
                }
            }
        }
        Ok(ends)
    }

    /// Reads from the field at `start` to the next BIT field, or to the end of the record. What it passes goes to `passed`.
    fn follow(&self, field: usize, start: usize, passed: &mut Record) -> Next {
        passed.clear();
        let (mut field, mut at) = (field, start);
        if field == self.contents.len() {
            return Next::Fit(at);
        }
        loop {
            let charset = match self.contents.get(field) {
                None => return Next::Nothing,
                Some(Content::Bits(_)) => return Next::Position(Position { field, start: at }),
                Some(Content::Text(charset)) => *charset,
            };
            let stop = self.text_field(at, charset, passed);
            field += 1;
            match stop {
                FieldStop::Field(next) => at = next,
                FieldStop::Line(end) if field == self.contents.len() => return Next::Fit(end),
                FieldStop::Incomplete => return Next::Incomplete,
                FieldStop::Malformed(Malformed::Truncated, _) => return Next::Truncated,
                FieldStop::Line(_) | FieldStop::Malformed(..) => return Next::Nothing,
            }
        }
    }

    /// Adds the fields of this reading to the record, from the first position on.
    fn write(&self, fit: &Fit, reached: &HashMap<Position, Reached>, record: &mut Record) {
        let mut readings = vec![&fit.reading];
        let mut position = &fit.last;
        while let Some((before, reading)) = &reached[position].from {
            readings.push(reading);
            position = before;
        }
        let mut passed = Record::default();
        let mut field = position.field;
        for reading in readings.into_iter().rev() {
            self.push(reading, record);
            self.follow(field + 1, reading.next, &mut passed);
            field += 1 + passed.width();
            passed.values().for_each(|value| record.push_field(value));
        }
    }
}
