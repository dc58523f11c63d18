//! Makes what a copy has found: schemas, tables, routines, views, events. Of what several sources share, the first one makes
//! it; the others find it.

use hortator_load::lexer::Dialect;
use hortator_mysql::Error as ServerError;

use super::Error;
use super::claims::{Claims, names_taken};
use super::copy::{Monitor, Wanted};
use super::definitions::statements;
use super::inventory::{Definition, SharedTable};
use super::objects::{Kind, Object};
use crate::apply::{Refusal, SharedDefinitions};
use crate::query::first_value;
use crate::rules::{Rules, created_schema};

/// Errors of CREATE VIEW for what is not made yet: schema, table, routine, view.
const NOT_YET: [u16; 4] = [1049, 1146, 1305, 1356];

/// Makes definitions.
pub(super) struct DefinitionMaker<'m> {
    pub(super) rules: &'m Rules,
    /// The schema of positions.
    pub(super) positions: &'m str,
    pub(super) monitor: &'m dyn Monitor,
}

impl DefinitionMaker<'_> {
    /// Everything but triggers, which would fire for the rows of the copy.
    ///
    /// Gives the triggers.
    pub(super) fn make<'d>(
        &self,
        claims: &mut Claims,
        definitions: &'d [Definition],
    ) -> Result<Vec<&'d Definition>, Error> {
        while !claims.try_lock_names()? {
            self.goes_on()?;
        }
        let definitions = self.without_taken(claims, definitions)?;
        let (behind, before): (Vec<&Definition>, Vec<&Definition>) =
            definitions.iter().partition(|definition| definition.object.kind == Kind::Trigger);
        let objects: Vec<&Object> = definitions.iter().map(|definition| &definition.object).collect();
        let has_events = objects.iter().any(|object| object.kind == Kind::Event);
        let scheduler = first_value(&mut claims.connection, b"SELECT @@global.event_scheduler");
        if has_events && scheduler.map_err(Error::target("asking for the event scheduler"))? == "ON" {
            return Err(Error::Refused(
                "the target runs events, and would run those of the source before they are disabled: SET GLOBAL \
                 event_scheduler = OFF there"
                    .to_owned(),
            ));
        }
        let (views, others): (Vec<&Definition>, Vec<&Definition>) =
            before.iter().partition(|definition| definition.object.kind == Kind::View);
        for definition in others.iter().filter(|definition| definition.object.kind < Kind::View) {
            self.goes_on()?;
            match &definition.shared {
                Some(shared) => self.make_shared(claims, definition, shared)?,
                None if definition.object.kind == Kind::Schema && claims.has_schema(&definition.object.schema)? => {
                    self.check_schema(claims, definition)?;
                }
                None => make(claims, definition)?,
            }
        }
        make_views(claims, views)?;
        for definition in others.iter().filter(|definition| definition.object.kind > Kind::View) {
            make(claims, definition)?;
        }
        claims.unlock_names()?;
        Ok(behind)
    }

    /// What is to be made. A name that the target has stops the copy; but what is no table stays as it is there, in a schema
    /// that others put such things into too.
    fn without_taken<'d>(
        &self,
        claims: &mut Claims,
        definitions: &'d [Definition],
    ) -> Result<Vec<&'d Definition>, Error> {
        let own = definitions.iter().filter(|definition| definition.shared.is_none());
        let taken = claims.taken(&own.map(|definition| &definition.object).collect::<Vec<&Object>>())?;
        let stays = |object: &Object| {
            !matches!(object.kind, Kind::Table | Kind::Sequence) && self.rules.shares_schema(&object.schema)
        };
        let (left, stopping): (Vec<&Object>, Vec<&Object>) = taken.into_iter().partition(|object| stays(object));
        if !stopping.is_empty() {
            return Err(names_taken(&stopping.iter().map(|object| object.shown()).collect::<Vec<String>>()));
        }
        if !left.is_empty() {
            let shown = left.iter().map(|object| format!("{} {}", object.kind.sql().to_lowercase(), object.shown()));
            let shown = shown.collect::<Vec<String>>().join(", ");
            self.monitor.tell(&format!("leaves as the target has it, in schemas of several sources: {shown}"));
        }
        Ok(definitions.iter().filter(|definition| !left.contains(&&definition.object)).collect())
    }

    /// Makes a table that several become, or finds it.
    fn make_shared(&self, claims: &mut Claims, definition: &Definition, shared: &SharedTable) -> Result<(), Error> {
        let doing = format!("making the table {}", definition.object.shown());
        let (texts, create) = statements(definition);
        for statement in &texts[..create] {
            claims.connection.execute(statement).map_err(Error::target(&doing))?;
        }
        let mut definitions = self.shared_definitions(claims);
        let done = definitions.table(&definition.create, &shared.created, shared.source_column.as_deref());
        done.map_err(|refusal| not_made(refusal, &doing))
    }

    /// A schema that is there must have the same collation: tables that name none have that of their schema.
    fn check_schema(&self, claims: &mut Claims, definition: &Definition) -> Result<(), Error> {
        let doing = format!("looking at the schema {}", definition.object.shown());
        let dialect = Dialect::mariadb(claims.connection.version().comment_number());
        let Some(schema) = created_schema(&definition.create, &dialect) else { return Ok(()) };
        let done = self.shared_definitions(claims).schema(&definition.create, &schema);
        done.map_err(|refusal| not_made(refusal, &doing))
    }

    fn shared_definitions<'s>(&'s self, claims: &'s mut Claims) -> SharedDefinitions<'s> {
        SharedDefinitions {
            connection: &mut claims.connection,
            rules: self.rules,
            positions: self.positions,
            settings: b"",
        }
    }

    fn goes_on(&self) -> Result<(), Error> {
        match self.monitor.wanted() {
            Wanted::End => Err(Error::Ended),
            Wanted::Run | Wanted::Hold => Ok(()),
        }
    }
}

