//! Limits that change.

use std::fs;

use hortator_mysql::Address;

use super::*;

/// A limit of the lag that comes late in a load: what nobody has asked is not unknown for as long as the load runs.
#[test]
fn a_lag_counts_from_the_time_at_which_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("limits");
    let options =
        ThrottleOptions { file: Some(file.clone()), replicas: vec!["127.0.0.1:1".to_owned()], ..Default::default() };
    let connect = ConnectOptions::new(Address::Socket("/nowhere".into()), "root");
    let throttle = Arc::new(Throttle::open());
    let monitor = ThrottleMonitor::open(Arc::clone(&throttle), &options, &connect).unwrap();
    monitor.lock().replicas[0].known_at = Instant::now().checked_sub(UNKNOWN_TIMEOUT * 2).unwrap();
    let is_paused = || throttle.lock().decision.allowed == 0;
    monitor.sample_replica(&mut None, 0);
    assert!(!is_paused(), "there is no limit");
    fs::write(&file, "lag=5").unwrap();
    monitor.set_limits(monitor.read_limits().unwrap());
    assert!(is_paused(), "the replica has not been asked");
    // Nobody answers there.
    monitor.sample_replica(&mut None, 0);
    assert!(is_paused() && monitor.notes().is_empty(), "{:?}", monitor.notes());
    monitor.lock().replicas[0].known_at = Instant::now().checked_sub(UNKNOWN_TIMEOUT).unwrap();
    monitor.sample_replica(&mut None, 0);
    assert!(!is_paused() && monitor.notes()[0].contains("did not wait for replica 127.0.0.1:1"));
}
