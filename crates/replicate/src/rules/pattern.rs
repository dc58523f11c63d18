//! Patterns of names: `shop.*`, `tenant_*.orders`; and the names that they become.

use std::fmt;
use std::str::FromStr;

/// Stands for any letters, none included.
const ANY: char = '*';

/// A schema and a table, each with at most one `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePattern {
    schema: NamePattern,
    table: NamePattern,
}

/// What stands before and behind the `*`; without one, the name itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamePattern {
    before: String,
    behind: Option<String>,
    /// Capital letters are small ones.
    folds: bool,
}

impl NamePattern {
    fn read(text: &str) -> Result<NamePattern, String> {
        let (before, behind) = match text.split_once(ANY) {
            Some((before, behind)) => (before, Some(behind)),
            None => (text, None),
        };
        match behind {
            Some(behind) if behind.contains(ANY) => Err(format!("`{text}` has more than one *")),
            None if before.is_empty() => Err("a name is missing: give SCHEMA.TABLE".to_owned()),
            _ => Ok(NamePattern { before: before.to_owned(), behind: behind.map(str::to_owned), folds: false }),
        }
    }

    /// What `*` stands for in a name; `None` where the name is another one.
    fn find<'n>(&self, name: &'n [u8]) -> Option<&'n [u8]> {
        let (before, rest) = name.split_at_checked(self.before.len())?;
        let (found, behind) = match &self.behind {
            Some(behind) => rest.split_at_checked(rest.len().checked_sub(behind.len())?)?,
            None => rest.split_at(0),
        };
        let wanted = self.behind.as_deref().unwrap_or_default();
        (self.is_same(before, &self.before) && self.is_same(behind, wanted)).then_some(found)
    }

    fn is_same(&self, found: &[u8], wanted: &str) -> bool {
        if self.folds { found.eq_ignore_ascii_case(wanted.as_bytes()) } else { found == wanted.as_bytes() }
    }

    /// What `*` stands for, as the server keeps it.
    fn kept(&self, found: &[u8]) -> Vec<u8> {
        if self.folds { found.to_ascii_lowercase() } else { found.to_vec() }
    }

    /// The name with something in place of `*`.
    fn fill(&self, found: &[u8]) -> Vec<u8> {
        match &self.behind {
            Some(behind) => [self.before.as_bytes(), found, behind.as_bytes()].concat(),
            None => self.before.clone().into_bytes(),
        }
    }

    fn is_any(&self) -> bool {
        self.before.is_empty() && self.behind.as_deref() == Some("")
    }
}

impl TablePattern {
    /// Whether a table is of this pattern.
    pub(super) fn matches(&self, schema: &[u8], table: &[u8]) -> bool {
        self.schema.find(schema).is_some() && self.table.find(table).is_some()
    }

    /// Whether it stands for all tables of this schema.
    pub(super) fn matches_all_of(&self, schema: &[u8]) -> bool {
        self.schema.find(schema).is_some() && self.table.is_any()
    }

    /// Whether it stands for some table of this schema.
    pub(super) fn matches_some_of(&self, schema: &[u8]) -> bool {
        self.schema.find(schema).is_some()
    }

    /// What a table of this pattern becomes.
    pub(super) fn map(&self, to: &TablePattern, schema: &[u8], table: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let (in_schema, in_table) = (self.schema.find(schema)?, self.table.find(table)?);
        Some((to.schema.fill(&self.schema.kept(in_schema)), to.table.fill(&self.table.kept(in_table))))
    }

    /// What a schema of this pattern becomes.
    pub(super) fn map_schema(&self, to: &TablePattern, schema: &[u8]) -> Option<Vec<u8>> {
        Some(to.schema.fill(&self.schema.kept(self.schema.find(schema)?)))
    }

    /// Whether every `*` of `to` has one in this pattern that says what it stands for.
    pub(super) fn can_fill(&self, to: &TablePattern) -> bool {
        let can = |from: &NamePattern, to: &NamePattern| to.behind.is_none() || from.behind.is_some();
        can(&self.schema, &to.schema) && can(&self.table, &to.table)
    }

    /// The same for names of a server for which capital letters are small ones.
    pub(super) fn folding(mut self) -> TablePattern {
        (self.schema.folds, self.table.folds) = (true, true);
        self
    }

    /// Whether tables of this pattern keep their names in `to`.
    pub(super) fn keeps_tables(&self, to: &TablePattern) -> bool {
        (&self.table.before, &self.table.behind) == (&to.table.before, &to.table.behind)
    }
}

impl FromStr for TablePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<TablePattern, String> {
        let (schema, table) = text.split_once('.').ok_or_else(|| format!("`{text}`: give SCHEMA.TABLE, as shop.*"))?;
        Ok(TablePattern { schema: NamePattern::read(schema)?, table: NamePattern::read(table)? })
    }
}

impl fmt::Display for TablePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |name: &NamePattern| match &name.behind {
            Some(behind) => format!("{}*{behind}", name.before),
            None => name.before.clone(),
        };
        write!(f, "{}.{}", text(&self.schema), text(&self.table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> TablePattern {
        text.parse().unwrap()
    }

    #[test]
    fn names() {
        for (from, to, name, expected) in [
            ("shop.*", "shop1.*", "shop.orders", Some("shop1.orders")),
            ("shop.*", "all.*_of_shop", "shop.orders", Some("all.orders_of_shop")),
            ("tenant_*.orders", "all.orders", "tenant_7.orders", Some("all.orders")),
            ("tenant_*.*", "t*.*", "tenant_7.x", Some("t7.x")),
            ("a*a.*", "b.*", "a.x", None),
            ("shop.*", "x.*", "shop2.orders", None),
            ("shop.log_*", "x.*", "shop.log", None),
        ] {
            let (schema, table) = name.split_once('.').unwrap();
            let found = pattern(from).map(&pattern(to), schema.as_bytes(), table.as_bytes());
            let found = found.map(|(schema, table)| [schema, b".".to_vec(), table].concat());
            assert_eq!(found, expected.map(|text| text.as_bytes().to_vec()), "{name} by {from} to {to}");
            assert_eq!(pattern(from).to_string(), from);
        }
    }

    #[test]
    fn names_of_a_server_without_capital_letters() {
        let from = pattern("Shop.log_*").folding();
        let found = from.map(&pattern("x.*_log"), b"sHOP", b"LOG_New");
        assert_eq!(found, Some((b"x".to_vec(), b"new_log".to_vec())));
        assert!(!from.matches(b"shops", b"log_new") && !from.matches(b"sho", b"log_new"));
        assert!(pattern("Shop.*").matches(b"Shop", b"T") && !pattern("Shop.*").matches(b"shop", b"T"));
    }

    #[test]
    fn no_patterns() {
        for (text, said) in [("shop", "give SCHEMA.TABLE"), ("a.**", "more than one *"), (".x", "a name is missing")] {
            assert!(text.parse::<TablePattern>().unwrap_err().contains(said), "{text}");
        }
    }
}
