//! What separates fields and lines, and what stands for NULL: the options of LOAD DATA, and CSV (RFC 4180).

/// How a file of rows is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// FIELDS TERMINATED BY.
    pub(crate) fields_terminated: Vec<u8>,
    /// FIELDS ENCLOSED BY, optionally or not.
    pub(crate) enclosed: Option<u8>,
    /// OPTIONALLY ENCLOSED BY: the writer has quotes around texts only.
    pub(crate) is_optionally_enclosed: bool,
    /// FIELDS ESCAPED BY.
    pub(crate) escaped: Option<u8>,
    /// LINES TERMINATED BY.
    pub(crate) lines_terminated: Vec<u8>,
    /// RFC 4180: only `null` is NULL, nothing stands behind a closing quote, and a line without content is no record of
    /// several fields.
    pub(crate) is_csv: bool,
    /// A line may also end in CR LF.
    pub(crate) takes_crlf: bool,
    /// A dump tool has written it. Each line ends, the last one too: a file that ends otherwise is truncated. All bytes are
    /// data: there is no byte order mark, and only the file's name tells that it is compressed.
    pub(crate) is_of_dump: bool,
    /// A field without quotes that is NULL, besides `\N` where there are escapes.
    pub(crate) null: Option<Vec<u8>>,
}

/// Options that no file can be read by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Rows of fixed width.
    #[error(
        "--fields-terminated-by and --lines-terminated-by must not be empty: rows of fixed width are not supported"
    )]
    Fixed,
    /// More than one byte.
    #[error("{option} takes one byte, not {value:?}")]
    OneByte {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
    },
    /// Separators that cannot be told from each other.
    #[error("{first} and {second} begin with the same byte: a field could not be told from a line")]
    Ambiguous {
        /// One option.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
}

/// The separators of a format, where they are not its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Separators {
    /// FIELDS TERMINATED BY.
    pub fields_terminated: Option<Vec<u8>>,
    /// FIELDS ENCLOSED BY; empty for none.
    pub enclosed: Option<Vec<u8>>,
    /// OPTIONALLY ENCLOSED BY: quotes are around texts only.
    pub is_optionally_enclosed: bool,
    /// FIELDS ESCAPED BY; empty for none.
    pub escaped: Option<Vec<u8>>,
    /// LINES TERMINATED BY.
    pub lines_terminated: Option<Vec<u8>>,
    /// The field that is NULL.
    pub null: Option<Vec<u8>>,
}

impl Format {
    /// CSV by RFC 4180: commas, double quotes, LF or CR LF. NULL is `\N` without quotes.
    #[must_use]
    pub fn csv() -> Self {
        Self {
            fields_terminated: b",".to_vec(),
            enclosed: Some(b'"'),
            is_optionally_enclosed: true,
            escaped: None,
            lines_terminated: b"\n".to_vec(),
            is_csv: true,
            takes_crlf: true,
            is_of_dump: false,
            null: Some(b"\\N".to_vec()),
        }
    }

    /// LOAD DATA's own format, which `mariadb-dump --tab` writes: tabs, escapes with a backslash, LF. NULL is `\N`.
    #[must_use]
    pub fn load_data() -> Self {
        Self {
            fields_terminated: b"\t".to_vec(),
            enclosed: None,
            is_optionally_enclosed: false,
            escaped: Some(b'\\'),
            lines_terminated: b"\n".to_vec(),
            is_csv: false,
            takes_crlf: false,
            is_of_dump: false,
            null: None,
        }
    }

    /// The same of a dump tool.
    #[must_use]
    pub(crate) fn of_dump(self) -> Self {
        Self { is_of_dump: true, ..self }
    }

    /// The same with other separators.
    ///
    /// # Errors
    /// Where they do not make a format that can be read.
    pub fn with(mut self, separators: &Separators) -> Result<Self, FormatError> {
        let one_byte = |option, value: &Option<Vec<u8>>, default| match value.as_deref() {
            None => Ok(default),
            Some([]) => Ok(None),
            Some([byte]) => Ok(Some(*byte)),
            Some(more) => Err(FormatError::OneByte { option, value: String::from_utf8_lossy(more).into_owned() }),
        };
        self.enclosed = one_byte("--fields-enclosed-by", &separators.enclosed, self.enclosed)?;
        self.is_optionally_enclosed |= separators.is_optionally_enclosed;
        self.escaped = one_byte("--fields-escaped-by", &separators.escaped, self.escaped)?;
        if let Some(terminator) = &separators.fields_terminated {
            self.fields_terminated.clone_from(terminator);
        }
        if let Some(terminator) = &separators.lines_terminated {
            // CSV takes both for the end of a line.
            self.takes_crlf &= terminator == b"\n" || terminator == b"\r\n";
            self.lines_terminated = if self.takes_crlf { b"\n".to_vec() } else { terminator.clone() };
        }
        if separators.null.is_some() {
            self.null.clone_from(&separators.null);
        }
        self.check()?;
        Ok(self)
    }

    /// Whether no separator has a byte that a longer character may begin with.
    pub(crate) fn is_ascii(&self) -> bool {
        let bytes =
            [&self.fields_terminated[..], &self.lines_terminated, self.enclosed.as_slice(), self.escaped.as_slice()];
        bytes.iter().all(|bytes| bytes.is_ascii())
    }

    /// Each byte that means something has one meaning.
    fn check(&self) -> Result<(), FormatError> {
        let (Some(field), Some(line)) = (self.fields_terminated.first(), self.lines_terminated.first()) else {
            return Err(FormatError::Fixed);
        };
        let named = [
            ("--fields-terminated-by", Some(*field)),
            ("--lines-terminated-by", Some(*line)),
            ("--fields-enclosed-by", self.enclosed),
            ("--fields-escaped-by", self.escaped),
        ];
        for (index, (first, byte)) in named.iter().enumerate() {
            let same = named[index + 1..].iter().find(|(_, other)| byte.is_some() && other == byte);
            if let Some((second, _)) = same {
                return Err(FormatError::Ambiguous { first, second });
            }
        }
        Ok(())
    }
}

/// The bytes that an option of a command line means: `0x0d0a`, and the escapes of a string in SQL, which mariadb-dump and
/// mariadb-import make of it (`\t`, `\n`, `\r`, `\0`, `\b`, `\Z`, `\\`). All else is as it stands.
#[must_use]
pub fn bytes_of_option(value: &str) -> Vec<u8> {
    if let Some(digits) = value.strip_prefix("0x")
        && !digits.is_empty()
        && let Some(bytes) = super::inserts::unhex(digits.as_bytes())
    {
        return bytes;
    }
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b'0') => 0,
            Some(b'b') => 0x08,
            Some(b'Z') => 0x1a,
            Some(other) => other,
            None => b'\\',
        });
    }
    bytes
}
