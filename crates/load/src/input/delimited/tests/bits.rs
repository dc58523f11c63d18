//! Records with BIT columns: what SELECT … INTO OUTFILE writes of them, and what only looks like it.

use proptest::prelude::*;

use super::{records_in, shown_in, with};
use crate::input::delimited::{Bits, Content, Format};

pub(super) fn bits(bits: u32, nullable: bool) -> Content {
    Content::Bits(Bits { bits, nullable })
}

#[test]
fn bits_are_bytes_of_their_number() {
    let shown = |text: &[u8], width, format: &Format| shown_in(text, &[bits(width, true), Content::default()], format);
    let dump = Format::load_data().of_dump();
    let assert_rows = |text: &[u8], bits, rows: &str| assert_eq!(shown(text, bits, &dump), (rows.to_owned(), None));
    assert_rows(b"\t\tx\n\n\ty\n\\\tz\n\\N\t\\N\n\0\t\n", 8, "\\t x; \\n y; \\\\ z; NULL NULL; \\0 ");
    assert_rows(b"\\b\t1\n\\0\t2\n\t\n\t3\n", 16, "\\\\b 1; \\\\0 2; \\t\\n 3");
    // A value of 14 bits is less than 0x5c4e.
    assert_rows(b"\\N\t1\n\x3fN\t2\n", 14, "NULL 1; ?N 2");
    let quotes = with(dump.clone(), |separators| {
        separators.fields_terminated = Some(b",".to_vec());
        separators.enclosed = Some(b"\"".to_vec());
        separators.is_optionally_enclosed = true;
    });
    // Quotes are around texts only.
    let found = shown(b"\",3\n\\N,5\n,,2\n", 8, &quotes);
    assert_eq!(found, ("\\\" 3; NULL 5; , 2".to_owned(), None));
    assert!(shown(b"\",\",2\n", 8, &quotes).1.is_some());
}

#[test]
fn the_number_of_fields_tells_null_from_bits() {
    let dump = Format::load_data().of_dump();
    let assert_rows = |text: &[u8], contents: &[Content], rows: &str| {
        assert_eq!(shown_in(text, contents, &dump), (rows.to_owned(), None), "{text:?}");
    };
    let text = Content::default();
    for width in [15, 16] {
        assert_rows(b"\\N\t1\n1x\t2\n", &[bits(width, true), text], "NULL 1; 1x 2");
        assert_rows(b"\\N\t1\n", &[bits(width, false), text], "\\\\N 1");
    }
    assert_rows(b"\\N\t\t1\n\\N\t1\n", &[bits(24, true), text], "\\\\N\\t 1; NULL 1");
    assert_rows(b"1\t\\N\thello\tx\n", &[text, bits(64, true), text, text], "1 NULL hello x");
    assert_rows(b"1\t\\N\n12345\t\\N\n", &[text, bits(64, true)], "1 NULL; 12345 NULL");
    let many = [bits(40, true); 64];
    let nulls = [b"\\N\t".repeat(63), b"\\N\n".to_vec()].concat();
    assert_rows(&nulls, &many, &["NULL"; 64].join(" "));
    // Values that look like NULLs and separators: two readings of one line.
    let two = |bits| shown_in(b"1\t\\N\t\t\\N\tx\n", &[text, bits, bits, text], &dump);
    assert_eq!(two(bits(24, true)), (String::new(), Some("AmbiguousBits at line 1".to_owned())));
    // Lines of NULLs are those, although two of them may be one line of values.
    for count in [1, 3, 4, 7] {
        let line = [b"\\N\t".repeat(count - 1), b"\\N\n".to_vec()].concat();
        let rows = vec![["NULL"].repeat(count).join(" "); 9].join("; ");
        assert_rows(&line.repeat(9), &vec![bits(40, true); count], &rows);
    }
    // However many fields have two readings.
    let wide = [bits(40, true); 200];
    let values = [b"\\N\t\\N\t".repeat(199), b"\\N\t\\N\n".to_vec()].concat();
    assert_eq!(shown_in(&values, &wide, &dump).0, ["\\\\N\\t\\\\N"; 200].join(" "));
    // A field too few: no reading makes a record, and the number of readings does not matter.
    let error = shown_in(&nulls[3..], &many, &dump).1;
    assert_eq!(error.unwrap(), "AmbiguousBits at line 1");
}

#[test]
fn truncated_bits_are_noticed() {
    let dump = Format::load_data().of_dump();
    let shown = |text: &[u8], width, nullable| shown_in(text, &[Content::default(), bits(width, nullable)], &dump);
    let truncated = |rows: &str| (rows.to_owned(), Some("Truncated at line 2".to_owned()));
    assert_eq!(shown(b"1\t\x01\n2\t\n", 8, true), truncated("1 \\u{1}"));
    assert_eq!(shown(b"1\t\x01\n2\t", 8, true), truncated("1 \\u{1}"));
    assert_eq!(shown(b"1\tab\n2\ta\n", 16, false), truncated("1 ab"));
    assert_eq!(shown(b"1\tabcdefgh\n2\tabcdef\n", 64, true), truncated("1 abcdefgh"));
    // NULL has less bytes than its neighbours.
    assert_eq!(shown(b"1\tabcdefgh\n2\t\\N\n", 64, true), ("1 abcdefgh; 2 NULL".to_owned(), None));
}

