//! A statement that commits by itself: how things stand before it, and what became of one that an earlier run had begun.
//!
//! Read by the loader's rules (`hortator_load::checkpoint`): a definition that is another than before is applied, one that is
//! the same can run again.

use hortator_load::analysis::{FunctionSet, Postcondition, SessionFacts, StatementInfo, analyze};
use hortator_load::checkpoint::{Outcome, RecoveryHint, drop_sequence, fingerprint, outcome};
use hortator_load::lexer::{Charset, Dialect, tokens};
use hortator_mysql::{Connection, Error};

/// What is on record of a statement that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Its text, or what stands for it.
    pub text: Vec<u8>,
    /// How things stood before it.
    pub before: RecoveryHint,
}

impl Begun {
    /// Looks at what a statement is about to change, in the session in which it will run.
    pub(super) fn look(connection: &mut Connection, text: &[u8]) -> Result<Begun, Error> {
        let (info, _) = read(connection, text)?;
        Ok(Begun { text: text.to_vec(), before: fingerprint(connection, &info)? })
    }

    /// Of rows that cannot be rolled back: nothing tells how many of them are there.
    pub(super) fn of_rows(text: Vec<u8>) -> Begun {
        Begun { text, before: RecoveryHint::NotInTransaction }
    }

    /// What became of it, asked in a session as it ran in.
    pub(super) fn outcome(&self, connection: &mut Connection) -> Result<Outcome, Error> {
        if self.before == RecoveryHint::NotInTransaction {
            return Ok(Outcome::InDoubt);
        }
        let (info, dialect) = read(connection, &self.text)?;
        outcome(connection, &self.text, &info, &dialect, &self.before)
    }

    /// Drops the sequence that it makes, if it is there.
    pub(super) fn drop_sequence(&self, connection: &mut Connection) -> Result<(), Error> {
        let (info, _) = read(connection, &self.text)?;
        drop_sequence(connection, &info)
    }
}

/// Reads a statement as the session does.
fn read(connection: &mut Connection, text: &[u8]) -> Result<(StatementInfo, Dialect), Error> {
    let dialect = dialect(connection)?;
    let functions = FunctionSet::all();
    Ok((analyze(text, &SessionFacts { dialect, functions: &functions, known_head: None }), dialect))
}

/// How the session reads statements.
pub(super) fn dialect(connection: &mut Connection) -> Result<Dialect, Error> {
    let row = connection.fetch(b"SELECT @@session.sql_mode, @@session.character_set_client")?.into_iter().next();
    let mut values = row.into_iter().flatten().map(Option::unwrap_or_default);
    let (sql_mode, charset) = (values.next().unwrap_or_default(), values.next().unwrap_or_default());
    let has_mode = |name: &[u8]| sql_mode.split(|byte| *byte == b',').any(|mode| mode == name);
    let version = connection.version();
    Ok(Dialect {
        server_version: version.comment_number(),
        mariadb: version.is_mariadb(),
        no_backslash_escapes: has_mode(b"NO_BACKSLASH_ESCAPES"),
        ansi_quotes: has_mode(b"ANSI_QUOTES"),
        brackets: version.is_mariadb() && has_mode(b"MSSQL"),
        charset: Charset::from_name(&charset),
    })
}

/// What keeps an event that a statement has created or changed from running on the target too, asked in the session in which
/// the statement ran.
pub(super) fn disable_event(connection: &mut Connection, text: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let is_candidate = text.windows(SHORT_EVENT.len()).any(|window| window.eq_ignore_ascii_case(SHORT_EVENT));
    if !is_candidate {
        return Ok(None);
    }
    let (_, dialect) = read(connection, text)?;
    Ok(disabled_event(text, dialect))
}

fn disabled_event(text: &[u8], dialect: Dialect) -> Option<Vec<u8>> {
    let functions = FunctionSet::all();
    let info = analyze(text, &SessionFacts { dialect, functions: &functions, known_head: None });
    let target = info.ddl_target.filter(|target| target.postcondition == Postcondition::Changed)?;
    let name = target.questions.last()?.strip_prefix(SHOW_EVENT)?;
    let name = new_name(text, dialect).unwrap_or(name);
    Some([b"ALTER EVENT ".as_slice(), name, b" DISABLE ON SLAVE"].concat())
}

/// The name that ALTER EVENT gives, as the text has it.
fn new_name(text: &[u8], dialect: Dialect) -> Option<&[u8]> {
    let mut all = tokens(text, &dialect);
    let is_alter = all.next()?.is_word(b"ALTER");
    // In the body of an event, RENAME is behind its DO.
    let mut head = all.take_while(|token| !token.is_word(b"DO"));
    let rename = head.find(|token| is_alter && token.is_word(b"RENAME"))?;
    let mut name = tokens(&text[rename.end..], &dialect).skip(1);
    let first = name.next()?;
    let has_schema = name.next().is_some_and(|dot| dot.is_symbol(b"."));
    let last = if has_schema { name.next()? } else { first.clone() };
    text.get(rename.end + first.offset..rename.end + last.end)
}

const SHORT_EVENT: &[u8] = b"EVENT";
const SHOW_EVENT: &[u8] = b"SHOW CREATE EVENT ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_do_not_run_on_the_target() {
        for (text, expected) in [
            ("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO CALL p()", Some("ALTER EVENT `e` DISABLE ON SLAVE")),
            (
                "CREATE DEFINER=`root`@`localhost` EVENT IF NOT EXISTS `d`.`e` ON SCHEDULE AT NOW() DO SELECT 1",
                Some("ALTER EVENT `d`.`e` DISABLE ON SLAVE"),
            ),
            ("alter event d.e ENABLE", Some("ALTER EVENT `d`.`e` DISABLE ON SLAVE")),
            ("/* c */ ALTER EVENT e ENABLE", Some("ALTER EVENT `e` DISABLE ON SLAVE")),
            ("ALTER EVENT e RENAME TO `d 2`.f ENABLE DO SELECT 1", Some("ALTER EVENT `d 2`.f DISABLE ON SLAVE")),
            ("ALTER EVENT e RENAME TO f", Some("ALTER EVENT f DISABLE ON SLAVE")),
            ("ALTER EVENT e DO RENAME TABLE a TO b", Some("ALTER EVENT `e` DISABLE ON SLAVE")),
            ("CREATE TABLE event (id INT)", None),
            ("DROP EVENT e", None),
        ] {
            let found = disabled_event(text.as_bytes(), Dialect::mariadb(u32::MAX))
                .map(|found| String::from_utf8(found).unwrap());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
