//! What a source has, as its rules want it on the target: other names, and what is left out. Definitions are rewritten as those
//! in the log are, so that a table is the same whether it is copied or created later.

use std::collections::HashSet;

use hortator_mysql::quote_identifier;

use super::Error;
use super::definitions::dialect;
use super::destination::Destination;
use super::inventory::{Definition, Inventory, SharedTable, Table};
use super::objects::{Kind, Object};
use crate::rules::{Rewritten, Rules, Sharing, created_table_in, rewrite};

/// The inventory under the rules. What they leave out is not in it any more, but for schemas. `positions`: the schema of
/// positions.
pub(super) fn under_rules(
    found: Inventory,
    rules: &Rules,
    positions: &str,
    server_version: u32,
) -> Result<Inventory, Error> {
    if rules.is_empty() {
        return Ok(found);
    }
    let Inventory { definitions, tables, mut left_out } = found;
    let of_table = |table| of_table(table, rules, positions);
    let tables = tables.into_iter().map(of_table).collect::<Result<Vec<Table>, Error>>()?;
    let mut names = HashSet::new();
    let own = definitions.iter().filter(|definition| {
        let Object { kind, schema, name } = &definition.object;
        *kind != Kind::Table || rules.sharing(schema, name) == Sharing::Own
    });
    let mut named = own.map(|definition| renamed(&definition.object, rules));
    let twice = named.find(|object| {
        let name = (object.schema.clone(), object.name.clone());
        object.kind.name_space() == Kind::Table && !names.insert(name)
    });
    if let Some(object) = twice {
        return Err(Error::Refused(format!(
            "the rules give several things of the source the name {}, and only tables can be merged: leave the others out by a \
             rule before, or give them other names",
            object.shown()
        )));
    }
    let mut kept = Vec::with_capacity(definitions.len());
    for definition in definitions {
        kept.extend(of_definition(definition, rules, server_version, &mut left_out)?);
    }
    Ok(Inventory { definitions: kept, tables, left_out })
}

fn of_table(table: Table, rules: &Rules, positions: &str) -> Result<Table, Error> {
    let Object { schema, name, .. } = &table.object;
    if rules.lacks_beginning(schema, name) {
        return Err(Error::Refused(format!(
            "the rule for {} leaves out its creation or its inserts, and a copy cannot follow that: copy it by hand, and give \
             this source the position of that as its `start`",
            table.object.shown()
        )));
    }
    let target = renamed(&table.object, rules);
    let staged = |column| Destination::staged(positions, rules.source(), &table.object, column);
    let destination = match rules.sharing(schema, name) {
        Sharing::Own => Destination::Own,
        // A table with history keeps what is deleted.
        Sharing::Marked(column) if table.has_history => staged(Some(column)),
        Sharing::Marked(column) => Destination::Marked { column: column.to_owned() },
        Sharing::Mixed => staged(None),
    };
    if let Destination::Marked { column } | Destination::Staged { column: Some(column), .. } = &destination {
        let quoted = quote_identifier(column);
        if table.columns.iter().any(|own| own.name().eq_ignore_ascii_case(&quoted)) {
            return Err(Error::Refused(format!(
                "{} has a column `{column}` on the source: give the source column another name",
                table.object.shown()
            )));
        }
    }
    Ok(Table { target, destination, ..table })
}

/// The thing by its name on the target, if tables and it share names.
fn renamed(object: &Object, rules: &Rules) -> Object {
    match rules.name_on_target(&object.schema, &object.name) {
        Some((schema, name)) if object.kind.name_space() == Kind::Table => Object { kind: object.kind, schema, name },
        _ => object.clone(),
    }
}

