//! Fields and their bytes.

use super::*;

#[test]
fn lengths_go_there_and_back() {
    for (length, bytes) in [
        (0, &[0][..]),
        (250, &[250]),
        (251, &[0xfc, 251, 0]),
        (0xffff, &[0xfc, 0xff, 0xff]),
        (0x1_0000, &[0xfd, 0, 0, 1]),
        (0xff_ffff, &[0xfd, 0xff, 0xff, 0xff]),
        (0x100_0000, &[0xfe, 0, 0, 0, 1, 0, 0, 0, 0]),
    ] {
        let mut packet = Vec::new();
        put_length(&mut packet, length);
        assert_eq!(packet, bytes);
        let mut fields = Fields::new(&packet, "a test");
        assert_eq!(fields.length_encoded().unwrap(), length as u64);
        assert!(fields.is_empty());
    }
}

#[test]
fn truncated_packets_are_refused() {
    for bytes in [&b""[..], b"\xfc\x01", b"\xfd\x01\x02", b"\xfe\x01\x02\x03", b"\x05abcd", b"\xfb", b"\xff"] {
        let failure = Fields::new(bytes, "a test").length_encoded_bytes().unwrap_err();
        assert!(
            matches!(&failure, CommandError::Protocol(found) if found.contains("a test")),
            "{bytes:?}: {failure:?}"
        );
    }
    let huge = b"\xfe\xff\xff\xff\xff\xff\xff\xff\xffx";
    assert!(Fields::new(huge, "a test").length_encoded_bytes().is_err());
}

#[test]
fn texts_end_with_a_nul_or_with_the_packet() {
    let mut fields = Fields::new(b"a\0\0bc", "a test");
    assert_eq!(fields.nul_terminated(), b"a");
    assert_eq!(fields.nul_terminated(), b"");
    assert_eq!(fields.nul_terminated(), b"bc");
    assert_eq!(fields.nul_terminated(), b"");
}