#[test]
fn bits_in_quotes() {
    let dump = Format::load_data().of_dump();
    let format = |is_optionally_enclosed| {
        with(dump.clone(), |separators| {
            separators.fields_terminated = Some(b",".to_vec());
            separators.enclosed = Some(b"\"".to_vec());
            separators.is_optionally_enclosed = is_optionally_enclosed;
        })
    };
    let contents = [Content::default(), bits(8, true)];
    let shown = |text: &[u8], is_optional| shown_in(text, &contents, &format(is_optional));
    let expected = ("1 \\n; 2 \\\"; 3 NULL; 4 ,".to_owned(), None);
    assert_eq!(shown(b"\"1\",\"\n\"\n\"2\",\"\"\"\n\"3\",\\N\n\"4\",\",\"\n", false), expected);
    assert_eq!(shown(b"1,\n\n2,\"\n3,\\N\n4,,\n", true), expected);
    // What is left of a value of ten looks like another one without quotes.
    assert_eq!(shown(b"\"1\",\"\n", false).1.unwrap(), "Truncated at line 1");
}

/// The records of a dump's text with BIT columns of these widths; those of `nullable` take NULL.
fn of_bits(text: &[u8], columns: &[(u32, bool)]) -> (String, Option<String>) {
    let contents: Vec<Content> = columns.iter().map(|(width, nullable)| bits(*width, *nullable)).collect();
    shown_in(text, &contents, &Format::load_data().of_dump())
}

#[test]
fn a_reading_with_a_field_that_no_bits_fit_is_none() {
    // NULL, '', 0x5859, 0x41090a.
    let contents = [bits(24, true), Content::default(), bits(16, true), bits(24, false)];
    let found = shown_in(b"\\N\t\tXY\tA\t\n\n\\N\tq\tAB\tCDE\n", &contents, &Format::load_data().of_dump());
    assert_eq!(found, ("NULL  XY A\\t\\n; NULL q AB CDE".to_owned(), None));
    let contents = [bits(32, true), Content::default(), bits(16, false)];
    let found = shown_in(b"\\N\t5\tA\t\n\0\0\0\x01\t1\t\0\x01\n", &contents, &Format::load_data().of_dump());
    assert_eq!(found, ("NULL 5 A\\t; \\0\\0\\0\\u{1} 1 \\0\\u{1}".to_owned(), None));
    let damaged = |text: &[u8]| shown_in(text, &[Content::default(), bits(16, false)], &Format::load_data().of_dump());
    for text in [&b"1\tA\n3\tBC\n"[..], b"3\t\n4\tBC\n", b"1\tABC\n"] {
        assert_eq!(damaged(text), (String::new(), Some("AmbiguousBits at line 1".to_owned())), "{text:?}");
    }
    assert_eq!(of_bits(b"ab", &[(24, true), (8, true)]).1.unwrap(), "Truncated at line 1");
}

#[test]
fn a_shorter_reading_is_the_record_only_where_the_last_field_alone_differs() {
    let ambiguous = (String::new(), Some("AmbiguousBits at line 1".to_owned()));
    // 0x5c4e09, 0x4109, 0x420a, or NULL, 0x0941, 0x0942 and a line end.
    let text = b"\\N\t\tA\t\tB\n\n\\N\t\0\x01\t\0\x02\n";
    assert_eq!(of_bits(text, &[(24, true), (16, false), (16, false)]), ambiguous);
    // NULL, 0x095c4e and 0x5c4e0a, or 0x5c4e09, NULL and the same: two ways to each of two ends.
    let text = b"\\N\t\t\\N\t\\N\n\n\\N\t\0\0\x01\t\0\0\x02\n";
    assert_eq!(of_bits(text, &[(24, true); 3]), ambiguous);
    // What follows the longer one is no record of the table.
    let contents = [Content::default(), bits(24, true), bits(40, true), bits(64, true), bits(8, true)];
    let contents = [&contents[..], &[Content::default(), bits(40, true)]].concat();
    let text = b"83\tg2\x11\t\\N\t\\N\th\t\t\\N\n84\t\\N\t\\N\t=\xd7\x0e\xd38\n\x84\x8b\t\\N\tx\t\\N\n";
    let (rows, error) = shown_in(text, &contents, &Format::load_data().of_dump());
    assert!(rows.starts_with("83 g2\\u{11} NULL NULL h  NULL; 84 NULL NULL =") && error.is_none(), "{rows} {error:?}");
    // Two lines are likelier than one with a line end in a value.
    let text = b"57\t\0\x02[\t\\N\t\\N\t\x8b\t\t\\N\n58\t\\N\t\0\0\0\x04\\\t\0\0\0\0\0\0\0\xe7\t[\t\t\\N\n59\t\\N\t\\N\t\\N\t\\N\tx\t\\N\n";
    let (rows, error) = shown_in(text, &contents, &Format::load_data().of_dump());
    assert!(
        rows.matches("; ").count() == 2 && rows.starts_with("57 \\0\\u{2}[ NULL NULL ") && error.is_none(),
        "{rows} {error:?}"
    );
    // As the manual has it.
    assert_eq!(of_bits(b"\\N\n\n1\n", &[(24, true)]).0, "NULL");
    assert_eq!(of_bits(b"\\N\n\\N\n", &[(40, true)]).0, "NULL; NULL");
}

