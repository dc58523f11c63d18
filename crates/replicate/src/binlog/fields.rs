//! Reads the fields of an event from its bytes: little-endian numbers, lengths, texts.

/// What was found where a field should be.
pub(crate) type Found = String;

/// The bytes that are still to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn bytes(&mut self, length: usize, what: &str) -> Result<&'a [u8], Found> {
        let Some((taken, rest)) = self.0.split_at_checked(length) else {
            return Err(format!("{what} needs {length} bytes, and {} are left", self.0.len()));
        };
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Found> {
        self.bytes(N, what).map(|taken| taken.try_into().expect("as many bytes as were asked for"))
    }

    pub(crate) fn u8(&mut self, what: &str) -> Result<u8, Found> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self, what: &str) -> Result<u16, Found> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32, Found> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64, Found> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// A number of six bytes: a table's number.
    pub(crate) fn u48(&mut self, what: &str) -> Result<u64, Found> {
        let taken: [u8; 6] = self.array(what)?;
        Ok(taken.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A number of one, three, four or nine bytes, as the first says.
    pub(crate) fn length_encoded(&mut self, what: &str) -> Result<u64, Found> {
        match self.u8(what)? {
            0xfc => self.u16(what).map(u64::from),
            0xfd => self.bytes(3, what).map(|taken| taken.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))),
            0xfe => self.u64(what),
            byte @ ..=0xfa => Ok(byte.into()),
            byte => Err(format!("{what} begins with {byte:02x}, which begins no number")),
        }
    }

    /// A text behind a byte with its length.
    pub(crate) fn short_text(&mut self, what: &str) -> Result<&'a [u8], Found> {
        let length = self.u8(what)?;
        self.bytes(length.into(), what)
    }

    /// The zero byte behind a text.
    pub(crate) fn zero(&mut self, what: &str) -> Result<(), Found> {
        match self.u8(what)? {
            0 => Ok(()),
            byte => Err(format!("{what} ends with {byte:02x} where a zero byte should be")),
        }
    }
}
