//! Requests and their answers, the text of the metrics, health, and who else names the metrics.

use std::collections::BTreeSet;

use super::metrics::METRICS;
use super::*;
use crate::agent::{SourceState, WaitsFor};

fn source(name: &str, state: SourceState, error: Option<&str>) -> SourceStatus {
    SourceStatus { name: name.to_owned(), state, error: error.map(str::to_owned), ..SourceStatus::default() }
}

fn answer(request: &[u8], sources: &[SourceStatus]) -> String {
    let sources = sources.to_vec();
    let request = request::read(request).expect("the request has ended");
    let head_only = request.as_ref().is_ok_and(|request| request.head_only);
    String::from_utf8(page(&request, &move || sources.clone()).bytes(head_only)).unwrap()
}

#[test]
fn requests() {
    let get = |path: &str| Some(Ok(Request { head_only: false, path: path.to_owned() }));
    let long = [b"GET / HTTP/1.1\r\nX: ".as_slice(), &[b'x'; request::HEAD_LIMIT_BYTES]].concat();
    for (bytes, expected) in [
        (&b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"[..], get("/metrics")),
        (b"GET /metrics?name[]=up HTTP/1.0\r\n\r\n", get("/metrics")),
        (b"GET / HTTP/1.1\n\n", get("/")),
        (b"HEAD /healthz HTTP/1.1\r\n\r\n", Some(Ok(Request { head_only: true, path: "/healthz".to_owned() }))),
        (b"POST /metrics HTTP/1.1\r\n\r\n", Some(Err(Refusal::Method))),
        (b"OPTIONS * HTTP/1.1\r\n\r\n", Some(Err(Refusal::Method))),
        (b"GET /metrics\r\n\r\n", Some(Err(Refusal::Malformed))),
        (b"GET metrics HTTP/1.1\r\n\r\n", Some(Err(Refusal::Malformed))),
        (b"GET /metrics HTTP/2\r\n\r\n", Some(Err(Refusal::Malformed))),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", Some(Err(Refusal::Malformed))),
        (b"\r\n\r\n", Some(Err(Refusal::Malformed))),
        (b"", None),
        (b"GET /metrics HTTP/1.1\r\nHost: x\r\n", None),
        (&long, Some(Err(Refusal::TooLong))),
    ] {
        assert_eq!(request::read(bytes), expected, "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn answers() {
    let sources = [source("a", SourceState::Running, None)];
    for (request, begin, body) in [
        ("GET /healthz HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n", "ok\n"),
        ("GET /other HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found\r\n", "there is /metrics and /healthz\n"),
        ("DELETE /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n", "only GET and HEAD\n"),
        ("hello\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n", "this is no HTTP request\n"),
    ] {
        let answer = answer(request.as_bytes(), &sources);
        let (head, found) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(begin) && found == body, "{answer}");
        assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{answer}");
        assert_eq!(head.contains("\r\nAllow: GET, HEAD\r\n"), begin.contains("405"), "{answer}");
    }
    let full = answer(b"GET /metrics HTTP/1.1\r\n\r\n", &sources);
    let (head, body) = full.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Content-Type: text/plain; version=0.0.4"), "{head}");
    assert!(body.contains("\nhortator_replicate_state{source=\"a\",state=\"running\"} 1\n"), "{body}");
    // HEAD has the length of what GET sends.
    assert_eq!(answer(b"HEAD /metrics HTTP/1.1\r\n\r\n", &sources), format!("{head}\r\n\r\n"));
}

#[test]
fn health_of_sources() {
    let running = source("a", SourceState::Running, None);
    // It runs again; what it got over is on record until then.
    let paused = source("b", SourceState::Paused, Some("the connection was lost"));
    assert_eq!(health(&[running.clone(), paused.clone()]), Health::Well);
    let stopped = source("c", SourceState::Stopped, Some("ERROR 1062: Duplicate entry 'x\ny\0'"));
    let connecting = source("d", SourceState::Connecting, None);
    let ended = source("e", SourceState::Ended, None);
    let ill = "c: stopped: ERROR 1062: Duplicate entry 'x y '\nd: connecting\ne: ended\n";
    assert_eq!(health(&[running, stopped, paused, connecting, ended]), Health::Ill(ill.to_owned()));
}

#[test]
fn metrics_of_a_source() {
    let one = SourceStatus {
        name: "sh\"op\\1\n".to_owned(),
        state: SourceState::Running,
        applied_file: "binlog.000017".to_owned(),
        applied_position: 4711,
        lag_s: Some(3),
        lag_bytes: None,
        transactions_per_s: 12.5,
        transactions: 18_204,
        waits_for: Some(WaitsFor::Lock),
        waits_s: 12,
        source_wait_s: 0.25,
        error: Some("ERROR 1062: `a\\b`\nsays \"no\"\0\u{1b}".to_owned()),
        ..SourceStatus::default()
    };
    let text = metrics(&[one, source("b", SourceState::Connecting, Some(&"é".repeat(1_000)))]);
    let of = r#"{source="sh\"op\\1\n""#;
    for line in [
        "# HELP hortator_replicate_lag_seconds How far the target is behind the source; absent while that is not known",
        "# TYPE hortator_replicate_lag_seconds gauge",
        "# TYPE hortator_replicate_transactions_total counter",
        &format!("hortator_replicate_state{of},state=\"running\"}} 1"),
        &format!("hortator_replicate_state{of},state=\"stopped\"}} 0"),
        &format!("hortator_replicate_waiting{of},for=\"lock\"}} 1"),
        &format!("hortator_replicate_waiting_seconds{of}}} 12"),
        &format!("hortator_replicate_lag_seconds{of}}} 3"),
        &format!("hortator_replicate_transactions_per_second{of}}} 12.5"),
        &format!("hortator_replicate_applied_file_number{of}}} 17"),
        &format!("hortator_replicate_applied_position_bytes{of}}} 4711"),
        &format!("hortator_replicate_transactions_total{of}}} 18204"),
        &format!("hortator_replicate_wait_seconds_total{of},for=\"source\"}} 0.25"),
        &format!(r#"hortator_replicate_error{of},error="ERROR 1062: `a\\b`\nsays \"no\"  "}} 1"#),
        &format!("hortator_replicate_error{{source=\"b\",error=\"{}…\"}} 1", "é".repeat(500)),
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    // What is not known is absent.
    assert!(!text.contains("hortator_replicate_lag_bytes{") && !text.contains("lag_seconds{source=\"b\""), "{text}");
}

/// Each line is of a form that Prometheus reads; HELP and TYPE stand once, before the samples of their metric.
#[test]
fn the_form_of_each_line() {
    let text = metrics(&[source("a", SourceState::Stopped, Some("x")), source("b", SourceState::Running, None)]);
    assert!(text.ends_with('\n'));
    let (mut current, mut seen) = (String::new(), BTreeSet::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            current = rest.split(' ').next().unwrap().to_owned();
            assert!(seen.insert(current.clone()), "{current} twice");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(name, current);
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
        } else {
            let (name, rest) = line.split_once('{').unwrap();
            let (_, value) = rest.rsplit_once("} ").unwrap();
            assert!(name == current && value.parse::<f64>().is_ok(), "{line}");
        }
    }
}

/// All names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let is_of_name = |character: char| character.is_ascii_lowercase() || character == '_';
    let name = |rest: &str| rest.chars().take_while(|character| is_of_name(*character)).collect::<String>();
    text.split("hortator_replicate_").skip(1).map(name).filter(|name| !name.is_empty()).collect()
}

fn known() -> BTreeSet<String> {
    METRICS.iter().map(|metric| metric.name.to_owned()).chain(["build_info".to_owned()]).collect()
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let text = include_str!("../../../../docs/grafana-replicate.json");
    let dashboard: serde_json::Value = serde_json::from_str(text).unwrap();
    let asked = names(text);
    assert!(asked.is_subset(&known()), "{:?}", asked.difference(&known()));
    for needed in ["lag_seconds", "lag_bytes", "transactions_total", "state", "retries_total", "error"] {
        assert!(asked.contains(needed), "{needed}");
    }
    let panels = dashboard["panels"].as_array().unwrap();
    let mut ids = BTreeSet::new();
    for panel in panels.iter().filter(|panel| panel["type"] != "row") {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{panel}");
        assert!(!panel["targets"].as_array().unwrap().is_empty(), "{panel}");
    }
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    assert!(variables.iter().any(|variable| variable["name"] == "datasource" && variable["type"] == "datasource"));
}

#[test]
fn the_manual_has_all_metrics_and_fields() {
    let manual = include_str!("../../../../docs/replicate.md");
    assert_eq!(names(manual), known());
    let fields = serde_json::to_value(SourceStatus::default()).unwrap();
    for field in fields.as_object().unwrap().keys() {
        assert!(manual.contains(&format!("`{field}`")), "{field}");
    }
}
