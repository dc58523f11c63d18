//! Jobs at the same time.

use std::thread;

/// Runs the same work so many times at once. The first error is that of all.
pub fn run(jobs: usize, work: impl Fn() -> anyhow::Result<()> + Sync) -> anyhow::Result<()> {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(&work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a job does not panic"))
    })
}
