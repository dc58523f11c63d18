//! Shared by the property tests: a small random number generator, and runs from seeds that a failure prints.

use crate::{Key, Mode};

/// SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, not including, `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// Runs a property from many seeds, or from the one in the environment variable `HORTATOR_SEED`. A failing run prints
/// its seed.
pub(crate) fn from_seeds(count: u64, property: impl Fn(&mut Random)) {
    struct PrintOnPanic(u64);
    impl Drop for PrintOnPanic {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("to repeat the failing run alone: HORTATOR_SEED={}", self.0);
            }
        }
    }
    let replayed = std::env::var("HORTATOR_SEED").ok();
    let seeds = match replayed {
        Some(seed) => {
            let seed = seed.parse().expect("HORTATOR_SEED is a number");
            seed..seed + 1
        }
        None => 1..count + 1,
    };
    for seed in seeds {
        let _guard = PrintOnPanic(seed);
        property(&mut Random::from_seed(seed));
    }
}

/// Random uses of few keys, so that transactions conflict often. `depth_weights`: the frequency of the server, a
/// schema, a table, a row.
pub(crate) fn random_uses(random: &mut Random, count_limit: usize, depth_weights: [usize; 4]) -> Vec<(Key, Mode)> {
    let count = random.below(count_limit + 1);
    (0..count).map(|_| (random_key(random, depth_weights), random.one_of(&Mode::ALL))).collect()
}

fn random_key(random: &mut Random, depth_weights: [usize; 4]) -> Key {
    let schema = random.one_of(&[b"a", b"b"]);
    let table = Key::table(schema, random.one_of(&[b"t", b"u"]));
    let mut drawn = random.below(depth_weights.iter().sum());
    let keys = [Key::server(), Key::schema(schema), table];
    for (key, weight) in keys.into_iter().zip(depth_weights) {
        if drawn < weight {
            return key;
        }
        drawn -= weight;
    }
    Key::row_in(table, random.below(2) as u32, random.one_of(&[b"1", b"2", b"3"]))
}
