//! Kills the program at any moment, and restarts it from any possible position of its tables: everything confirmed
//! survives.

use std::thread;
use std::time::Duration;

use crate::harness::{self, Counts};

/// Kills in one folder, before the last run ends by itself.
const KILLS: u64 = 4;
/// Long enough for any kill.
const LIMIT_MILLISECONDS: &str = "30000";

#[test]
fn confirmed_transactions_survive_kills() {
    let mut counts = Counts::default();
    for seed in harness::seeds(3) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().to_str().unwrap();
        for round in 0..KILLS {
            let seed = seed * KILLS + round;
            let mut child = harness::start(&["legal", folder, &seed.to_string(), LIMIT_MILLISECONDS]);
            // A random moment, also during the recovery.
            thread::sleep(Duration::from_millis(moment(seed)));
            let ended = child.try_wait().unwrap();
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(ended, None, "seed {seed}: {}", String::from_utf8_lossy(&output.stderr));
            counts.add(&String::from_utf8_lossy(&output.stdout));
        }
        counts.add(&harness::run(&["legal", folder, &seed.to_string(), "200"]));
    }
    counts.assert_some(&["in step at", "committed"]);
}

/// Milliseconds: many short ones, some long.
fn moment(seed: u64) -> u64 {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    mixed % [40, 200, 900][(mixed >> 20) as usize % 3]
}
