//! Nodes of one history whose groups are two: what both logs say of it. The module `descent` has why they are not linked.

use std::time::Instant;

use super::notes::one_line;
use super::stream::Stage;
use super::{Event, Links};
use crate::group::descent::{Descent, Kinship};
use crate::group::wire::{Hello, Signal};
use crate::identity::Uuid;

/// What is said of each of the ways in which a group can have been begun anew.
const WAYS: &str = "pc.bootstrap, pc.ignore_sb, or hortator.group.log moved away";

/// What there is to say when the groups are two; the same on both sides.
fn told(kinship: Kinship, own: &Hello, other: &Hello) -> String {
    let (first, second) = match kinship {
        Kinship::Older => (own, other),
        _ => (other, own),
    };
    let [first_name, first_address, second_name, second_address] =
        [&first.name, &first.address, &second.name, &second.address].map(|text| one_line(text));
    let [first_generation, second_generation] = [first, second].map(|hello| hello.descent.generation());
    match kinship {
        Kinship::Apart => {
            let mut both = [
                format!("{first_name} at {first_address} (generation {first_generation})"),
                format!("{second_name} at {second_address} (generation {second_generation})"),
            ];
            both.sort();
            let [one, other] = both;
            format!(
                "two histories: {one} and {other} go on without each other, after the group was begun anew ({WAYS}). What \
                 one has confirmed since the other does not have, and nothing is merged. Decide which is thrown away: stop its \
                 nodes, move the files hortator* out of their data folders, and start them: they join the other, and get its \
                 data"
            )
        }
        _ => format!(
            "{first_name} at {first_address} is of a group that was begun anew ({WAYS}) without {second_name} at {second_address}: of \
             generation {first_generation}, which came from {second_generation}"
        ),
    }
}

impl Links {
    /// Whether a node is of a group other than this one's that came of the same; then the connection to it has ended.
    pub(super) fn part_from_kin(&mut self, id: u64, other: &Hello) -> bool {
        let kinship = self.own.descent.kinship(&other.descent);
        if kinship == Kinship::Same {
            return false;
        }
        let text = told(kinship, &self.own, other);
        // The text says who: from which side the connection came does not matter.
        let is_news = self.notes.refused("", &other.address, &text, Instant::now()).is_some();
        self.waiting.push(Event::Apart { kinship, text: text.clone(), is_news });
        self.refuse(id, &text);
        true
    }

    /// The history and the group that this node belongs to from now on. Those who may not be linked with it any more are
    /// parted from; the others learn it.
    pub fn belong_to(&mut self, history: Uuid, descent: Descent) {
        if (self.own.history, self.own.descent) == (history, descent) {
            return;
        }
        (self.own.history, self.own.descent) = (history, descent);
        // Who was dialled may have been sent what was.
        let linked_or_greeted: Vec<u64> = self
            .streams
            .iter()
            .filter(|(_, stream)| stream.peer().is_some() || stream.is_greeted())
            .map(|(id, _)| *id)
            .collect();
        for id in linked_or_greeted {
            // Those who are parted from, too: they find out by it how they stand.
            self.signal(id, &Signal::Belongs { history, descent });
            if let Some(Stage::Linked(peer)) = self.streams.get(&id).map(|stream| &stream.stage) {
                let peer = peer.clone();
                self.part_from_strangers(id, &peer);
            }
        }
    }

    /// A linked node is of another history or group by now; or it is not, and stays.
    pub(super) fn part_from_strangers(&mut self, id: u64, peer: &Hello) {
        match super::greeting::histories_differ(&self.own, peer) {
            Some(text) => self.reject(id, &text),
            None => {
                self.part_from_kin(id, peer);
            }
        }
    }
}
