//! The connection options of a subcommand, as DBAs know them from the `mariadb` client.
//!
//! Flatten [`ConnectionArgs`] into a subcommand's arguments: it brings `-h` for the host, so the help of that
//! subcommand is `--help` and `-?`. The order of the options is kept, as the last of `-P`, `-S` and `--protocol`
//! decides between socket and port.
//!
//! What the options come to is decided in [`hortator_mysql::options`]; here is only the command line, the real
//! environment, and the person at the terminal.

mod password;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use hortator_mysql::ConnectOptions;
use hortator_mysql::options::{self, Argument, FileChoice, Layers, Resolved};

pub use password::{hide_password_from_process_list, read_handed_over};

const HEADING: &str = "Connection";

/// The option under which the password comes back after [`hide_password_from_process_list`].
pub const PASSWORD_FD: &str = "password-fd";

/// Stands for the value of an option that was given without one: nothing that a command line can hold. clap
/// keeps the place of values only, and the place counts.
const NO_VALUE: &str = "\0";

/// How an option of the connection takes its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// `--name VALUE` or `--name=VALUE`.
    Value(&'static str),
    /// `--name` or `--name=VALUE`.
    Perhaps(&'static str),
    /// `--name` alone.
    Nothing,
}

use Takes::{Nothing, Perhaps, Value};

/// Name, letter, value, help. The name is also the one in option files.
const OPTIONS: &[(&str, Option<char>, Takes, &str)] = &[
    ("host", Some('h'), Value("HOST"), "The server's host; none or localhost means the socket"),
    ("port", Some('P'), Value("PORT"), "The server's port; on the command line it means TCP, also to localhost"),
    ("user", Some('u'), Value("USER"), "The account's name [default: that of the operating system's user]"),
    (
        "password",
        Some('p'),
        Perhaps("PASSWORD"),
        "The account's password, attached (-pPASSWORD); without one, asks on the terminal. It is taken out of the \
         process list at once; better keep it in an option file",
    ),
    ("skip-password", None, Nothing, "Log in without a password, whatever the option files say"),
    ("socket", Some('S'), Value("FILE"), "The server's socket [default: /run/mysqld/mysqld.sock]"),
    ("database", Some('D'), Value("NAME"), "The default database"),
    ("protocol", None, Value("tcp|socket"), "How to reach the server on this machine"),
    ("default-character-set", None, Value("NAME"), "The connection's character set [default: utf8mb4]"),
    ("connect-timeout", None, Value("SECONDS"), "How long connecting may take"),
    ("ssl", None, Perhaps("ON|OFF"), "Encrypt, and fail where the server cannot [default: encrypt TCP where it can]"),
    ("skip-ssl", None, Nothing, "Do not encrypt"),
    ("ssl-ca", None, Value("FILE"), "Trust these authorities (PEM), and fail unless one signed for the server"),
    ("ssl-cert", None, Value("FILE"), "Our own certificate (PEM)"),
    ("ssl-key", None, Value("FILE"), "Its private key (PEM)"),
    ("ssl-verify-server-cert", None, Perhaps("ON|OFF"), "Fail unless the server's certificate names the host"),
    ("skip-ssl-verify-server-cert", None, Nothing, "Do not ask the server's certificate for the host's name"),
    ("ssl-mode", None, Value("MODE"), "MySQL's way to say the same: DISABLED, PREFERRED, REQUIRED, VERIFY_CA …"),
];

/// The connection options of one command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionArgs {
    files: FileChoice,
    arguments: Vec<Argument>,
}

impl ConnectionArgs {
    /// How to connect, of the option files, the environment and the command line. Warnings go to standard
    /// error; a password without a value is asked for on the terminal.
    ///
    /// # Errors
    /// When an option or its file is not understood, or a password is to be asked for where there is no terminal.
    pub fn resolve(&self) -> anyhow::Result<ConnectOptions> {
        let environment = |name: &str| std::env::var_os(name);
        let resolved = self.resolve_in(options::SYSTEM_FILES, &environment)?;
        for warning in &resolved.warnings {
            eprintln!("hortator: warning: {warning}");
        }
        if resolved.ask_password {
            let prompt = format!("Password of {} at {}: ", resolved.options.user, resolved.options.address);
            let password = password::ask(&prompt)?;
            return Ok(resolved.with_password(password).options);
        }
        Ok(resolved.options)
    }

