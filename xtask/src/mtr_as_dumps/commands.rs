//! The language of the server's tests: SQL statements and mysqltest's own commands, as mysqltest itself cuts them.

use std::collections::HashSet;
use std::sync::LazyLock;

/// One step of a test file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// A statement for the server, and the delimiter that ended it.
    Statement { text: Vec<u8>, delimiter: Vec<u8> },
    /// A command of mysqltest by its name in lower case, what stands behind the name, and the delimiter in force.
    Command { name: String, arguments: Vec<u8>, delimiter: Vec<u8> },
    /// `if (…) {…}` or `while (…) {…}`.
    Block { is_loop: bool, condition: Vec<u8>, body: Vec<Step> },
}

/// Every command that mysqltest knows; `if` and `while` are blocks.
const NAMES: &str = "append_file cat_file change_user character_set chmod connect connection copy_file dec delimiter die \
    diff_files dirty_close disable_abort_on_error disable_column_names disable_connect_log disable_cursor_protocol \
    disable_info disable_metadata disable_non_blocking_api disable_parsing disable_prepare_warnings disable_ps2_protocol \
    disable_ps_protocol disable_query_log disable_reconnect disable_result_log disable_service_connection \
    disable_session_track_info disable_view_protocol disable_warnings disconnect echo enable_abort_on_error \
    enable_column_names enable_connect_log enable_cursor_protocol enable_info enable_metadata enable_non_blocking_api \
    enable_parsing enable_prepare_warnings enable_ps2_protocol enable_ps_protocol enable_query_log enable_reconnect \
    enable_result_log enable_service_connection enable_session_track_info enable_view_protocol enable_warnings end \
    end_timer error eval eval_result evalp exec execw exit file_exists horizontal_results inc let list_files \
    list_files_append_file list_files_write_file lowercase_result mkdir move_file optimizer_trace output perl ping \
    ps_prepare ps_bind ps_execute ps_close query query_horizontal query_vertical real_sleep reap remove_file \
    remove_files_wildcard replace_column replace_regex replace_result require reset_connection result result_format rmdir \
    save_master_pos send send_eval send_quit send_shutdown shutdown_server skip sleep sorted_result source start_timer \
    sync_slave_with_master sync_with_master system vertical_results wait_for_slave_to_stop write_file write_line";

static COMMANDS: LazyLock<HashSet<&str>> = LazyLock::new(|| NAMES.split_whitespace().collect());

/// Commands that are followed by text up to a line of its own.
const WITH_TEXT: [&str; 3] = ["append_file", "perl", "write_file"];
/// Ends that text, unless the command names another end.
const END_OF_TEXT: &str = "EOF";

/// The steps of a test file. Fails where a block does not end.
pub(super) fn parse(text: &[u8]) -> Result<Vec<Step>, String> {
    let mut reader = Reader { text, at: 0, delimiter: b";".to_vec() };
    let (steps, ended_by_brace) = reader.steps()?;
    if ended_by_brace { Err(format!("a }} too many in line {}", reader.line())) } else { Ok(steps) }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    delimiter: Vec<u8>,
}

