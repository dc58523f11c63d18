//! One reading of the input: every statement through the coordinator to the main session and the workers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::thread;

use hortator_mysql::Error;

use super::phases::Loaded;
use super::sessions::Sessions;
use super::state::LoadState;
use super::{CHUNK_BYTES, InDoubt, Load, StartError};
use crate::apply::{CatalogConnection, Stopped, Worker, WorkerStart};
use crate::coordinator::{ChunkLimits, Coordinator, FreshSession, LoadContext, Resume};
use crate::expect::Expectations;
use crate::lexer::{self, Charset, Dialect, Item, Statements, StatementsOptions};
use crate::output::Output;
use crate::report::Failure;

impl Load {
    /// Connects, and reads the input from its beginning. Failures of statements and of the input go to the pool.
    ///
    /// # Errors
    /// When a connection cannot be opened. Nothing of the input is read then.
    pub(super) fn load_stream(&self, is_resume: bool, output: &mut dyn Output) -> Result<Loaded, StartError> {
        self.state.may_await_input.store(true, Release);
        let LoadState {
            threads, targets, pool, progress, checkpoints, deferral, deferred_keys, rejects, throttle, ..
        } = &*self.state;
        let checkpoints = checkpoints.as_ref();
        let filter_rules = &self.filter_rules;
        let resume = if is_resume { self.open_resume()? } else { None };
        let given = self.sessions.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Sessions { main, catalog } = match given {
            Some(sessions) => sessions,
            None => Sessions::open(targets, || FreshSession::open(targets, checkpoints, &|| pool.is_interrupted()))?,
        };
        let start = WorkerStart::new(*threads);
        let load_context = LoadContext {
            pool,
            workers: &start,
            progress,
            targets,
            catalog: &catalog,
            deferral,
            deferred_keys,
            checkpoints,
            filter_rules,
            rejects: rejects.as_ref(),
            throttle,
        };
        let mut coordinator = Coordinator::open(load_context, main, self.chunk_limits(), resume, output)?
            .with_expectations(self.options.verify.then(Expectations::default));
        if let Some(checkpoints) = checkpoints {
            checkpoints.open_internal_connection()?;
        }
        thread::scope(|scope| {
            for number in 1..=*threads {
                let (worker, start) = (self.worker(number, &catalog), &start);
                scope.spawn(move || {
                    if catch_unwind(AssertUnwindSafe(|| worker.run(start))).is_err() {
                        pool.poison();
                    }
                });
            }
            // Stopped or not: what is admitted is carried through, or given up, by the workers.
            let _ = self.read_stream(&mut coordinator);
            self.state.may_await_input.store(false, Release);
            let _ = pool.drain(&mut || {});
            coordinator.end();
            pool.close();
            start.end();
        });
        Ok(Loaded { expectations: coordinator.into_expectations() })
    }

    /// What an earlier run of this load has recorded; `None` where nothing is recorded.
    fn open_resume(&self) -> Result<Option<Resume>, Error> {
        let LoadState { targets, pool, checkpoints, restarts, .. } = &*self.state;
        let in_doubt = self.options.in_doubt;
        targets.connect(&|| pool.is_interrupted())?;
        let Some(checkpoints) = checkpoints else { return Ok(None) };
        if in_doubt != InDoubt::Applied
            && let Some(lost) = checkpoints.lost_rows()?
        {
            return Err(Error::Unsupported(lost.to_string()));
        }
        Ok(Some(Resume::new(checkpoints.reader()?, in_doubt, restarts.load(Relaxed) > 0)))
    }

    fn worker<'l>(&'l self, number: usize, catalog: &'l CatalogConnection) -> Worker<'l> {
        let LoadState { targets, throttle, pool, progress, checkpoints, deferred_keys, rejects, .. } = &*self.state;
        Worker::new(number, pool, progress, targets, throttle, checkpoints.as_ref(), catalog)
            .with_deferred_keys(deferred_keys)
            .with_rejects(rejects.as_ref())
            .with_batch_rows(self.options.batch_rows)
    }

    fn chunk_limits(&self) -> ChunkLimits {
        let caps = self.state.targets.caps();
        let asked_bytes = self.options.chunk_bytes.or(caps.usual_text_bytes).unwrap_or(CHUNK_BYTES);
        ChunkLimits {
            bytes: caps.text_bytes.map_or(asked_bytes, |cap| cap.min(asked_bytes)),
            rows: caps.rows.unwrap_or(u64::MAX),
        }
    }

    fn read_stream(&self, coordinator: &mut Coordinator<'_>) -> Result<(), Stopped> {
        if self.state.restarts.load(Relaxed) > 0 {
            // Workers of the reading before may have lost connections whose statements still run: a worker that connects waits
            // for the former session of its number. What had begun can be judged only then.
            coordinator.connect_workers()?;
        }
        let client_charset = Charset::from_name(self.options.connect.charset.as_bytes());
        let options = StatementsOptions {
            // MySQL's own client sends them, so that routines keep theirs.
            comments: self.options.comments || !coordinator.dialect().mariadb,
            binary_mode: self.options.binary_mode,
            ..StatementsOptions::new(Dialect { charset: client_charset, ..coordinator.dialect() })
        };
        let given = self.source.lock().unwrap_or_else(PoisonError::into_inner).take();
        let opened = match given {
            Some(source) => Ok(Statements::new(source, options)),
            None => Statements::open(self.options.input.members(), options),
        };
        let statements = match opened {
            Ok(statements) => statements,
            Err(error) => return self.handle_input_error(&error.into()),
        };
        self.state.progress.follow(statements.progress());
        coordinator.read_from(statements);
        let may_await_input = &self.state.may_await_input;
        while let Some(item) = coordinator.next() {
            may_await_input.store(false, Release);
            match item {
                Ok((Item::Statement(statement), ahead)) => coordinator.statement(statement, ahead)?,
                Ok((Item::Use { database, location }, _)) => coordinator.use_database(&database, &location)?,
                Ok((Item::Charset { name, location }, _)) => coordinator.use_charset(&name, &location)?,
                Ok((Item::RowsFile { file }, _)) => coordinator.rows_file(&file),
                Ok((Item::RowsColumns { file, columns, location }, _)) => {
                    coordinator.rows_columns(&file, columns.as_deref(), &location)?;
                }
                Ok((Item::NoRows { file, location }, _)) => coordinator.no_rows(&file, &location)?,
                Ok((Item::Quit { .. } | Item::Ignored { .. }, _)) => {}
                Err(error) => {
                    // What is whole before the error goes in, as it does with the client.
                    coordinator.finish_stream()?;
                    self.handle_input_error(&error)?;
                }
            }
            may_await_input.store(true, Release);
        }
        coordinator.finish_stream()
    }

    /// Takes note of an input that cannot be read on, or of something in it that is not understood.
    fn handle_input_error(&self, error: &lexer::Error) -> Result<(), Stopped> {
        let pool = &self.state.pool;
        pool.fail(pool.position(), Failure::of_input(error), error.is_final());
        if error.is_final() || !pool.is_forced() { Err(Stopped) } else { Ok(()) }
    }
}
