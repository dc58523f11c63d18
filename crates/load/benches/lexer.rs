//! How fast a dump is cut into statements, on one core, from memory: beside it, in the same run, what merely copying
//! the same bytes costs. `cargo bench -p hortator-load --bench lexer`.

use std::hint::black_box;
use std::io::Cursor;

use criterion::{Criterion, Throughput};
use hortator_load::input::Source;
use hortator_load::lexer::{Dialect, Item, Statements, StatementsOptions};

const DUMP_BYTES: usize = 64 << 20;
const STATEMENT_BYTES: usize = 1 << 20;

/// Extended INSERTs of about 1 MiB, with a row for each number.
fn inserts(row: impl Fn(usize) -> String) -> Vec<u8> {
    let mut dump = Vec::with_capacity(DUMP_BYTES + STATEMENT_BYTES);
    let mut number = 0;
    while dump.len() < DUMP_BYTES {
        let start = dump.len();
        dump.extend_from_slice(b"INSERT INTO `t` VALUES\n");
        while dump.len() - start < STATEMENT_BYTES {
            dump.extend_from_slice(row(number).as_bytes());
            dump.extend_from_slice(b",\n");
            number += 1;
        }
        dump.truncate(dump.len() - 2);
        dump.extend_from_slice(b";\n");
    }
    dump
}

fn split(dump: &'static [u8]) -> usize {
    let source = Source::from_reader("dump", Cursor::new(dump)).expect("memory can be read");
    let mut statements = Statements::new(source, StatementsOptions::new(Dialect::mariadb(101_119)));
    let mut count = 0;
    while let Some(item) = statements.next() {
        if let Ok(Item::Statement(statement)) = item {
            count += 1;
            statements.recycle(black_box(statement.text));
        }
    }
    count
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let employees =
        |n: usize| format!("({},'195{}-0{}-17','Georgi{n}','Facello','M','1986-06-26')", n, n % 10, n % 9 + 1);
    let text = |n: usize| format!(r#"({n},'It\'s a {n}th line, with \\n and \"quotes\" of {}',NULL,-{n}.5)"#, n * 7);
    let hex = |n: usize| format!("({n},0x{})", "DEADBEEF00d1".repeat(n % 50 + 1));
    let dumps: [(&str, Vec<u8>); 4] = [
        ("short strings", inserts(employees)),
        ("escapes", inserts(text)),
        ("hexadecimal blobs", inserts(hex)),
        ("short statements", {
            let mut lines = Vec::new();
            for n in 0..DUMP_BYTES / 60 {
                lines.extend_from_slice(format!("INSERT INTO `t` VALUES ({n},'Georgi','Facello');\n").as_bytes());
            }
            lines
        }),
    ];
    for (name, dump) in dumps {
        let dump: &'static [u8] = dump.leak();
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(dump.len() as u64));
        group.bench_function("split", |bencher| bencher.iter(|| split(dump)));
        group.bench_function("copy", |bencher| bencher.iter(|| black_box(dump).to_vec()));
        group.finish();
    }
    criterion.final_summary();
}