type Values = Vec<Option<Vec<u8>>>;

/// A table's columns, and values for them; bytes that mean something are frequent.
fn rows_with_bits() -> impl Strategy<Value = (Vec<Content>, Vec<Values>)> {
    let column = prop_oneof![
        Just(Content::default()),
        (1_u32..=64, any::<bool>()).prop_map(|(width, nullable)| bits(width, nullable)),
    ];
    prop::collection::vec(column, 1..6).prop_flat_map(|columns| {
        let row: Vec<_> = columns.iter().map(value_of).collect();
        (Just(columns), prop::collection::vec(row, 1..5))
    })
}

fn value_of(column: &Content) -> BoxedStrategy<Option<Vec<u8>>> {
    let byte = prop_oneof![3 => prop::sample::select(&b"\t\n\\N\",\0a"[..]), 1 => any::<u8>()];
    match *column {
        Content::Text(_) => prop::option::of(prop::collection::vec(byte, 0..5)).boxed(),
        Content::Bits(Bits { bits, nullable }) => {
            let bytes = bits.div_ceil(8) as usize;
            let mask = 0xff_u8 >> (bytes as u32 * 8 - bits);
            let value = prop::collection::vec(byte, bytes).prop_map(move |mut value| {
                value[0] &= mask;
                value
            });
            if nullable { prop::option::weighted(0.7, value).boxed() } else { value.prop_map(Some).boxed() }
        }
    }
}

/// As the server writes it.
fn written(columns: &[Content], rows: &[Values], format: &Format) -> Vec<u8> {
    let mut text = Vec::new();
    for row in rows {
        for (index, (column, value)) in columns.iter().zip(row).enumerate() {
            text.extend_from_slice(if index > 0 { &format.fields_terminated } else { b"" });
            let Some(value) = value else {
                text.extend_from_slice(b"\\N");
                continue;
            };
            let is_text = matches!(column, Content::Text(_));
            let quote = format.enclosed.filter(|_| is_text || !format.is_optionally_enclosed);
            text.extend(quote);
            for &byte in value {
                let separators = [format.fields_terminated[0], format.lines_terminated[0], b'\\'];
                match byte {
                    0 if is_text => text.extend_from_slice(b"\\0"),
                    _ if is_text && (separators.contains(&byte) || format.enclosed == Some(byte)) => {
                        text.extend_from_slice(&[b'\\', byte]);
                    }
                    _ => text.push(byte),
                }
            }
            text.extend(quote);
        }
        text.extend_from_slice(&format.lines_terminated);
    }
    text
}

/// Whether NULL may stand for this value, as the manual says: it looks like NULL and what ends its field.
fn looks_like_null(columns: &[Content], index: usize, value: Option<&[u8]>) -> bool {
    let Content::Bits(Bits { nullable: true, .. }) = columns[index] else { return false };
    let is_last = index + 1 == columns.len();
    value.is_some_and(|value| value == b"\\N" || (is_last && value.starts_with(b"\\N\n")))
}

proptest! {
    #[test]
    fn rows_with_bits_are_read_back_or_are_an_error((columns, rows) in rows_with_bits(), quotes in 0..3) {
        let format = with(Format::load_data().of_dump(), |separators| {
            separators.enclosed = (quotes > 0).then(|| b"\"".to_vec());
            separators.is_optionally_enclosed = quotes == 1;
        });
        let unlike_null = |row: &Values| {
            !row.iter().enumerate().any(|(index, value)| looks_like_null(&columns, index, value.as_deref()))
        };
        let rows: Vec<_> = rows.into_iter().filter(unlike_null).collect();
        let (found, error) = records_in(&written(&columns, &rows, &format), &format, &columns);
        let shown = |value: &Option<Vec<u8>>| value.as_ref().map(|value| String::from_utf8_lossy(value).into_owned());
        let expected: Vec<Vec<_>> = rows.iter().map(|row| row.iter().map(shown).collect()).collect();
        prop_assert_eq!(&found[..], &expected[..found.len().min(expected.len())]);
        match error {
            None => prop_assert_eq!(found.len(), expected.len()),
            Some(error) => prop_assert!(error.starts_with("AmbiguousBits"), "{}", error),
        }
    }
}
