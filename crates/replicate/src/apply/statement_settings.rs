//! `SET STATEMENT … FOR` of the source: variables that cannot change within a transaction of the target, or that say of the source's
//! log what the event says already.

use hortator_load::lexer::{Dialect, Token, tokens};

use crate::statement_text::{Edit, apply, depths, name_of};

/// Variables that are taken out. In a transaction of the target, MariaDB refuses all but the last two (seen with 10.11: errors 1179,
/// 1679, 1685, 1694 and 1953), and those would be about the target's log.
const OF_THE_LOG: [&str; 8] = [
    "binlog_direct_non_transactional_updates",
    "binlog_format",
    "gtid_domain_id",
    "gtid_seq_no",
    "sql_log_bin",
    "wsrep_on",
    "server_id",
    "wsrep_gtid_seq_no",
];

/// Whether a statement has such a prefix, for servers of any kind.
pub(super) fn has_settings(text: &[u8]) -> bool {
    begins_settings(&tokens(text, &Dialect::mariadb(u32::MAX)).take(2).collect::<Vec<_>>())
}

fn begins_settings(all: &[Token<'_>]) -> bool {
    matches!(all, [set, statement, ..] if set.is_word(b"SET") && statement.is_word(b"STATEMENT"))
}

/// The text without these variables; `None` where it has none of them.
pub(super) fn without_settings_of_the_log(text: &[u8], dialect: &Dialect) -> Option<Vec<u8>> {
    let all: Vec<Token<'_>> = tokens(text, dialect).collect();
    let depths = depths(&all);
    let mut edits = Vec::new();
    let mut start = 0;
    // Several prefixes may stand one behind the other.
    while begins_settings(&all[start..]) {
        let first = start + 2;
        let ends = |index: &usize| depths[*index] == 0 && all[*index].is_word(b"FOR");
        let Some(end) = (first..all.len()).find(ends) else { break };
        edits.extend(without(text, &all[start..=end], &depths[start..=end], dialect));
        start = end + 1;
    }
    apply(text, edits)
}

/// What becomes of one prefix, from SET to FOR.
fn without(text: &[u8], prefix: &[Token<'_>], depths: &[usize], dialect: &Dialect) -> Option<Edit> {
    let (first, end) = (2, prefix.len() - 1);
    let commas = (first..end).filter(|index| depths[*index] == 0 && prefix[*index].is_symbol(b","));
    let mut from = first;
    let (mut kept, mut has_others) = (Vec::new(), false);
    for to in commas.chain([end]) {
        let item = &prefix[from..to];
        from = to + 1;
        let name = name_of(item.first()?, dialect)?.to_ascii_lowercase();
        match OF_THE_LOG.contains(&name.as_str()) {
            true => has_others = true,
            false => kept.push(std::str::from_utf8(&text[item.first()?.offset..item.last()?.end]).ok()?),
        }
    }
    if !has_others {
        return None;
    }
    Some(match kept.is_empty() {
        true => Edit { start: prefix[0].offset, end: prefix[end].end, text: String::new() },
        false => Edit { start: prefix[first].offset, end: prefix[end].offset, text: kept.join(", ") + " " },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_log_are_taken_out() {
        for (text, expected) in [
            ("set statement gtid_domain_id=7 for insert into t values ('x')", Some(" insert into t values ('x')")),
            (
                "/* a */ SET STATEMENT `Binlog_Format` := 'ROW' FOR UPDATE t SET a = 1",
                Some("/* a */  UPDATE t SET a = 1"),
            ),
            (
                "SET STATEMENT max_statement_time=(SELECT SUBSTRING('12' FOR 1)), sql_log_bin = 1 /* , */, sort_buffer_size \
                 = 99 FOR DELETE FROM t",
                Some(
                    "SET STATEMENT max_statement_time=(SELECT SUBSTRING('12' FOR 1)), sort_buffer_size = 99 FOR DELETE \
                     FROM t",
                ),
            ),
            ("SET STATEMENT sql_mode='a, gtid_seq_no=1 FOR' FOR INSERT INTO t VALUES (1)", None),
            (
                "SET STATEMENT server_id=3 FOR SET STATEMENT sql_mode='', gtid_seq_no=9 FOR DELETE FROM t",
                Some(" SET STATEMENT sql_mode='' FOR DELETE FROM t"),
            ),
            ("INSERT INTO t VALUES ('SET STATEMENT gtid_seq_no=1 FOR')", None),
            ("SET STATEMENT gtid_seq_no=1", None),
        ] {
            let found = without_settings_of_the_log(text.as_bytes(), &Dialect::mariadb(u32::MAX));
            assert_eq!(found.map(|text| String::from_utf8(text).unwrap()).as_deref(), expected, "{text}");
        }
    }
}
