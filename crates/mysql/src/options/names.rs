//! The names of options: supported ones, ignored ones of the client, and the rules for names.

use super::{Error, Origin};

/// The groups to read. `[hortator]` holds Hortator's options only, the others are shared with every client.
pub const GROUPS: &[&str] = &["client", "client-server", "client-mariadb", OWN_GROUP];

/// The group in which an unknown name is an error.
pub(super) const OWN_GROUP: &str = "hortator";

/// The environment variables and their options. The later wins, so the client's first choice is the last.
pub(super) const VARIABLES: &[(&str, &str)] = &[
    ("MYSQL_HOST", "host"),
    ("MYSQL_TCP_PORT", "port"),
    ("MARIADB_UNIX_PORT", "socket"),
    ("MYSQL_UNIX_PORT", "socket"),
    ("MYSQL_PWD", "password"),
];

/// The supported connection options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Charset,
    ConnectTimeout,
    Database,
    Host,
    Password,
    Port,
    Protocol,
    Socket,
    Ssl,
    SslCa,
    SslCert,
    SslKey,
    SslMode,
    SslVerify,
    User,
}

const KNOWN: &[(&str, Known)] = &[
    ("connect-timeout", Known::ConnectTimeout),
    ("database", Known::Database),
    ("default-character-set", Known::Charset),
    ("host", Known::Host),
    ("password", Known::Password),
    ("port", Known::Port),
    ("protocol", Known::Protocol),
    ("socket", Known::Socket),
    ("ssl", Known::Ssl),
    ("ssl-ca", Known::SslCa),
    ("ssl-cert", Known::SslCert),
    ("ssl-key", Known::SslKey),
    ("ssl-mode", Known::SslMode),
    ("ssl-verify-server-cert", Known::SslVerify),
    ("user", Known::User),
];

/// Options of the clients of MariaDB and MySQL that have no effect here: convenience, output, limits.
const HARMLESS: &[&str] = &[
    "abort-source-on-error",
    "auto-rehash",
    "auto-vertical-output",
    "batch",
    "binary-as-hex",
    "binary-mode",
    "character-sets-dir",
    "column-names",
    "column-type-info",
    "comments",
    "compress",
    "compression-algorithms",
    "connect-expired-password",
    "debug",
    "debug-check",
    "debug-info",
    "default-auth",
    "delimiter",
    "force",
    "get-server-public-key",
    "histignore",
    "html",
    "i-am-a-dummy",
    "ignore-spaces",
    "line-numbers",
    "load-data-local-dir",
    "local-infile",
    "login-path",
    "max-allowed-packet",
    "max-join-size",
    "named-commands",
    "net-buffer-length",
    "network-timeout",
    "no-auto-rehash",
    "no-beep",
    "pager",
    "plugin-dir",
    "print-query-on-error",
    "progress-reports",
    "prompt",
    "quick",
    "quick-max-column-width",
    "raw",
    "reconnect",
    "safe-updates",
    "sandbox",
    "secure-auth",
    "select-limit",
    "server-public-key-path",
    "shared-memory-base-name",
    "show-warnings",
    "sigint-ignore",
    "silent",
    "ssl-fips-mode",
    "ssl-session-data",
    "ssl-session-data-continue-on-failed-reuse",
    "syslog",
    "table",
    "tee",
    "unbuffered",
    "verbose",
    "vertical",
    "wait",
    "xml",
    "zstd-compression-level",
];

/// The meaning of a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A supported option. `negated` by `skip-` or `disable-`.
    Supported { known: Known, negated: bool },
    /// Ignored without a warning.
    Harmless,
    /// Ignored with a warning.
    Ignored,
}

/// An option of any layer.
pub(super) struct OptionValue {
    pub origin: Origin,
    pub name: String,
    pub value: Option<Vec<u8>>,
}

impl OptionValue {
    /// The meaning of the name.
    ///
    /// Upper and lower case, dashes and underscores are equal, as in the client. A unique prefix of a name is not
    /// accepted, because any new option could make it ambiguous. In the groups that all clients share, an unknown name
    /// may belong to a newer client: it is ignored. Options there that restrict or redirect a connection (`ssl-crl`,
    /// `bind-address`, `init-command` …) are not in the list of harmless ones, so the user gets a warning.
    pub fn meaning(&self) -> Result<Meaning, Error> {
        let name = self.name.to_ascii_lowercase().replace('_', "-");
        let (loose, name) = match name.strip_prefix("loose-") {
            Some(rest) => (true, rest),
            None => (false, name.as_str()),
        };
        let negation = name.strip_prefix("skip-").or_else(|| name.strip_prefix("disable-"));
        let positive = negation.or_else(|| name.strip_prefix("enable-")).unwrap_or(name);
        if let Some(&(_, known)) = KNOWN.iter().find(|(own, _)| *own == name) {
            return Ok(Meaning::Supported { known, negated: false });
        }
        let switch = |known: &Known| matches!(known, Known::Ssl | Known::SslVerify | Known::Password);
        if let Some((_, known)) = KNOWN.iter().find(|(own, known)| *own == positive && switch(known)) {
            return Ok(Meaning::Supported { known: *known, negated: negation.is_some() });
        }
        let shared = matches!(&self.origin, Origin::File { group, .. } if !is_own(group));
        if shared && HARMLESS.contains(&positive) {
            Ok(Meaning::Harmless)
        } else if shared || loose {
            Ok(Meaning::Ignored)
        } else {
            Err(Error::Unknown { origin: self.origin.clone(), name: self.name.clone() })
        }
    }
}

/// Whether the group is `[hortator]`, with or without a suffix.
fn is_own(group: &str) -> bool {
    group.get(..OWN_GROUP.len()).is_some_and(|start| start.eq_ignore_ascii_case(OWN_GROUP))
}
