//! Passwords between the command line, the terminal and the process list.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufReader, PipeReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process;

use anyhow::{Context, bail};
use clap::Command;
use hortator_mysql::Password;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios};

use super::PASSWORD_FD;
use crate::verify::split_password as split_endpoint;

/// Longer than any server accepts, and not longer than the smallest pipe buffer, so that writing never blocks.
const PASSWORD_LIMIT_BYTES: usize = 4096;

/// The argument of a subcommand that is an endpoint, which may contain a password.
const ENDPOINT: &str = "first";

/// If the arguments contain a password, replaces this process by the same program without it: any user of the machine
/// can read the arguments of a process. `main` must call this first.
///
/// The arguments of a running process cannot be overwritten without unsafe code. The new process gets the password
/// through a pipe (every child would inherit an environment variable), whose number is in `--password-fd` in place of
/// the password. After it was read, an empty pipe stays open.
///
/// # Errors
/// When the program cannot be restarted.
pub fn hide_password_from_process_list(command: &Command) -> anyhow::Result<()> {
    let all: Vec<OsString> = std::env::args_os().collect();
    let found = take_password(command, all.clone());
    let has_sides = takes_endpoints(command, &all);
    let side_password = |argument: &OsString| argument.to_str().filter(|_| has_sides).and_then(split_endpoint);
    if found.is_none() && !all.iter().any(|argument| side_password(argument).is_some()) {
        return Ok(());
    }
    let (mut arguments, password) = match found {
        Some(Found { arguments, index, password }) => (arguments, Some((index, password))),
        None => (all, None),
    };
    // All pipes must be open when the new process starts.
    let mut pipes = Vec::new();
    for argument in &mut arguments {
        if let Some((side, password)) = side_password(argument) {
            let pipe = password_pipe(password.as_bytes())?;
            let mark = if side.contains('?') { '&' } else { '?' };
            *argument = format!("{side}{mark}{PASSWORD_FD}={}", pipe.as_raw_fd()).into();
            pipes.push(pipe);
        }
    }
    if let Some((index, password)) = password {
        let pipe = password_pipe(password.as_bytes())?;
        arguments.insert(index, format!("--{PASSWORD_FD}={}", pipe.as_raw_fd()).into());
        pipes.push(pipe);
    }
    let restart = || -> io::Result<io::Error> {
        let mut again = process::Command::new(std::env::current_exe()?);
        Ok(again.arg0(&arguments[0]).args(&arguments[1..]).exec())
    };
    restart().and_then(Err).context("restarting without the password in the process list")
}

/// A pipe with a password, for the process that replaces this one.
fn password_pipe(password: &[u8]) -> anyhow::Result<PipeReader> {
    if password.len() > PASSWORD_LIMIT_BYTES {
        bail!("the password has {} bytes, but the limit is {PASSWORD_LIMIT_BYTES}", password.len());
    }
    let fill = || -> io::Result<PipeReader> {
        let (reader, mut writer) = io::pipe()?;
        writer.write_all(password)?;
        fcntl_setfd(&reader, FdFlags::empty())?;
        Ok(reader)
    };
    fill().context("writing the password to a pipe")
}

/// Whether the subcommand takes endpoints, which may contain passwords.
fn takes_endpoints(command: &Command, arguments: &[OsString]) -> bool {
    let subcommand = arguments.iter().skip(1).find_map(|argument| command.find_subcommand(argument));
    subcommand.is_some_and(|subcommand| subcommand.get_positionals().any(|arg| arg.get_id() == ENDPOINT))
}

/// Reads the password that [`hide_password_from_process_list`] wrote to a pipe.
pub fn read_password_pipe(fd: u32) -> io::Result<OsString> {
    let mut password = Vec::new();
    // Through the file system, because a number becomes a file in unsafe code only. This reader never waits: the pipe
    // is full, and its writer is closed.
    let pipe = File::open(format!("/dev/fd/{fd}"))?;
    pipe.take(PASSWORD_LIMIT_BYTES as u64).read_to_end(&mut password)?;
    Ok(OsString::from_vec(password))
}

/// A command line without its password.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    pub arguments: Vec<OsString>,
    /// The position of the password (the last, if there are several).
    pub index: usize,
    pub password: OsString,
}

