//! What is known of a statement beyond its kind, as a set of named traits.

/// One thing that a statement does, or may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Trait {
    /// It writes rows of tables.
    WritesRows,
    /// It changes no row and no table.
    NoRows,
    /// It names tables of any engine, and may write them.
    AnyEngine,
    /// It may let the server number rows.
    NumbersRows,
    /// It reads the rows of its table.
    ReadsRows,
    /// It brings rows with a table's definition.
    BringsRows,
    /// INSERT … ON DUPLICATE KEY UPDATE.
    UpdatesDuplicates,
    /// BINLOG with row events.
    AppliesEvents,
    /// The same, some without checks of keys: [`super::StatementInfo::schema`] has their tables.
    SkipsChecks,
    /// It prints rows.
    ReturnsRows,
    /// CREATE TABLE.
    CreatesTable,
    /// CREATE TABLE of which [`super::is_plain_definition`] holds.
    PlainDefinition,
    /// CREATE VIEW.
    CreatesView,
    /// ALTER TABLE.
    AltersTable,
    /// ALTER TABLE … DISABLE KEYS or ENABLE KEYS.
    SwitchesKeys,
    /// It creates a temporary table.
    CreatesTemporary,
    /// Its values may come from what a rollback does not restore: variables, the last number, the random generator, sequences.
    ReadsSession,
    /// It drops temporary tables, and no others.
    DropsTemporary,
    /// It may create one, if the server says that something of the session has changed.
    MayCreateTemporary,
    /// It may take away what is there.
    Destroys,
    /// It drops tables, or what belongs to them.
    DropsTables,
    /// It may give a table another name, or do anything to any table.
    MovesTables,
    /// It concerns a whole schema.
    OfSchema,
    /// It says IF EXISTS.
    IfExists,
    /// Its body may hold statements.
    HasBody,
    /// It schedules an event that runs again and again, without an end.
    Recurs,
    /// It is a compound statement, and holds others.
    Compound,
    /// It defines a function, whose name is no longer that of a built-in one.
    DefinesFunction,
    /// Running it twice is as good as once.
    Idempotent,
    /// The same, if it calls no function.
    IdempotentIfConstant,
    /// It leaves something in its session that no other session has.
    SessionBound,
    /// It assigns variables for one statement only.
    SetsForOne,
    /// It names user variables that it fills.
    NamesVariables,
    /// It sets a sequence to a value, which does the same when it is done again.
    SetsSequence,
    /// It prepares or frees a statement.
    PreparesSession,
    /// EXECUTE of a statement that was prepared before.
    ExecutesPrepared,
    /// CALL.
    RunsRoutine,
    /// It may call a stored function.
    MayCallFunction,
    /// It may do anything at all.
    MayDoAnything,
    /// It holds several statements.
    SeveralStatements,
    /// It locks tables, or the server.
    Locks,
    /// It locks the server in some of its forms.
    MayLockServer,
    /// It ends LOCK TABLES.
    Unlocks,
    /// HANDLER.
    UsesHandler,
    /// It asks whether a transaction is open.
    ReadsTransaction,
    /// It begins a transaction and does nothing else.
    BeginsTransaction,
    /// It commits and does nothing else.
    CommitsTransaction,
    /// It rolls the transaction back.
    RollsBack,
    /// It ends the session: COMMIT RELEASE.
    EndsSession,
    /// It means something only together with what stands around it in its transaction.
    OfSavepoint,
    /// It begins or continues an XA transaction.
    BeginsXa,
    /// It ends an XA transaction, or lists them.
    EndsXa,
}

/// A set of traits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits(u64);

impl Traits {
    /// The set of these.
    #[must_use]
    pub const fn of(traits: &[Trait]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < traits.len() {
            bits |= 1 << traits[index] as u64;
            index += 1;
        }
        Self(bits)
    }

    /// Whether it is among them.
    #[must_use]
    pub const fn has(self, wanted: Trait) -> bool {
        self.0 & (1 << wanted as u64) != 0
    }

    /// With one more.
    #[must_use]
    pub const fn with(self, one: Trait) -> Self {
        Self(self.0 | 1 << one as u64)
    }

    /// Without this one.
    #[must_use]
    pub const fn without(self, one: Trait) -> Self {
        Self(self.0 & !(1 << one as u64))
    }

    /// With all of another set.
    #[must_use]
    pub const fn with_all(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
