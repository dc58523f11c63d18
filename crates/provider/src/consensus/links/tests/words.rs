//! Addresses in all notations, and the rate limit of the log.

use super::super::dial::normalize;
use super::super::log_limiter::LogLimiter;
use super::*;

#[test]
fn addresses_get_a_port_and_lose_their_scheme() {
    for (written, meant) in [
        ("n1", "n1:4567"),
        (" n1:4444 ", "n1:4444"),
        ("tcp://10.0.0.1:4567", "10.0.0.1:4567"),
        ("tcp://0.0.0.0", "0.0.0.0:4567"),
        ("[::1]", "[::1]:4567"),
        ("[::1]:4444", "[::1]:4444"),
        ("::1", "[::1]:4567"),
    ] {
        assert_eq!(normalize(written), meant, "{written}");
    }
}

#[test]
fn an_address_in_use_is_reported() {
    let (links, _) = Links::open("127.0.0.1:0", tag(1)).unwrap();
    let error = Links::open(&links.own().address, tag(2)).unwrap_err().to_string();
    assert!(error.contains(&links.own().address) && error.contains("gmcast.listen_addr"), "{error}");
}

/// The logged messages of these (second, host, text).
fn logged(notes: &[(u64, &str, &str)]) -> Vec<(u64, String)> {
    let begin = Instant::now();
    let mut kept = LogLimiter::default();
    let tell = |(second, host, text): &(u64, &str, &str)| match kept.refused_event(
        host,
        host,
        text,
        begin + Duration::from_secs(*second),
    ) {
        Some(Event::Refused { text, .. }) => Some((*second, text)),
        _ => None,
    };
    notes.iter().filter_map(tell).collect()
}

#[test]
fn the_same_message_is_logged_once_a_minute() {
    let each_second: Vec<(u64, &str, &str)> = (0..150).map(|second| (second, "n2", "refused")).collect();
    let seconds: Vec<u64> = logged(&each_second).into_iter().map(|(second, _)| second).collect();
    assert_eq!(seconds, [0, 60, 120]);
}

#[test]
fn a_flood_of_messages_is_limited_and_counted() {
    let hosts: Vec<String> = (0..100).map(|host| format!("10.0.0.{host}")).collect();
    let flood = hosts.iter().map(|host| (1, host.as_str(), "garbage"));
    let notes: Vec<(u64, &str, &str)> = flood.chain([(7, "n3", "refused")]).collect();
    let logged = logged(&notes);
    assert_eq!(logged.len(), 9);
    assert_eq!(logged[8], (7, "refused (92 earlier messages were suppressed)".to_owned()));
}