/// Finds `-pPASSWORD`, also after other letters (`-fpPASSWORD`), and `--password=PASSWORD` in the arguments of a
/// subcommand with connection options.
pub fn take_password(command: &Command, arguments: Vec<OsString>) -> Option<Found> {
    let mut command = command;
    let mut found = None;
    let mut options_ended = false;
    let mut kept: Vec<OsString> = Vec::with_capacity(arguments.len() + 1);
    for (place, argument) in arguments.into_iter().enumerate() {
        options_ended |= argument == "--";
        if place > 0 && !options_ended {
            if let Some(subcommand) = command.find_subcommand(&argument) {
                command = subcommand;
            } else if let Some((before, password)) = split_password(command, argument.as_bytes()) {
                kept.extend(before);
                found = Some((kept.len(), password));
                continue;
            }
        }
        kept.push(argument);
    }
    found.map(|(index, password)| Found { arguments: kept, index, password })
}

/// The letters before the password in the same argument, if any, and the password.
fn split_password(command: &Command, argument: &[u8]) -> Option<(Option<OsString>, OsString)> {
    if !command.get_arguments().any(|arg| arg.get_id() == PASSWORD_FD) {
        return None;
    }
    let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    if let Some(password) = argument.strip_prefix(b"--password=") {
        return Some((None, text(password)));
    }
    let letters = argument.strip_prefix(b"-")?;
    let is_flag = |letter: u8| {
        let mut args = command.get_arguments();
        args.any(|arg| arg.get_short() == Some(char::from(letter)) && !arg.get_action().takes_values())
    };
    let flags = letters.iter().take_while(|&&letter| is_flag(letter)).count();
    match &letters[flags..] {
        [b'p', password @ ..] if !password.is_empty() => {
            let before = (flags > 0).then(|| text(&argument[..=flags]));
            Some((before, text(password)))
        }
        _ => None,
    }
}

/// Prompts on the terminal, without echo.
///
/// # Errors
/// When there is no terminal, or the user presses Ctrl-C or Ctrl-D.
pub fn ask(prompt: &str) -> anyhow::Result<Password> {
    let no_terminal = "a password prompt needs a terminal: give the password in an option file or as \
                       -pPASSWORD";
    let terminal = File::options().read(true).write(true).open("/dev/tty").context(no_terminal)?;
    let silence = EchoOff::of(&terminal).context(no_terminal)?;
    (&terminal).write_all(prompt.as_bytes())?;
    let typed = read_line(BufReader::new(&terminal).bytes());
    drop(silence);
    (&terminal).write_all(b"\n")?;
    match typed? {
        Some(password) => Ok(Password::new(password)),
        None => bail!("no password was entered"),
    }
}

/// A terminal without echo that delivers every key, until this value is dropped. Also Ctrl-C: a program ended by it
/// would leave the terminal without echo.
struct EchoOff<'a> {
    terminal: &'a File,
    before: Termios,
}

impl EchoOff<'_> {
    fn of(terminal: &File) -> io::Result<EchoOff<'_>> {
        let before = termios::tcgetattr(terminal)?;
        let mut silent = before.clone();
        silent.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        silent.special_codes[SpecialCodeIndex::VMIN] = 1;
        silent.special_codes[SpecialCodeIndex::VTIME] = 0;
        termios::tcsetattr(terminal, OptionalActions::Flush, &silent)?;
        Ok(EchoOff { terminal, before })
    }
}

impl Drop for EchoOff<'_> {
    fn drop(&mut self) {
        // A closed terminal cannot be restored.
        let _ = termios::tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}

/// Reads one line of keys, with Backspace and Ctrl-U; None on Ctrl-C, Ctrl-D or the end.
pub fn read_line(keys: impl Iterator<Item = io::Result<u8>>) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    for key in keys {
        match key? {
            b'\r' | b'\n' => return Ok(Some(line)),
            0x03 | 0x04 => return Ok(None),
            0x15 => line.clear(),
            0x08 | 0x7f => {
                // Remove a whole UTF-8 character.
                while line.pop().is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000) {}
            }
            byte if line.len() < PASSWORD_LIMIT_BYTES => line.push(byte),
            _ => {}
        }
    }
    Ok(None)
}
