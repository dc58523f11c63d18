//! Compares tables in views that the caller has opened: the rows of one or several tables together with those of one table
//! elsewhere.
//!
//! A view is an endpoint at one moment: connections whose transactions see the same. Sums of hashes can be added, so the
//! rows of several tables are compared with those of the table that they were merged into. Tables are compared one after the
//! other, the ranges of a table side by side. A table that cannot be read does not end the comparison.

mod plan;
mod read;

use hortator_mysql::{Connection, Error as ServerError};

use super::Progress;
use super::report::{Difference, TableRows};
use super::row_diff;
use plan::{Planned, TablePlan};
use read::{Reader, Unread};

/// An endpoint at one moment.
#[derive(Debug)]
pub struct View {
    /// For messages: `the source shop1 (db1:3306)`.
    pub name: String,
    /// In transactions that see the same; at least one. [`open_session`](super::open_session) opens such connections.
    pub connections: Vec<Connection>,
    /// Sees current data: for columns and the bounds of ranges.
    pub guide: Connection,
}

/// A table of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of the view.
    pub view: usize,
    /// Its schema.
    pub schema: Vec<u8>,
    /// Its name.
    pub table: Vec<u8>,
}

/// Tables whose rows together are those of one table of the second view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableTask {
    /// Tables of the first views; at least one.
    pub parts: Vec<Part>,
    /// The schema in the second view.
    pub schema: Vec<u8>,
    /// The table in the second view.
    pub table: Vec<u8>,
    /// Only rows of the second view count that have this text in this column; the first views do not have the column.
    pub marked: Option<(String, String)>,
}

impl TableTask {
    /// `schema.table` in the second view.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}.{}", String::from_utf8_lossy(&self.schema), String::from_utf8_lossy(&self.table))
    }

    /// A difference of this table. In `what`, the endpoints are named as in the rest of the report.
    fn difference(&self, what: String, [first, second]: [Vec<String>; 2]) -> Difference {
        Difference {
            schema: String::from_utf8_lossy(&self.schema).into_owned(),
            kind: "rows".to_owned(),
            name: String::from_utf8_lossy(&self.table).into_owned(),
            what,
            first,
            second,
        }
    }
}

/// What a comparison of one table has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The rows were read.
    Compared {
        /// How many.
        rows: TableRows,
        /// Where they differ: rows that only the first views or only the second have.
        difference: Option<Difference>,
        /// Columns that only the table of the second view has; they were not compared.
        extra_columns: Vec<String>,
    },
    /// The tables do not have the same columns.
    OtherColumns(Difference),
    /// A server refused to read it, in words.
    Unreadable(String),
}

/// A connection was lost: the view is gone.
#[derive(Debug, thiserror::Error)]
#[error("{view}, {action}: {source}")]
pub struct ViewError {
    /// The name of the view.
    pub view: String,
    /// What was under way.
    pub action: String,
    /// The error of the connection.
    pub source: Box<ServerError>,
}

/// Compares tables, and tells each outcome as soon as it is known, in the order of the tasks. `range_rows`: rows that a
/// connection reads at a time; `None` for about 16 MiB.
///
/// # Errors
/// When a view is lost. Outcomes that were told stay valid.
pub fn compare_views(
    firsts: &mut [View],
    second: &mut View,
    tasks: &[TableTask],
    range_rows: Option<u64>,
    progress: &Progress,
    tell: &mut dyn FnMut(usize, Outcome),
) -> Result<(), ViewError> {
    for view in firsts.iter_mut().chain([&mut *second]) {
        for connection in &mut view.connections {
            // Values come as they are stored.
            let done = connection.execute(b"SET SESSION character_set_results = NULL");
            let done = done.map_err(|error| Unread { view: None, error });
            done.map_err(|unread| unread.into_view_error(&view.name, "setting the session"))?;
        }
    }
    for (index, task) in tasks.iter().enumerate() {
        progress.begin(task.name());
        tell(index, compare_table(firsts, second, task, range_rows, progress)?);
    }
    Ok(())
}

fn compare_table(
    firsts: &mut [View],
    second: &mut View,
    task: &TableTask,
    range_rows: Option<u64>,
    progress: &Progress,
) -> Result<Outcome, ViewError> {
    let name = task.name();
    let settle = |unread: Unread, firsts: &[View], second: &View, action: &str| {
        let view = unread.view.and_then(|view| firsts.get(view)).map_or(&second.name, |view| &view.name);
        match &unread.error {
            ServerError::Server(error) => Ok(Outcome::Unreadable(format!("{view}, {action}: {error}"))),
            _ => Err(unread.into_view_error(view, action)),
        }
    };
    let action = format!("reading the columns of {name}");
    let plan = match plan::plan(firsts, second, task, range_rows) {
        Ok(Planned::Plan(plan)) => plan,
        Ok(Planned::OtherColumns(columns)) => {
            let what = "not compared, because the tables do not have the same columns".to_owned();
            return Ok(Outcome::OtherColumns(task.difference(what, columns)));
        }
        Ok(Planned::Missing(what)) => return Ok(Outcome::Unreadable(what)),
        Err(unread) => return settle(unread, firsts, second, &action),
    };
    progress.expect_more(plan.expected_rows);
    match read_table(firsts, second, &plan, progress, task) {
        Ok(outcome) => Ok(outcome),
        Err(unread) => settle(unread, firsts, second, &format!("reading rows of {name}")),
    }
}

fn read_table(
    firsts: &mut [View],
    second: &mut View,
    plan: &TablePlan,
    progress: &Progress,
    task: &TableTask,
) -> Result<Outcome, Unread> {
    let found = read::read(firsts, second, plan, progress)?;
    let mut shown = [Vec::new(), Vec::new()];
    for (range, checksums) in &found.first {
        let mut reader = Reader::of(firsts, second);
        row_diff::rows_read_by(&plan.labels, checksums, &mut shown, |[here, there]| {
            reader.read(plan, range, true, here.rows(), there)
        })?;
        if shown.iter().any(|rows| rows.len() >= row_diff::SHOWN_ROWS) {
            break;
        }
    }
    let [here, there] = found.rows;
    let difference = (found.differing > 0).then(|| {
        let mut what = format!("the source has {here} rows, the target {there}");
        if found.ranges > 1 {
            what.push_str(&format!("; {} of {} ranges of the key differ", found.differing, found.ranges));
        }
        what.push_str("; first differing rows:");
        task.difference(what, shown)
    });
    let rows = TableRows {
        table: task.name(),
        rows: found.rows,
        by_key: plan.is_by_key(),
        ranges: found.ranges,
        differing_ranges: found.differing,
    };
    Ok(Outcome::Compared { rows, difference, extra_columns: plan.extra_columns.clone() })
}

impl Unread {
    fn into_view_error(self, view: &str, action: &str) -> ViewError {
        ViewError { view: view.to_owned(), action: action.to_owned(), source: Box::new(self.error) }
    }
}
