//! SETs of one variable that go together with others in one SET statement: the server looks at all values before it assigns
//! the first, so that all of them are assigned or none.

use std::ops::Range;

use crate::lexer::{Kind, Token};

/// A SET of one variable to another one's value, or to a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainSet {
    /// The bytes of `variable = value` in the statement's text.
    pub bytes: Range<usize>,
    /// The constant, as written.
    pub constant: Option<Vec<u8>>,
    assigns: Variable,
    reads: Option<Variable>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Variable {
    /// By its name in lower case.
    User(Vec<u8>),
    System(&'static str),
}

/// Session variables whose new value the server refuses, if it does, when it looks at all values of a SET.
const VARIABLES: [&str; 10] = [
    "character_set_client",
    "character_set_connection",
    "character_set_results",
    "collation_connection",
    "foreign_key_checks",
    "sql_mode",
    "sql_notes",
    "sql_quote_show_create",
    "time_zone",
    "unique_checks",
];

impl PlainSet {
    /// From the tokens of a statement that begins with SET.
    pub(super) fn read(all: &[Token<'_>]) -> Option<Self> {
        let [_, target, assignment, value] = all else { return None };
        if !(assignment.is_symbol(b"=") || assignment.is_symbol(b":=")) {
            return None;
        }
        let assigns = match &target.kind {
            Kind::Word(name) => Variable::System(known(name)?),
            Kind::UserVariable(name) => user(name)?,
            _ => return None,
        };
        let is_user = matches!(assigns, Variable::User(_));
        let (reads, constant) = match &value.kind {
            Kind::SystemVariable(name) => (Some(Variable::System(known(name)?)), None),
            Kind::UserVariable(name) => (Some(user(name)?), None),
            // It has the collation of the connection.
            Kind::String(text) if is_user => (Some(Variable::System("collation_connection")), Some(*text)),
            Kind::Number(text) | Kind::String(text) => (None, Some(*text)),
            // The name of a character set, say.
            Kind::Word(text) if !is_user && !value.is_word(b"DEFAULT") => (None, Some(*text)),
            _ => return None,
        };
        Some(Self { bytes: target.offset..value.end, constant: constant.map(<[u8]>::to_vec), assigns, reads })
    }

    /// The user variable that it assigns.
    pub fn user_variable(&self) -> Option<&[u8]> {
        match &self.assigns {
            Variable::User(name) => Some(name),
            Variable::System(_) => None,
        }
    }

    /// The session variable whose value it assigns.
    pub fn read_variable(&self) -> Option<&'static str> {
        match self.reads {
            Some(Variable::System(name)) if self.constant.is_none() => Some(name),
            _ => None,
        }
    }

    /// The user variable whose value it assigns.
    pub fn read_user_variable(&self) -> Option<&[u8]> {
        match &self.reads {
            Some(Variable::User(name)) => Some(name),
            _ => None,
        }
    }

    /// Whether it means the same together with these before it as behind them.
    pub fn joins(&self, before: &[&Self]) -> bool {
        before.iter().all(|one| one.assigns != self.assigns && !self.reads.as_ref().is_some_and(|read| one.sets(read)))
    }

    /// Whether the value of a variable may be another behind this.
    fn sets(&self, variable: &Variable) -> bool {
        // Some of those for character sets set others.
        let is_of_charsets = |variable: &Variable| matches!(variable, Variable::System(name) if name.starts_with("character_set") || name.starts_with("collation"));
        self.assigns == *variable || (is_of_charsets(&self.assigns) && is_of_charsets(variable))
    }
}

fn known(name: &[u8]) -> Option<&'static str> {
    VARIABLES.into_iter().find(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

fn user(name: &[u8]) -> Option<Variable> {
    name.is_ascii().then(|| Variable::User(name.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::{Dialect, tokens};

    fn read(text: &str) -> Option<PlainSet> {
        let all: Vec<_> = tokens(text.as_bytes(), &Dialect::mariadb(101_119)).collect();
        PlainSet::read(&all)
    }

    #[test]
    fn what_is_one_assignment() {
        for (text, item) in [
            ("SET @saved_cs_client = @@character_set_client", "@saved_cs_client = @@character_set_client"),
            ("/*!50003 SET sql_mode  = 'ANSI' */", "sql_mode  = 'ANSI'"),
            ("/*!50001 SET character_set_client = utf8mb4 */", "character_set_client = utf8mb4"),
            ("SET time_zone := @`old zone`", "time_zone := @`old zone`"),
            ("SET @a = 1", "@a = 1"),
        ] {
            let set = read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(&text[set.bytes], item);
        }
        for text in [
            "SET NAMES utf8mb4",
            "SET @a = 1, @b = 2",
            "SET @a = @a + 1",
            "SET SESSION sql_mode = ''",
            "SET @@sql_mode = ''",
            "SET sql_mode = DEFAULT",
            "SET @a = @@global.sql_mode",
            "SET @a = b",
            "SET sort_buffer_size = 1",
            "SET @a = NOW()",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn what_means_the_same_together() {
        let joins = |before: &str, set: &str| read(set).unwrap().joins(&[&read(before).unwrap()]);
        let save = "SET @saved = @@character_set_client";
        assert!(joins(save, "SET @other = @@character_set_results"));
        assert!(joins(save, "SET character_set_client = latin1"));
        assert!(joins("SET character_set_client = @saved", "SET character_set_results = @saved"));
        assert!(joins("SET character_set_client = utf8", "SET @mode = @@sql_mode"));
        assert!(!joins("SET character_set_client = latin1", save));
        assert!(!joins("SET collation_connection = latin1_bin", "SET @a = @@character_set_connection"));
        assert!(!joins(save, "SET character_set_results = @SAVED"));
        assert!(!joins("SET collation_connection = utf8mb4_bin", "SET @a = 'a'"));
        assert!(joins("SET collation_connection = utf8mb4_bin", "SET time_zone = '+00:00'"));
        assert!(!joins("SET sql_mode = 'ANSI'", "SET sql_mode = ''"));
    }
}
