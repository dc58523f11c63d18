//! An endpoint of a comparison as a DBA writes it: a host, a URL, a socket, a sandbox, or a group of the option files.
//!
//! The options of an endpoint override the common options of the command line. A password in it does not stay in the
//! process list: [`split_password`] removes it before anything else, and passes it through a pipe, by number.

use std::os::unix::ffi::OsStringExt;

use hortator_check::compare::Endpoint;
use hortator_mysql::options::Argument;
use hortator_sandbox::Sandbox;

use crate::connection_args::{ConnectionArgs, PASSWORD_FD, read_password_pipe};

/// Schemes of a URL.
const SCHEMES: [&str; 2] = ["mysql://", "mariadb://"];
const SOCKET: &str = "socket:";
const SANDBOX: &str = "sandbox:";
const GROUP: &str = "group:";

/// One endpoint as given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointArg {
    /// Connection options, in order of precedence.
    options: Vec<Argument>,
    /// A suffix of the option files' groups.
    group: Option<String>,
    /// A sandbox and one of its nodes.
    sandbox: Option<(String, usize)>,
}

impl EndpointArg {
    /// Connection options and schema, with the common options as defaults.
    ///
    /// # Errors
    /// When an option is invalid, or the sandbox does not exist.
    pub(super) fn resolve(&self, both: &ConnectionArgs) -> anyhow::Result<Endpoint> {
        let database = self.options.iter().rfind(|option| option.name == "database");
        let connect = match &self.sandbox {
            Some((name, node)) => {
                let sandbox = Sandbox::open(&hortator_sandbox::default_folder()?, name)?;
                let mut connect = sandbox.numbered(*node)?.connect_options();
                connect.database = match database {
                    Some(option) => option.value.clone().map(|value| value.to_string_lossy().into_owned()),
                    None => both.value("database"),
                };
                connect
            }
            None => both.with(&self.options, self.group.as_deref()).resolve()?,
        };
        let schema = connect.database.clone().filter(|schema| !schema.is_empty());
        Ok(Endpoint { connect, schema })
    }
}

/// Parses an endpoint.
///
/// # Errors
/// A description of the error and of the valid form.
pub(super) fn parse(text: &str) -> Result<EndpointArg, String> {
    let (target, query) = text.split_once('?').unwrap_or((text, ""));
    let mut endpoint = EndpointArg::default();
    if let Some(file) = target.strip_prefix(SOCKET) {
        let file = decoded(file)?;
        if file.is_empty() {
            return Err("give the path of the socket, for example socket:/run/mysqld/mysqld.sock".to_owned());
        }
        endpoint.push("host", b"localhost".to_vec());
        endpoint.push("socket", file);
    } else if let Some(name) = target.strip_prefix(SANDBOX) {
        let (name, node) = name.split_once('/').unwrap_or((name, "1"));
        let node = node.strip_prefix("node").unwrap_or(node);
        let node = node.parse().map_err(|_| "give a node number: 1, 2, 3 …".to_owned())?;
        endpoint.sandbox = Some((name.to_owned(), node));
    } else if let Some(suffix) = target.strip_prefix(GROUP) {
        if suffix.is_empty() {
            return Err("give the suffix of the groups, for example group:_db1 for [client_db1]".to_owned());
        }
        endpoint.group = Some(suffix.to_owned());
    } else {
        let address = SCHEMES.iter().find_map(|scheme| target.strip_prefix(scheme));
        if address.is_none() && target.contains("://") {
            return Err(format!("a URL begins with {} or {}", SCHEMES[0], SCHEMES[1]));
        }
        endpoint.address(address.unwrap_or(target))?;
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match name {
            PASSWORD_FD => {
                let fd = value.parse().map_err(|_| format!("{PASSWORD_FD} takes a number"))?;
                let password = read_password_pipe(fd).map_err(|error| format!("cannot read the password: {error}"))?;
                let text = password.into_string().map_err(|_| "the password is not UTF-8".to_owned())?;
                endpoint.push("password", decoded(&text)?);
            }
            "password" => {
                return Err("give the password as mysql://USER:PASSWORD@HOST, or better in an option file".to_owned());
            }
            _ if pair.contains('=') => endpoint.push(name, decoded(value)?),
            _ => endpoint.options.push(Argument { name: name.to_owned(), value: None }),
        }
    }
    let is_connected = endpoint.sandbox.is_none() || endpoint.options.iter().all(|option| option.name == "database");
    if is_connected { Ok(endpoint) } else { Err("a sandbox takes only ?database=NAME".to_owned()) }
}

impl EndpointArg {
    fn push(&mut self, name: &str, value: Vec<u8>) {
        let value = Some(std::ffi::OsString::from_vec(value));
        self.options.push(Argument { name: name.to_owned(), value });
    }

    /// `[USER[:PASSWORD]@]HOST[:PORT][/SCHEMA]`.
    fn address(&mut self, text: &str) -> Result<(), String> {
        let (authority, schema) = text.split_once('/').unwrap_or((text, ""));
        let (account, server) =
            authority.rsplit_once('@').map_or((None, authority), |(account, server)| (Some(account), server));
        let (host, port) = match server.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, rest)) => (host, rest.strip_prefix(':').unwrap_or(rest)),
            None => server.split_once(':').unwrap_or((server, "")),
        };
        if host.is_empty() {
            return Err(
                "the host is missing: give HOST, mysql://HOST, socket:FILE, sandbox:NAME or group:SUFFIX".to_owned()
            );
        }
        self.push("host", decoded(host)?);
        if !port.is_empty() {
            port.parse::<u16>().map_err(|_| format!("`{port}` is not a port: give 1 to 65535"))?;
            self.push("port", port.as_bytes().to_vec());
        }
        if let Some(account) = account {
            let (user, password) =
                account.split_once(':').map_or((account, None), |(user, password)| (user, Some(password)));
            self.push("user", decoded(user)?);
            if let Some(password) = password {
                self.push("password", decoded(password)?);
            }
        }
        if !schema.is_empty() {
            self.push("database", decoded(schema)?);
        }
        Ok(())
    }
}

/// Decodes `%40` and the like in a part of a URL.
fn decoded(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(value.ok_or("`%` is not followed by two hexadecimal digits: write `%` itself as `%25`")?);
        rest = &rest[2..];
    }
    Ok(bytes)
}

/// An endpoint's text without its password, and the password; None if it has no password.
pub fn split_password(text: &str) -> Option<(String, String)> {
    let scheme = SCHEMES.iter().find(|scheme| text.starts_with(**scheme)).copied().unwrap_or_default();
    let rest = &text[scheme.len()..];
    if scheme.is_empty() && [SOCKET, SANDBOX, GROUP].iter().any(|other| text.starts_with(other)) {
        return None;
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (account, server) = rest[..end].rsplit_once('@')?;
    let (user, password) = account.split_once(':')?;
    Some((format!("{scheme}{user}@{server}{}", &rest[end..]), password.to_owned()))
}

#[cfg(test)]
mod tests;
