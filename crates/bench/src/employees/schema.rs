//! The SQL around the rows: the shape of the well-known employees sample (six tables, two views, the order in which its
//! script sources its files), in our own words.

use std::fmt;

/// The script that the client runs; it sources the others.
pub const ENTRY: &str = "employees.sql";

/// Whether the tables have their foreign keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignKeys {
    /// As in the sample.
    With,
    /// The same tables and indexes without the constraints.
    Without,
}

impl fmt::Display for ForeignKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::With => "yes",
            Self::Without => "no",
        })
    }
}

impl ForeignKeys {
    /// Both, as in the sample first.
    pub const ALL: [Self; 2] = [Self::With, Self::Without];

    /// The definitions before the first row.
    pub(crate) fn definitions(self) -> String {
        match self {
            Self::With => DEFINITIONS.to_owned(),
            Self::Without => {
                DEFINITIONS.lines().filter_map(without_foreign_key).map(|line| line.to_owned() + "\n").collect()
            }
        }
    }
}

/// A line of the definitions without its foreign key. What stays is the index that the server makes for one: only if no
/// other index begins with its column, as the primary keys do with `emp_no`.
fn without_foreign_key(line: &str) -> Option<&str> {
    match line.trim_start() {
        key if key.starts_with("FOREIGN KEY (emp_no)") => None,
        key if key.starts_with("FOREIGN KEY (dept_no)") => Some("  KEY dept_no (dept_no),"),
        _ => Some(line),
    }
}

/// The foreign keys of [`ForeignKeys::With`]: child, column, parent.
pub(crate) const FOREIGN_KEYS: [(&str, &str, &str); 6] = [
    ("dept_manager", "emp_no", "employees"),
    ("dept_manager", "dept_no", "departments"),
    ("dept_emp", "emp_no", "employees"),
    ("dept_emp", "dept_no", "departments"),
    ("titles", "emp_no", "employees"),
    ("salaries", "emp_no", "employees"),
];

/// The statements before the first row: the empty schema, its tables and views.
pub const DEFINITIONS: &str = "\
-- A company's people, their departments, titles and pay. Generated; the same bytes every time.

DROP DATABASE IF EXISTS employees;
CREATE DATABASE IF NOT EXISTS employees;
USE employees;

SELECT 'CREATING TABLES' AS 'INFO';

DROP TABLE IF EXISTS dept_emp, dept_manager, titles, salaries, employees, departments;

SET default_storage_engine = InnoDB;

CREATE TABLE employees (
  emp_no     INT           NOT NULL,
  birth_date DATE          NOT NULL,
  first_name VARCHAR(14)   NOT NULL,
  last_name  VARCHAR(16)   NOT NULL,
  gender     ENUM('M','F') NOT NULL,
  hire_date  DATE          NOT NULL,
  PRIMARY KEY (emp_no)
);

CREATE TABLE departments (
  dept_no   CHAR(4)     NOT NULL,
  dept_name VARCHAR(40) NOT NULL,
  PRIMARY KEY (dept_no),
  UNIQUE KEY (dept_name)
);

CREATE TABLE dept_manager (
  emp_no    INT     NOT NULL,
  dept_no   CHAR(4) NOT NULL,
  from_date DATE    NOT NULL,
  to_date   DATE    NOT NULL,
  FOREIGN KEY (emp_no)  REFERENCES employees (emp_no)    ON DELETE CASCADE,
  FOREIGN KEY (dept_no) REFERENCES departments (dept_no) ON DELETE CASCADE,
  PRIMARY KEY (emp_no, dept_no)
);

CREATE TABLE dept_emp (
  emp_no    INT     NOT NULL,
  dept_no   CHAR(4) NOT NULL,
  from_date DATE    NOT NULL,
  to_date   DATE    NOT NULL,
  FOREIGN KEY (emp_no)  REFERENCES employees (emp_no)    ON DELETE CASCADE,
  FOREIGN KEY (dept_no) REFERENCES departments (dept_no) ON DELETE CASCADE,
  PRIMARY KEY (emp_no, dept_no)
);

CREATE TABLE titles (
  emp_no    INT         NOT NULL,
  title     VARCHAR(50) NOT NULL,
  from_date DATE        NOT NULL,
  to_date   DATE,
  FOREIGN KEY (emp_no) REFERENCES employees (emp_no) ON DELETE CASCADE,
  PRIMARY KEY (emp_no, title, from_date)
);

CREATE TABLE salaries (
  emp_no    INT  NOT NULL,
  salary    INT  NOT NULL,
  from_date DATE NOT NULL,
  to_date   DATE NOT NULL,
  FOREIGN KEY (emp_no) REFERENCES employees (emp_no) ON DELETE CASCADE,
  PRIMARY KEY (emp_no, from_date)
);

CREATE OR REPLACE VIEW dept_emp_latest_date AS
  SELECT emp_no, MAX(from_date) AS from_date, MAX(to_date) AS to_date
  FROM dept_emp
  GROUP BY emp_no;

-- The department that each one is in, or was in last.
CREATE OR REPLACE VIEW current_dept_emp AS
  SELECT latest.emp_no, dept_no, latest.from_date, latest.to_date
  FROM dept_emp AS stay
  JOIN dept_emp_latest_date AS latest
    ON stay.emp_no = latest.emp_no AND stay.from_date = latest.from_date AND stay.to_date = latest.to_date;

";

/// The tables in the order in which the script loads them, each with the files of its rows.
pub const TABLES: [(&str, &[&str]); 6] = [
    ("departments", &["load_departments.dump"]),
    ("employees", &["load_employees.dump"]),
    ("dept_emp", &["load_dept_emp.dump"]),
    ("dept_manager", &["load_dept_manager.dump"]),
    ("titles", &["load_titles.dump"]),
    ("salaries", &["load_salaries1.dump", "load_salaries2.dump", "load_salaries3.dump"]),
];

/// The whole text of [`ENTRY`], or the same without foreign keys.
#[must_use]
pub fn entry_script(keys: ForeignKeys) -> String {
    let mut script = keys.definitions();
    for (table, files) in TABLES {
        script.push_str(&format!("\nSELECT 'LOADING {table}' AS 'INFO';\n"));
        for file in files {
            script.push_str(&format!("source {file} ;\n"));
        }
    }
    script.push_str("\nSELECT 'LOADED' AS 'INFO';\n");
    script
}
