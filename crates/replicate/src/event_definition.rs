//! Events of the source are disabled on the target, and keep their definer: ALTER EVENT gives an event the account that runs it
//! where it names none.

use hortator_load::lexer::{Dialect, Kind, Token, tokens};

/// A statement that creates or changes an event. Its parts are as the text has them.
#[derive(Debug, PartialEq, Eq)]
struct EventStatement<'t> {
    definer: Option<&'t [u8]>,
    /// With its schema, where the text has it: the name that the event has then. `None` where it is not understood.
    name: Option<&'t [u8]>,
}

/// The name of an event that a statement creates or changes, as the text has it: the one that it has then. `None` of another
/// statement.
///
/// # Errors
/// There is no name, as far as that is understood.
pub(crate) fn event_name<'t>(text: &'t [u8], dialect: &Dialect) -> Result<Option<&'t [u8]>, String> {
    let Some(found) = read(text, dialect) else { return Ok(None) };
    let name = found.name.ok_or(
        "the statement creates or changes an event whose name is not understood, and the event would run on the target too: \
         run it there by hand, with DISABLE ON SLAVE, then `skip` it",
    )?;
    Ok(Some(name))
}

/// Where a definer can be put into a statement that changes an event and names none. `None` of another statement.
pub(crate) fn definer_place(text: &[u8], dialect: &Dialect) -> Option<usize> {
    let mut head = tokens(text, dialect);
    let verb = head.next().filter(|verb| verb.is_word(b"ALTER"))?;
    head.next()?.is_word(b"EVENT").then_some(verb.end)
}

/// The definer in what SHOW CREATE EVENT says, as `DEFINER=…`; empty where it has none.
pub(crate) fn definer<'t>(create: &'t [u8], dialect: &Dialect) -> &'t [u8] {
    read(create, dialect).and_then(|found| found.definer).unwrap_or_default()
}

/// The statement that disables an event. `definer` is as [`definer`] has it.
pub(crate) fn disable_event(name: &[u8], definer: &[u8]) -> Vec<u8> {
    [b"ALTER ".as_slice(), definer, if definer.is_empty() { b"" } else { b" " }, b"EVENT ", name, b" DISABLE ON SLAVE"]
        .concat()
}

/// Reads `CREATE [OR REPLACE] [DEFINER = …] EVENT [IF NOT EXISTS] …` and `ALTER [DEFINER = …] EVENT … [RENAME TO …]`.
fn read<'t>(text: &'t [u8], dialect: &Dialect) -> Option<EventStatement<'t>> {
    let head: Vec<Token<'t>> = tokens(text, dialect).take(HEAD_TOKENS).collect();
    let has = |at: usize, word: &[u8]| head.get(at).is_some_and(|token| token.is_word(word));
    let is_alter = has(0, b"ALTER");
    if !is_alter && !has(0, b"CREATE") {
        return None;
    }
    let mut at = 1 + 2 * usize::from(has(1, b"OR"));
    let definer = has(at, b"DEFINER").then_some(at);
    if definer.is_some() {
        // Behind the account's first word, which may be any.
        at = (at + 3..head.len()).find(|at| is_kind(&head[*at]))?;
    }
    if !has(at, b"EVENT") {
        return None;
    }
    let definer = definer.map(|first| &text[head[first].offset..head[at - 1].end]);
    at += 1;
    if has(at, b"IF") && (has(at + 1, b"EXISTS") || has(at + 2, b"EXISTS")) {
        at += if has(at + 1, b"NOT") { 3 } else { 2 };
    }
    let behind = head.get(at).map_or(text.len(), |token| token.offset);
    let renamed = if is_alter { new_name(text, behind, dialect) } else { None };
    Some(EventStatement { definer, name: renamed.unwrap_or_else(|| name_at(text, behind, dialect)) })
}

/// More than stand before an event's name.
const HEAD_TOKENS: usize = 20;

/// What a definition with a definer may be of.
fn is_kind(token: &Token<'_>) -> bool {
    const KINDS: [&[u8]; 8] =
        [b"EVENT", b"VIEW", b"TRIGGER", b"PROCEDURE", b"FUNCTION", b"AGGREGATE", b"PACKAGE", b"SQL"];
    KINDS.iter().any(|kind| token.is_word(kind))
}

/// The name that stands at a place, with its schema.
fn name_at<'t>(text: &'t [u8], start: usize, dialect: &Dialect) -> Option<&'t [u8]> {
    let mut all = tokens(text.get(start..)?, dialect);
    let is_name = |token: &Token<'_>| matches!(token.kind, Kind::Word(_) | Kind::QuotedIdentifier(_));
    let first = all.next().filter(is_name)?;
    let last = match all.next().is_some_and(|dot| dot.is_symbol(b".")) {
        true => all.next().filter(is_name)?,
        false => first.clone(),
    };
    text.get(start + first.offset..start + last.end)
}

