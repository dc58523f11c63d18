//! The version of a server.

use std::fmt;

/// The family of a server. The families differ in conditional comments, bulk execution and GTIDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flavor {
    /// MariaDB.
    MariaDb,
    /// MySQL, and its derivatives (Percona Server).
    MySql,
}

/// A server's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its family.
    pub flavor: Flavor,
    /// 10 of 10.11.19.
    pub major: u16,
    /// 11 of 10.11.19.
    pub minor: u16,
    /// 19 of 10.11.19.
    pub patch: u16,
    /// The version string, without the prefix `5.5.5-` of MariaDB before 11.0 for old replicas.
    pub text: String,
}

/// Old replicas refused a two-digit major version, so MariaDB 10 has this prefix in the handshake.
const REPLICATION_PREFIX: &str = "5.5.5-";

impl Version {
    /// Parses a version as in the handshake or `@@version`. Missing numbers count as 0.
    pub fn parse(text: &str) -> Version {
        let behind_prefix = text.strip_prefix(REPLICATION_PREFIX);
        let text = behind_prefix.unwrap_or(text);
        let flavor = match behind_prefix.is_some() || text.to_ascii_lowercase().contains("mariadb") {
            true => Flavor::MariaDb,
            false => Flavor::MySql,
        };
        let digits_end = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
        let mut numbers = text[..digits_end].split('.').map(|number| number.parse().unwrap_or(0));
        Version {
            flavor,
            major: numbers.next().unwrap_or(0),
            minor: numbers.next().unwrap_or(0),
            patch: numbers.next().unwrap_or(0),
            text: text.to_owned(),
        }
    }

    /// The number that conditional comments (`/*!50100 … */`) are compared with: 101119 for 10.11.19.
    pub fn comment_number(&self) -> u32 {
        u32::from(self.major) * 10_000 + u32::from(self.minor) * 100 + u32::from(self.patch)
    }

    /// Whether it is MariaDB.
    pub fn is_mariadb(&self) -> bool {
        self.flavor == Flavor::MariaDb
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.flavor {
            Flavor::MariaDb => write!(f, "MariaDB {}.{}.{}", self.major, self.minor, self.patch),
            Flavor::MySql => write!(f, "MySQL {}.{}.{}", self.major, self.minor, self.patch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_real_servers() {
        for (text, shown, number) in [
            ("5.5.5-10.11.19-MariaDB-0+deb12u1", "MariaDB 10.11.19", 101_119),
            ("11.8.2-MariaDB-log", "MariaDB 11.8.2", 110_802),
            ("8.0.36-0ubuntu0.22.04.1", "MySQL 8.0.36", 80_036),
            ("8.4.3", "MySQL 8.4.3", 80_403),
            ("8.0", "MySQL 8.0.0", 80_000),
            ("", "MySQL 0.0.0", 0),
            ("99999999.1.1", "MySQL 0.1.1", 101),
        ] {
            let version = Version::parse(text);
            assert_eq!((version.to_string().as_str(), version.comment_number()), (shown, number), "{text:?}");
        }
    }
}
