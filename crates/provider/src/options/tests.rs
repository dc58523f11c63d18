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
            "pc.linger=PT9S;nonsense=1",
            "wsrep_provider_options: `nonsense` is not an option of this provider (docs/provider.md lists them)",
        ),
        ("pc.linger=PT9S;debug", "wsrep_provider_options: `debug` has no value: write debug=VALUE"),
        ("pc.linger=PT9S;log.sync=perhaps", "wsrep_provider_options: log.sync is yes or no, not `perhaps`"),
        ("pc.linger=PT9S;log.retain=12Q", "wsrep_provider_options: log.retain is a size such as 128M, not `12Q`"),
        ("pc.linger=PT9S;pc.linger=P", "wsrep_provider_options: pc.linger is a time such as PT30S, not `P`"),
    ] {
        let mut options = Options::default();
        assert_eq!(options.set(text, false).unwrap_err().to_string(), message);
        assert_eq!(options.text(), Options::default().text());
    }
}

#[test]
fn a_weight_is_a_whole_number_of_votes() {
    for value in ["0", "17", "1.5", "-1"] {
        let mut options = Options::default();
        let error = options.set(&format!("pc.linger=PT9S; pc.weight={value}"), true).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "wsrep_provider_options: pc.weight is `{value}`, but it must be a whole number from 1 to 16: a node of the \
                 view has a vote"
            )
        );
        assert_eq!(options.text(), Options::default().text(), "nothing is set");
    }
    for (value, weight) in [("1", 1), ("1.0", 1), ("3", 3), ("0x10", 16)] {
        let mut options = Options::default();
        assert_eq!(options.set(&format!("pc.weight={value}"), false), Ok(Vec::new()));
        assert_eq!(options.weight(), weight);
    }
}

#[test]
fn fixed_options_do_not_change_at_run_time() {
    let mut options = Options::default();
    assert_eq!(options.set("log.segment=1M", true), Err(Error::Fixed("log.segment")));
    assert_eq!(options.set("log.segment=64M;log.sync=no", true), Ok(Vec::new()));
    assert!(!options.log_sync());
}

#[test]
fn times_and_sizes() {
    for (text, seconds) in [("PT30S", 30.0), ("PT1M30.5S", 90.5), ("P1D", 86_400.0), ("PT0.5S", 0.5), ("7", 7.0)] {
        assert_eq!(kind::duration(text), Some(Duration::from_secs_f64(seconds)), "{text}");
    }
    for text in ["P", "PT", "PT5", "-1", "PTS", "P1M", "x"] {
        assert_eq!(kind::duration(text), None, "{text}");
    }
    for (text, bytes) in [("5", 5), ("1K", 1024), ("2m", 2 << 20), ("1G", 1 << 30)] {
        assert_eq!(kind::bytes(text), Some(bytes), "{text}");
    }
    assert_eq!(kind::bytes("99999999999T"), None);
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

/// The table in docs/provider.md, which is written by hand around these rows.
#[test]
fn the_manual_has_a_row_for_every_option() {
    let manual = include_str!("../../../../docs/provider.md");
    let expected: Vec<String> = OPTIONS.iter().map(table::OptionRow::markdown).collect();
    let (_, section) = manual.split_once("<!-- options:begin -->").expect("docs/provider.md marks the table's begin");
    let (rows, _) = section.split_once("<!-- options:end -->").expect("docs/provider.md marks the table's end");
    let rows: Vec<&str> = rows.lines().filter(|line| line.starts_with("| `")).collect();
    assert_eq!(rows, expected, "docs/provider.md must have these rows:\n{}\n", expected.join("\n"));
}

#[test]
fn an_option_sets_only_one_that_has_an_effect() {
    for option in OPTIONS {
        if let Effect::SetsOther(other, _) = option.effect {
            let other = OPTIONS.iter().find(|option| option.name == other);
            assert!(other.is_some_and(|other| matches!(other.effect, Effect::Works(_))), "{}", option.name);
        }
    }
    assert!(OPTIONS.is_sorted_by_key(|option| option.name));
}

#[test]
fn each_option_without_effect_that_gets_another_value_is_noted() {
    let mut options = Options::default();
    let notes =
        options.set("evs.suspect_timeout=PT30S; gcs.fc_limit=100; evs.version=1; gcache.size=2G", false).unwrap();
    assert_eq!(
        notes,
        ["wsrep_provider_options: evs.suspect_timeout=PT30S has no effect here: `raft.election_timeout` sets when a \
             leader counts as lost; the limits for other nodes are fixed"],
        "not those that have an effect, nor those that stay as they are"
    );
    assert_eq!(options.set("evs.suspect_timeout=PT30S", true), Ok(Vec::new()), "only once");
    let whole = options.text();
    assert_eq!(options.set(&whole, true), Ok(Vec::new()), "a program may set all options as they are shown");
}

#[test]
fn the_log_keeps_what_gcache_size_says_unless_log_retain_is_set() {
    for (text, bytes) in [
        ("", 1 << 30),
        ("gcache.size=2G", 2 << 30),
        ("gcache.size=2G; log.retain=1G", 1 << 30),
        ("log.retain=3G; gcache.size=2G", 3 << 30),
    ] {
        let mut options = Options::default();
        options.set(text, false).unwrap();
        assert_eq!(options.log_retain_bytes(), bytes, "{text}");
    }
}
