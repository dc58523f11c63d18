//! Options in a configuration.

use super::*;

#[test]
fn every_default_is_valid() {
    for option in OPTIONS {
        assert!(default_fits(option.kind, option.default), "{}", option.name);
    }
    assert!(Options::default().log_sync());
    assert_eq!(Options::default().causal_read_timeout(), Duration::from_secs(30));
}

#[test]
fn a_configuration_for_galera_is_accepted() {
    let mut options = Options::default();
    options
        .set("base_port=4000;gcache.size=32M; repl.causal_read_timeout=PT90S;evs.suspect_timeout = PT10S ;", false)
        .unwrap();
    assert_eq!(options.causal_read_timeout(), Duration::from_secs(90));
    let text = options.text();
    assert!(text.contains("base_port = 4000; "), "{text}");
    assert!(text.contains("evs.suspect_timeout = PT10S;"), "{text}");
}

#[test]
fn an_invalid_setting_is_an_error_and_sets_nothing() {
    for (text, message) in [
        (
            "pc.weight=2;nonsense=1",
            "wsrep_provider_options: `nonsense` is not an option of this provider (docs/provider.md lists them)",
        ),
        ("pc.weight=2;debug", "wsrep_provider_options: `debug` has no value: write debug=VALUE"),
        ("pc.weight=2;log.sync=perhaps", "wsrep_provider_options: log.sync is yes or no, not `perhaps`"),
        ("pc.weight=2;log.retain=12Q", "wsrep_provider_options: log.retain is a size such as 128M, not `12Q`"),
        ("pc.weight=2;pc.linger=P", "wsrep_provider_options: pc.linger is a time such as PT30S, not `P`"),
    ] {
        let mut options = Options::default();
        assert_eq!(options.set(text, false).unwrap_err().to_string(), message);
        assert_eq!(options.weight(), 1);
    }
}

#[test]
fn fixed_options_do_not_change_at_run_time() {
    let mut options = Options::default();
    assert_eq!(options.set("log.segment=1M", true), Err(Error::Fixed("log.segment")));
    assert_eq!(options.set("log.segment=64M;log.sync=no", true), Ok(()));
    assert!(!options.log_sync());
}

#[test]
fn times_and_sizes() {
    for (text, seconds) in [("PT30S", 30.0), ("PT1M30.5S", 90.5), ("P1D", 86_400.0), ("PT0.5S", 0.5), ("7", 7.0)] {
        assert_eq!(names::duration(text), Some(Duration::from_secs_f64(seconds)), "{text}");
    }
    for text in ["P", "PT", "PT5", "-1", "PTS", "P1M", "x"] {
        assert_eq!(names::duration(text), None, "{text}");
    }
    for (text, bytes) in [("5", 5), ("1K", 1024), ("2m", 2 << 20), ("1G", 1 << 30)] {
        assert_eq!(names::bytes(text), Some(bytes), "{text}");
    }
    assert_eq!(names::bytes("99999999999T"), None);
}

#[test]
fn the_node_address_gets_the_base_port_unless_it_has_one() {
    let mut options = Options::default();
    options.set("base_port=4000", false).unwrap();
    for (server_says, address) in [
        ("", ""),
        ("n1", "n1:4000"),
        ("n1:5000", "n1:5000"),
        ("[::1]", "[::1]:4000"),
        ("[::1]:5000", "[::1]:5000"),
        ("::1", "[::1]:4000"),
    ] {
        assert_eq!(options.node_address(server_says), address, "{server_says}");
    }
}

#[test]
fn a_weight_is_any_number() {
    let mut options = Options::default();
    for (text, weight) in
        [("pc.weight=2", 2), ("pc.weight=0x10", 16), ("pc.weight=1.5", 1), ("pc.weight=1e30", i64::MAX)]
    {
        options.set(text, true).unwrap();
        assert_eq!(options.weight(), weight, "{text}");
    }
}

#[test]
fn times_that_cannot_work_are_refused_with_the_reason() {
    for (text, why) in [
        ("log.retain_time=PT1S", "more than twice innodb_flush_log_at_timeout"),
        ("log.retain_time=P2D", "PT5S to P1D"),
        ("raft.election_timeout=PT0.1S", "PT0.3S to PT1M"),
        ("raft.heartbeat_interval=PT11S", "PT0.05S to PT10S"),
        ("raft.heartbeat_interval=PT0.4S", "at most a third of raft.election_timeout"),
        ("raft.election_timeout=PT0.4S", "at most a third of raft.election_timeout"),
    ] {
        let mut options = Options::default();
        let error = options.set(text, false).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert_eq!(options.text(), Options::default().text(), "nothing is set");
    }
    let mut options = Options::default();
    options.set("raft.heartbeat_interval=PT2S; raft.election_timeout=PT10S", false).unwrap();
    assert_eq!((options.timing().heartbeat_ms, options.timing().election_ms), (2_000, 10_000));
}
