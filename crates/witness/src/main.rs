//! `hortator-witness`: the third voter of a cluster of two database servers with Hortator's wsrep provider.
//!
//! It votes and holds the log, and has neither a server nor tables. docs/provider.md, "Two nodes and a witness", says
//! what that is good for. All that it does is in `hortator_wsrep::witness`; this program has the command line, signals
//! and log lines.
//!
//! *Absent*: any decision about the cluster.

mod arguments;
mod log_lines;
mod run;

use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.man_page {
        return run::print_man_page();
    }
    run::run(&arguments)
}