    /// The same with more options, which count as the last on the command line, and perhaps another suffix of groups.
    #[must_use]
    pub fn with(&self, options: &[Argument], group_suffix: Option<&str>) -> Self {
        let mut args = self.clone();
        args.arguments.extend_from_slice(options);
        if let Some(suffix) = group_suffix {
            args.files.group_suffix = Some(suffix.to_owned());
        }
        args
    }

    /// What the command line says of one option.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<String> {
        let said = self.arguments.iter().rfind(|argument| argument.name == name)?;
        said.value.as_ref().map(|value| value.to_string_lossy().into_owned())
    }

    fn resolve_in(
        &self,
        system_files: &[&str],
        environment: options::Environment<'_>,
    ) -> Result<Resolved, options::Error> {
        let (files, mut warnings) = self.files.read(system_files, environment)?;
        let default_user = || options::os_user_name(environment);
        let layers = Layers { environment, files: &files, arguments: &self.arguments, default_user: &default_user };
        let mut resolved = options::resolve(layers)?;
        warnings.append(&mut resolved.warnings);
        resolved.warnings = warnings;
        Ok(resolved)
    }
}

impl Args for ConnectionArgs {
    fn augment_args(command: Command) -> Command {
        let help = Arg::new("help").short('?').long("help").action(ArgAction::Help).help("Print help");
        let fd = Arg::new(PASSWORD_FD).long(PASSWORD_FD).hide(true).value_parser(clap::value_parser!(u32));
        let options = OPTIONS.iter().map(|&(name, letter, takes, help)| {
            let arg = Arg::new(name).short(letter).long(name).help(help).help_heading(HEADING).overrides_with(name);
            match takes {
                Nothing => arg.action(ArgAction::SetTrue),
                Value(value) => arg.value_name(value).value_parser(ValueParser::os_string()),
                Perhaps(value) => arg
                    .value_name(value)
                    .value_parser(ValueParser::os_string())
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value(NO_VALUE),
            }
        });
        command.disable_help_flag(true).arg(help).args(options).arg(fd).args(file_options())
    }

    fn augment_args_for_update(command: Command) -> Command {
        ConnectionArgs::augment_args(command)
    }
}

fn file_options() -> [Arg; 4] {
    let arg = |name: &'static str, help: &'static str| Arg::new(name).long(name).help(help).help_heading(HEADING);
    let file = |name, help| arg(name, help).value_name("FILE").value_parser(ValueParser::path_buf());
    [
        file("defaults-file", "Read options from this file only"),
        file("defaults-extra-file", "Read options from this file too, before ~/.my.cnf")
            .conflicts_with("defaults-file"),
        arg("defaults-group-suffix", "Read the groups with this appended too").value_name("SUFFIX"),
        arg("no-defaults", "Read no option file")
            .action(ArgAction::SetTrue)
            .conflicts_with_all(["defaults-file", "defaults-extra-file"]),
    ]
}

impl FromArgMatches for ConnectionArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ConnectionArgs, clap::Error> {
        let files = FileChoice {
            no_defaults: matches.get_flag("no-defaults"),
            defaults_file: matches.get_one::<PathBuf>("defaults-file").cloned(),
            extra_file: matches.get_one::<PathBuf>("defaults-extra-file").cloned(),
            group_suffix: matches.get_one::<String>("defaults-group-suffix").cloned(),
        };
        let mut arguments = Vec::new();
        for &(name, _, takes, _) in OPTIONS {
            // A flag that is absent has a value and an index too: its default.
            if matches.value_source(name) != Some(clap::parser::ValueSource::CommandLine) {
                continue;
            }
            let value = if takes == Nothing { None } else { matches.get_one::<OsString>(name) };
            let value = value.filter(|&value| value != NO_VALUE).cloned();
            let place = matches.indices_of(name).and_then(Iterator::max).unwrap_or_default();
            arguments.push((place, Argument { name: name.to_owned(), value }));
        }
        if let Some(&fd) = matches.get_one::<u32>(PASSWORD_FD) {
            let password = read_handed_over(fd)
                .map_err(|error| clap::Error::raw(ErrorKind::Io, format!("the password does not arrive: {error}\n")))?;
            let place = matches.index_of(PASSWORD_FD).unwrap_or_default();
            arguments.push((place, Argument { name: "password".to_owned(), value: Some(password) }));
        }
        arguments.sort_by_key(|(place, _)| *place);
        let arguments = arguments.into_iter().map(|(_, argument)| argument).collect();
        Ok(ConnectionArgs { files, arguments })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = ConnectionArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
