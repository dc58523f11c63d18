//! An agent without servers: what is said of a thread that has ended, and of a status of another version.

use std::path::PathBuf;

use hortator_mysql::Address;

use super::*;

/// Longer than it takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_thread_that_has_ended_is_no_source_that_runs() {
    let nowhere = ConnectOptions::new(Address::Socket(PathBuf::from("/nonexistent/socket")), "nobody");
    let source = |name: &str| SourceOptions {
        name: name.to_owned(),
        hosts: vec![nowhere.clone()],
        start: Start::Now,
        server_id: 1,
        rules: Rules::default(),
        ignore_server_ids: Vec::new(),
        conflict: ConflictPolicy::Error,
        files: None,
    };
    let options = AgentOptions {
        target: vec![nowhere.clone()],
        schema: "hortator".to_owned(),
        ignore_errors: Vec::new(),
        workers: 1,
        order: Order::Keys,
        sources: vec![source("broken"), source("other")],
    };
    let notices: Arc<Notices> = Arc::new(|name, _| assert_ne!(name, "broken", "an error of this program"));
    let agent = Agent::start(options, &notices);
    let end = Instant::now() + PATIENCE;
    let status = loop {
        let status = agent.status();
        if status[0].state == SourceState::Stopped && status[1].retries > 0 {
            break status;
        }
        assert!(Instant::now() < end, "{status:?}");
        thread::sleep(END_INTERVAL);
    };
    let error = status[0].error.clone().unwrap_or_default();
    assert!(error.contains("an error of Hortator itself") && status[0].stops == 1, "{error}");
    assert!(!agent.can_skip("broken"));
    assert_eq!(status[1].state, SourceState::Connecting);
    let last = agent.stop(PATIENCE).into_iter().map(|status| status.state).collect::<Vec<_>>();
    assert_eq!(last, [SourceState::Stopped, SourceState::Ended]);
}

/// The program may be another version than the process that it asks.
#[test]
fn a_status_of_another_version() {
    let status: SourceStatus = serde_json::from_str(r#"{"name":"a","state":"running","new":7}"#).unwrap();
    assert_eq!((&*status.name, status.state, status.lag_bytes), ("a", SourceState::Running, None));
    let text = serde_json::to_string(&status).unwrap();
    assert_eq!(serde_json::from_str::<SourceStatus>(&text).unwrap(), status);
}
