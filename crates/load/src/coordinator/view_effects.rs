//! What a statement that writes through a view does with rows: that depends on the tables behind the view.

use std::sync::Arc;

use hortator_mysql::catalog::{Table, TableKind, TableName};

use super::Coordinator;
use crate::apply::Stopped;
use crate::lexer::{Dialect, Kind, Location, Token, tokens};

/// Relations that are looked at behind one view.
const RELATIONS_LIMIT: usize = 32;

impl Coordinator<'_> {
    /// The tables behind a view; `None` where they are not all known, or too many.
    pub(super) fn tables_behind(
        &mut self,
        view: &TableName,
        location: &Location,
    ) -> Result<Option<Arc<[TableName]>>, Stopped> {
        if let Some(known) = self.catalog.views.get(view) {
            return Ok(known.clone());
        }
        let found = self.look_behind(view, location)?.map(Arc::from);
        self.catalog.views.insert(view.clone(), found.clone());
        Ok(found)
    }

    fn look_behind(&mut self, view: &TableName, location: &Location) -> Result<Option<Vec<TableName>>, Stopped> {
        let (mut tables, mut seen, mut views) = (Vec::new(), Vec::new(), vec![view.clone()]);
        while let Some(view) = views.pop() {
            let definition = self.ask(location, |catalog| catalog.view_definition(&view))?;
            let Some(definition) = definition else { return Ok(None) };
            // As the server prints it.
            if self.main.look_ahead.functions().may_be_called_in(&definition, &Dialect::mariadb(u32::MAX)) {
                return Ok(None);
            }
            for name in pairs(&definition) {
                if seen.contains(&name) {
                    continue;
                }
                if seen.len() >= RELATIONS_LIMIT {
                    return Ok(None);
                }
                seen.push(name.clone());
                match self.table(&name, location)?.as_deref() {
                    // An alias and its column.
                    None => {}
                    Some(Table { kind: TableKind::Base { .. }, .. }) => tables.push(name),
                    Some(table) if is_view(table) => views.push(name),
                    Some(_) => return Ok(None),
                }
            }
        }
        Ok(Some(tables).filter(|tables| !tables.is_empty()))
    }
}

/// Whether this is a view.
pub(super) fn is_view(table: &Table) -> bool {
    table.kind == TableKind::Other && table.engine.is_empty()
}

/// All that stands in a definition as two quoted names with a dot between: tables with their schemas, and columns.
fn pairs(definition: &[u8]) -> Vec<TableName> {
    // As the server prints it.
    let all: Vec<Token<'_>> = tokens(definition, &Dialect::mariadb(u32::MAX)).collect();
    let pair = |window: &[Token<'_>]| match window {
        [
            Token { kind: Kind::QuotedIdentifier(schema), .. },
            dot,
            Token { kind: Kind::QuotedIdentifier(table), .. },
        ] if dot.is_symbol(b".") => Some(TableName { schema: schema.to_vec(), table: table.to_vec() }),
        _ => None,
    };
    let mut found: Vec<TableName> = all.windows(3).filter_map(pair).collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_columns_of_a_definition() {
        let text =
            "select `a`.`id` AS `id` from (`d`.`t` `a` join `e```.`u` on(`a`.`id` = `e```.`u`.`n`)) where 1 > 'x.y'";
        let found: Vec<String> = pairs(text.as_bytes()).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["a.id", "d.t", "e`.u", "u.n"]);
    }
}
