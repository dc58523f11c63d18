//! The definitions of a MySQL source as MariaDB makes them: pure. Whatever it cannot have stops the copy before it begins.

use super::Error;
use super::inventory::{Definition, Inventory};
use super::objects::{Kind, Object};
use crate::from_mysql::{Refusal, Session, definition, without_unenforced_checks};

/// Objects that a message names.
const NAMED_LIMIT: usize = 20;

/// The inventory of a source of this version, as MariaDB makes it; and what a person should know.
pub(super) fn for_mariadb(found: Inventory, source_version: u32) -> Result<(Inventory, Vec<String>), Error> {
    let Inventory { definitions, tables, left_out } = found;
    let (mut kept, mut notices, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for definition in definitions {
        let object = definition.object.clone();
        match translated(definition, source_version, &mut notices) {
            Ok(definition) => kept.push(definition),
            Err(refusal) => refused.push((object, refusal.reason.into_owned())),
        }
    }
    if refused.is_empty() {
        Ok((Inventory { definitions: kept, tables, left_out }, notices))
    } else {
        Err(cannot_have(&refused))
    }
}

/// Why a copy of a MySQL source does not begin: what the target cannot have, each with its reason.
fn cannot_have(refused: &[(Object, String)]) -> Error {
    let shown = refused.iter().take(NAMED_LIMIT);
    let list: String = shown.map(|(object, reason)| format!("\n  {}: {reason}", named(object))).collect();
    let more = refused.len().saturating_sub(NAMED_LIMIT);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    Error::Refused(format!(
        "the target cannot have definitions as they are on the source:{list}{more}\n  Change or drop them on the source, or leave \
         tables and views out by a rule with skip = true; or copy by hand, and give the position of that as `start`"
    ))
}

/// An object for a message.
fn named(object: &Object) -> String {
    format!("{} {}", object.kind.sql().to_lowercase(), object.shown())
}

fn translated(mut found: Definition, source_version: u32, notices: &mut Vec<String>) -> Result<Definition, Refusal> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let session = found.session.as_ref().map_or_else(Session::default, |[mode, charset, collation]| Session {
        sql_mode: text(mode),
        charset: text(charset),
        collation: text(collation),
    });
    if found.object.kind == Kind::Table {
        let (create, unenforced) = without_unenforced_checks(&found.create, source_version);
        if !unenforced.is_empty() {
            let names = unenforced.join(", ");
            notices.push(format!(
                "leaves CHECK constraints of {} out, which are NOT ENFORCED: {names}",
                found.object.shown()
            ));
        }
        found.create = create;
    }
    found.create = definition(&found.create, &session, source_version)?;
    if found.session.is_some() {
        let Session { sql_mode, charset, collation } = session.for_mariadb()?;
        found.session = Some([sql_mode, charset, collation].map(String::into_bytes));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: u32 = 90_704;

    fn of(kind: Kind, create: &str, session: Option<[&str; 3]>) -> Definition {
        let name = if kind == Kind::Schema { b"".to_vec() } else { b"t".to_vec() };
        let object = Object { kind, schema: b"d".to_vec(), name };
        Definition {
            object,
            create: create.into(),
            default_schema: b"d".to_vec(),
            session: session.map(|three| three.map(Into::into)),
            time_zone: None,
            created_s: None,
            values: Vec::new(),
            shared: None,
        }
    }

    fn inventory(definitions: Vec<Definition>) -> Inventory {
        Inventory { definitions, ..Inventory::default() }
    }

    #[test]
    fn definitions_as_mysql_prints_them() {
        for (kind, text, expected) in [
            (
                Kind::Schema,
                "CREATE DATABASE `d` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */ /*!80016 DEFAULT \
                 ENCRYPTION='N' */",
                "CREATE DATABASE `d` DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_ai_ci",
            ),
            (
                Kind::Table,
                "CREATE TABLE `nb` (\n  `id` int NOT NULL /*!80023 INVISIBLE */,\n  KEY `k` (`a`) /*!80000 INVISIBLE */,\n  \
                 CONSTRAINT `bb` CHECK ((`b` < 5)) /*!80016 NOT ENFORCED */,\n  CONSTRAINT `c` CHECK ((`a` > 0))\n) \
                 ENGINE=InnoDB COMPRESSION='zlib'",
                "CREATE TABLE `nb` ( `id` int NOT NULL INVISIBLE , KEY `k` (`a`) IGNORED , CONSTRAINT `c` CHECK ((`a` > 0)) ) \
                 ENGINE=InnoDB PAGE_COMPRESSED=1",
            ),
            (
                Kind::Table,
                "CREATE TABLE `ae` (\n  `g` geomcollection DEFAULT NULL\n) /*!80023 AUTOEXTEND_SIZE=4194304 */ ENGINE=InnoDB",
                "CREATE TABLE `ae` ( `g` GEOMETRYCOLLECTION DEFAULT NULL ) ENGINE=InnoDB",
            ),
        ] {
            let (found, _) = for_mariadb(inventory(vec![of(kind, text, None)]), VERSION).unwrap();
            let words: Vec<&str> =
                std::str::from_utf8(&found.definitions[0].create).unwrap().split_whitespace().collect();
            assert_eq!(words.join(" "), expected);
        }
        let text = "CREATE TABLE `nb` (\n  `b` int,\n  CONSTRAINT `bb` CHECK ((`b` < 5)) /*!80016 NOT ENFORCED */\n)";
        let (_, notices) = for_mariadb(inventory(vec![of(Kind::Table, text, None)]), VERSION).unwrap();
        assert_eq!(notices, ["leaves CHECK constraints of d.t out, which are NOT ENFORCED: `bb`"]);
    }

    #[test]
    fn sessions_of_routines() {
        for (mode, collation, expected) in [
            ("ANSI_QUOTES", "utf8mb4_0900_ai_ci", ["ANSI_QUOTES,TIME_ROUND_FRACTIONAL", "utf8mb4_uca1400_nopad_ai_ci"]),
            ("TIME_TRUNCATE_FRACTIONAL", "latin1_bin", ["", "latin1_bin"]),
            ("", "utf8mb4_bin", ["TIME_ROUND_FRACTIONAL", "utf8mb4_bin"]),
        ] {
            let routine = of(Kind::Procedure, "CREATE PROCEDURE t() DO 1", Some([mode, "utf8mb4", collation]));
            let (found, _) = for_mariadb(inventory(vec![routine]), VERSION).unwrap();
            let [mode, _, collation] = found.definitions[0].session.clone().unwrap();
            assert_eq!([mode, collation], expected.map(Vec::from));
        }
    }

    #[test]
    fn what_mariadb_cannot_have_is_named() {
        let table = of(Kind::Table, "CREATE TABLE t (v TEXT COLLATE utf8mb4_ja_0900_as_cs)", None);
        let view = of(Kind::View, "CREATE VIEW t AS SELECT 1", Some(["", "utf8mb4", "utf8mb4_zh_0900_as_cs"]));
        let Err(Error::Refused(text)) = for_mariadb(inventory(vec![table, view]), VERSION) else {
            unreachable!("both are refused")
        };
        assert!(
            text.contains("\n  table d.t: MariaDB has no collation in which the same texts are equal as in utf8mb4_ja")
        );
        assert!(text.contains("\n  view d.t: ") && text.contains("by a rule with skip = true"), "{text}");
    }
}
