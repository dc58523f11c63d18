//! The loss of a server that takes inserts: the kill at half the rows, how long nothing was confirmed, and what is lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::check;
use super::clients::{Clients, Inserted, Progress};
use super::contender::Contender;
use super::rows::Supply;
use super::servers::Servers;
use super::{Deployment, Factors};
use crate::Error;
use crate::rounds::Figures;

/// The server that is killed: with Hortator's provider it is the first leader.
const KILLED: usize = 0;
/// The replica of a pair.
const REPLICA: usize = 1;
/// The interval for looking whether half of the rows are confirmed.
const WATCH_INTERVAL: Duration = Duration::from_millis(1);
/// One point of the curve.
const BUCKET_US: u64 = 250_000;
/// Of the curve: before and after the kill.
const CURVE_US: (u64, u64) = (5_000_000, 30_000_000);

/// The longest time without a confirmed commit.
pub(super) const OUTAGE: &str = "outage_s";
/// Confirmed rows that no server has.
pub(super) const LOST: &str = "lost_rows";
/// Committed rows whose client lost its connection before it heard so.
pub(super) const UNHEARD: &str = "unheard_rows";
/// Confirmed commits per second until the kill, and from the end of the outage on.
pub(super) const BEFORE: &str = "before_per_s";
pub(super) const AFTER: &str = "after_per_s";

/// Commits per second, by the seconds since the kill.
pub(super) type Curve = Vec<(f64, f64)>;

/// Inserts the rows and kills a server at half of them.
pub(super) fn run(
    servers: &Servers,
    contender: Contender,
    factors: Factors,
    rows: u64,
    stop: &AtomicBool,
) -> Result<(Figures, Curve), Error> {
    let (inserted, killed_us) = insert(servers, contender, factors, rows, stop)?;
    servers.wait_until_equal()?;
    let survival = check::survival(servers, "failover", &inserted)?;

    let mut ends_us: Vec<u64> = inserted.confirmed.iter().map(|row| row.at_us).collect();
    ends_us.sort_unstable();
    let Some(outage) = outage(&ends_us, killed_us) else {
        return Err(Error::Answer("no row was confirmed after the kill: insert more --rows".to_owned()));
    };
    let mut figures = Figures::from([
        (OUTAGE.to_owned(), (outage.1 - outage.0) as f64 / 1e6),
        (LOST.to_owned(), survival.lost as f64),
        (UNHEARD.to_owned(), survival.unheard as f64),
        (BEFORE.to_owned(), rate(&ends_us, 0, killed_us)),
        (AFTER.to_owned(), rate(&ends_us, outage.1, *ends_us.last().unwrap_or(&0))),
    ]);
    figures.extend(inserted.errors.figures());
    Ok((figures, curve(&ends_us, killed_us)))
}

fn insert(
    servers: &Servers,
    contender: Contender,
    factors: Factors,
    rows: u64,
    stop: &AtomicBool,
) -> Result<(Inserted, u64), Error> {
    let Contender { deployment, writers } = contender;
    let nodes = deployment.nodes();
    // The others of a cluster and of a ring take inserts as they are; a replica is promoted first.
    let open: Vec<usize> = (0..nodes).filter(|node| deployment != Deployment::Pair && *node != KILLED).collect();
    let supply = Supply::new(factors.keys, rows, factors.threads, nodes);
    let clients = Clients { nodes: &servers.nodes, supply, threads: factors.threads, writers, can_move: true, stop };
    clients.run(&open, |progress| {
        wait_for_half(progress, rows, stop)?;
        let killed_us = progress.now_us();
        servers.kill(KILLED)?;
        if deployment == Deployment::Pair {
            servers.promote(REPLICA)?;
            progress.set_open(REPLICA, true);
        }
        Ok(killed_us)
    })
}

fn wait_for_half(progress: &Progress, rows: u64, stop: &AtomicBool) -> Result<(), Error> {
    while progress.confirmed() < rows / 2 && progress.is_running() {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        thread::sleep(WATCH_INTERVAL);
    }
    Ok(())
}

/// The longest time without a confirmed commit that ends after the kill: when it began and ended. `ends_us` are sorted times of
/// confirmations.
fn outage(ends_us: &[u64], killed_us: u64) -> Option<(u64, u64)> {
    let first = ends_us.partition_point(|end_us| *end_us <= killed_us);
    let begins = ends_us[..first].last().copied().into_iter().chain(ends_us[first..].iter().copied());
    let gaps = begins.zip(&ends_us[first..]).map(|(begin_us, end_us)| (begin_us, *end_us));
    match first {
        // The very first confirmation came after the kill.
        0 => ends_us.first().map(|end_us| (killed_us, *end_us)),
        _ => gaps.max_by_key(|(begin_us, end_us)| end_us - begin_us),
    }
}

/// Confirmations per second from one time to another.
fn rate(ends_us: &[u64], from_us: u64, to_us: u64) -> f64 {
    let count =
        ends_us.partition_point(|end_us| *end_us <= to_us) - ends_us.partition_point(|end_us| *end_us <= from_us);
    count as f64 / (to_us.saturating_sub(from_us).max(1) as f64 / 1e6)
}

/// Confirmations per second around the kill, a point for each whole bucket.
fn curve(ends_us: &[u64], killed_us: u64) -> Curve {
    let last_us = ends_us.last().copied().unwrap_or(0);
    let begin_us = killed_us - (killed_us.min(CURVE_US.0) / BUCKET_US) * BUCKET_US;
    let end_us = last_us.min(killed_us + CURVE_US.1);
    let buckets = end_us.saturating_sub(begin_us) / BUCKET_US;
    let point = |bucket: u64| {
        let from_us = begin_us + bucket * BUCKET_US;
        let middle_s = (from_us as f64 + BUCKET_US as f64 / 2.0 - killed_us as f64) / 1e6;
        (middle_s, rate(ends_us, from_us, from_us + BUCKET_US))
    };
    (0..buckets).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_silence_after_the_kill_is_the_outage() {
        // The silence before the kill does not count, that across it does.
        assert_eq!(outage(&[100, 5_000, 5_100, 7_000, 7_100], 5_200), Some((5_100, 7_000)));
        // The survivor confirms some at once, and is silent later.
        assert_eq!(outage(&[100, 200, 210, 250, 900, 950], 205), Some((250, 900)));
        assert_eq!(outage(&[300, 400], 100), Some((100, 300)));
        assert_eq!(outage(&[100, 200], 200), None);
        assert_eq!(outage(&[], 200), None);
    }

    #[test]
    fn the_curve_has_points_before_and_after_the_kill() {
        // 100 a second for two seconds, a kill, silence for a second, 50 a second for a second.
        let before = (1..=200).map(|number| number * 10_000);
        let after = (0..50).map(|number| 3_000_001 + number * 20_000);
        let ends_us: Vec<u64> = before.chain(after).collect();
        let curve = curve(&ends_us, 2_000_000);
        assert_eq!(curve.first(), Some(&(-1.875, 100.0)));
        let silent: Vec<f64> = curve.iter().filter(|(_, rate)| *rate < 1.0).map(|(at, _)| *at).collect();
        assert_eq!(silent, [0.125, 0.375, 0.625, 0.875]);
        assert_eq!(curve.last().map(|(at, _)| *at), Some(1.625));
        assert!((rate(&ends_us, 0, 2_000_000) - 100.0).abs() < 1e-9);
    }
}
