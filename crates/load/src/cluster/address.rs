//! Node addresses: as users write them, and as a cluster reports them.

use hortator_mysql::Address;

use super::Error;

/// Reads `HOST`, `HOST:PORT`, `[IPv6]:PORT`, a bare IPv6 address, or a socket's path (which begins with `/`).
///
/// # Errors
/// [`Error::Name`] for anything else.
pub fn node_address(name: &str, default_port: u16) -> Result<Address, Error> {
    let wrong = |found| Error::Name { name: name.to_owned(), found };
    if name.starts_with('/') {
        return Ok(Address::Socket(name.into()));
    }
    let (host, port) = match name.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or_else(|| wrong("the closing bracket is missing"))?;
            match rest.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if rest.is_empty() => (host, None),
                None => return Err(wrong("unexpected text after the bracket")),
            }
        }
        // More than one colon is an IPv6 address without a port.
        None => match name.split_once(':') {
            Some((host, port)) if !port.contains(':') => (host, Some(port)),
            _ => (name, None),
        },
    };
    if host.is_empty() {
        return Err(wrong("no host"));
    }
    if host.chars().any(|sign| sign.is_whitespace() || sign == '/' || sign == '@') {
        return Err(wrong("invalid characters, so no host"));
    }
    let port = match port {
        None => default_port,
        Some(port) => match port.parse() {
            Ok(0) | Err(_) => return Err(wrong("the port is not a number from 1 to 65535")),
            Ok(port) => port,
        },
    };
    Ok(Address::Tcp { host: host.to_owned(), port })
}

/// The addresses in `wsrep_incoming_addresses`, one for each node; `None` for a node that does not report its own (`AUTO`).
pub(super) fn incoming(list: &str, default_port: u16) -> Vec<Option<Address>> {
    let entries = list.split(',').map(str::trim);
    let known = entries.map(|entry| match entry {
        "" | "AUTO" => None,
        entry => node_address(entry, default_port).ok(),
    });
    if list.trim().is_empty() { Vec::new() } else { known.collect() }
}

#[cfg(test)]
mod tests;
