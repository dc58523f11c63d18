//! The options for files of rows: CSV, tab-separated, and the .txt files of `mariadb-dump --tab`. They have the names and
//! the meaning of mariadb-import's.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use hortator_load::Input;
use hortator_load::input::delimited::{Separators, bytes_of_option};
use hortator_load::input::layout::{RowsColumns, RowsKind, RowsOptions, column_names};
use hortator_load::lexer::Charset;

/// Options for files of rows.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rows")]
pub struct RowsArgs {
    /// Load the rows of the files into this table: CSV, or tab-separated as LOAD DATA has it
    #[arg(long, value_name = "[DB.]TABLE")]
    table: Option<String>,

    /// The columns that the fields go to, in their order [default: all columns of the table]
    #[arg(long, value_name = "A,B,…", requires = "table")]
    columns: Option<String>,

    /// The first line of each file names the columns
    #[arg(long, conflicts_with = "columns")]
    header: bool,

    /// The format of the rows [default: by the name of the file: .csv; .tsv, .tab, .txt]
    #[arg(long, value_name = "csv|tsv", value_parser = ["csv", "tsv"], requires = "table")]
    format: Option<String>,

    /// What separates fields: text, \t, \n or 0x… [default: comma in CSV, else a tab]
    #[arg(long, value_name = "TEXT")]
    fields_terminated_by: Option<String>,

    /// The quote around fields, or nothing [default: " in CSV, else none]
    #[arg(long, value_name = "BYTE")]
    fields_enclosed_by: Option<String>,

    /// The same, of a file that has quotes around texts only
    #[arg(long, value_name = "BYTE", conflicts_with = "fields_enclosed_by")]
    fields_optionally_enclosed_by: Option<String>,

    /// The escape character in fields, or nothing [default: none in CSV, else \]
    #[arg(long, value_name = "BYTE")]
    fields_escaped_by: Option<String>,

    /// What ends a line [default: \n; in CSV also \r\n]
    #[arg(long, value_name = "TEXT")]
    lines_terminated_by: Option<String>,

    /// The field that is NULL, if it has no quotes; \N besides where \ is the escape character [default: \N]
    #[arg(long, value_name = "TEXT")]
    null: Option<String>,

    /// Lines to skip at the beginning of each file
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    ignore_lines: u64,
}

impl RowsArgs {
    /// The input that the files are.
    pub fn input(&self, files: &[PathBuf], charset: &str) -> anyhow::Result<Input> {
        let columns = match &self.columns {
            Some(list) => {
                let names = column_names(list);
                RowsColumns::Named(names.with_context(|| format!("--columns: {list:?} is not a list of columns"))?)
            }
            None if self.header => RowsColumns::Header,
            None => RowsColumns::All,
        };
        if self.table.is_some() && Charset::from_name(charset.as_bytes()) != Charset::AsciiSafe {
            bail!("rows in {charset} are not supported: convert the file to UTF-8");
        }
        if self.table.is_none()
            && let Some(file) = files.iter().find(|file| names_rows(file))
        {
            bail!("{} holds rows and no statements, by its name: name their table with --table", file.display());
        }
        let bytes = |option: Option<&String>| option.map(|text| bytes_of_option(text));
        let options = RowsOptions {
            table: self.table.clone(),
            columns,
            kind: self.format.as_deref().map(|name| if name == "csv" { RowsKind::Csv } else { RowsKind::Tsv }),
            separators: Separators {
                fields_terminated: bytes(self.fields_terminated_by.as_ref()),
                enclosed: bytes(self.fields_optionally_enclosed_by.as_ref().or(self.fields_enclosed_by.as_ref())),
                is_optionally_enclosed: self.fields_optionally_enclosed_by.is_some(),
                escaped: bytes(self.fields_escaped_by.as_ref()),
                lines_terminated: bytes(self.lines_terminated_by.as_ref()),
                null: self.null.as_ref().map(|text| text.as_bytes().to_vec()),
            },
            ignored_lines: self.ignore_lines,
            charset: charset.to_owned(),
        };
        Ok(Input::new(files, &options)?)
    }
}

/// Whether a file is of rows by its name, compressed or not. As statements, they would only give a syntax error of the server.
fn names_rows(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let plain = [".gz", ".zst", ".xz", ".bz2", ".lz4"].iter().find_map(|ending| name.strip_suffix(ending));
    let plain = plain.unwrap_or(&name);
    [".csv", ".tsv"].iter().any(|ending| plain.ends_with(ending))
}
