//! The shapes: what each is called, how it is made, and how fast a load of it has to be.

use std::fs;
use std::path::Path;

use super::generators::{binlogs, databases, extended, objects, recorded, single_rows};
use super::script::{Dump, Script};
use crate::Error;

/// Never slower than the client, within the noise of a measurement.
const LEVEL: f64 = 0.95;

/// A shape of dumps.
#[derive(Clone, Copy)]
pub struct Shape {
    /// How the command line and the report call it.
    pub name: &'static str,
    /// What the dump consists of.
    pub content: &'static str,
    /// The client's time divided by the load's that is to be reached.
    pub target: f64,
    /// The schema holds the dump's tables already when the load begins.
    pub is_reload: bool,
    generator: fn(&mut Script) -> Result<(), Error>,
}

impl Shape {
    const fn new(
        name: &'static str,
        content: &'static str,
        target: f64,
        generator: fn(&mut Script) -> Result<(), Error>,
    ) -> Self {
        Self { name, content, target, is_reload: false, generator }
    }

    /// The shape of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        SHAPES.iter().find(|shape| shape.name == name)
    }

    /// Writes the dump into `folder`; scale 1 is the size of the quick experiment. The same scale gives the same bytes.
    ///
    /// # Errors
    /// [`Error::Io`] when the file can't be written.
    pub fn generate(&self, folder: &Path, scale: f64) -> Result<Dump, Error> {
        fs::create_dir_all(folder).map_err(Error::io(format!("creating {}", folder.display())))?;
        let mut script = Script::create(&folder.join(format!("{}-{scale}.sql", self.name)), scale)?;
        (self.generator)(&mut script)?;
        script.finish()
    }
}

impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// All shapes, in the report's order.
#[rustfmt::skip]
pub const SHAPES: &[Shape] = &[
    Shape::new("employees", "the employees sample: six tables with foreign keys, INSERTs of 1 MB", LEVEL, extended::employees),
    Shape::new("mariadb-dump", "four tables, as mariadb-dump writes them by default", LEVEL, extended::default_options),
    Shape::new("no-autocommit", "eight tables of different sizes, with --no-autocommit", 2.3, extended::no_autocommit),
    Shape::new("complete-insert", "three tables, with --complete-insert", LEVEL, extended::complete_insert),
    Shape::new("skip-extended-insert", "three tables, with --skip-extended-insert", LEVEL, extended::skip_extended_insert),
    Shape::new("insert-ignore", "two tables, with --no-create-info --insert-ignore; 1 % of the rows are there before", LEVEL, extended::insert_ignore),
    Shape::new("replace", "two tables, with --no-create-info --replace; 1 % of the rows are there before", LEVEL, extended::replace),
    Shape::new("wide-rows", "BLOBs of up to 60 kB, in hexadecimal and with escapes", LEVEL, extended::wide_rows),
    Shape::new("small-inserts", "INSERTs of ten rows, into eight tables in turn, autocommit", LEVEL, extended::small_inserts),
    Shape::new("single-row-autocommit", "INSERTs of one row, autocommit", 5.0, single_rows::autocommit),
    Shape::new("single-row-one-transaction", "INSERTs of one row, all in one transaction", LEVEL, single_rows::one_transaction),
    Shape::new("single-row-blocks", "INSERTs of one row, in BEGIN … COMMIT blocks of 100", LEVEL, single_rows::blocks_of_100),
    Shape::new("trigger", "INSERTs of one row into a table with a trigger, autocommit", LEVEL, single_rows::trigger),
    Shape::new("on-duplicate-key-update", "INSERT … ON DUPLICATE KEY UPDATE of one row, autocommit", LEVEL, single_rows::on_duplicate_key_update),
    Shape::new("insert-select", "INSERT … SELECT of one row, autocommit", LEVEL, single_rows::insert_select),
    Shape::new("updates", "UPDATEs by key, autocommit", LEVEL, single_rows::updates),
    Shape::new("deletes-and-inserts", "an INSERT of one row and a DELETE by key in turn, autocommit", LEVEL, single_rows::deletes_and_inserts),
    Shape::new("mixed-blocks", "INSERT, UPDATE, INSERT … SELECT and ON DUPLICATE KEY UPDATE in BEGIN … COMMIT blocks of 100", LEVEL, single_rows::mixed_blocks),
    Shape::new("session-state", "user variables and temporary tables between INSERTs", LEVEL, single_rows::session_state),
    Shape::new("small-tables", "1,000 tables of up to ten rows, as mariadb-dump writes them", 1.5, databases::small_tables),
    Shape::new("small-tables-no-header", "the same without the SETs at the head and at the end", 1.5, databases::small_tables_only),
    Shape::new("game-myisam", "a game's database: 100 MyISAM tables of very different sizes, 20 MB", 1.3, databases::game_in_myisam),
    Shape::new("game-innodb", "the same in InnoDB", LEVEL, databases::game_in_innodb),
    Shape::new("schemas", "1,000 schemas with a small table each", LEVEL, databases::schemas),
    Shape::new("views-and-routines", "300 views on views and 200 routines, no rows", LEVEL, objects::views_and_routines),
    Shape::new("binlog-statements", "3,000 small transactions of a binlog, as mariadb-binlog prints statements", LEVEL, binlogs::statements),
    Shape::new("binlog-rows", "3,000 small transactions of a binlog, as mariadb-binlog prints row events", LEVEL, binlogs::row_events),
    Shape::new("calls", "CALLs of a procedure that writes one row, autocommit", LEVEL, recorded::calls),
    Shape::new("blocks", "BEGIN NOT ATOMIC blocks that write one row", LEVEL, recorded::blocks),
    Shape::new("insert-returning", "INSERT … RETURNING of one row, autocommit", LEVEL, recorded::returning),
    Shape::new("insert-into-view", "INSERTs of one row into a view, autocommit", LEVEL, recorded::into_view),
    Shape::new("show-warnings", "INSERTs of one row, SHOW WARNINGS behind each", LEVEL, recorded::warnings),
    Shape::new("myisam-updates", "UPDATEs by key of a MyISAM table", LEVEL, recorded::myisam_updates),
    Shape::new("accounts", "accounts and schemas that are created and dropped", LEVEL, recorded::accounts),
    Shape::new("setval", "SETVAL of a sequence", LEVEL, recorded::setval),
    Shape::new("empty-tables", "CREATE TABLE … LIKE, TRUNCATE, ALTER of an empty table, DROP TABLE", LEVEL, recorded::empty_tables),
    Shape { is_reload: true, ..Shape::new("reload", "40 tables that are dropped, created and filled again", LEVEL, databases::reload) },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_shape_is_the_same_bytes_each_time() {
        let folder = tempfile::tempdir().unwrap();
        for shape in SHAPES {
            let first = shape.generate(folder.path(), 0.06).unwrap();
            assert_eq!(shape.generate(folder.path(), 0.06).unwrap(), first, "{shape:?}");
            assert!(first.statements > 2 && first.bytes > 500, "{first:?}");
        }
    }

    #[test]
    fn names_find_their_shapes() {
        let names: BTreeSet<&str> = SHAPES.iter().map(|shape| shape.name).collect();
        assert_eq!(names.len(), SHAPES.len());
        assert!(names.iter().all(|name| Shape::named(name).is_some_and(|shape| shape.name == *name)));
        assert!(Shape::named("nothing").is_none());
    }
}
