//! The number of rows of each table: that of the well-known sample, or a part of it.

use crate::Error;

/// Rows of the well-known sample, by table.
const FULL: Shape = Shape { employees: 300_024, dept_emp: 331_603, titles: 443_308, salaries: 2_844_047 };

/// Departments at any scale.
pub const DEPARTMENTS: u64 = 9;
/// Managers at any scale, each another employee.
pub const MANAGERS: u64 = 24;
/// Yearly salaries of one employee, at most.
pub const CAREER_LIMIT_YEARS: u64 = 18;

/// A smaller scale has fewer employees than managers.
const SMALLEST_SCALE: f64 = 0.000_2;
/// A larger scale exceeds the four-byte employee numbers.
const LARGEST_SCALE: f64 = 1_000.0;

/// The number of rows of each table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of `employees`.
    pub employees: u64,
    /// Rows of `dept_emp`: one or two per employee.
    pub dept_emp: u64,
    /// Rows of `titles`: one to three per employee.
    pub titles: u64,
    /// Rows of `salaries`: one to eighteen per employee.
    pub salaries: u64,
}

impl Shape {
    /// The sample's rows times `scale`; 1.0 is the whole sample.
    ///
    /// # Errors
    /// [`Error::Scale`] when the scale is not between 0.0002 and 1000.
    pub fn scaled(scale: f64) -> Result<Self, Error> {
        if !(SMALLEST_SCALE..=LARGEST_SCALE).contains(&scale) {
            return Err(Error::Scale { scale, smallest: SMALLEST_SCALE, largest: LARGEST_SCALE });
        }
        let part = |rows: u64| (rows as f64 * scale).round() as u64;
        Ok(Self {
            employees: part(FULL.employees),
            dept_emp: part(FULL.dept_emp),
            titles: part(FULL.titles),
            salaries: part(FULL.salaries),
        })
    }

    /// Rows of all six tables.
    #[must_use]
    pub fn rows(&self) -> u64 {
        DEPARTMENTS + MANAGERS + self.employees + self.dept_emp + self.titles + self.salaries
    }
}
