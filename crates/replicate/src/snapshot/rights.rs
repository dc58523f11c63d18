//! Rights that a copy needs of the source's account. All are needed on everything: information_schema leaves out what an
//! account may not see, without a word.

/// A privilege, and what the copy needs it for.
const RIGHTS: [&str; 4] = ["SELECT", "SHOW VIEW", "TRIGGER", "EVENT"];
/// For tables that have no snapshot.
const LOCK_RIGHT: &str = "LOCK TABLES";

/// The privileges on `*.*` that an account lacks; `locks`: there are tables without a snapshot. `grants` is SHOW GRANTS.
pub(crate) fn missing_rights(grants: &[String], locks: bool) -> Vec<&'static str> {
    let needed = RIGHTS.into_iter().chain(locks.then_some(LOCK_RIGHT));
    needed.filter(|right| !grants.iter().any(|grant| gives(grant, right))).collect()
}

fn gives(grant: &str, right: &str) -> bool {
    let Some((list, _)) = grant.split_once(" ON *.* ") else { return false };
    let Some(list) = list.strip_prefix("GRANT ") else { return false };
    list.split(", ").any(|given| given == right || given == "ALL PRIVILEGES")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_account_lacks() {
        for (grant, locks, expected) in [
            ("GRANT ALL PRIVILEGES ON *.* TO `r`@`%` WITH GRANT OPTION", true, &[][..]),
            ("GRANT SELECT, SHOW VIEW, EVENT, TRIGGER ON *.* TO `r`@`%`", false, &[]),
            ("GRANT SELECT, SHOW VIEW, EVENT, TRIGGER ON *.* TO `r`@`%`", true, &["LOCK TABLES"]),
            ("GRANT SHOW VIEW, CREATE VIEW ON *.* TO `r`@`%`", false, &["SELECT", "TRIGGER", "EVENT"]),
            ("GRANT ALL PRIVILEGES ON `d`.* TO `r`@`%`", false, &["SELECT", "SHOW VIEW", "TRIGGER", "EVENT"]),
        ] {
            assert_eq!(missing_rights(&[grant.to_owned()], locks), expected, "{grant}");
        }
    }
}
