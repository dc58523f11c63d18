//! The search for the one reading of a record in which BIT fields have several.
//!
//! The readings of a record are the ways through its *places*: BIT fields by their number and where they start. What follows a
//! place does not depend on the way to it, so each place is looked at once, in the order of the fields.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Content;
use super::bits::{Reading, Readings};
use super::split::{FieldStop, Found, Malformed, Record, Splitter};

/// A BIT field: how many fields are before it, and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) field: usize,
    pub(super) start: usize,
}

/// How a place is reached.
struct Reached {
    /// The place before it, and the reading there; `None` for the first place.
    from: Option<(Place, Reading)>,
    /// No other way leads to it.
    is_only_way: bool,
}

/// A reading of the whole record that has as many fields as the table has columns.
struct Fit {
    end: usize,
    last: Place,
    reading: Reading,
}

/// What follows a reading of a BIT field.
enum Next {
    Place(Place),
    /// The end of a record of the table.
    Fit(usize),
    /// No record of the table.
    Nothing,
    Truncated,
    Incomplete,
}

impl Splitter<'_> {
    /// Reads the rest of a record from `first` on, a BIT field that has several readings.
    pub(super) fn search(&self, first: Place, record: &mut Record) -> Found {
        let mut waiting = BTreeMap::from([(first, Reached { from: None, is_only_way: true })]);
        let mut reached = HashMap::new();
        let (mut fits, mut is_truncated) = (Vec::new(), false);
        let mut passed = Record::default();
        while let Some((place, way)) = waiting.pop_first() {
            let is_only_way = way.is_only_way;
            reached.insert(place, way);
            let found = match self.readings_at(place) {
                Readings::Incomplete => return Found::Incomplete,
                Readings::Truncated => {
                    is_truncated = true;
                    continue;
                }
                Readings::Known(found) => found,
            };
            for reading in found {
                match self.follow(place.field + 1, reading.next, &mut passed) {
                    Next::Incomplete => return Found::Incomplete,
                    Next::Truncated => is_truncated = true,
                    Next::Nothing => {}
                    Next::Fit(end) => fits.push(Fit { end, last: place, reading }),
                    Next::Place(next) => {
                        waiting
                            .entry(next)
                            .and_modify(|way| way.is_only_way = false)
                            .or_insert(Reached { from: Some((place, reading)), is_only_way });
                    }
                }
            }
        }
        let unreadable = if is_truncated && fits.is_empty() { Malformed::Truncated } else { Malformed::AmbiguousBits };
        let unreadable = Found::Malformed(unreadable, self.text.len());
        let Some(shortest) = fits.iter().min_by_key(|fit| fit.end) else { return unreadable };
        self.write(shortest, &reached, record);
        if self.is_certain(shortest, &fits, &reached, record) { Found::Record(shortest.end) } else { unreadable }
    }

    /// Whether the shortest reading is the record: where no other one is likely.
    fn is_certain(&self, shortest: &Fit, fits: &[Fit], reached: &HashMap<Place, Reached>, record: &Record) -> bool {
        if !reached[&shortest.last].is_only_way || fits.iter().filter(|fit| fit.end == shortest.end).count() > 1 {
            return false;
        }
        // A value that looks like the end of a line is rarer than NULL at the end of one.
        let differs_in_last_alone =
            |fit: &&Fit| fit.last == shortest.last && shortest.last.field + 1 == self.contents.len();
        let others: Vec<usize> = fits
            .iter()
            .filter(|fit| fit.end != shortest.end && !differs_in_last_alone(fit))
            .map(|fit| fit.end)
            .collect();
        let Some(&furthest) = others.iter().max() else { return true };
        // Lines of NULLs are those, although several of them may be one line of values.
        let lines =
            if self.has_null_bits(record) { self.ends_of_nulls(shortest.end, furthest) } else { BTreeSet::new() };
        others.iter().all(|end| lines.contains(end))
    }

    fn has_null_bits(&self, record: &Record) -> bool {
        self.contents.iter().zip(record.values()).all(|(content, value)| match content {
            Content::Bits(_) => value.is_none(),
            Content::Text(_) => true,
        })
    }

    /// Where the records end, from `start` to `limit`, that have NULL in each BIT column.
    fn ends_of_nulls(&self, start: usize, limit: usize) -> BTreeSet<usize> {
        let (mut ends, mut start) = (BTreeSet::new(), start);
        while start < limit {
            let Some(end) = self.end_of_nulls(start) else { break };
            ends.insert(end);
            start = end;
        }
        ends
    }

    fn end_of_nulls(&self, start: usize) -> Option<usize> {
        let mut passed = Record::default();
        let mut next = self.follow(0, start, &mut passed);
        loop {
            let place = match next {
                Next::Place(place) => place,
                Next::Fit(end) => return Some(end),
                Next::Nothing | Next::Truncated | Next::Incomplete => return None,
            };
            let Readings::Known(found) = self.readings_at(place) else { return None };
            let null = found.into_iter().find(|reading| reading.value.is_none())?;
            next = self.follow(place.field + 1, null.next, &mut passed);
        }
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
                Some(Content::Bits(_)) => return Next::Place(Place { field, start: at }),
                Some(Content::Text(charset)) => *charset,
            };
            let stop = self.text_field(at, charset, passed);
            field += 1;
            match stop {
                FieldStop::Field(next) => at = next,
                FieldStop::Line(end) if field == self.contents.len() => return Next::Fit(end),
                FieldStop::Line(_) => return Next::Nothing,
                FieldStop::Incomplete => return Next::Incomplete,
                FieldStop::Malformed(Malformed::Truncated, _) => return Next::Truncated,
                FieldStop::Malformed(..) => return Next::Nothing,
            }
        }
    }

    /// Adds the fields of this reading to the record, from the first place on.
    fn write(&self, fit: &Fit, reached: &HashMap<Place, Reached>, record: &mut Record) {
        let mut readings = vec![&fit.reading];
        let mut place = &fit.last;
        while let Some((before, reading)) = &reached[place].from {
            readings.push(reading);
            place = before;
        }
        let mut passed = Record::default();
        let mut field = place.field;
        for reading in readings.into_iter().rev() {
            self.push(reading, record);
            self.follow(field + 1, reading.next, &mut passed);
            field += 1 + passed.width();
            passed.values().for_each(|value| record.push_field(value));
        }
    }
}
