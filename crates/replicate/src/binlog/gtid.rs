//! MariaDB's global transaction ids, and the events that hold them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::fields::{Fields, Found};

/// One transaction: domain, server and sequence number, written `0-1-100`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gtid {
    /// Transactions of one domain have one order.
    pub domain: u32,
    /// The server on which it was first made.
    pub server_id: u32,
    /// It grows within a domain.
    pub seqno: u64,
}

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.domain, self.server_id, self.seqno)
    }
}

impl FromStr for Gtid {
    type Err = String;

    fn from_str(text: &str) -> Result<Gtid, String> {
        let mut parts = text.trim().splitn(3, '-');
        let mut next = || parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        let gtid = (|| {
            let (domain, server_id, seqno) = (next()?, next()?, next()?);
            Some(Gtid { domain: domain.parse().ok()?, server_id: server_id.parse().ok()?, seqno: seqno.parse().ok()? })
        })();
        gtid.ok_or_else(|| {
            format!("`{text}` is no GTID of MariaDB: these have the form DOMAIN-SERVER-NUMBER, as 0-1-100")
        })
    }
}

/// The last transaction of each domain, as in `@@gtid_slave_pos`: `0-1-100,1-7-20`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GtidPosition(BTreeMap<u32, Gtid>);

impl GtidPosition {
    /// A transaction is behind it now.
    pub fn advance(&mut self, gtid: Gtid) {
        self.0.insert(gtid.domain, gtid);
    }

    /// The last transaction of a domain.
    #[must_use]
    pub fn get(&self, domain: u32) -> Option<Gtid> {
        self.0.get(&domain).copied()
    }

    /// The last transaction of each domain.
    pub fn gtids(&self) -> impl Iterator<Item = Gtid> {
        self.0.values().copied()
    }

    /// The number of its domains.
    #[must_use]
    pub fn domains(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no domain.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it has all transactions of another position. A domain has one order.
    #[must_use]
    pub fn contains(&self, other: &GtidPosition) -> bool {
        other.0.iter().all(|(domain, gtid)| self.0.get(domain).is_some_and(|own| own.seqno >= gtid.seqno))
    }
}

impl FromIterator<Gtid> for GtidPosition {
    fn from_iter<I: IntoIterator<Item = Gtid>>(gtids: I) -> GtidPosition {
        GtidPosition(gtids.into_iter().map(|gtid| (gtid.domain, gtid)).collect())
    }
}

impl fmt::Display for GtidPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.values().map(Gtid::to_string).collect();
        f.write_str(&texts.join(","))
    }
}

impl FromStr for GtidPosition {
    type Err = String;

    fn from_str(text: &str) -> Result<GtidPosition, String> {
        let mut position = GtidPosition::default();
        for text in text.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            position.advance(text.parse()?);
        }
        Ok(position)
    }
}

/// The beginning of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GtidEvent {
    /// Its id.
    pub gtid: Gtid,
    flags: u8,
}

/// One statement without COMMIT behind it: mostly DDL.
const STANDALONE: u8 = 0x01;
/// A number of its group commit follows.
const GROUP_COMMIT: u8 = 0x02;
/// All its engines can roll back.
const TRANSACTIONAL: u8 = 0x04;
/// DDL is in it.
const DDL: u8 = 0x20;
const PREPARED_XA: u8 = 0x40;
const COMPLETED_XA: u8 = 0x80;

impl GtidEvent {
    pub(crate) fn read(server_id: u32, body: &[u8]) -> Result<GtidEvent, Found> {
        let mut fields = Fields(body);
        let seqno = fields.u64("the sequence number")?;
        let domain = fields.u32("the domain")?;
        let flags = fields.u8("the flags")?;
        if flags & GROUP_COMMIT != 0 {
            fields.u64("the number of the group commit")?;
        }
        Ok(GtidEvent { gtid: Gtid { domain, server_id, seqno }, flags })
    }

    /// Whether it is one statement, without an event that ends the transaction.
    #[must_use]
    pub fn is_standalone(&self) -> bool {
        self.flags & STANDALONE != 0
    }

    /// Whether all engines that it changes can roll back.
    #[must_use]
    pub fn is_transactional(&self) -> bool {
        self.flags & TRANSACTIONAL != 0
    }

    /// Whether DDL is in it.
    #[must_use]
    pub fn is_ddl(&self) -> bool {
        self.flags & DDL != 0
    }

    /// Whether it belongs to an XA transaction.
    #[must_use]
    pub fn is_xa(&self) -> bool {
        self.flags & (PREPARED_XA | COMPLETED_XA) != 0
    }
}

/// Where each domain stood at the beginning of a file: the last GTID of each pair of domain and server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GtidList(pub Vec<Gtid>);

/// The upper bits of the count are flags.
const COUNT_MASK: u32 = 0x0fff_ffff;

impl GtidList {
    /// The last transaction of each domain: the list has it behind those of other servers.
    #[must_use]
    pub fn position(&self) -> GtidPosition {
        let mut position = GtidPosition::default();
        self.0.iter().for_each(|gtid| position.advance(*gtid));
        position
    }

    pub(super) fn read(body: &[u8]) -> Result<GtidList, Found> {
        let mut fields = Fields(body);
        let count = fields.u32("the number of GTIDs")? & COUNT_MASK;
        let mut gtids = Vec::new();
        for _ in 0..count {
            let (domain, server_id) = (fields.u32("a domain")?, fields.u32("a server id")?);
            gtids.push(Gtid { domain, server_id, seqno: fields.u64("a sequence number")? });
        }
        Ok(GtidList(gtids))
    }
}
