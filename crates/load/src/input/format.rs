//! The compressions that a dump may come in: known by their first bytes, undone as a stream.

use std::fmt;
use std::io::{self, BufRead, Read};

use lz4_flex::frame::FrameDecoder;

use super::feed::Feed;

/// Most memory that an xz stream may ask for; `xz -9` needs 65 MiB.
const XZ_MEMORY_LIMIT_BYTES: u64 = 128 * 1024 * 1024;

/// How compressed files are called, besides their own name.
const SUFFIXES: [(&str, Format); 6] = [
    (".gz", Format::Gzip),
    (".zst", Format::Zstd),
    (".zstd", Format::Zstd),
    (".xz", Format::Xz),
    (".bz2", Format::Bzip2),
    (".lz4", Format::Lz4),
];

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Not at all.
    Plain,
    /// gzip (RFC 1952), one or more members.
    Gzip,
    /// Zstandard (RFC 8878), one or more frames.
    Zstd,
    /// xz, one or more streams.
    Xz,
    /// bzip2, one or more streams.
    Bzip2,
    /// LZ4 frames, one or more.
    Lz4,
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Format::Plain => "plain",
            Format::Gzip => "gzip",
            Format::Zstd => "zstd",
            Format::Xz => "xz",
            Format::Bzip2 => "bzip2",
            Format::Lz4 => "lz4",
        })
    }
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 6] = [Format::Plain, Format::Gzip, Format::Zstd, Format::Xz, Format::Bzip2, Format::Lz4];

    /// Bytes that [`Format::of`] looks at.
    pub(crate) const MAGIC_BYTES: usize = 6;

    /// The format of a file that begins so. The magic numbers are those of the formats' own descriptions.
    pub(crate) fn of(head: &[u8]) -> Format {
        match head {
            [0x1f, 0x8b, ..] => Format::Gzip,
            // The second is a skippable frame, as pzstd writes it first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Format::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0x00, ..] => Format::Xz,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Format::Bzip2,
            [0x04, 0x22, 0x4d, 0x18, ..] => Format::Lz4,
            _ => Format::Plain,
        }
    }

    /// The format that a file of this name should have.
    pub(crate) fn of_name(name: &str) -> Format {
        SUFFIXES.iter().find(|(suffix, _)| name.ends_with(suffix)).map_or(Format::Plain, |(_, format)| *format)
    }

    /// A reader of the plain bytes behind `feed`. A stream that ends early gives `UnexpectedEof`.
    pub(crate) fn decoder(self, feed: Feed) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Format::Plain => Box::new(feed),
            Format::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(feed)),
            Format::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(feed)?),
            Format::Xz => {
                let flags = liblzma::stream::CONCATENATED;
                let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY_LIMIT_BYTES, flags)?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(feed, stream))
            }
            Format::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(feed)),
            Format::Lz4 => Box::new(Lz4Frames::new(feed)),
        })
    }
}

/// A file's name without what says that it is compressed.
pub(crate) fn plain_name(name: &str) -> &str {
    SUFFIXES.iter().find_map(|(suffix, _)| name.strip_suffix(suffix)).unwrap_or(name)
}

/// LZ4 frames one behind the other. The decoder beneath is for one frame, and takes a file that ends between two blocks
/// for complete: whether it ran into the end of the file tells that apart from the frame's end mark.
struct Lz4Frames {
    /// Always there but while one frame's decoder makes place for the next one's.
    decoder: Option<FrameDecoder<EndWatch>>,
}

impl Lz4Frames {
    fn new(feed: Feed) -> Lz4Frames {
        Lz4Frames { decoder: Some(FrameDecoder::new(EndWatch { feed, met_end: false })) }
    }
}

impl Read for Lz4Frames {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        loop {
            let decoder = self.decoder.as_mut().expect("it is only taken out to be replaced");
            let read = decoder.read(target)?;
            if read > 0 || target.is_empty() {
                return Ok(read);
            }
            let watch = decoder.get_mut();
            if watch.met_end {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if watch.feed.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.decoder = self.decoder.take().map(|decoder| FrameDecoder::new(decoder.into_inner()));
        }
    }
}

/// Notes that somebody asked for bytes where there were none left.
struct EndWatch {
    feed: Feed,
    met_end: bool,
}

impl Read for EndWatch {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let read = self.feed.read(target)?;
        self.met_end |= read == 0 && !target.is_empty();
        Ok(read)
    }
}
