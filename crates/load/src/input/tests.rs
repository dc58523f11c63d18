//! Every compression comes back whole, and cut off anywhere it is an error.

use std::fs;
use std::io::{self, Write};

use super::*;

const TEXT: &[u8] = b"SELECT 'one';\nSELECT 'two';\n";

/// About 300 kB that do not compress to nothing.
fn long_text() -> Vec<u8> {
    let mut state = 1u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    (0..20_000).flat_map(|row| format!("({row},'{:x}'),\n", number()).into_bytes()).collect()
}

fn compress(format: Format, text: &[u8]) -> Vec<u8> {
    fn finish<W: Write>(mut writer: W, text: &[u8], finish: impl FnOnce(W) -> io::Result<Vec<u8>>) -> Vec<u8> {
        writer.write_all(text).unwrap();
        finish(writer).unwrap()
    }
    match format {
        Format::Plain => text.to_vec(),
        Format::Gzip => {
            let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            finish(encoder, text, flate2::write::GzEncoder::finish)
        }
        Format::Zstd => zstd::encode_all(text, 3).unwrap(),
        Format::Xz => finish(liblzma::write::XzEncoder::new(Vec::new(), 3), text, liblzma::write::XzEncoder::finish),
        Format::Bzip2 => {
            let encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            finish(encoder, text, bzip2::write::BzEncoder::finish)
        }
        Format::Lz4 => {
            // As the lz4 program does.
            let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
            let encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
            finish(encoder, text, |encoder| encoder.finish().map_err(io::Error::other))
        }
    }
}

const COMPRESSED: [Format; 5] = [Format::Gzip, Format::Zstd, Format::Xz, Format::Bzip2, Format::Lz4];

fn read_all(bytes: Vec<u8>) -> Result<(Vec<u8>, Format), Error> {
    let mut source = Source::from_reader("dump", io::Cursor::new(bytes))?;
    let mut all = Vec::new();
    let mut block = [0; 10_000];
    loop {
        match source.read(&mut block)? {
            0 => return Ok((all, source.format())),
            read => all.extend_from_slice(&block[..read]),
        }
    }
}

#[test]
fn every_format_is_known_by_its_content() {
    for format in COMPRESSED.into_iter().chain([Format::Plain]) {
        for text in [TEXT, b"", &long_text()] {
            let (read, found) = read_all(compress(format, text)).unwrap();
            assert_eq!(read, text, "{format}");
            assert_eq!(found, format);
        }
    }
}

#[test]
fn several_streams_in_one_file_are_one_text() {
    for format in COMPRESSED {
        let parts = [compress(format, TEXT), compress(format, &long_text()), compress(format, TEXT)];
        assert_eq!(read_all(parts.concat()).unwrap().0, [TEXT, &long_text(), TEXT].concat(), "{format}");
    }
}

#[test]
fn a_file_that_is_cut_off_anywhere_never_ends_in_silence() {
    for format in COMPRESSED {
        let whole = compress(format, TEXT);
        for length in Format::MAGIC_BYTES..whole.len() {
            match read_all(whole[..length].to_vec()) {
                Err(Error::CutOff { .. }) => {}
                other => panic!("{format} of {} bytes cut off after {length}: {other:?}", whole.len()),
            }
        }
    }
}

#[test]
fn a_compressed_file_without_content_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in [("a.sql.gz", Format::Gzip), ("t.txt.zst", Format::Zstd), ("t.tsv.zstd", Format::Zstd)] {
        let path = folder.path().join(name);
        for content in [&b""[..], &compress(format, TEXT)[..1]] {
            fs::write(&path, content).unwrap();
            let message = Source::open(&path).unwrap_err().to_string();
            assert!(message.contains(&format!("{name}: unexpected end of the {format} stream")), "{message}");
        }
    }
    let plain = folder.path().join("a.sql");
    fs::write(&plain, b"").unwrap();
    assert_eq!(Source::open(&plain).unwrap().read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn a_long_file_that_is_cut_off_says_how_far_it_was_good() {
    for format in COMPRESSED {
        let whole = compress(format, &long_text());
        let error = read_all(whole[..whole.len() / 2].to_vec()).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with(&format!("dump: unexpected end of the {format} stream at byte ")), "{message}");
        assert!(message.contains("the file is truncated"), "{message}");
        let Error::CutOff { byte, .. } = error else { panic!("{message}") };
        assert!(byte <= whole.len() as u64 / 2);
    }
}

#[test]
fn a_damaged_file_is_an_error() {
    for format in COMPRESSED {
        let mut bytes = compress(format, &long_text());
        let middle = bytes.len() / 2;
        for byte in &mut bytes[middle..middle + 20] {
            *byte ^= 0x55;
        }
        match read_all(bytes) {
            Err(Error::Damaged { .. } | Error::CutOff { .. }) => {}
            Err(error) => panic!("{format}: {error}"),
            Ok(_) => panic!("{format}: not noticed"),
        }
    }
}

#[test]
fn a_directory_and_a_missing_file_are_clear_errors() {
    let folder = tempfile::tempdir().unwrap();
    let message = Source::open(folder.path()).unwrap_err().to_string();
    assert!(message.contains("is a directory"), "{message}");
    let message = Source::open(&folder.path().join("missing.sql")).unwrap_err().to_string();
    assert!(message.starts_with("cannot open ") && message.contains("missing.sql"), "{message}");
}

#[test]
fn progress_counts_the_bytes_on_disk() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let compressed = compress(Format::Gzip, &long_text());
    fs::write(file.path(), &compressed).unwrap();
    let mut source = Source::open(file.path()).unwrap();
    let progress = source.progress();
    assert_eq!(progress.total_bytes(), Some(compressed.len() as u64));
    while source.read(&mut [0; 4096]).unwrap() > 0 {}
    assert_eq!(progress.consumed_bytes(), compressed.len() as u64);
    assert_eq!(Source::from_reader("pipe", io::empty()).unwrap().progress().total_bytes(), None);
}

#[test]
fn a_window_knows_lines_and_bytes_across_its_blocks() {
    let text = long_text();
    let mut window = Window::new(Source::from_reader("dump", io::Cursor::new(text.clone())).unwrap());
    let mut at = 0;
    for step in (1..500).cycle() {
        window.ensure(step).unwrap();
        // Less than that is the rest of a line, or all that is left.
        let length = step.min(window.ahead().len());
        assert_eq!(&window.ahead()[..length], &text[at..at + length]);
        if length < step && memchr::memchr(b'\n', window.ahead()).is_none() {
            assert_eq!(at + length, text.len());
            break;
        }
        window.advance(length);
        at += length;
        if step % 100 == 0 {
            let line = text[..at].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
            assert_eq!(window.position(), Position { line, byte: at as u64 });
        }
    }
}
