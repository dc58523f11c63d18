//! `status --watch`: the status again and again, until the person who watches has seen enough. An agent that ends may come
//! back.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use hortator_replicate::agent::SourceStatus;
use rustix::termios::tcgetwinsize;

/// How often it asks.
const INTERVAL: Duration = Duration::from_secs(1);
/// What a terminal has that does not say it.
const USUAL_COLUMNS: usize = 80;
const USUAL_ROWS: usize = 24;

/// Clears the whole terminal; once, since it flickers.
const CLEAR: &str = "\x1b[2J";
const HOME: &str = "\x1b[H";
/// Stands before a line: behind one that fills its row, some terminals would take its last character.
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\n\x1b[J";

/// Shows the status every second. The end of who reads it is the end.
pub fn watch(socket: &Path, first: Vec<SourceStatus>, json: bool) -> anyhow::Result<ExitCode> {
    let is_terminal = !json && io::stdout().is_terminal();
    let mut shown = Ok(first);
    if is_terminal {
        write!(io::stdout(), "{CLEAR}")?;
    }
    let mut last_error = None;
    loop {
        let (text, error) = match &shown {
            Ok(sources) => (super::status_text(sources, json)?, None),
            Err(error) => (format!("{error:#}\nwaiting for it"), Some(format!("{error:#}"))),
        };
        let written = match (&error, is_terminal) {
            (_, true) => {
                let (columns, rows) = size();
                write!(io::stdout(), "{}", frame(&text, columns, rows)).and_then(|()| io::stdout().flush())
            }
            (None, false) => writeln!(io::stdout(), "{text}"),
            // Once for each, and not among the status.
            (Some(error), false) if last_error.as_ref() != Some(error) => writeln!(io::stderr(), "hortator: {error}"),
            (Some(_), false) => Ok(()),
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            written => written?,
        }
        last_error = error;
        thread::sleep(INTERVAL);
        shown = super::status(socket);
    }
}

fn size() -> (usize, usize) {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (usize::from(size.ws_col), usize::from(size.ws_row)),
        _ => (USUAL_COLUMNS, USUAL_ROWS),
    }
}

/// What is written over the last frame: what fits in the terminal. Lines of the table are cut, those below it go on in the
/// next line, and the last line says how many are missing.
fn frame(text: &str, columns: usize, rows: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let characters: Vec<char> = line.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
        // The table begins each of its lines with a space.
        let kept = if line.starts_with(' ') { &characters[..characters.len().min(columns)] } else { &characters[..] };
        lines.extend(kept.chunks(columns).map(|chunk| chunk.iter().collect::<String>()));
    }
    if lines.len() > rows {
        let missing = lines.len() - (rows - 1);
        lines.truncate(rows - 1);
        lines.push(format!("… and {missing} lines").chars().take(columns).collect());
    }
    let end = if lines.len() < rows { CLEAR_BELOW } else { "" };
    let lines: Vec<String> = lines.iter().map(|line| format!("{CLEAR_LINE}{line}")).collect();
    format!("{HOME}{}{end}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_fit_in_the_terminal() {
        let text = " source  state\n shop1   running\nshop1: an error that is long\nmore\x1b[1m";
        let shown = |columns, rows| {
            let frame = frame(text, columns, rows);
            let inner = frame.strip_prefix(HOME).unwrap();
            assert_eq!(inner.ends_with(CLEAR_BELOW), inner.matches(CLEAR_LINE).count() < rows);
            // A line behind the last one would scroll a terminal that is full.
            let lines = inner.strip_suffix(CLEAR_BELOW).unwrap_or(inner).split('\n');
            lines.map(|line| line.strip_prefix(CLEAR_LINE).unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(shown(80, 24), [" source  state", " shop1   running", "shop1: an error that is long", "more [1m"]);
        assert_eq!(shown(12, 24), [" source  sta", " shop1   run", "shop1: an er", "ror that is ", "long", "more [1m"]);
        assert_eq!(shown(12, 3), [" source  sta", " shop1   run", "… and 4 line"]);
        assert_eq!(shown(80, 1), ["… and 4 lines"]);
    }
}
