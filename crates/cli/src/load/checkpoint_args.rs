//! The options for checkpoints: resume a load, show interrupted loads, discard their checkpoints.

use std::env;
use std::path::PathBuf;

use clap::Args;
use hortator_load::InDoubt;
use hortator_load::checkpoint::{self, CheckpointMode, Interrupted, Start};
use hortator_mysql::ConnectOptions;
use indicatif::HumanCount;

/// Options for checkpoints.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checkpoints")]
pub struct CheckpointArgs {
    /// Resume the interrupted load of this input; every row is loaded exactly once. ID (see --status) selects the load
    /// where the input does not, as from a pipe
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    resume: Option<u64>,

    /// Show the interrupted loads on this server and their progress; load nothing
    #[arg(long, conflicts_with_all = ["resume", "plan", "sandbox"])]
    status: bool,

    /// Discard the checkpoints of all interrupted loads, or of load ID; load nothing
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "0",
          conflicts_with_all = ["resume", "plan", "sandbox", "status"])]
    discard_checkpoint: Option<u64>,

    /// Schema on the server that stores the checkpoints; the last load to end drops it [default: hortator]
    #[arg(long, value_name = "NAME")]
    checkpoint_schema: Option<String>,

    /// Write no checkpoints: you cannot resume the load
    #[arg(long, conflicts_with_all = ["checkpoint_schema", "resume"])]
    no_checkpoint: bool,

    /// Directory on this machine for the local journal, which holds the latest checkpoints of statements that commit by
    /// themselves [default: $XDG_STATE_HOME/hortator or ~/.local/state/hortator]
    #[arg(long, value_name = "DIR", conflicts_with = "no_checkpoint")]
    local_journal_dir: Option<PathBuf>,

    /// Keep no local journal: write every checkpoint to the server at once
    #[arg(long, conflicts_with_all = ["local_journal_dir", "no_checkpoint"])]
    no_local_journal: bool,

    /// With --resume: treat an in-doubt statement as applied, or apply it again
    #[arg(long, value_name = "applied|reapply", value_parser = ["applied", "reapply"], requires = "resume")]
    in_doubt: Option<String>,
}

impl CheckpointArgs {
    /// Whether the load writes checkpoints, and where.
    pub fn checkpoint_mode(&self) -> CheckpointMode {
        if self.no_checkpoint {
            return CheckpointMode::Disabled;
        }
        CheckpointMode::Enabled {
            schema: self.schema().to_owned(),
            is_optional: self.checkpoint_schema.is_none() && self.resume.is_none(),
        }
    }

    /// Where the load starts.
    pub fn start(&self) -> Start {
        match self.resume {
            None => Start::New,
            Some(0) => Start::Resume,
            Some(id) => Start::ResumeId(id),
        }
    }

    /// Where the load may keep its local journal.
    pub fn local_journal_dir(&self) -> Option<PathBuf> {
        if self.no_local_journal { None } else { self.journal_folder() }
    }

    /// Where a local journal may be.
    fn journal_folder(&self) -> Option<PathBuf> {
        self.local_journal_dir.clone().or_else(state_folder)
    }

    /// How to treat a statement that is in doubt.
    pub fn in_doubt(&self) -> InDoubt {
        match self.in_doubt.as_deref() {
            Some("applied") => InDoubt::Applied,
            Some("reapply") => InDoubt::Reapply,
            _ => InDoubt::Stop,
        }
    }

    fn schema(&self) -> &str {
        self.checkpoint_schema.as_deref().unwrap_or(checkpoint::SCHEMA)
    }

    /// Whether the options ask for something other than a load.
    pub fn replaces_load(&self) -> bool {
        self.status || self.discard_checkpoint.is_some()
    }

    /// Runs `--status` or `--discard-checkpoint`; returns whether one of them was given.
    pub fn run_instead(&self, connect: &ConnectOptions, json: bool) -> anyhow::Result<bool> {
        if self.status {
            let found = checkpoint::interrupted(connect, self.schema(), self.journal_folder().as_deref())?;
            if json {
                println!("{}", serde_json::to_string_pretty(&found)?);
            } else if found.is_empty() {
                println!("no interrupted load has checkpoints in the schema `{}`", self.schema());
            }
            found.iter().filter(|_| !json).for_each(show);
        } else if let Some(id) = self.discard_checkpoint {
            let id = Some(id).filter(|id| *id != 0);
            let discarded = checkpoint::discard(connect, self.schema(), id, self.journal_folder().as_deref())?;
            for id in &discarded.loads {
                println!("discarded the checkpoints of load {id}; the loaded rows stay");
            }
            for missing in &discarded.never_built {
                eprintln!("hortator: indexes are missing and stay so: {missing}");
            }
            if let Some(last) = discarded.refused.len().checked_sub(1) {
                let refused: Vec<String> = discarded.refused.iter().map(ToString::to_string).collect();
                refused[..last].iter().for_each(|error| eprintln!("hortator: {error}"));
                anyhow::bail!("{}", refused[last]);
            }
            if discarded.loads.is_empty() {
                println!("no interrupted load has checkpoints in the schema `{}`", self.schema());
            }
        }
        Ok(self.replaces_load())
    }
}

/// The folder for what a program keeps of its runs.
fn state_folder() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("hortator"))
}

fn show(load: &Interrupted) {
    let how = match load.connection_id {
        Some(id) => format!("running (connection {id})"),
        None => "interrupted".to_owned(),
    };
    println!("load {} of {}: {how}, started {}", load.load_id, load.input, load.started_at);
    println!("  {} rows loaded, {} checkpoints", HumanCount(load.rows), HumanCount(load.chunks));
    for (table, rows) in &load.tables {
        println!("    {table}: {} rows", HumanCount(*rows));
    }
    for place in &load.in_doubt_statements {
        println!("  in doubt: {place}");
    }
    if let Some(unknown) = &load.unknown {
        println!("  in doubt: {unknown}");
    }
    for missing in &load.missing_keys {
        println!("  indexes are missing: {} (dropped at {}): {}", missing.table, missing.place, missing.statement);
    }
    if load.connection_id.is_none() {
        println!(
            "  to resume: the same command with --resume; to discard the checkpoints: --discard-checkpoint={}",
            load.load_id
        );
    }
}
