//! Repeatable choices from a seed.

/// A splitmix64 generator: small, and the same on every machine.
pub struct Dice {
    state: u64,
}

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice { state: seed }
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// 0 to `bound - 1`.
    pub fn below(&mut self, bound: i64) -> i64 {
        (self.next() % u64::try_from(bound).unwrap()).cast_signed()
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below(high - low + 1)
    }

    /// True with that probability.
    pub fn chance(&mut self, percent: i64) -> bool {
        self.below(100) < percent
    }

    /// One of the choices, if there is any.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        if choices.is_empty() { None } else { choices.get(usize::try_from(self.below(choices.len() as i64)).unwrap()) }
    }
}
