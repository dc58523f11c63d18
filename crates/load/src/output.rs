//! Where the rows go that statements of the dump return.

use hortator_mysql::RowSink;

/// Takes result rows, and how the dump wants them shown.
pub trait Output: RowSink {
    /// The next statement ends in `\G`: one value a line; or it does not.
    fn shape(&mut self, is_vertical: bool);
}
