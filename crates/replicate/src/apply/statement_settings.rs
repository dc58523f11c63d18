//! `SET STATEMENT … FOR` on the target: what the source's statement had, without what is about the source itself.

use crate::binlog::StatementSetting;

/// Variables that are left out. In a transaction of the target, MariaDB refuses the first six (seen with 10.11: errors 1179, 1679,
/// 1685, 1694 and 1953). The next two would be about the target's log. `pseudo_slave_mode` makes the session lose the source's
/// format description (error 1609), and the time limit of a statement on the source is none of its replicas'.
const LEFT_OUT: [&str; 10] = [
    "binlog_direct_non_transactional_updates",
    "binlog_format",
    "gtid_domain_id",
    "gtid_seq_no",
    "sql_log_bin",
    "wsrep_on",
    "server_id",
    "wsrep_gtid_seq_no",
    "pseudo_slave_mode",
    "max_statement_time",
];

/// What stands before the statement on the target.
pub(super) fn prefix(settings: &[StatementSetting]) -> Vec<u8> {
    let kept = settings.iter().filter(|setting| !LEFT_OUT.contains(&setting.name.as_str()));
    let kept: Vec<&[u8]> = kept.map(|setting| setting.text.as_slice()).collect();
    if kept.is_empty() {
        return Vec::new();
    }
    [b"SET STATEMENT ".as_slice(), &kept.join(&b", "[..]), b" FOR "].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::invoker::{text_to_run, with_any_account};
    use crate::apply::refusal::{alters_schema, is_about_account, refusal};
    use crate::apply::temporary_tables::is_only_of_session;
    use crate::apply::tolerated::is_of_a_node;
    use crate::binlog::QueryEvent;

    /// What those who look at a statement's words say of it.
    fn readings(query: &QueryEvent) -> Vec<String> {
        let text = &query.text;
        vec![
            format!("{:?}", refusal(text, &query.dialect())),
            format!("{:?}", with_any_account(query)),
            is_about_account(query).to_string(),
            alters_schema(query).to_string(),
            is_only_of_session(query).to_string(),
            is_of_a_node(text).to_string(),
            query.is_word("BEGIN").to_string(),
            query.is_xa().to_string(),
        ]
    }

    #[test]
    fn a_statement_is_the_same_behind_its_settings() {
        for text in [
            "CREATE ROLE r1",
            "GRANT SELECT ON d.* TO CURRENT_USER",
            "CREATE USER zz@localhost",
            "CREATE TEMPORARY TABLE t (a INT)",
            "DROP TEMPORARY TABLE t",
            "ALTER DATABASE COLLATE latin1_bin",
            "ALTER EVENT e RENAME TO f ENABLE",
            "ALTER TABLE mysql.wsrep_cluster ADD a INT",
            "CREATE TABLE t AS SELECT 1",
            "INSERT INTO t VALUES (1)",
            "BEGIN",
            "XA START 'x'",
        ] {
            let alone = QueryEvent::of_text(text);
            for settings in ["SET STATEMENT a=9 FOR ", "/* c */ set /*!100000 statement a = '9',*/ b=(1)\nfor\t"] {
                let query = QueryEvent::of_text(&format!("{settings}{text}"));
                assert_eq!(query.text, alone.text, "{settings}");
                assert_eq!(readings(&query), readings(&alone), "{settings}{text}");
                let (run, behind) = (text_to_run(&query, None), text_to_run(&alone, None));
                let before = run.strip_suffix(behind.as_ref()).unwrap_or_default();
                assert!(before.starts_with(b"SET STATEMENT a") && before.ends_with(b" FOR "), "{settings}{text}");
            }
        }
    }

    #[test]
    fn variables_of_the_log_are_left_out() {
        let setting = |text: &&str| {
            let name = text.split('=').next().unwrap_or_default().to_owned();
            StatementSetting { name, text: text.as_bytes().to_vec() }
        };
        for (settings, expected) in [
            (&[][..], ""),
            (&["gtid_domain_id=7"], ""),
            (&["pseudo_slave_mode=0", "max_statement_time=9"], ""),
            (&["pseudo_slave_mode=0", "lock_wait_timeout=9"], "SET STATEMENT lock_wait_timeout=9 FOR "),
            (
                &["sql_mode=''", "sql_log_bin=1", "time_zone='+0:00'"],
                "SET STATEMENT sql_mode='', time_zone='+0:00' FOR ",
            ),
        ] {
            let settings: Vec<_> = settings.iter().map(setting).collect();
            assert_eq!(String::from_utf8_lossy(&prefix(&settings)), expected);
        }
    }
}
