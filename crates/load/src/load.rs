//! One load from beginning to end: how many workers, the threads, and the summary.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use hortator_mysql::{ConnectOptions, Connection, Error};

use crate::apply::{Pool, Stopped, Worker};
use crate::lexer::{self, Charset, Dialect, Item, Statements, StatementsOptions};
use crate::output::Output;
use crate::produce::Producer;
use crate::progress::Progress;
use crate::report::{End, Failure, Summary, TableRows};

/// Workers for every two cores of the server: while one waits for the disk or for its turn to commit, another computes.
/// Measured on two cores: 3, 4 and 6 are within a tenth of each other; more only wait for each other in the server.
const WORKERS_PER_TWO_CORES: usize = 3;
/// Workers where the server does not tell its cores.
const WORKERS_UNTOLD: usize = 8;
/// Most workers that are chosen without being asked for.
const WORKERS_CHOSEN_LIMIT: usize = 16;
/// Text of all chunks that wait or run, unless said otherwise.
pub(crate) const IN_FLIGHT_BYTES: usize = 64 << 20;
/// Text of one chunk: what a connection applies and commits at a time.
pub(crate) const CHUNK_BYTES: usize = 4 << 20;

/// What to load, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server.
    pub connect: ConnectOptions,
    /// The files in their order; none, or `-`, is standard input.
    pub files: Vec<PathBuf>,
    /// Connections that apply chunks; `None` lets the server's cores decide.
    pub threads: Option<usize>,
    /// Text of one chunk, in bytes; `None` for the default.
    pub chunk_bytes: Option<usize>,
    /// Rows go by prepared statements of so many rows, even where the server takes arrays.
    pub prepared_rows: Option<usize>,
    /// Go on after statements that fail.
    pub force: bool,
    /// Send comments too.
    pub comments: bool,
    /// Take CR LF and NUL as they are.
    pub binary_mode: bool,
}

/// A load that is ready to run.
pub struct Load {
    options: Options,
    course: Arc<Course>,
}

/// What is known of a load while it runs.
struct Course {
    threads: usize,
    threads_because: String,
    start: Instant,
    pool: Pool,
    progress: Arc<Progress>,
}

/// Ends a load from another thread.
#[derive(Clone)]
pub struct Interrupter {
    course: Arc<Course>,
    connect: ConnectOptions,
}

impl Interrupter {
    /// Ends the load: statements under way are killed, open transactions roll back, and the summary tells the rest.
    pub fn interrupt(&self) {
        self.course.pool.interrupt();
        // Best effort: without it, the load ends with the statements under way.
        if let Ok(mut connection) = Connection::open(&self.connect) {
            for id in self.course.pool.running() {
                let _ = connection.execute(format!("KILL QUERY {id}").as_bytes());
            }
        }
    }

    /// What an interrupted load did, once its workers have rolled back. For a load whose producer cannot end by itself
    /// because it waits for input that does not come.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let _ = self.course.pool.drain();
        self.course.summary()
    }
}

impl Load {
    /// Asks the server what it is and settles the number of workers.
    ///
    /// # Errors
    /// When there is no connection, or the server refuses it.
    pub fn open(options: Options) -> Result<Self, Error> {
        let mut connection = Connection::open(&options.connect)?;
        let (threads, threads_because) = match options.threads {
            Some(threads) => (threads.max(1), "as asked for".to_owned()),
            None => match cores(&mut connection)? {
                Some(cores) => {
                    let threads = (cores * WORKERS_PER_TWO_CORES / 2).clamp(2, WORKERS_CHOSEN_LIMIT);
                    (threads, format!("the server has {cores} cores"))
                }
                None => (WORKERS_UNTOLD, "the server does not tell its cores".to_owned()),
            },
        };
        let chunk_bytes = options.chunk_bytes.unwrap_or(CHUNK_BYTES);
        let limit_bytes = IN_FLIGHT_BYTES.max(chunk_bytes * 2);
        let pool = Pool::new(threads, limit_bytes, options.force);
        let progress = Arc::new(Progress::new(threads));
        let course = Course { threads, threads_because, start: Instant::now(), pool, progress };
        Ok(Self { options, course: Arc::new(course) })
    }

