//! The figures of small samples.

use super::*;

#[test]
fn a_queue_is_sampled_by_what_enters_it() {
    let mut lengths = QueueLengths::default();
    assert_eq!((lengths.max, lengths.min, lengths.mean()), (0, 0, 0.0));
    for found in [2, 5, 3, 2] {
        lengths.on_enter(found);
    }
    assert_eq!((lengths.max, lengths.min, lengths.mean()), (6, 2, 3.0));
}

#[test]
fn latencies_have_least_mean_most_and_deviation() {
    let mut latencies = Latencies::default();
    assert_eq!(latencies.text(), "0/0/0/0/0");
    latencies.add(Duration::from_millis(4));
    assert_eq!(latencies.text(), "0.004/0.004/0.004/0/1");
    [2, 6].into_iter().for_each(|ms| latencies.add(Duration::from_millis(ms)));
    assert_eq!(latencies.text(), "0.002/0.004/0.006/0.002/3");
}
