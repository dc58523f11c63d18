//! Kinds of things that a copy makes on the target, in the order in which it makes them.

use hortator_mysql::quote_identifier;

/// A kind. The order is that of their making; they are dropped in the opposite order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Schema,
    Sequence,
    Table,
    Function,
    Procedure,
    Package,
    PackageBody,
    View,
    Event,
    Trigger,
    /// The source's rows in a table that others have rows in too.
    Rows,
}

/// Kinds, their names in SQL and in the record, and whether tables and they share names.
const KINDS: [(Kind, &str); 11] = [
    (Kind::Schema, "DATABASE"),
    (Kind::Sequence, "SEQUENCE"),
    (Kind::Table, "TABLE"),
    (Kind::Function, "FUNCTION"),
    (Kind::Procedure, "PROCEDURE"),
    (Kind::Package, "PACKAGE"),
    (Kind::PackageBody, "PACKAGE BODY"),
    (Kind::View, "VIEW"),
    (Kind::Event, "EVENT"),
    (Kind::Trigger, "TRIGGER"),
    (Kind::Rows, "ROWS"),
];

impl Kind {
    /// As SQL and the record have it.
    pub(super) fn sql(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// Of a name in SQL.
    pub(super) fn from_sql(name: &str) -> Option<Kind> {
        KINDS.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// What else may have the name: tables, views and sequences share theirs.
    pub(super) fn name_space(self) -> Kind {
        match self {
            Kind::View | Kind::Sequence => Kind::Table,
            other => other,
        }
    }
}

/// A thing that a copy makes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Object {
    pub(super) kind: Kind,
    pub(super) schema: Vec<u8>,
    /// Empty for the schema itself.
    pub(super) name: Vec<u8>,
}

impl Object {
    /// Quoted, with its schema.
    pub(super) fn quoted(&self) -> Vec<u8> {
        match self.kind {
            Kind::Schema => quote_identifier(&self.schema),
            _ => [quote_identifier(&self.schema), quote_identifier(&self.name)].join(&b'.'),
        }
    }

    /// For a message.
    pub(super) fn shown(&self) -> String {
        let schema = String::from_utf8_lossy(&self.schema);
        match self.kind {
            Kind::Schema => schema.into_owned(),
            _ => format!("{schema}.{}", String::from_utf8_lossy(&self.name)),
        }
    }
}
