//! Where the report of an experiment goes: the terminal, pages by the ending of their names, JSON.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use hortator_bench::options::{self, NodeSetting, Options};
use hortator_bench::page::Page;
use hortator_bench::profile;

use super::INTERRUPTED;
use super::progress_line::Progress;

/// Arguments of every experiment that writes a page.
#[derive(Debug, Args)]
pub struct PageArgs {
    /// Write the report with plots (.html), as Markdown (.md), or its plots alone (.svg); may be given several times
    #[arg(long, value_name = "FILE", value_parser = report_path)]
    report: Vec<PathBuf>,
    /// Write all runs and figures as JSON, for `hortator bench compare`
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Measure the server in this folder (with bin/mariadbd, or bin/mysqld for experiments without a cluster) in place of the
    /// installed one
    #[arg(long, value_name = "FOLDER")]
    server: Option<PathBuf>,
    /// Also report the functions in which each server uses its CPU time, by perf, in one run of each contender
    #[arg(long)]
    profile: bool,
    /// Write the events of the experiment to standard error, for `bench all`
    #[arg(long, hide = true)]
    events: bool,
}

/// A file name with the ending of a form.
pub(super) fn report_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match form(&path) {
        Some(_) => Ok(path),
        None => Err("the name of a report ends in .html, .md or .svg".to_owned()),
    }
}

/// How a page is written to a file of this name.
fn form(path: &Path) -> Option<fn(&Page) -> String> {
    match path.extension()?.to_str()? {
        "html" => Some(Page::html),
        "md" => Some(Page::markdown),
        "svg" => Some(Page::image),
        _ => None,
    }
}

/// Writes each file in the form of its ending.
pub(super) fn write_reports(page: &Page, paths: &[PathBuf]) -> anyhow::Result<()> {
    for path in paths {
        if let Some(form) = form(path) {
            fs::write(path, form(page)).with_context(|| format!("writing {}", path.display()))?;
        }
    }
    Ok(())
}

impl PageArgs {
    /// Whether the files can be written and the server is there, before anything is measured.
    pub fn check(&self) -> anyhow::Result<()> {
        self.check_with(&[])
    }

    /// The same for an experiment in which single nodes can have settings of their own.
    pub fn check_with(&self, node_settings: &[NodeSetting]) -> anyhow::Result<()> {
        for path in self.report.iter().chain(&self.json) {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
                bail!("cannot write {}: the directory {} does not exist", path.display(), parent.display());
            }
        }
        let profile = self.profile.then(std::env::temp_dir);
        Ok(Options { server: self.server.clone(), profile, node_settings: node_settings.to_vec() }.choose()?)
    }

    /// What shows the progress.
    pub fn progress(&self) -> Progress {
        Progress::new(self.events)
    }

    /// Shows the page and writes its files. Status 1 if a run failed, 130 if the user stopped the experiment.
    pub fn write(&self, page: &Page, is_interrupted: bool) -> anyhow::Result<ExitCode> {
        let mut page = page.clone().ruled();
        page.sections.extend(profile::section());
        page.warnings.extend(profile::warning());
        page.warnings.extend(options::node_setting_lines());
        page.command.push_str(&self.choices());
        let page = &page;
        print!("{}", page.terminal());
        write_reports(page, &self.report)?;
        if let Some(path) = &self.json {
            fs::write(path, page.json()).with_context(|| format!("writing {}", path.display()))?;
        }
        Ok(match page.has_failures() {
            _ if is_interrupted => ExitCode::from(INTERRUPTED),
            true => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        })
    }

    /// What the command that repeats the experiment needs.
    fn choices(&self) -> String {
        let server = self.server.iter().map(|folder| format!(" --server {}", folder.display()));
        let nodes = options::node_settings().iter().map(|setting| format!(" --node-set '{setting}'"));
        server.chain(self.profile.then(|| " --profile".to_owned())).chain(nodes).collect()
    }
}
