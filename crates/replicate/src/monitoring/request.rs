//! An HTTP request, as far as it matters here: its first line.

/// The longest head of a request, in bytes.
pub(super) const HEAD_LIMIT_BYTES: usize = 8 << 10;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Only the head of the answer is asked for.
    pub(super) head_only: bool,
    /// Without what stands behind a question mark.
    pub(super) path: String,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It would change something.
    Method,
    /// It is no request of HTTP 1.
    Malformed,
    /// It does not end within the limit.
    TooLong,
}

/// Reads a request of the bytes that have come so far; `None` while its head has not ended.
pub(super) fn read(bytes: &[u8]) -> Option<Result<Request, Refusal>> {
    let ends = |end: &[u8]| bytes.windows(end.len()).any(|window| window == end);
    if !ends(b"\r\n\r\n") && !ends(b"\n\n") {
        return (bytes.len() >= HEAD_LIMIT_BYTES).then_some(Err(Refusal::TooLong));
    }
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Some(first_line(line).unwrap_or(Err(Refusal::Malformed)))
}

fn first_line(line: &[u8]) -> Option<Result<Request, Refusal>> {
    let line = std::str::from_utf8(line).ok()?.trim_end_matches('\r');
    let [method, target, version] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    if !is_method || !version.starts_with("HTTP/1.") || !target.starts_with(['/', '*']) {
        return None;
    }
    let path = target.split('?').next().unwrap_or_default().to_owned();
    Some(match method {
        "GET" => Ok(Request { head_only: false, path }),
        "HEAD" => Ok(Request { head_only: true, path }),
        _ => Err(Refusal::Method),
    })
}