/// Makes a thing of this source alone.
pub(super) fn make(claims: &mut Claims, definition: &Definition) -> Result<(), Error> {
    let (texts, create) = statements(definition);
    claims.make(&definition.object, &texts, create)
}

/// Views may be on views: each round makes those that have what they need.
fn make_views(claims: &mut Claims, mut waiting: Vec<&Definition>) -> Result<(), Error> {
    while !waiting.is_empty() {
        let (mut still, mut last) = (Vec::new(), None);
        for &view in &waiting {
            match make(claims, view) {
                Err(Error::Target { doing, error: ServerError::Server(error) }) if NOT_YET.contains(&error.code) => {
                    // What follows a statement that fails is not sent.
                    claims.reset_session()?;
                    last = Some(Error::Target { doing, error: ServerError::Server(error) });
                    still.push(view);
                }
                made => made?,
            }
        }
        if let Some(error) = last.filter(|_| still.len() == waiting.len()) {
            return Err(error);
        }
        waiting = still;
    }
    Ok(())
}

/// What stops the copy where something that others share was not made.
fn not_made(refusal: Refusal, doing: &str) -> Error {
    match refusal {
        Refusal::Server(error) => Error::target(doing)(error),
        Refusal::Busy => Error::Rows {
            code: None,
            text: format!("{doing}: another source makes tables for longer than `lock_wait_timeout`"),
        },
        Refusal::Refused(found) => Error::Refused(format!("{doing}: {found}")),
        Refusal::Differs { table, wanted, found } => Error::Refused(format!(
            "the target has {table} with another definition. Change one of the two tables, or drop that of the target, and \
             `resume`; or leave the table out by a rule.\nthe source's:\n{wanted}\nthe target's:\n{found}"
        )),
        Refusal::OtherCollation { schema, wanted, found } => Error::Refused(format!(
            "the target has the schema `{schema}` with the collation {found}, and the source has it with {wanted}: tables that \
             name no character set would have another one than on the source. ALTER DATABASE on the target, which changes no \
             table, then `resume`"
        )),
    }
}
