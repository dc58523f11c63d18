//! What is to be known of a MySQL source.

use super::findings::{Severity, listed};
use super::{MySqlFacts, TargetFacts};
use crate::from_mysql::needs_newer_target;

const PARTIAL_JSON: &str = "PARTIAL_JSON";

/// What follows from what it says, its `binlog_row_image`, and the target.
pub(super) fn findings(facts: &MySqlFacts, row_image: &str, target: Option<&TargetFacts>) -> Vec<(Severity, String)> {
    let mut found = Vec::new();
    if facts.gtid_mode != "ON" && facts.hosts > 1 {
        let text = format!(
            "it has several hosts, and gtid_mode is {}: the next host cannot continue without GTIDs. Set gtid_mode = ON",
            facts.gtid_mode
        );
        found.push((Severity::Problem, text));
    }
    if facts.value_options.contains(PARTIAL_JSON) && row_image != "FULL" {
        let text = format!(
            "binlog_row_value_options is PARTIAL_JSON and binlog_row_image is {row_image}: changes of a part of a JSON value need \
             the value before them. Set one of both otherwise: binlog_row_value_options = '' or binlog_row_image = FULL"
        );
        found.push((Severity::Problem, text));
    }
    if target.is_some_and(|target| target.is_mariadb && needs_newer_target(target.version_number)) {
        let text = "the target is older than MariaDB 10.10, which has no collations as utf8mb4_0900_ai_ci: definitions with these \
                    stop the source";
        found.push((Severity::Warning, text.to_owned()));
    }
    if facts.encrypts {
        let text = "default_table_encryption is ON: whether new tables are encrypted on the target is up to the target's \
                    innodb_encrypt_tables";
        found.push((Severity::Warning, text.to_owned()));
    }
    if !facts.without_equal.is_empty() {
        let text = format!(
            "tables with VECTOR columns, indexes of expressions or the character set gb18030, which the target may not have: \
             create them there by hand, {}",
            listed(&facts.without_equal)
        );
        found.push((Severity::Warning, text));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found() {
        let good = MySqlFacts { gtid_mode: "ON".to_owned(), hosts: 1, ..MySqlFacts::default() };
        let target = TargetFacts { is_mariadb: true, version_number: 101_119, ..TargetFacts::default() };
        assert_eq!(findings(&good, "FULL", Some(&target)), []);
        let partial = MySqlFacts { value_options: PARTIAL_JSON.to_owned(), ..good.clone() };
        assert_eq!(findings(&partial, "FULL", Some(&target)), []);
        let found = findings(&partial, "MINIMAL", Some(&target));
        assert!(found[0].0 == Severity::Problem && found[0].1.contains("binlog_row_image is MINIMAL"), "{found:?}");
        let old = TargetFacts { version_number: 100_622, ..target.clone() };
        for (facts, target, severity, said) in [
            (
                MySqlFacts { hosts: 2, gtid_mode: "OFF".to_owned(), ..good.clone() },
                &target,
                Severity::Problem,
                "gtid_mode is OFF",
            ),
            (good.clone(), &old, Severity::Warning, "older than MariaDB 10.10"),
            (MySqlFacts { encrypts: true, ..good.clone() }, &target, Severity::Warning, "default_table_encryption"),
            (
                MySqlFacts { without_equal: vec!["d.t".to_owned()], ..good.clone() },
                &target,
                Severity::Warning,
                "by hand, d.t",
            ),
        ] {
            let found = findings(&facts, "FULL", Some(target));
            assert!(found.len() == 1 && found[0].0 == severity && found[0].1.contains(said), "{said}: {found:?}");
        }
    }
}
