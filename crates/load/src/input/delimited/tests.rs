//! Records and statements by cases, and what is written is read back.

use std::io::{Cursor, Read};
use std::sync::Arc;

use proptest::prelude::*;

use super::records::{RecordError, RecordReader};
use super::split::{Malformed, Record};
use super::*;
use crate::input::{Progress, Source};
use crate::lexer::Charset;

mod bits;

type Row = Vec<Option<String>>;

/// The records of a text, read in pieces of any size; an error ends them.
fn records(text: &[u8], format: &Format) -> (Vec<Row>, Option<String>) {
    records_in(text, format, &[])
}

/// The same of fields with these contents.
fn records_in(text: &[u8], format: &Format, contents: &[Content]) -> (Vec<Row>, Option<String>) {
    let source = Source::from_reader("rows", Cursor::new(text.to_vec())).unwrap();
    let mut records = RecordReader::new(source, format.clone(), contents.to_vec(), 1 << 20);
    let (mut record, mut found) = (Record::default(), Vec::new());
    loop {
        match records.next(&mut record) {
            Ok(true) => {
                let shown = |value: Option<&[u8]>| value.map(|value| String::from_utf8_lossy(value).into_owned());
                found.push(record.values().map(shown).collect());
            }
            Ok(false) => return (found, None),
            Err(RecordError::Malformed { what, position, .. }) => {
                return (found, Some(format!("{what:?} at line {}", position.line)));
            }
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn assert_records(text: &str, format: &Format, expected: &[&[Option<&str>]]) {
    let expected: Vec<Row> =
        expected.iter().map(|row| row.iter().map(|value| value.map(str::to_owned)).collect()).collect();
    assert_eq!(records(text.as_bytes(), format), (expected, None), "{text:?}");
}

fn with(format: Format, change: impl FnOnce(&mut Separators)) -> Format {
    let mut separators = Separators::default();
    change(&mut separators);
    format.with(&separators).unwrap()
}

const A: Option<&str> = Some("a");
const B: Option<&str> = Some("b");

#[test]
fn csv() {
    let csv = Format::csv();
    assert_records("", &csv, &[]);
    assert_records("a,b", &csv, &[&[A, B]]);
    assert_records("a,b\r\nb,a\n", &csv, &[&[A, B], &[B, A]]);
    assert_records("\"a\",\"b\"\r\n", &csv, &[&[A, B]]);
    assert_records("\"a\"\"b\",\"x\r\ny,\"\n", &csv, &[&[Some("a\"b"), Some("x\r\ny,")]]);
    assert_records(",\n", &csv, &[&[Some(""), Some("")]]);
    assert_records("\\N,\"\\N\",NULL\n", &csv, &[&[None, Some("\\N"), Some("NULL")]]);
    assert_records("a\\,b\\\n", &csv, &[&[Some("a\\"), Some("b\\")]]);
    assert_records("a\"b,b\n", &csv, &[&[Some("a\"b"), B]]);
    assert_records("a,\"b\"", &csv, &[&[A, B]]);
    assert_records("\n\na\n", &csv, &[&[Some("")], &[Some("")], &[A]]);
    let empty_is_null = with(Format::csv(), |separators| separators.null = Some(Vec::new()));
    assert_records(",\"\",a\r\n", &empty_is_null, &[&[None, Some(""), A]]);
    let open = records(b"a,b\n\"a,b\nmore\n", &csv);
    assert_eq!(open.1.unwrap(), format!("{:?} at line 2", Malformed::OpenQuote));
    let dump = Format::load_data().of_dump();
    assert_records("a\tb\n", &dump, &[&[A, B]]);
    assert_eq!(records(b"a\tb\nb\ta", &dump).1.unwrap(), format!("{:?} at line 2", Malformed::Truncated));
    let escaped = with(Format::csv(), |separators| separators.escaped = Some(b"\\".to_vec()));
    assert_records("a,x\\\r\nb,y\\\\\r\n", &escaped, &[&[A, Some("x\r")], &[B, Some("y\\")]]);
    for lines in ["\n", "\r\n", ";\n", "\r"] {
        let csv = with(Format::csv(), |separators| separators.lines_terminated = Some(lines.into()));
        assert_records(&format!("NULL,\\N{lines}\"\\N\",b{lines}"), &csv, &[&[Some("NULL"), None], &[Some("\\N"), B]]);
        let behind = records(format!("\"a\"b,a{lines}").as_bytes(), &csv).1;
        assert_eq!(behind.unwrap(), format!("{:?} at line 1", Malformed::BehindQuote));
    }
}

#[test]
fn load_data() {
    let tabs = Format::load_data();
    assert_records("a\tb\n\\N\t\\\\N\n", &tabs, &[&[A, B], &[None, Some("\\N")]]);
    assert_records("\\0\\b\\n\\r\\t\\Z\\q\t\\\t\\\n\n", &tabs, &[&[Some("\0\x08\n\r\t\x1aq"), Some("\t\n")]]);
    assert_records("x\\N\tNULL\n\n", &tabs, &[&[Some("xN"), Some("NULL")], &[Some("")]]);
    assert_records("a\r\nb\\", &tabs, &[&[Some("a\r")], &[Some("b\\")]]);
    let enclosed = with(Format::load_data(), |separators| {
        separators.fields_terminated = Some(b",".to_vec());
        separators.enclosed = Some(b"\"".to_vec());
    });
    assert_records("\"a\",\"b\"\n", &enclosed, &[&[A, B]]);
    assert_records("NULL,\"NULL\",\\N,\"\\N\"\n", &enclosed, &[&[None, Some("NULL"), None, None]]);
    // Observed: `\NULL` is NULL too, and no other text with `\N` in it is.
    assert_records("\\NULL,\"\\NULL\",\\N\\N,\"\\Nx\"\n", &enclosed, &[&[None, Some("NULL"), Some("NN"), Some("Nx")]]);
    assert_records("\"a\\\"b\"\"c\"d\",a\n", &enclosed, &[&[Some("a\"b\"c\"d"), A]]);
    let long = with(Format::load_data(), |separators| {
        separators.fields_terminated = Some(b"||".to_vec());
        separators.lines_terminated = Some(b"<>\n".to_vec());
    });
    assert_records("a||b|<>\nb|||a<><>\n", &long, &[&[A, Some("b|")], &[B, Some("|a<>")]]);
    let without_escapes = with(Format::load_data(), |separators| separators.escaped = Some(Vec::new()));
    assert_records("a\\\t\\N\n", &without_escapes, &[&[Some("a\\"), Some("\\N")]]);
    // The server doubles no quotes where there are no escapes.
    let raw_quotes = with(enclosed.of_dump(), |separators| separators.escaped = Some(Vec::new()));
    assert_records(
        "\"1\",\"abc\"\"\n\"2\",\"\"\n\"3\",\"a\"\"b\"\n\"\"\"\",NULL\n",
        &raw_quotes,
        &[&[Some("1"), Some("abc\"")], &[Some("2"), Some("")], &[Some("3"), Some("a\"\"b")], &[Some("\"\""), None]],
    );
}

#[test]
fn second_bytes_of_characters_are_only_that() {
    let shown = |text: &[u8], format: &Format| {
        let (rows, error) = records_in(text, format, &[Content::default(), Content::Text(Charset::Sjis)]);
        assert_eq!(error, None);
        rows.concat().into_iter().map(|value| value.unwrap_or("NULL".to_owned())).collect::<Vec<_>>().join(" ")
    };
    // A lead byte counts in its own column alone, and an escape behind a whole character is one.
    let tabs = Format::load_data();
    assert_eq!(shown(b"\x95\\\t\t\x95\\\t\x95\\\n", &tabs), "\u{fffd}\t \u{fffd}\\ \u{fffd}\n");
    assert_eq!(shown(b"1\t\x95\\\\\t\n2\t\\N\n3\t\x95", &tabs), "1 \u{fffd}\\\t 2 NULL 3 \u{fffd}");
    let quotes = with(Format::load_data(), |separators| {
        separators.fields_terminated = Some(b"|".to_vec());
        separators.enclosed = Some(b"^".to_vec());
    });
    assert_eq!(shown(b"1|^\x81^\x81|\\^^\n2|\x81||\n", &quotes), "1 \u{fffd}^\u{fffd}|^ 2 \u{fffd}| ");
}

/// A pipe: each read gives a part, and no more than 64 KiB.
struct Pipe(Cursor<Vec<u8>>);

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(64 << 10);
        self.0.read(&mut buffer[..length])
    }
}

fn piped(text: Vec<u8>) -> RecordReader {
    let source = Source::from_reader("rows", Pipe(Cursor::new(text))).unwrap();
    RecordReader::new(source, Format::csv(), Vec::new(), 1 << 30)
}

#[test]
fn a_large_record_of_a_pipe_is_not_split_anew_for_each_part() {
    let value = "abc\"\"def,\n".repeat(2 << 20);
    let mut records = piped(format!("1,\"{value}\"\n2,x\n").into_bytes());
    let mut record = Record::default();
    assert!(records.next(&mut record).unwrap());
    assert_eq!(record.values().map(|value| value.unwrap().len()).collect::<Vec<_>>(), [1, (2 << 20) * 9]);
    // A power of two for each doubling, and the parts of the first block.
    assert!(records.splits < 20, "{}", records.splits);
    assert!(records.next(&mut record).unwrap() && !records.next(&mut record).unwrap());
}

#[test]
fn a_bad_record_ends_with_its_last_line() {
    let long = "x".repeat(600 << 10);
    for (text, rest, line) in [
        ("1,\"a\n5,b\"x\n2,c\n".to_owned(), "2 c", 3),
        (format!("1,\"a\"{long}\n2,c"), "2 c", 2),
        (format!("1,\"{long}\n\n\"{long}\n2,c"), "2 c", 4),
        ("1,\"a\n5,b\n2,c\n".to_owned(), "", 4),
        ("1,\"a\"x".to_owned(), "", 1),
    ] {
        let (bytes, mut record) = (text.len() as u64, Record::default());
        let mut records = piped(text.into_bytes());
        assert!(matches!(records.next(&mut record), Err(RecordError::Malformed { .. })));
        assert_eq!(records.position().line, line);
        let values = if records.next(&mut record).unwrap() { record.values().flatten().collect() } else { Vec::new() };
        assert_eq!(String::from_utf8(values.join(&b' ')).unwrap(), rest);
        assert_eq!(records.position().byte, bytes);
    }
}

#[test]
fn leading_blank_lines_are_rows_of_one_column() {
    let rows = |text: &str, columns| {
        let shown = statements(text.as_bytes(), columns, Format::csv());
        shown.into_iter().map(|row| row.replace("INSERT INTO `t` VALUES ", "")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(rows("\n\r\n\nx\n\ny\n", Columns::All), "1: ('') 2: ('') 3: ('') 4: ('x') 5: ('') 6: ('y')");
    assert_eq!(rows("\n\n\"\"\n", Columns::All), "1: ('') 2: ('') 3: ('')");
    assert_eq!(rows("\n\r\n1,2\n\n3,4", Columns::All), "3: ('1','2') 5: ('3','4')");
    assert_eq!(rows("\n\n", Columns::All), "");
    // What is kept of them has a limit.
    let few = "\n\r\n".repeat(512);
    assert_eq!(rows(&few, Columns::All), "");
    assert!(rows(&(few + "\n"), Columns::All).starts_with("1025: error: the file begins with too many blank lines"));
    let named = || Columns::Named(vec![Field::plain("a")]);
    assert_eq!(rows("\n\nx", named()).matches("('')").count(), 2);
    let empty_is_null = with(Format::csv(), |separators| separators.null = Some(Vec::new()));
    let found = statements(b"\n\nx\n", Columns::All, empty_is_null);
    assert_eq!(found[..2], ["1: INSERT INTO `t` VALUES (NULL)", "2: INSERT INTO `t` VALUES (NULL)"]);
}

/// The records of a text, as text; an error ends them.
fn shown_in(text: &[u8], contents: &[Content], format: &Format) -> (String, Option<String>) {
    let (rows, error) = records_in(text, format, contents);
    let value = |value: Option<String>| value.map_or("NULL".to_owned(), |value| value.escape_debug().to_string());
    let rows = rows.into_iter().map(|row| row.into_iter().map(value).collect::<Vec<_>>().join(" "));
    (rows.collect::<Vec<_>>().join("; "), error)
}

#[test]
fn an_error_tells_the_lines_that_are_not_loaded() {
    let found = statements(b"1,2\n3,\"4\n5,\"6\n7,8\n9,\"0\"x\n9,\"\n0,1\n", Columns::All, Format::csv());
    assert!(found[1].starts_with("2: error: text follows") && found[1].ends_with("; lines 2 to 3 are not loaded"));
    assert_eq!(found[2], "4: INSERT INTO `t` VALUES ('7','8')");
    assert!(found[3].starts_with("5: error: text follows") && !found[3].contains("loaded"), "{found:?}");
    assert!(found[4].starts_with("6: error: a quote") && found[4].ends_with("; the rest of the file is not loaded"));
    let fields = vec![Field { content: bits::bits(64, true), ..Field::plain("a") }, Field::plain("b")];
    let found = statements(b"\\N\tabcde\t\tx\n1\t2\n", Columns::Named(fields), Format::load_data().of_dump());
    assert!(
        found[0].starts_with("1: error: the BIT values") && found[0].ends_with("; the rest of the file is not loaded")
    );
    assert_eq!(found.len(), 1);
}

#[test]
fn separators_that_cannot_be_told_apart_are_refused() {
    let refused = |change: fn(&mut Separators)| {
        let mut separators = Separators::default();
        change(&mut separators);
        Format::csv().with(&separators).unwrap_err().to_string()
    };
    assert!(refused(|separators| separators.fields_terminated = Some(Vec::new())).contains("fixed width"));
    assert!(
        refused(|separators| separators.enclosed = Some(b"''".to_vec()))
            .contains("--fields-enclosed-by takes one byte")
    );
    assert!(
        refused(|separators| separators.fields_terminated = Some(b"\n".to_vec())).contains("begin with the same byte")
    );
    assert!(refused(|separators| separators.escaped = Some(b"\"".to_vec())).contains("--fields-escaped-by"));
    assert_eq!(bytes_of_option(r"\t\\x\n"), b"\t\\x\n");
    assert_eq!(bytes_of_option(r"\b\Z"), b"\x08\x1a");
    assert_eq!(bytes_of_option("0x0d0a"), b"\r\n");
    assert_eq!(bytes_of_option("0xg"), b"0xg");
}

/// The statements of a file, each with the line of its first row; errors in their place.
fn statements(text: &[u8], columns: Columns, format: Format) -> Vec<String> {
    statements_of(text, file_of(columns, format))
}

fn file_of(columns: Columns, format: Format) -> RowsFile {
    let table = RowsTable { schema: None, name: b"t".to_vec() };
    RowsFile { path: PathBuf::new(), table, columns, format, ignored_lines: 0, is_defined: false, unreadable: None }
}

fn statements_of(text: &[u8], rows: RowsFile) -> Vec<String> {
    statements_with(text, rows, None)
}

/// The same of a table that has so many columns, where that is known.
fn statements_with(text: &[u8], rows: RowsFile, columns: Option<usize>) -> Vec<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let rows = Arc::new(RowsFile { path: file.path().to_owned(), ..rows });
    let mut statements = RowStatements::open(&rows, Arc::<Progress>::default(), 1 << 20).unwrap();
    match statements.begin() {
        Ok(_) => {}
        Err(RowError::Record { position, reason }) => return vec![format!("{}: error: {reason}", position.line)],
        Err(error) => panic!("{error:?}"),
    }
    statements_after(statements, columns)
}

fn statements_after(mut statements: RowStatements, columns: Option<usize>) -> Vec<String> {
    let mut found = Vec::new();
    columns.into_iter().for_each(|columns| statements.expect_width(columns));
    loop {
        match statements.next() {
            Ok(Some(one)) => {
                found.push(format!("{}: {}", one.position.line, String::from_utf8_lossy(&one.text)));
            }
            Ok(None) => return found,
            Err(RowError::Record { position, reason }) => found.push(format!("{}: error: {reason}", position.line)),
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[test]
fn rows_become_literals() {
    let text = b"\xef\xbb\xbf\n\r\nid,\"a`b\"\n1,\"it's\n\\\"\n\n2,\\N\n";
    let found = statements(text, Columns::Header, Format::csv());
    assert_eq!(
        found,
        [
            "4: INSERT INTO `t` (`id`,`a``b`) VALUES ('1','it\\'s\\n\\\\')",
            "7: INSERT INTO `t` (`id`,`a``b`) VALUES ('2',NULL)"
        ]
    );
    let fields = [("a", Encoding::Hex), ("b", Encoding::Omitted), ("c", Encoding::Base64), ("d", Encoding::Utf8)];
    let named = fields.map(|(name, encoding)| Field::encoded(name, encoding)).to_vec();
    let found = statements(b"00fF\tx\tAAE=\tu\n0\tx\t\t\n\tx\t!\t\n", Columns::Named(named), Format::load_data());
    assert_eq!(
        found[0],
        "1: INSERT INTO `t` (`a`,`c`,`d`) VALUES (_binary'\\0\u{fffd}',_binary'\\0\u{1}',_utf8mb4'u')"
    );
    let number = || Columns::Named(vec![Field::encoded("b", Encoding::Number)]);
    let found_numbers = statements(b"12\n\\N\nx\n", number(), Format::load_data());
    assert_eq!(found_numbers[..2], ["1: INSERT INTO `t` (`b`) VALUES (12)", "2: INSERT INTO `t` (`b`) VALUES (NULL)"]);
    assert!(found_numbers[2].contains("field 1: the value is not decimal digits"), "{found_numbers:?}");
    assert!(found[1].contains("2: error: field 1: the value is not hexadecimal digits"), "{found:?}");
    assert!(found[2].contains("3: error: field 3: the value is not Base64"), "{found:?}");
}

#[test]
fn computed_columns_alone_and_line_ends_in_a_header() {
    let dump = Format::load_data().of_dump();
    let computed = || Columns::Named(vec![Field::encoded("a", Encoding::Omitted)]);
    assert_eq!(statements(b"1\n", computed(), dump.clone()), ["1: INSERT INTO `t` () VALUES ()"]);
    let mut header = file_of(computed(), dump);
    header.ignored_lines = 1;
    assert_eq!(statements_of(b"a\\\nb\n1\n", header), ["3: INSERT INTO `t` () VALUES ()"]);
}

#[test]
fn a_bad_record_of_other_line_ends_ends_there() {
    let format = with(Format::csv(), |separators| separators.lines_terminated = Some(b";;".to_vec()));
    let found = statements(b"1,\"a\"x;y;;2,b;;", Columns::All, format);
    assert!(found[0].starts_with("1: error: text follows"), "{found:?}");
    assert_eq!(found[1..], ["1: INSERT INTO `t` VALUES ('2','b')"]);
}

#[test]
fn the_first_bytes_of_a_dump_are_data() {
    let text = "\u{feff}a\n".as_bytes();
    assert_eq!(statements(text, Columns::All, Format::load_data()), ["1: INSERT INTO `t` VALUES ('a')"]);
    let of_dump = Format::load_data().of_dump();
    assert_eq!(statements(text, Columns::All, of_dump.clone()), ["1: INSERT INTO `t` VALUES ('\u{feff}a')"]);
    // As a file of bzip2 begins.
    assert_eq!(statements(b"BZh91\n", Columns::All, of_dump), ["1: INSERT INTO `t` VALUES ('BZh91')"]);
}

#[test]
fn records_of_another_width_are_errors_with_their_line_and_the_others_go_on() {
    let found = statements(b"1,2\n1,2,3\n4\n5,6\n", Columns::All, Format::csv());
    assert_eq!(found[0], "1: INSERT INTO `t` VALUES ('1','2')");
    assert!(found[1].starts_with("2: error: the record has 3 fields, but 2 columns are expected"), "{found:?}");
    assert!(found[2].starts_with("3: error: the record has 1 fields"), "{found:?}");
    assert_eq!(found[3], "4: INSERT INTO `t` VALUES ('5','6')");
    let quotes = statements(b"1,2\n\"\"\n\r\n5,6\n", Columns::All, Format::csv());
    assert!(quotes[1].starts_with("2: error: the record has 1 fields"), "{quotes:?}");
    assert_eq!(quotes[2], "4: INSERT INTO `t` VALUES ('5','6')");
    assert!(statements(b"", Columns::Header, Format::csv())[0].contains("the file is empty"));
    // The table's columns tell, where they are known.
    let counted = statements_with(b"\n1\n1,2\n\n3,4\n", file_of(Columns::All, Format::csv()), Some(2));
    assert!(counted[0].starts_with("2: error: the record has 1 fields, but 2 columns"), "{counted:?}");
    assert_eq!(counted[1..], ["3: INSERT INTO `t` VALUES ('1','2')", "5: INSERT INTO `t` VALUES ('3','4')"]);
    let only = statements_with(b"\n1,2\n3\n", file_of(Columns::All, Format::csv()), Some(1));
    assert_eq!((&only[0][..], &only[2][..]), ("1: INSERT INTO `t` VALUES ('')", "3: INSERT INTO `t` VALUES ('3')"));
    assert!(only[1].starts_with("2: error: the record has 2 fields, but 1 columns"), "{only:?}");
    let header = statements(b"a,\n1,2\n", Columns::Header, Format::csv());
    assert!(header.len() == 1 && header[0].contains("a column without a name"), "{header:?}");
}

proptest! {
    #[test]
    fn csv_is_read_as_rfc_4180_has_it(
        rows in prop::collection::vec(prop::collection::vec("[a,\"\\n\\r ]{0,6}", 2..4), 0..6),
        crlf: bool,
        quotes_all: bool,
    ) {
        // As RFC 4180 has it: a field with a separator, a quote or a line end is quoted; some tools quote all.
        let mut text = String::new();
        for row in &rows {
            let fields = row.iter().map(|value| match quotes_all || value.contains([',', '"', '\n', '\r']) {
                true => format!("\"{}\"", value.replace('"', "\"\"")),
                false => value.clone(),
            });
            text.push_str(&fields.collect::<Vec<_>>().join(","));
            text.push_str(if crlf { "\r\n" } else { "\n" });
        }
        let expected: Vec<Row> = rows.into_iter().map(|row| row.into_iter().map(Some).collect()).collect();
        prop_assert_eq!(records(text.as_bytes(), &Format::csv()), (expected, None));
    }

    #[test]
    fn what_is_written_with_escapes_is_read_back(
        rows in prop::collection::vec(prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..6)), 1..4), 0..6),
        enclose: bool,
    ) {
        let format = if enclose {
            with(Format::load_data(), |separators| separators.enclosed = Some(b"'".to_vec()))
        } else {
            Format::load_data()
        };
        // As SELECT … INTO OUTFILE writes it.
        let mut text = Vec::new();
        for row in &rows {
            for (index, value) in row.iter().enumerate() {
                text.extend_from_slice(if index > 0 { b"\t" } else { b"" });
                let Some(value) = value else {
                    text.extend_from_slice(b"\\N");
                    continue;
                };
                text.extend_from_slice(if enclose { b"'" } else { b"" });
                for &byte in value {
                    match byte {
                        0 => text.extend_from_slice(b"\\0"),
                        b'\t' | b'\n' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
                        b'\'' if enclose => text.extend_from_slice(b"\\'"),
                        _ => text.push(byte),
                    }
                }
                text.extend_from_slice(if enclose { b"'" } else { b"" });
            }
            text.push(b'\n');
        }
        let shown = |value: Option<Vec<u8>>| value.map(|value| String::from_utf8_lossy(&value).into_owned());
        let expected: Vec<Row> = rows.into_iter().map(|row| row.into_iter().map(shown).collect()).collect();
        prop_assert_eq!(records(&text, &format), (expected, None));
    }
}
