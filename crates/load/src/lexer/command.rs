//! The commands that the client obeys itself and never sends: one table of them, how it knows one at the start of a
//! line or behind a backslash, and how it reads their argument. Facts found by watching the `mariadb` client 10.11.

use memchr::memmem;

/// What is done about a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Throws away what was read of the statement.
    Clear,
    /// Sets the client's character set.
    Charset,
    /// Sets the delimiter.
    Delimiter,
    /// Nothing that matters to a load: counted, and no more.
    Ignore,
    /// As [`Action::Ignore`] without an argument, as [`Action::Refuse`] with one.
    IgnoreBare,
    /// Leaves this input.
    Quit,
    /// Something that a load does not do.
    Refuse,
    /// No shell and no files from here on.
    Sandbox,
    /// Sends what was read of the statement.
    Send,
    /// Reads another file first.
    Source,
    /// Selects a database.
    Use,
}

/// One command of the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// The character behind the backslash.
    pub(crate) letter: u8,
    pub(crate) takes_argument: bool,
    pub(crate) action: Action,
}

const fn command(name: &'static str, letter: u8, takes_argument: bool, action: Action) -> Command {
    Command { name, letter, takes_argument, action }
}

/// The client's commands; `exit` and `quit` share a letter, as do `help` and `?` a meaning.
pub(crate) const COMMANDS: [Command; 25] = [
    command("?", b'?', true, Action::Ignore),
    command("charset", b'C', true, Action::Charset),
    command("clear", b'c', false, Action::Clear),
    command("connect", b'r', true, Action::Refuse),
    command("delimiter", b'd', true, Action::Delimiter),
    command("edit", b'e', false, Action::Refuse),
    command("ego", b'G', false, Action::Send),
    command("exit", b'q', false, Action::Quit),
    command("go", b'g', false, Action::Send),
    command("help", b'h', true, Action::Ignore),
    command("nopager", b'n', false, Action::Ignore),
    command("notee", b't', false, Action::Ignore),
    command("nowarning", b'w', false, Action::Ignore),
    command("pager", b'P', true, Action::IgnoreBare),
    command("print", b'p', false, Action::Ignore),
    command("prompt", b'R', true, Action::Ignore),
    command("quit", b'q', false, Action::Quit),
    command("rehash", b'#', false, Action::Ignore),
    command("sandbox", b'-', false, Action::Sandbox),
    command("source", b'.', true, Action::Source),
    command("status", b's', false, Action::Ignore),
    command("system", b'!', true, Action::Refuse),
    command("tee", b'T', true, Action::Refuse),
    command("use", b'u', true, Action::Use),
    command("warnings", b'W', false, Action::Ignore),
];

/// Longest name in [`COMMANDS`].
const LONGEST_NAME_BYTES: usize = 9;

/// White space as the client has it in its single-byte sets.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn trim_start(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|&&byte| is_space(byte)).count()..]
}

/// The command behind a backslash. In binary mode only two are known.
pub(crate) fn by_letter(letter: u8, binary: bool) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| {
        command.letter == letter && (!binary || matches!(command.action, Action::Charset | Action::Sandbox))
    })
}

/// Whether text that begins so may be a command, as far as its first word tells. `text` is cut at the line's end.
pub(crate) fn may_be_command(text: &[u8], binary: bool) -> bool {
    let text = trim_start(text);
    if binary { delimiter_in_binary_mode(text).is_some() } else { by_word(first_word(text)).is_some() }
}

/// In binary mode the client knows one word, and is content if the text begins with it.
fn delimiter_in_binary_mode(text: &[u8]) -> Option<&'static Command> {
    let command = COMMANDS.iter().find(|command| command.action == Action::Delimiter)?;
    text.get(..command.name.len())?.eq_ignore_ascii_case(command.name.as_bytes()).then_some(command)
}

/// The command that `text` is: a line at whose start no statement is open, or a statement in front of its delimiter.
/// A text with the delimiter in it is none (but `delimiter` is), and neither is one with `\g`, or with a quoted argument that is empty or
/// not closed.
pub(crate) fn by_text(text: &[u8], delimiter: &[u8], binary: bool) -> Option<&'static Command> {
    let text = trim_start(text);
    if binary {
        return delimiter_in_binary_mode(text);
    }
    let word = first_word(text);
    let command = by_word(word)?;
    let delimiter = if command.action == Action::Delimiter { b"\\g" } else { delimiter };
    if has_terminator(text, delimiter) {
        return None;
    }
    let argument = trim_start(&text[word.len()..]);
    if argument.is_empty() {
        return Some(command);
    }
    (command.takes_argument && read_argument(argument, false).is_some()).then_some(command)
}

/// Whether a line has something that ends a statement, which the client looks for before it looks for commands.
pub(crate) fn has_terminator(text: &[u8], delimiter: &[u8]) -> bool {
    memmem::find(text, delimiter).is_some() || memmem::find(text, b"\\g").is_some()
}

fn first_word(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|&byte| byte == b' ' || byte == b'\t').unwrap_or(text.len());
    &text[..end]
}

fn by_word(word: &[u8]) -> Option<&'static Command> {
    if word.len() > LONGEST_NAME_BYTES {
        return None;
    }
    COMMANDS.iter().find(|command| command.name.as_bytes().eq_ignore_ascii_case(word))
}

/// The argument of a command written as `name argument` or `\letter argument`: a word up to a space, or a quoted text.
/// Backslashes go, but not from a name in backticks behind a long command. `None` where there is no argument, or its
/// quote is not closed.
pub(crate) fn argument(text: &[u8]) -> Option<Vec<u8>> {
    let text = trim_start(text);
    let is_short = text.first() == Some(&b'\\');
    let name_length = if is_short { 2 } else { text.iter().take_while(|&&byte| !is_space(byte)).count() };
    read_argument(trim_start(text.get(name_length..)?), is_short)
}

fn read_argument(text: &[u8], is_short: bool) -> Option<Vec<u8>> {
    let quote = text.first().copied().filter(|byte| matches!(byte, b'\'' | b'"' | b'`'));
    let escapes = is_short || quote != Some(b'`');
    let content = &text[usize::from(quote.is_some())..];
    let mut value = Vec::new();
    let mut at = 0;
    let mut closed = quote.is_none();
    while let Some(&byte) = content.get(at) {
        let next = content.get(at + 1);
        let escapes_next = byte == b'\\' && escapes && next.is_some();
        let is_doubled = quote == Some(byte) && next == Some(&byte);
        if escapes_next || is_doubled {
            at += 1;
        } else if quote == Some(byte) {
            closed = true;
            break;
        } else if quote.is_none() && byte == b' ' {
            break;
        }
        value.push(content[at]);
        at += 1;
    }
    (closed && !value.is_empty()).then_some(value)
}

/// The file named by `source file` or `\. file`: all behind the first space, to the end of the line.
pub(crate) fn source_file(text: &[u8]) -> Option<&[u8]> {
    let text = trim_start(text);
    let space = memchr::memchr(b' ', text)?;
    let mut file = trim_start(&text[space..]);
    while let [head @ .., last] = file
        && (is_space(*last) || last.is_ascii_control())
    {
        file = head;
    }
    (!file.is_empty()).then_some(file)
}