/// What ALTER EVENT calls the event from now on; `None` where it keeps its name.
fn new_name<'t>(text: &'t [u8], start: usize, dialect: &Dialect) -> Option<Option<&'t [u8]>> {
    // In the body of an event, RENAME is behind its DO.
    let mut all = tokens(&text[start..], dialect).take_while(|token| !token.is_word(b"DO"));
    // The first one is the event's own name.
    all.next()?;
    let rename = all.find(|token| token.is_word(b"RENAME"))?;
    let to = all.next()?;
    Some(name_at(text, start + if to.is_word(b"TO") { to.end } else { rename.end }, dialect))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str, dialect: &Dialect) -> Result<Option<String>, String> {
        let name = event_name(text.as_bytes(), dialect)?;
        Ok(name.map(|name| String::from_utf8(name.to_vec()).unwrap()))
    }

    #[test]
    fn names_of_events() {
        for (text, expected) in [
            ("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO CALL p()", Some("e")),
            ("CREATE EVENT `do` ON SCHEDULE EVERY 1 SECOND DO SELECT 1", Some("`do`")),
            (
                "CREATE DEFINER=`root`@`localhost` EVENT IF NOT EXISTS `d`.`e` ON SCHEDULE AT NOW() DO SELECT 1",
                Some("`d`.`e`"),
            ),
            ("create or replace definer = event@event event d . e on schedule every 1 day do select 1", Some("d . e")),
            ("CREATE DEFINER=CURRENT_USER() EVENT if ON SCHEDULE AT NOW() DO SELECT 1", Some("if")),
            ("alter event d.e ENABLE", Some("d.e")),
            ("/* c */ ALTER EVENT e ENABLE", Some("e")),
            (
                "/*!50106 CREATE*/ /*!50117 DEFINER=`a`@`%`*/ /*!50106 EVENT e ON SCHEDULE AT 1 DO SELECT 1 */",
                Some("e"),
            ),
            ("ALTER DEFINER='a'@'%' EVENT e RENAME TO `d 2`.f ENABLE DO SELECT 1", Some("`d 2`.f")),
            ("ALTER EVENT e RENAME TO f", Some("f")),
            ("ALTER EVENT e DO RENAME TABLE a TO b", Some("e")),
            ("ALTER EVENT rename ENABLE", Some("rename")),
            ("CREATE TABLE event (id INT)", None),
            ("CREATE DEFINER=event@event VIEW event AS SELECT 1", None),
            ("DROP EVENT e", None),
        ] {
            assert_eq!(name(text, &Dialect::mariadb(u32::MAX)), Ok(expected.map(str::to_owned)), "{text}");
        }
        let mssql = Dialect { brackets: true, ..Dialect::mariadb(u32::MAX) };
        assert_eq!(name("CREATE EVENT [e 9] ON SCHEDULE AT 1 DO SELECT 1", &mssql), Ok(Some("[e 9]".to_owned())));
        for text in ["CREATE EVENT [e] ON SCHEDULE AT 1 DO SELECT 1", "ALTER EVENT e RENAME TO 'f'", "CREATE EVENT"] {
            assert!(name(text, &Dialect::mariadb(u32::MAX)).is_err(), "{text}");
        }
    }

    #[test]
    fn events_keep_their_definer() {
        for (create, expected) in [
            (
                "CREATE DEFINER=`a b`@`%` EVENT `e` ON SCHEDULE AT 1 DO SELECT 1",
                "ALTER DEFINER=`a b`@`%` EVENT d.e DISABLE ON SLAVE",
            ),
            ("CREATE DEFINER=`role` EVENT `e` ON SCHEDULE", "ALTER DEFINER=`role` EVENT d.e DISABLE ON SLAVE"),
            ("CREATE EVENT `e` ON SCHEDULE AT 1 DO SELECT 1", "ALTER EVENT d.e DISABLE ON SLAVE"),
        ] {
            let definer = definer(create.as_bytes(), &Dialect::mariadb(u32::MAX));
            let found = disable_event(b"d.e", definer);
            assert_eq!(String::from_utf8(found).unwrap(), expected);
        }
    }

    #[test]
    fn places_of_definers() {
        for (text, expected) in [
            ("ALTER EVENT e ENABLE", Some("ALTER|")),
            ("/* c */ alter/**/event e DO SELECT 1", Some("/* c */ alter|")),
            ("/*!50106 ALTER */ EVENT e ENABLE", Some("/*!50106 ALTER|")),
            ("ALTER DEFINER=a@b EVENT e ENABLE", None),
            ("CREATE EVENT e ON SCHEDULE AT 1 DO ALTER EVENT f ENABLE", None),
            ("ALTER TABLE event ADD a INT", None),
        ] {
            let place = definer_place(text.as_bytes(), &Dialect::mariadb(u32::MAX));
            assert_eq!(place.map(|at| format!("{}|", &text[..at])).as_deref(), expected, "{text}");
        }
    }
}
