//! The order of views: each behind those that it reads.

use crate::analysis::NamedTable;
use crate::input::Member;
use crate::lexer::{Dialect, tokens};
use crate::selection::named_tables;

/// A view and its file.
pub(super) struct View {
    /// The schema, where the folder tells it.
    pub(super) schema: Option<Vec<u8>>,
    pub(super) name: Vec<u8>,
    /// The tables and views that it reads.
    pub(super) sources: Vec<NamedTable>,
    pub(super) members: [Member; 2],
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
            is_of_schema && source.table == other.name
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

/// The tables and views that a SELECT reads.
pub(super) fn sources(select: &[u8]) -> Vec<NamedTable> {
    named_tables(&tokens(select, &Dialect::mariadb(u32::MAX)).collect::<Vec<_>>())
}

#[test]
fn names_in_the_places_of_tables() {
    let shown = |select: &str| {
        let one = |source: NamedTable| {
            let name = String::from_utf8(source.table).unwrap();
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
            // `c` is the expression.
            "a",
        ),
        ("AS select 'from `a`' from `b` straight_join `c` force index (`d`,`e`) */", "b c"),
        ("AS select 1", ""),
    ] {
        assert_eq!(shown(select), expected, "{select}");
    }
}
