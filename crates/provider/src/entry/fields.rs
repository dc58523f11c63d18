//! Fields after the head of an entry.

use super::Error;
use crate::identity::Uuid;
use crate::server::Member;

/// The bytes that are not read yet.
pub(super) struct Rest<'a> {
    pub bytes: &'a [u8],
    /// Length of the whole entry.
    pub whole: usize,
}

impl<'a> Rest<'a> {
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Error::Malformed(self.whole))?;
        self.bytes = rest;
        Ok(taken)
    }

    pub fn word(&mut self) -> Result<u64, Error> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(std::array::from_fn(|byte| bytes[byte])))
    }

    pub fn members(&mut self, count: usize) -> Result<Vec<Member>, Error> {
        let mut members = Vec::new();
        for _ in 0..count {
            let id = self.take(16)?;
            let id = Uuid(std::array::from_fn(|byte| id[byte]));
            members.push(Member { id, name: self.text()?, incoming: self.text()? });
        }
        Ok(members)
    }

    pub fn text(&mut self) -> Result<String, Error> {
        let length = self.take(2)?;
        let length = u16::from_le_bytes([length[0], length[1]]);
        Ok(String::from_utf8_lossy(self.take(usize::from(length))?).into_owned())
    }
}
