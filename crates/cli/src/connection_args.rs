//! The connection options of a subcommand, as DBAs know them from the `mariadb` client.
//!
//! Flatten [`ConnectionArgs`] into a subcommand's arguments: it uses `-h` for the host, so the help of that subcommand
//! is `--help` and `-?`. The order of the options is kept, because the last of `-P`, `-S` and `--protocol` decides
//! between socket and port.
//!
//! [`hortator_mysql::options`] resolves the options; this module handles only the command line, the real environment,
//! and the password prompt.

mod password;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use hortator_mysql::ConnectOptions;
use hortator_mysql::options::{self, Argument, FileChoice, Layers, Resolved};

pub use password::{hide_password_from_process_list, read_password_pipe};

const HEADING: &str = "Connection";

/// The option that replaces the password after [`hide_password_from_process_list`].
pub const PASSWORD_FD: &str = "password-fd";

/// The value of an option without a value: a string that no command line can contain. clap records the position of
/// values only, and the position matters.
const NO_VALUE: &str = "\0";

/// How a connection option takes its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// `--name VALUE` or `--name=VALUE`.
    Value(&'static str),
    /// `--name` or `--name=VALUE`.
    OptionalValue(&'static str),
    /// `--name` alone.
    NoValue,
}

use Takes::{NoValue, OptionalValue, Value};

/// Name, short option, value, help. The name is also the one in option files.
const OPTIONS: &[(&str, Option<char>, Takes, &str)] = &[
    ("host", Some('h'), Value("HOST"), "Server host; default and localhost mean the socket"),
    ("port", Some('P'), Value("PORT"), "Server port; on the command line it selects TCP, also for localhost"),
    ("user", Some('u'), Value("USER"), "Account name [default: the operating system's user name]"),
    (
        "password",
        Some('p'),
        OptionalValue("PASSWORD"),
        "Account password, without a space (-pPASSWORD); without a value, prompts on the terminal. It is removed from the \
         process list at once; an option file is safer",
    ),
    ("skip-password", None, NoValue, "Log in without a password, even if the option files have one"),
    ("socket", Some('S'), Value("FILE"), "Server socket [default: /run/mysqld/mysqld.sock]"),
    ("database", Some('D'), Value("NAME"), "Default database"),
    ("protocol", None, Value("tcp|socket"), "Connect to a local server over TCP or socket"),
    ("default-character-set", None, Value("NAME"), "Character set of the connection [default: utf8mb4]"),
    ("connect-timeout", None, Value("SECONDS"), "Time limit for connecting"),
    ("ssl", None, OptionalValue("ON|OFF"), "Require encryption [default: encrypt TCP if the server supports it]"),
    ("skip-ssl", None, NoValue, "Do not encrypt"),
    ("ssl-ca", None, Value("FILE"), "Require a server certificate signed by one of these authorities (PEM)"),
    ("ssl-cert", None, Value("FILE"), "Client certificate (PEM)"),
    ("ssl-key", None, Value("FILE"), "Private key of the client certificate (PEM)"),
    ("ssl-verify-server-cert", None, OptionalValue("ON|OFF"), "Require that the server's certificate is for the host"),
    ("skip-ssl-verify-server-cert", None, NoValue, "Do not check the host name in the server's certificate"),
    ("ssl-mode", None, Value("MODE"), "The same as in MySQL: DISABLED, PREFERRED, REQUIRED, VERIFY_CA …"),
];

/// The connection options of one command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionArgs {
    files: FileChoice,
    arguments: Vec<Argument>,
}

impl ConnectionArgs {
    /// Resolves the option files, the environment and the command line. Warnings go to standard error; a password
    /// option without a value prompts on the terminal.
    ///
    /// # Errors
    /// When an option or an option file is invalid, or a prompt is necessary without a terminal.
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

    /// The same with more options, which count as the last on the command line, and optionally another suffix of
    /// groups.
    #[must_use]
    pub fn with(&self, options: &[Argument], group_suffix: Option<&str>) -> Self {
        let mut args = self.clone();
        args.arguments.extend_from_slice(options);
        if let Some(suffix) = group_suffix {
            args.files.group_suffix = Some(suffix.to_owned());
        }
        args
    }

    /// The value of one option on the command line.
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
        // Not below the heading of whatever stands before it.
        let help =
            Arg::new("help").short('?').long("help").action(ArgAction::Help).help("Print help").help_heading(None);
        let fd = Arg::new(PASSWORD_FD).long(PASSWORD_FD).hide(true).value_parser(clap::value_parser!(u32));
        let options = OPTIONS.iter().map(|&(name, letter, takes, help)| {
            let arg = Arg::new(name).short(letter).long(name).help(help).help_heading(HEADING).overrides_with(name);
            match takes {
                NoValue => arg.action(ArgAction::SetTrue),
                Value(value) => arg.value_name(value).value_parser(ValueParser::os_string()),
                OptionalValue(value) => arg
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
        file("defaults-extra-file", "Also read options from this file, before ~/.my.cnf")
            .conflicts_with("defaults-file"),
        arg("defaults-group-suffix", "Also read the groups with this suffix").value_name("SUFFIX"),
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
            // An absent flag has a value and an index too: its default.
            if matches.value_source(name) != Some(clap::parser::ValueSource::CommandLine) {
                continue;
            }
            let value = if takes == NoValue { None } else { matches.get_one::<OsString>(name) };
            let value = value.filter(|&value| value != NO_VALUE).cloned();
            let place = matches.indices_of(name).and_then(Iterator::max).unwrap_or_default();
            arguments.push((place, Argument { name: name.to_owned(), value }));
        }
        if let Some(&fd) = matches.get_one::<u32>(PASSWORD_FD) {
            let password = read_password_pipe(fd)
                .map_err(|error| clap::Error::raw(ErrorKind::Io, format!("cannot read the password: {error}\n")))?;
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
