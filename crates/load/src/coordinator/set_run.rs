//! SETs in a row go to the server together: dumps are full of them, and each by itself is a wait for an answer.
//!
//! Only SETs that concern nothing but the session are gathered, and only up to one on which the reading of the text behind it
//! depends. The server stops at the first that fails, as the client would. Of these, what can be one SET is: see
//! [`PlainSet`]. A definition behind them that needs no record goes in the same packet.

use hortator_mysql::{Error, ExecResult};

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::main_session::MainSession;
use crate::analysis::{Assignments, PlainSet, StatementKind, Trait};
use crate::apply::Stopped;

/// SETs of one packet.
const LENGTH_LIMIT: usize = 64;
/// Text of one SET that is gathered.
const TEXT_BYTES: usize = 1 << 10;
/// What may be written into a SET, and what separates it from the next.
const BESIDE_BYTES: usize = 128;
/// Variables on which it depends how text is read, or what the server reports; the latter by the beginning of their names.
const DECISIVE: [&str; 3] = ["sql_mode", "character_set_client", "session_track_"];

/// The variable that says whether a definition's foreign keys count.
const FOREIGN_KEYS: &str = "foreign_key_checks";

/// Whether SETs may become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joining {
    /// Where they mean the same.
    Allowed,
    /// One of them would fail, or the statement behind them asks what the last has done.
    Off,
}

/// What became of SETs that were sent together.
struct SetsRun {
    /// How many of them were tried.
    tried: usize,
    /// Whether the next may be joined.
    joining: Joining,
    /// What became of the statement behind them, if it was sent and none of them failed.
    behind: Option<Result<ExecResult, Error>>,
}

impl Coordinator<'_> {
    /// Takes a SET to those before it, if it is of their kind.
    pub(super) fn joins_sets(&self, statement: &AnalyzedStatement) -> bool {
        !self.sets.is_empty() && self.can_gather(statement)
    }

    /// Whether a SET can be sent together with others.
    pub(super) fn can_gather(&self, statement: &AnalyzedStatement) -> bool {
        let info = &statement.info;
        let assignments = &info.assignments;
        matches!(info.kind, StatementKind::Set)
            && self.resume.is_none()
            && !info.reads_diagnostics()
            && !info.is(Trait::SeveralStatements)
            && !assignments.beyond_session
            && !assignments.reads_beyond_session
            && !assignments.is_one_shot
            && !assignments.next_number
            && !assignments.autocommit
            && assignments.session_local.is_empty()
            && statement.text.len() <= TEXT_BYTES
            && is_closed(&statement.text)
    }

    /// Keeps a SET until the next statement that is none, or runs it with all before it.
    pub(super) fn gather_set(&mut self, statement: AnalyzedStatement) -> Result<(), Stopped> {
        let is_last = self.is_decisive(&statement.info.assignments);
        if let Some(plain) = &statement.info.assignments.plain {
            // No SET that changes one of these is kept.
            self.saved.note(plain, self.main.state(), |variable| DECISIVE.contains(&variable));
        }
        self.sets.push(statement);
        let bytes: usize = self.sets.iter().map(|set| set.text.len() + BESIDE_BYTES).sum();
        let is_full =
            self.sets.len() >= LENGTH_LIMIT || bytes + TEXT_BYTES + BESIDE_BYTES > self.main.packet_limit_bytes();
        if is_last || is_full { self.run_sets(Joining::Allowed) } else { Ok(()) }
    }

    /// Whether the text behind a SET may be read in another way than before it.
    fn is_decisive(&self, assignments: &Assignments) -> bool {
        let changes = |name: &String| {
            let leaves = |set: &PlainSet| self.saved.leaves_as_it_is(set, name, self.main.state());
            DECISIVE.iter().any(|decisive| name.starts_with(decisive))
                && !assignments.plain.as_ref().is_some_and(leaves)
        };
        assignments.propagated.iter().any(changes)
    }

    /// Whether a definition can be sent together with the SETs before it: none of these has a say in how it is planned.
    pub(super) fn goes_behind_sets(&self, statement: &AnalyzedStatement) -> bool {
        let info = &statement.info;
        let has_a_say =
            |set: &AnalyzedStatement| set.info.assignments.propagated.iter().any(|name| name == FOREIGN_KEYS);
        let bytes: usize = self.sets.iter().map(|set| set.text.len() + BESIDE_BYTES).sum();
        matches!(info.kind, StatementKind::OtherDdl)
            && info.schema.is_none()
            && !info.is(Trait::SeveralStatements)
            // A SET that fails is a failure of its own.
            && !self.pool.is_forced()
            && !self.sets.iter().any(has_a_say)
            && bytes + statement.text.len() <= self.main.packet_limit_bytes()
            && self.transaction.is_none()
            && !self.large.is_open()
            && self.is_plainly_between_statements()
            && self.main.is_idempotent(statement)
    }

    /// Runs the SETs that are kept.
    pub(super) fn run_sets(&mut self, mut joining: Joining) -> Result<(), Stopped> {
        let sets = std::mem::take(&mut self.sets);
        let Some(last) = sets.last() else { return Ok(()) };
        let location = last.location.clone();
        let failures = self.main.failures();
        let mut rest = &sets[..];
        while !rest.is_empty() {
            let ran = self.main.run_sets(rest, joining, None)?;
            (rest, joining) = (&rest[ran.tried..], ran.joining);
        }
        if self.main.failures() > failures {
            self.saved.forget();
        }
        self.look_after_main(&location)
    }
}

