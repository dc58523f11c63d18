//! What programs that watch an agent ask over HTTP: `/metrics` in Prometheus' text format, and `/healthz`.
//!
//! ```text
//!   Listener ── a thread for each connection ── request ──► pages ──► metrics, health      both pure
//! ```
//!
//! A few lines of std serve it: two pages without a body need no parser of their own crate, `tiny_http` has no time limits,
//! and `hyper` brings an async runtime.

mod health;
mod listener;
mod metrics;
mod request;

use crate::agent::SourceStatus;

pub use health::{Health, health};
pub use listener::Listener;
pub use metrics::{METRICS, Metric, metrics};
use request::{Refusal, Request};

/// How all sources stand now.
pub type Reporter = dyn Fn() -> Vec<SourceStatus> + Send + Sync;

/// An answer without its body's length.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    /// Code and reason.
    status: &'static str,
    content_type: &'static str,
    body: String,
}

const PLAIN: &str = "text/plain; charset=utf-8";
/// The version is that of the format.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The answer to a request.
fn page(request: &Result<Request, Refusal>, report: &Reporter) -> Page {
    let plain = |status, body: String| Page { status, content_type: PLAIN, body };
    match request {
        Ok(request) => match request.path.as_str() {
            "/metrics" => Page { status: "200 OK", content_type: PROMETHEUS, body: metrics(&report()) },
            "/healthz" => match health(&report()) {
                Health::Well => plain("200 OK", "ok\n".to_owned()),
                Health::Ill(body) => plain("503 Service Unavailable", body),
            },
            _ => plain("404 Not Found", "there is /metrics and /healthz\n".to_owned()),
        },
        Err(Refusal::Method) => plain("405 Method Not Allowed", "only GET and HEAD\n".to_owned()),
        Err(Refusal::TooLong) => plain("431 Request Header Fields Too Large", "the request is too long\n".to_owned()),
        Err(Refusal::Malformed) => plain("400 Bad Request", "this is no HTTP request\n".to_owned()),
    }
}

impl Page {
    /// The bytes of the answer; without the body if only the head is asked for.
    fn bytes(&self, head_only: bool) -> Vec<u8> {
        let Page { status, content_type, body } = self;
        let length = body.len();
        let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n{allow}Cache-Control: \
             no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        );
        let body = if head_only { "" } else { body };
        [head.as_bytes(), body.as_bytes()].concat()
    }
}

#[cfg(test)]
mod tests;
