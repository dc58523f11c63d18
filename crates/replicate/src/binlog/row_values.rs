//! Values of rows that become others of the same length.

use super::event::{Content, Event};
use super::fields::{Fields, Found};
use super::format_description::FormatDescription;
use super::header::HEADER_BYTES;
use super::row_images::{ColumnFormat, has};

impl Event {
    /// Gives each value that is not NULL to `edit`, with the number of its column, without its length.
    ///
    /// # Errors
    /// Rows that cannot be read, and those of `edit`.
    pub(crate) fn edit_values(
        &mut self,
        formats: &[ColumnFormat],
        format: &FormatDescription,
        mut edit: impl FnMut(usize, &mut [u8]) -> Result<(), Found>,
    ) -> Result<(), Found> {
        let Content::Rows(rows) = &self.content else { return Err("these are no rows".to_owned()) };
        if rows.columns != formats.len() {
            return Err(format!("rows of {} columns, of a table with {}", rows.columns, formats.len()));
        }
        let body = self.bytes.get(HEADER_BYTES..self.body_end(format)).unwrap_or_default();
        let sets = rows.present(body).into_iter().filter(|set| !set.is_empty());
        let sets: Vec<Vec<usize>> =
            sets.map(|set| (0..formats.len()).filter(|index| has(set, *index)).collect()).collect();
        let mut edited = body.to_vec();
        let mut fields = Fields(body.get(rows.images_at..).ok_or("rows that are cut off")?);
        if sets.iter().all(Vec::is_empty) {
            return Ok(());
        }
        while !fields.0.is_empty() {
            for held in &sets {
                let nulls = fields.bytes(held.len().div_ceil(8), "which values are NULL")?;
                for (_, column) in held.iter().enumerate().filter(|(number, _)| !has(nulls, *number)) {
                    let length = formats[*column].take(&mut fields)?.len();
                    let end = edited.len() - fields.0.len();
                    edit(*column, &mut edited[end - length..end])?;
                }
            }
        }
        if edited != body {
            self.replace_body(self.header.kind, &[&edited], format);
        }
        Ok(())
    }
}