impl Reader<'_> {
    /// The steps up to the end of the block or file, and whether it was a block's.
    fn steps(&mut self) -> Result<(Vec<Step>, bool), String> {
        let mut steps = Vec::new();
        loop {
            self.skip_space();
            let Some(byte) = self.peek() else { return Ok((steps, false)) };
            if byte == b'#' {
                self.rest_of_line();
            } else if byte == b'-' {
                let line = self.rest_of_line();
                if let Some((name, arguments)) = line.strip_prefix(b"--").and_then(command) {
                    self.command(name, arguments, &mut steps);
                }
            } else if self.rest().starts_with(&self.delimiter) {
                self.at += self.delimiter.len();
            } else if byte == b'}' {
                self.at += 1;
                return Ok((steps, true));
            } else {
                self.statement(&mut steps)?;
            }
        }
    }

    /// A statement, a command that ends with the delimiter, or a block.
    fn statement(&mut self, steps: &mut Vec<Step>) -> Result<(), String> {
        let start = self.at;
        let (mut quote, mut is_escaped) = (None, false);
        while let Some(byte) = self.peek() {
            match quote {
                None if self.rest().starts_with(&self.delimiter) => break,
                None if byte == b'{' && block(&self.text[start..self.at]).is_some() => {
                    let (is_loop, condition) = block(&self.text[start..self.at]).expect("just looked at");
                    self.at += 1;
                    let line = self.line();
                    let (body, is_whole) = self.steps()?;
                    if !is_whole {
                        return Err(format!("the block of line {line} does not end"));
                    }
                    steps.push(Step::Block { is_loop, condition, body });
                    return Ok(());
                }
                None if matches!(byte, b'\'' | b'"' | b'`') && !is_escaped => quote = Some(byte),
                Some(open) if byte == open && !is_escaped => quote = None,
                _ => {}
            }
            is_escaped = byte == b'\\' && !is_escaped && quote != Some(b'`');
            self.at += 1;
        }
        let text = self.text[start..self.at].trim_ascii().to_vec();
        self.at = (self.at + self.delimiter.len()).min(self.text.len());
        match command(&text) {
            Some((name, arguments)) => self.command(name, arguments, steps),
            None => steps.push(Step::Statement { text, delimiter: self.delimiter.clone() }),
        }
        Ok(())
    }

    fn command(&mut self, name: String, arguments: Vec<u8>, steps: &mut Vec<Step>) {
        if WITH_TEXT.contains(&name.as_str()) {
            self.skip_text(&name, &arguments);
        } else if name == "delimiter" {
            if !arguments.is_empty() {
                self.delimiter = arguments;
            }
        } else if name == "disable_parsing" {
            while let Some(line) = self.next_line() {
                if line
                    .trim_ascii()
                    .strip_prefix(b"--")
                    .and_then(command)
                    .is_some_and(|(name, _)| name == "enable_parsing")
                {
                    break;
                }
            }
        } else {
            steps.push(Step::Command { name, arguments, delimiter: self.delimiter.clone() });
        }
    }

    /// Passes over the text of `perl` and its like.
    fn skip_text(&mut self, name: &str, arguments: &[u8]) {
        let words: Vec<&[u8]> = arguments.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        let end = match (name, words.as_slice()) {
            ("perl", [end, ..]) | (_, [_, end, ..]) => end,
            _ => END_OF_TEXT.as_bytes(),
        };
        // What is left of the command's own line.
        if self.at > 0 && self.text[self.at - 1] != b'\n' {
            self.rest_of_line();
        }
        while self.next_line().is_some_and(|line| line.strip_suffix(b"\r").unwrap_or(line) != end) {}
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// What is left of this line, without space around it.
    fn rest_of_line(&mut self) -> Vec<u8> {
        self.next_line().unwrap_or_default().trim_ascii().to_vec()
    }

    fn next_line(&mut self) -> Option<&[u8]> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.at = (self.at + length + 1).min(self.text.len());
        Some(&rest[..length])
    }

    fn line(&self) -> usize {
        self.text[..self.at].iter().filter(|byte| **byte == b'\n').count() + 1
    }
}

/// Whether the text begins with a command's name, and what stands behind it.
fn command(text: &[u8]) -> Option<(String, Vec<u8>)> {
    let text = text.trim_ascii_start();
    let length = text.iter().position(|byte| !is_of_name(*byte)).unwrap_or(text.len());
    let name = String::from_utf8_lossy(&text[..length]).to_ascii_lowercase();
    COMMANDS.contains(name.as_str()).then(|| (name, text[length..].trim_ascii().to_vec()))
}

/// Whether the text in front of a brace begins a block, and on which condition.
fn block(text: &[u8]) -> Option<(bool, Vec<u8>)> {
    let length = text.iter().position(|byte| !is_of_name(*byte)).unwrap_or(text.len());
    let is_loop = match text[..length].to_ascii_lowercase().as_slice() {
        b"while" => true,
        b"if" => false,
        _ => return None,
    };
    let condition = text[length..].trim_ascii().strip_prefix(b"(")?.strip_suffix(b")")?;
    Some((is_loop, condition.trim_ascii().to_vec()))
}

/// Whether a byte can be part of a command's or variable's name.
pub(super) fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
