//! What a source has, as its rules want it on the target: other names, and what is left out. Definitions are rewritten as those
//! in the log are, so that a table is the same whether it is copied or created later.

use std::collections::HashSet;

use hortator_load::lexer::{Charset, Dialect};

use super::Error;
use super::inventory::{Definition, Inventory, Table};
use super::objects::{Kind, Object};
use crate::rules::{Rewritten, Rules, rewrite};

/// The inventory under the rules. What they leave out is not in it any more, but for schemas.
pub(super) fn under_rules(found: Inventory, rules: &Rules, server_version: u32) -> Result<Inventory, Error> {
    if rules.is_empty() {
        return Ok(found);
    }
    let Inventory { definitions, tables } = found;
    let tables = tables.into_iter().map(|table| of_table(table, rules)).collect::<Result<Vec<Table>, Error>>()?;
    let mut names = HashSet::new();
    let mut named = definitions.iter().map(|definition| renamed(&definition.object, rules));
    let twice = named.find(|object| {
        let name = (object.schema.clone(), object.name.clone());
        object.kind.name_space() == Kind::Table && !names.insert(name)
    });
    if let Some(object) = twice {
        return Err(Error::Refused(format!(
            "the rules give several tables of the source the name {}: a copy does not merge tables; copy them by hand, and give \
             this source the position of that as its `start`",
            object.shown()
        )));
    }
    let mut kept = Vec::with_capacity(definitions.len());
    for definition in definitions {
        kept.extend(of_definition(definition, rules, server_version)?);
    }
    Ok(Inventory { definitions: kept, tables })
}

fn of_table(table: Table, rules: &Rules) -> Result<Table, Error> {
    let Object { schema, name, .. } = &table.object;
    if !rules.keeps_rows(schema, name) {
        return Err(Error::Refused(format!(
            "the rule for {} adds a source column, or leaves out its creation or its inserts, and a copy cannot follow that: copy \
             it by hand, and give this source the position of that as its `start`",
            table.object.shown()
        )));
    }
    let target = renamed(&table.object, rules);
    Ok(Table { target, ..table })
}

/// The thing by its name on the target, if tables and it share names.
fn renamed(object: &Object, rules: &Rules) -> Object {
    match rules.name_on_target(&object.schema, &object.name) {
        Some((schema, name)) if object.kind.name_space() == Kind::Table => Object { kind: object.kind, schema, name },
        _ => object.clone(),
    }
}

fn of_definition(definition: Definition, rules: &Rules, server_version: u32) -> Result<Option<Definition>, Error> {
    let default: &[u8] = if definition.object.kind == Kind::Schema { b"" } else { &definition.object.schema };
    match rewrite(rules, default, &definition.create, &dialect(&definition, server_version)) {
        Rewritten::AsIs => Ok(Some(definition)),
        // A definition deletes no rows.
        Rewritten::LeftOut | Rewritten::OwnRowsDeleted { .. } => Ok(None),
        Rewritten::Changed { text, schema } => {
            let object = match definition.object.kind {
                Kind::Schema => {
                    let Some(to) = rules.schema_on_target(&definition.object.schema) else { return Ok(None) };
                    Object { schema: to, ..definition.object }
                }
                kind if kind.name_space() == Kind::Table => renamed(&definition.object, rules),
                _ => Object { schema: schema.clone(), ..definition.object },
            };
            Ok(Some(Definition { object, create: text, default_schema: schema, ..definition }))
        }
        Rewritten::Refused(reason) => Err(Error::Refused(format!(
            "the {} {} cannot be copied under the rules: {reason}. A copy has nothing to skip: drop it on the source, or copy by \
             hand and give the position of that as `start`",
            definition.object.kind.sql().to_lowercase(),
            definition.object.shown()
        ))),
    }
}

fn dialect(definition: &Definition, server_version: u32) -> Dialect {
    let (mode, charset) = match &definition.session {
        Some([mode, charset, _]) => (&mode[..], &charset[..]),
        None => (&b""[..], &b"utf8mb4"[..]),
    };
    let has_mode = |name: &[u8]| mode.split(|byte| *byte == b',').any(|mode| mode == name);
    Dialect {
        server_version,
        mariadb: true,
        no_backslash_escapes: has_mode(b"NO_BACKSLASH_ESCAPES"),
        ansi_quotes: has_mode(b"ANSI_QUOTES"),
        charset: Charset::from_name(charset),
    }
}
