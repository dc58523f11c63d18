//! The SQL around the rows: the shape of the well-known employees sample (six tables, two views, the order in which its
//! script sources its files), in our own words.

/// The script that the client runs; it sources the others.
pub const ENTRY: &str = "employees.sql";

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

/// The whole text of [`ENTRY`].
#[must_use]
pub fn entry_script() -> String {
    let mut script = DEFINITIONS.to_owned();
    for (table, files) in TABLES {
        script.push_str(&format!("\nSELECT 'LOADING {table}' AS 'INFO';\n"));
        for file in files {
            script.push_str(&format!("source {file} ;\n"));
        }
    }
    script.push_str("\nSELECT 'LOADED' AS 'INFO';\n");
    script
}
