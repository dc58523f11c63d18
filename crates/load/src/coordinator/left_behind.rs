//! What a statement leaves in its session.

use hortator_mysql::Error;
use hortator_mysql::error::PARSE_ERROR;

use super::catalog_cache::RoutineEffect;
use super::{CatalogCache, Coordinator};
use crate::analysis::{StatementInfo, StatementKind, Trait};
use crate::apply::Stopped;
use crate::lexer::Location;

/// What a statement left in the session beyond what its words say: for the coordinator to look into.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeftBehind {
    /// Something changed that is neither a variable nor the default schema: user variables, temporary tables.
    pub(super) is_changed: bool,
    /// The default schema is another, or its definition may be.
    pub(super) schema: bool,
    /// Routines or triggers may have run, or a block.
    pub(super) ran_routines: bool,
    /// A statement failed: the server reports nothing of what it had done until then.
    pub(super) has_failed: bool,
}

/// Whether a statement may have set variables of the session before it failed. What routines and triggers do is asked
/// elsewhere.
pub(super) fn may_set_variables(info: &StatementInfo, error: &Error) -> bool {
    let is_one = !info.is(Trait::SeveralStatements) && !info.is(Trait::Compound);
    if is_one && error.code() == Some(PARSE_ERROR) {
        return false;
    }
    let sets = [Trait::SetsForOne, Trait::MayDoAnything, Trait::Compound, Trait::SeveralStatements];
    matches!(info.kind, StatementKind::Set) || sets.into_iter().any(|one| info.is(one))
}

/// Whether a statement that failed may have created temporary tables before: what fails as a whole leaves none.
pub(super) fn may_leave_temporary_tables(info: &StatementInfo) -> bool {
    let has_parts = info.is(Trait::Compound) || info.is(Trait::SeveralStatements);
    info.is(Trait::MayCreateTemporary) || (has_parts && info.is(Trait::CreatesTemporary))
}

impl Coordinator<'_> {
    /// Looks into what the main session's last statements left behind beyond what their words say.
    pub(super) fn look_after_main(&mut self, location: &Location) -> Result<(), Stopped> {
        let left = self.main.take_left_behind();
        if left.schema {
            let database = self.main.state().database.clone();
            let collation = match &database {
                Some(database) => self.ask(location, |catalog| catalog.default_collation(database))?,
                None => None,
            };
            self.main.set_collation_database(collation);
        }
        let may = |effect| move |catalog: &mut CatalogCache<'_>| catalog.routines_may(effect);
        if (left.is_changed || left.has_failed) && self.ask(location, may(RoutineEffect::CreateTemporary))? {
            self.main.may_have_temporary_tables();
            if let Some(expectations) = &mut self.expectations {
                expectations.session_changed();
            }
        }
        if (left.has_failed && self.ask(location, may(RoutineEffect::Set))?)
            || (left.ran_routines && self.ask(location, may(RoutineEffect::SetUnreported))?)
        {
            self.main.state_may_differ();
        }
        Ok(())
    }
}
