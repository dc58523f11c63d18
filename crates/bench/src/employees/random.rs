//! The generator's own random numbers: the same seed gives the same dump on every machine and with every version of
//! every crate. No library's default generator guarantees this.
//!
//! `SplitMix64` by Steele, Lea and Flood ("Fast splittable pseudorandom number generators", OOPSLA 2014). Good enough
//! for mixed names and dates; not for secrets.

/// A stream of numbers that depends only on its seed.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `limit`, exclusive; 0 when `limit` is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        let product = u128::from(self.next_u64()) * u128::from(limit);
        u64::try_from(product >> 64).expect("a 64-bit number times a 64-bit number has at most 64 bits above the 64th")
    }

    /// A number from `first` to `last`, inclusive.
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// One of the choices.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}

/// Distributes exactly `wanted` hits over exactly `slots` draws, evenly at random (Knuth, TAOCP volume 2, 3.4.2,
/// algorithm S).
#[derive(Clone, Debug)]
pub struct Quota {
    wanted: u64,
    slots: u64,
}

impl Quota {
    /// `wanted` of the next `slots` draws will hit; all of them if `wanted` is greater.
    #[must_use]
    pub fn new(wanted: u64, slots: u64) -> Self {
        Self { wanted, slots }
    }

    /// Whether this draw hits.
    pub fn draw(&mut self, random: &mut Random) -> bool {
        let hit = random.below(self.slots) < self.wanted;
        self.slots = self.slots.saturating_sub(1);
        self.wanted -= u64::from(hit);
        hit
    }
}