fn of_definition(
    definition: Definition,
    rules: &Rules,
    server_version: u32,
    left_out: &mut Vec<String>,
) -> Result<Option<Definition>, Error> {
    let Object { kind, schema, name } = &definition.object.clone();
    let default: &[u8] = if *kind == Kind::Schema { b"" } else { schema };
    let sharing = rules.sharing(schema, name);
    if *kind == Kind::Sequence && matches!(sharing, Sharing::Marked(_)) {
        return Err(Error::Refused(format!(
            "{} is a sequence, which cannot have a source column: give it a rule of its own before, with `skip` or \
             another name",
            definition.object.shown()
        )));
    }
    let dialect = dialect(&definition, server_version);
    let definition = match rewrite(rules, default, &definition.create, &dialect) {
        Rewritten::AsIs => definition,
        // A definition deletes no rows.
        Rewritten::LeftOut | Rewritten::OwnRowsDeleted { .. } => return Ok(None),
        Rewritten::Changed { text, schema } => {
            let object = match definition.object.kind {
                Kind::Schema => {
                    let Some(to) = rules.schema_on_target(&definition.object.schema) else { return Ok(None) };
                    Object { schema: to, ..definition.object }
                }
                kind if kind.name_space() == Kind::Table => renamed(&definition.object, rules),
                _ => Object { schema: schema.clone(), ..definition.object },
            };
            Definition { object, create: text, default_schema: schema, ..definition }
        }
        // What is about tables that are merged is another thing on the target.
        Rewritten::Refused(_) if *kind > Kind::Table && rules.merge_tables_of(schema) => {
            left_out.push(format!("{} {}", kind.sql().to_lowercase(), definition.object.shown()));
            return Ok(None);
        }
        Rewritten::Refused(reason) => {
            return Err(Error::Refused(format!(
                "the {} {} cannot be copied under the rules: {reason}. A copy has nothing to skip: drop it on the source, or \
                 copy by hand and give the position of that as `start`",
                definition.object.kind.sql().to_lowercase(),
                definition.object.shown()
            )));
        }
    };
    let source_column = match sharing {
        _ if definition.object.kind != Kind::Table => return Ok(Some(definition)),
        Sharing::Own => return Ok(Some(definition)),
        Sharing::Marked(column) => Some(column.to_owned()),
        Sharing::Mixed => None,
    };
    let create = without_generated_names(&definition.create, name);
    let definition = Definition { create, ..definition };
    let created = created_table_in(Some(&definition.object.schema), &definition.create, &dialect);
    let created = created.ok_or_else(|| {
        Error::Refused(format!("the definition of {} is of no known form", definition.object.shown()))
    })?;
    Ok(Some(Definition { shared: Some(SharedTable { created, source_column }), ..definition }))
}

/// A definition as SHOW CREATE TABLE has it, without the names that the server has made for its foreign keys: those of the
/// target have the name of its table.
fn without_generated_names(create: &[u8], table: &[u8]) -> Vec<u8> {
    let quoted = quote_identifier([table, b"_ibfk_"].concat());
    let before = [b"  CONSTRAINT ".as_slice(), &quoted[..quoted.len() - 1]].concat();
    let of_line = |line: &[u8]| -> Vec<u8> {
        let key = line.strip_prefix(&before[..]).and_then(|rest| {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            rest[digits..].strip_prefix(b"` FOREIGN KEY").filter(|_| digits > 0)
        });
        key.map_or_else(|| line.to_vec(), |key| [b"  FOREIGN KEY".as_slice(), key].concat())
    };
    create.split(|byte| *byte == b'\n').map(of_line).collect::<Vec<Vec<u8>>>().join(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::without_generated_names;

    #[test]
    fn generated_names_of_foreign_keys() {
        for (line, expected) in [
            ("  CONSTRAINT `t_ibfk_12` FOREIGN KEY (`a`)", "  FOREIGN KEY (`a`)"),
            ("  CONSTRAINT `mine` FOREIGN KEY (`a`)", "  CONSTRAINT `mine` FOREIGN KEY (`a`)"),
            ("  CONSTRAINT `t_ibfk_` FOREIGN KEY (`a`)", "  CONSTRAINT `t_ibfk_` FOREIGN KEY (`a`)"),
            (
                "  `c` text COMMENT '  CONSTRAINT `t_ibfk_1` FOREIGN KEY'",
                "  `c` text COMMENT '  CONSTRAINT `t_ibfk_1` FOREIGN KEY'",
            ),
        ] {
            let create = |line: &str| format!("CREATE TABLE `t` (\n{line}\n)").into_bytes();
            assert_eq!(without_generated_names(&create(line), b"t"), create(expected), "{line}");
        }
    }
}
