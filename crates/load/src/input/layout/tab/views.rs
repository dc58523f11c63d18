//! The order of views: each behind those that it reads.

use crate::input::Member;
use crate::lexer::{Dialect, Kind, Token, tokens};

/// A view and its file.
pub(super) struct View {
    /// The schema, where the folder tells it.
    pub(super) schema: Option<Vec<u8>>,
    pub(super) name: Vec<u8>,
    /// The tables and views that it reads.
    pub(super) sources: Vec<SourceName>,
    pub(super) members: [Member; 2],
}

/// A table or view as a definition names it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SourceName {
    schema: Option<Vec<u8>>,
    name: Vec<u8>,
}

impl View {
    /// Whether its definition reads the other one. Those of another schema have the schema's name before theirs.
    fn reads(&self, other: &Self) -> bool {
        self.sources.iter().any(|source| {
            let is_of_schema = match (&source.schema, &other.schema) {
                (None, schema) => *schema == self.schema,
                (Some(_), None) => true,
                (Some(named), Some(schema)) => named == schema,
            };
            is_of_schema && source.name == other.name
        })
    }
}

/// The views, each behind those that its definition reads; those of a circle in the order of their files.
pub(super) fn in_order(mut views: Vec<View>) -> Vec<View> {
    let mut ordered = Vec::with_capacity(views.len());
    while !views.is_empty() {
        let reads_none = |&index: &usize| {
            let mut others = views.iter().enumerate().filter(|(other, _)| *other != index);
            !others.any(|(_, other)| views[index].reads(other))
        };
        let next = (0..views.len()).find(reads_none).unwrap_or(0);
        ordered.push(views.remove(next));
    }
    ordered
}

/// Words that end the table list of a SELECT.
const BEHIND_TABLES: [&[u8]; 11] = [
    b"WHERE",
    b"GROUP",
    b"HAVING",
    b"ORDER",
    b"LIMIT",
    b"WINDOW",
    b"UNION",
    b"EXCEPT",
    b"INTERSECT",
    b"PROCEDURE",
    b"FETCH",
];

/// What stands between two parentheses.
#[derive(Clone, Copy, Default)]
struct Level {
    /// A SELECT has begun: its FROM has tables behind it, that of `trim(both 'x' from c)` has not.
    is_select: bool,
    is_table_list: bool,
    /// A table comes next.
    expects_table: bool,
}

/// The names in the places of tables in a SELECT: behind FROM, JOIN, and the commas of a table list. The same name is a
/// column's or an alias elsewhere.
pub(super) fn sources(select: &[u8]) -> Vec<SourceName> {
    let (mut found, mut outer, mut level) = (Vec::new(), Vec::new(), Level::default());
    let mut rest = tokens(select, &Dialect::mariadb(u32::MAX)).peekable();
    while let Some(token) = rest.next() {
        let is_any = |words: &[&[u8]]| words.iter().any(|word| token.is_word(word));
        if token.is_symbol(b"(") {
            outer.push(Level { expects_table: false, ..level });
            let is_table_list = level.expects_table;
            level = Level { is_select: false, is_table_list, expects_table: is_table_list };
        } else if token.is_symbol(b")") {
            level = outer.pop().unwrap_or_default();
        } else if token.is_word(b"SELECT") {
            level = Level { is_select: true, ..Level::default() };
        } else if token.is_word(b"FROM") {
            (level.is_table_list, level.expects_table) = (level.is_select, level.is_select);
        } else if is_any(&BEHIND_TABLES) {
            (level.is_table_list, level.expects_table) = (false, false);
        } else if token.is_symbol(b",") || is_any(&[b"JOIN", b"STRAIGHT_JOIN"]) {
            level.expects_table = level.is_table_list;
        } else if level.expects_table
            && let Some(first) = name(&token)
        {
            level.expects_table = false;
            let second = rest.next_if(|next| next.is_symbol(b".")).and_then(|_| name(&rest.next()?));
            found.push(match second {
                Some(name) => SourceName { schema: Some(first), name },
                None => SourceName { schema: None, name: first },
            });
        }
    }
    found
}

fn name(token: &Token<'_>) -> Option<Vec<u8>> {
    match &token.kind {
        Kind::QuotedIdentifier(name) => Some(name.to_vec()),
        Kind::Word(name) => Some(name.to_vec()),
        _ => None,
    }
}

#[test]
fn names_in_the_places_of_tables() {
    let shown = |select: &str| {
        let one = |source: SourceName| {
            let name = String::from_utf8(source.name).unwrap();
            source.schema.map_or(name.clone(), |schema| format!("{}.{name}", String::from_utf8(schema).unwrap()))
        };
        sources(select.as_bytes()).into_iter().map(one).collect::<Vec<_>>().join(" ")
    };
    for (select, expected) in [
        ("AS select `total`.`name` AS `name` from `total`", "total"),
        (
            "AS select `a`.`x` AS `b`,`c`.`d` AS `e` from (`a` join `s`.`c` on(`a`.`x` = `c`.`d`)) where `f`.`g` in (1,2)",
            "a s.c",
        ),
        ("AS select 1 from a AS x left join (b, c) using (d, e), f order by g, h", "a b c f"),
        ("AS select trim(both 'x' from `a`.`b`),(select max(`c`.`d`) from `c`) AS `i` from `j` `k`", "c j"),
        ("AS select 1 AS `1` from (select `a`.`b` AS `b` from `a` limit 1) `t` union select `d`.`e` from `d`", "a d"),
        (
            "AS with `c` as (select 1 from `a`) select `c`.`1` from `c` group by `x`,`y` having `z` /* from `n` */",
            "a c",
        ),
        ("AS select 'from `a`' from `b` straight_join `c` force index (`d`,`e`) */", "b c"),
        ("AS select 1", ""),
    ] {
        assert_eq!(shown(select), expected, "{select}");
    }
}
