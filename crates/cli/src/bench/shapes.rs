//! `hortator bench shapes`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use hortator_bench::shapes::{Experiment, SHAPES, Shape, page};

use super::extent::{LoadExtentArgs, scale, within};
use super::page_output::PageArgs;

/// The dumps' size with `--quick` and with `--full`.
const QUICK_SCALE: f64 = 1.0;
const FULL_SCALE: f64 = 4.0;

/// Arguments of `hortator bench shapes`.
#[derive(Debug, Args)]
pub struct ShapesArgs {
    /// Size of the dumps [default: 1, with --full 4]
    #[arg(long, value_name = "F", value_parser = scale)]
    scale: Option<f64>,
    /// Shapes to measure [default: all]
    #[arg(long, value_name = "SHAPE", value_delimiter = ',', value_parser = shape)]
    only: Vec<&'static Shape>,
    /// Another build of this program, measured as `baseline`
    #[arg(long, value_name = "FILE", hide = true)]
    binary: Option<PathBuf>,
    #[command(flatten)]
    extent: LoadExtentArgs,
    #[command(flatten)]
    page: PageArgs,
}

fn shape(name: &str) -> Result<&'static Shape, String> {
    Shape::named(name).ok_or_else(|| {
        let names: Vec<&str> = SHAPES.iter().map(|shape| shape.name).collect();
        format!("the shapes are {}", names.join(", "))
    })
}

/// Runs the experiment. Exit status 1: a load failed, or left another end state than the client's.
pub(super) fn run(args: ShapesArgs) -> anyhow::Result<ExitCode> {
    args.page.check()?;
    let ShapesArgs { scale, only, binary, extent, page: output } = args;
    let program = |path: PathBuf| path.canonicalize().with_context(|| format!("finding {}", path.display()));
    let experiment = Experiment {
        scale: scale.unwrap_or_else(|| extent.by_size(QUICK_SCALE, FULL_SCALE)),
        shapes: if only.is_empty() { SHAPES.iter().collect() } else { only },
        hortator: std::env::current_exe().context("finding this program's own file")?,
        baseline: binary.map(program).transpose()?,
        extent: within(extent.extent()?, "shapes"),
    };
    let outcome = experiment.run(&mut output.progress())?;
    output.write(&page(&experiment, &outcome), outcome.measured.unfinished.is_some())
}