impl MainSession<'_> {
    /// Runs a statement, and in the same packet the SETs before it.
    pub(super) fn run_behind_sets(
        &mut self,
        sets: &[AnalyzedStatement],
        statement: &AnalyzedStatement,
    ) -> Result<u64, Stopped> {
        let mut rest = sets;
        let mut joining = Joining::Allowed;
        while !rest.is_empty() {
            let ran = self.run_sets(rest, joining, Some(statement))?;
            if let Some(result) = ran.behind {
                return self.handle_result(statement, result);
            }
            (rest, joining) = (&rest[ran.tried..], ran.joining);
        }
        self.run(statement)
    }

    /// Runs SETs in one packet, up to the first that fails, and if none does, what stands behind them.
    fn run_sets(
        &mut self,
        sets: &[AnalyzedStatement],
        joining: Joining,
        behind: Option<&AnalyzedStatement>,
    ) -> Result<SetsRun, Stopped> {
        if let ([only], None) = (sets, behind) {
            return self.run(only).map(|_| SetsRun { tried: 1, joining, behind: None });
        }
        if self.is_interrupted() {
            return Err(Stopped);
        }
        let groups = groups(sets, joining);
        let mut texts: Vec<_> = groups.iter().map(|group| text_of(group)).collect();
        if let Some(statement) = behind {
            self.show_as(statement);
            texts.push(statement.text.clone());
        }
        let mut results = Vec::with_capacity(texts.len());
        let sent = self.query_together(&texts.join(&b"\n;\n"[..]), &mut results);
        let ran: usize = groups.iter().take(results.len()).map(|group| group.len()).sum();
        let mut done = sets.iter().zip(1..=ran);
        for (group, result) in groups.iter().zip(&results) {
            for (set, number) in done.by_ref().take(group.len() - 1) {
                self.handle_ran(set, &ExecResult::default(), number == ran)?;
            }
            // The warnings are counted once. The server's reports of all of them are there by now.
            for (set, number) in done.by_ref().take(1) {
                self.handle_ran(set, result, number == ran)?;
            }
        }
        match sent {
            Ok(()) => {
                let behind = behind.and_then(|_| results.pop()).map(Ok);
                Ok(SetsRun { tried: ran, joining, behind })
            }
            Err(error) if ran == sets.len() && behind.is_some() => {
                Ok(SetsRun { tried: ran, joining, behind: Some(Err(error)) })
            }
            // Of SETs that are joined, none has been carried out.
            Err(Error::Server(_)) if groups.get(results.len()).is_some_and(|group| group.len() > 1) => {
                Ok(SetsRun { tried: ran, joining: Joining::Off, behind: None })
            }
            Err(error) => {
                let set = &sets[ran.min(sets.len() - 1)];
                self.handle_result(set, Err(error)).map(|_| SetsRun { tried: ran + 1, joining, behind: None })
            }
        }
    }
}

/// SETs, with those together that can be one.
fn groups(sets: &[AnalyzedStatement], joining: Joining) -> Vec<&[AnalyzedStatement]> {
    let mut groups = Vec::new();
    let mut first = 0;
    for end in 1..=sets.len() {
        let before: Vec<_> = sets[first..end].iter().filter_map(plain).collect();
        let joins = joining == Joining::Allowed
            && before.len() == end - first
            && sets.get(end).and_then(plain).is_some_and(|next| next.joins(&before));
        if !joins {
            groups.push(&sets[first..end]);
            first = end;
        }
    }
    groups
}

fn plain(set: &AnalyzedStatement) -> Option<&PlainSet> {
    set.info.assignments.plain.as_ref().filter(|_| set.text.is_ascii())
}

/// SETs as one.
fn text_of(group: &[AnalyzedStatement]) -> Vec<u8> {
    if let [only] = group {
        return only.with_scopes().unwrap_or_else(|| only.text.clone());
    }
    let items: Vec<_> = group.iter().filter_map(|set| Some(&set.text[plain(set)?.bytes.clone()])).collect();
    [b"SET ".as_slice(), &items.join(&b", "[..])].concat()
}

/// Whether nothing that comes behind a text could become a part of it.
fn is_closed(text: &[u8]) -> bool {
    let inside = text.strip_prefix(b"/*!").and_then(|text| text.strip_suffix(b"*/")).unwrap_or(text);
    memchr::memchr(b';', text).is_none()
        && memchr::memmem::find(inside, b"/*").is_none()
        && memchr::memmem::find(inside, b"*/").is_none()
}