    /// Counters to read while it runs.
    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        self.course.progress.clone()
    }

    /// A handle to end it with.
    #[must_use]
    pub fn interrupter(&self) -> Interrupter {
        Interrupter { course: self.course.clone(), connect: self.options.connect.clone() }
    }

    /// Runs it. Failures of statements and of the input are in the summary; rows that statements return go to `output`.
    ///
    /// # Errors
    /// When the main session cannot be opened.
    pub fn run(self, output: &mut dyn Output) -> Result<Summary, Error> {
        let Course { threads, pool, progress, .. } = &*self.course;
        let chunk_bytes = self.options.chunk_bytes.unwrap_or(CHUNK_BYTES);
        let mut producer = Producer::open(pool, progress, &self.options.connect, chunk_bytes, output)?;
        std::thread::scope(|scope| {
            for number in 1..=*threads {
                let worker = Worker::new(number, pool, progress, &self.options.connect)
                    .with_piece_rows(self.options.prepared_rows);
                scope.spawn(move || {
                    if catch_unwind(AssertUnwindSafe(|| worker.run())).is_err() {
                        pool.abandon();
                    }
                });
            }
            // Stopped or not: what is admitted is carried through, or given up, by the workers.
            let _ = self.produce(&mut producer);
            let _ = pool.drain();
            pool.close();
        });
        drop(producer);
        Ok(self.course.summary())
    }

    fn produce(&self, producer: &mut Producer<'_>) -> Result<(), Stopped> {
        let client_charset = Charset::from_name(self.options.connect.charset.as_bytes());
        let options = StatementsOptions {
            comments: self.options.comments,
            binary_mode: self.options.binary_mode,
            ..StatementsOptions::new(Dialect { charset: client_charset, ..producer.dialect() })
        };
        let mut statements = match Statements::open(&self.options.files, options) {
            Ok(statements) => statements,
            Err(error) => return self.input_failed(&error.into()),
        };
        self.course.progress.follow(statements.progress());
        while let Some(item) = statements.next() {
            match item {
                Ok(Item::Statement(statement)) => producer.statement(statement)?,
                Ok(Item::Use { database, location }) => producer.use_database(&database, &location)?,
                Ok(Item::Charset { name, location }) => producer.use_charset(&name, &location)?,
                Ok(Item::Quit { .. } | Item::Ignored { .. }) => {}
                Err(error) => {
                    // What is whole before the error goes in, as it does with the client.
                    producer.finish()?;
                    self.input_failed(&error)?;
                }
            }
            statements.set_dialect(producer.dialect());
        }
        producer.finish()
    }

    /// Takes note of an input that cannot be read on, or of something in it that is not understood.
    fn input_failed(&self, error: &lexer::Error) -> Result<(), Stopped> {
        let pool = &self.course.pool;
        pool.fail(pool.position(), Failure::of_input(error), error.is_final());
        if error.is_final() || !pool.is_forced() { Err(Stopped) } else { Ok(()) }
    }
}

impl Course {
    fn summary(&self) -> Summary {
        let (failures, failure_count) = self.pool.failures();
        let end = if self.pool.is_interrupted() {
            End::Interrupted
        } else if self.pool.has_stopped() {
            End::Failed
        } else if failure_count > 0 {
            End::WithErrors
        } else {
            End::Complete
        };
        let progress = &self.progress;
        let barrier_reasons = progress.barriers();
        let tables = progress.rows_by_table().into_iter().map(|(table, rows)| TableRows { table, rows }).collect();
        Summary {
            end,
            statements: Progress::value(&progress.statements),
            rows: Progress::value(&progress.rows),
            read_bytes: progress.read_bytes(),
            elapsed_s: self.start.elapsed().as_secs_f64(),
            threads: self.threads,
            threads_because: self.threads_because.clone(),
            by_array: Progress::value(&progress.by_array),
            as_written: Progress::value(&progress.as_written),
            omitted: Progress::value(&progress.omitted),
            barriers: barrier_reasons.values().sum(),
            barrier_reasons,
            replays: Progress::value(&progress.replays),
            warnings: Progress::value(&progress.warnings),
            tables,
            failures,
            failure_count,
        }
    }
}

/// The server's cores, as MariaDB takes them for its thread pool's size; MySQL does not say.
fn cores(connection: &mut Connection) -> Result<Option<usize>, Error> {
    match connection.fetch(b"SELECT @@thread_pool_size") {
        Ok(rows) => {
            let value = rows.first().and_then(|row| row.first()?.as_deref());
            Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()))
        }
        Err(Error::Server(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
