//! The employees, one after the other: their careers, and with them their rows in every table.

use std::io::{self, Write};
use std::path::Path;

use super::calendar::{Calendar, Day, day};
use super::names;
use super::random::{Quota, Random};
use super::schema;
use super::shape::{CAREER_LIMIT_YEARS, MANAGERS, Shape};
use super::statements::Statements;

const FIRST_EMPLOYEE: u64 = 10_001;
const FIRST_HIRE: Day = day(1985, 1, 1);
/// The day on which the data end: employees who are still there get an open end.
const LAST_DAY: Day = day(2002, 8, 1);
const FIRST_BIRTH: Day = day(1952, 2, 1);
const LAST_BIRTH: Day = day(1965, 2, 1);
/// The sample's value for an open end.
const FOR_GOOD: &[u8] = b"9999-01-01";
/// A salary is for one day to the same day 365 days later, leap year or not.
const PAY_DAYS: u64 = 365;
/// The number of employees out of ten who are still there on the last day.
const STILL_THERE_OF_TEN: u64 = 8;
/// The number of written salaries may differ from the even share by this much before the next careers are made shorter
/// or longer.
const DRIFT_LIMIT: u64 = 200;

/// The hire date of an employee, the years of salary, and the date of leaving, if any.
#[derive(Clone, Copy, Debug)]
struct Career {
    hired: Day,
    years: u64,
    left: Option<Day>,
}

/// Writes the rows of every table but `departments` into `folder`; returns rows and bytes of all files together.
///
/// # Errors
/// When a file cannot be written.
pub fn write(folder: &Path, shape: &Shape, seed: u64) -> io::Result<(u64, u64)> {
    let mut company = Company::create(folder, shape, seed)?;
    for index in 0..shape.employees {
        company.employ(index)?;
    }
    company.finish()
}

struct Company {
    shape: Shape,
    random: Random,
    calendar: Calendar,
    second_departments: Quota,
    promotions: Quota,
    salaries_left: u64,
    row: Vec<u8>,
    employees: Statements,
    dept_emp: Statements,
    dept_manager: Statements,
    titles: Statements,
    salaries: Vec<Statements>,
}

impl Company {
    fn create(folder: &Path, shape: &Shape, seed: u64) -> io::Result<Self> {
        let files = |table: &str| -> io::Result<Vec<Statements>> {
            let (name, files) =
                schema::TABLES.iter().find(|(name, _)| *name == table).expect("the script loads every table");
            files.iter().map(|file| Statements::create(&folder.join(file), name)).collect()
        };
        let file = |table: &str| files(table).map(|mut files| files.swap_remove(0));
        Ok(Self {
            shape: *shape,
            random: Random::new(seed),
            calendar: Calendar::new(),
            second_departments: Quota::new(shape.dept_emp.saturating_sub(shape.employees), shape.employees),
            promotions: Quota::new(shape.titles.saturating_sub(shape.employees), 2 * shape.employees),
            salaries_left: shape.salaries,
            row: Vec::with_capacity(128),
            employees: file("employees")?,
            dept_emp: file("dept_emp")?,
            dept_manager: file("dept_manager")?,
            titles: file("titles")?,
            salaries: files("salaries")?,
        })
    }

    fn finish(self) -> io::Result<(u64, u64)> {
        let Self { employees, dept_emp, dept_manager, titles, salaries, .. } = self;
        let files = [employees, dept_emp, dept_manager, titles].into_iter().chain(salaries);
        files.map(Statements::finish).try_fold((0, 0), |(rows, bytes), file| {
            let (file_rows, file_bytes) = file?;
            Ok((rows + file_rows, bytes + file_bytes))
        })
    }

    /// Writes the rows of the employee with this index.
    fn employ(&mut self, index: u64) -> io::Result<()> {
        let number = FIRST_EMPLOYEE + index;
        let career = self.career(index);
        let managed = self.managed_department(index);
        self.person(number, &career)?;
        self.stays(number, &career, managed)?;
        self.climb(number, &career, managed.is_some())?;
        self.pay(number, &career)
    }

    /// Managers are spread evenly over the employees, and the departments over the managers.
    fn managed_department(&self, index: u64) -> Option<usize> {
        let spacing = self.shape.employees / MANAGERS;
        let manager = index / spacing;
        (index.is_multiple_of(spacing) && manager < MANAGERS).then_some(manager as usize % names::DEPARTMENTS.len())
    }

    fn career(&mut self, index: u64) -> Career {
        let years = self.years(index);
        let longest_past = LAST_DAY - PAY_DAYS * years;
        let still_there = self.random.below(10) < STILL_THERE_OF_TEN || longest_past <= FIRST_HIRE;
        if still_there {
            let since_last_raise = self.random.below(PAY_DAYS);
            return Career { hired: LAST_DAY - PAY_DAYS * (years - 1) - since_last_raise, years, left: None };
        }
        let hired = self.random.between(FIRST_HIRE, longest_past);
        let last_year = self.random.between(1, PAY_DAYS);
        Career { hired, years, left: Some(hired + PAY_DAYS * (years - 1) + last_year) }
    }

    /// Years of salary: a random number up to the limit, close to the even share, so that the total is exact.
    fn years(&mut self, index: u64) -> u64 {
        let people_after = self.shape.employees - index - 1;
        let fewest = self.salaries_left.saturating_sub(people_after * CAREER_LIMIT_YEARS).max(1);
        let most = (self.salaries_left - people_after).min(CAREER_LIMIT_YEARS);

        let written = self.shape.salaries - self.salaries_left;
        let share = u128::from(self.shape.salaries) * u128::from(index) / u128::from(self.shape.employees);
        let share = u64::try_from(share).expect("a part of a 64-bit number of rows");
        let drawn = self.random.between(1, CAREER_LIMIT_YEARS);
        let held = if written > share + DRIFT_LIMIT {
            drawn.saturating_sub(2)
        } else if written + DRIFT_LIMIT < share {
            drawn + 2
        } else {
            drawn
        };
        let years = held.clamp(fewest, most);
        self.salaries_left -= years;
        years
    }

    fn person(&mut self, number: u64, career: &Career) -> io::Result<()> {
        let (first, gender) = self.random.pick(&names::FIRST);
        let begin = self.random.pick(&names::LAST_BEGIN);
        let end = self.random.pick(&names::LAST_END);
        let born = self.random.between(FIRST_BIRTH, LAST_BIRTH);
        self.row.clear();
        write!(self.row, "{number},'")?;
        self.row.extend_from_slice(self.calendar.text(born));
        write!(self.row, "','{first}','{begin}{end}','{gender}','")?;
        self.row.extend_from_slice(self.calendar.text(career.hired));
        self.row.push(b'\'');
        self.employees.row(&self.row)
    }

    /// One department, or two in sequence; a manager's first department is the managed one.
    fn stays(&mut self, number: u64, career: &Career, managed: Option<usize>) -> io::Result<()> {
        let departments = names::DEPARTMENTS.len();
        let first = managed.unwrap_or(self.random.below(departments as u64) as usize);
        let moved = self.second_departments.draw(&mut self.random).then(|| self.within(career));
        let first_end = moved.or(career.left);
        let first_department = names::DEPARTMENTS[first].0;
        self.period(number, first_department, career.hired, first_end);
        self.dept_emp.row(&self.row)?;
        if managed.is_some() {
            self.dept_manager.row(&self.row)?;
        }
        if let Some(moved) = moved {
            let step = self.random.between(1, departments as u64 - 1) as usize;
            let second_department = names::DEPARTMENTS[(first + step) % departments].0;
            self.period(number, second_department, moved, career.left);
            self.dept_emp.row(&self.row)?;
        }
        Ok(())
    }

    fn climb(&mut self, number: u64, career: &Career, manages: bool) -> io::Result<()> {
        let promotions = (0..2).filter(|_| self.promotions.draw(&mut self.random)).count();
        let mut days: Vec<Day> = (0..promotions).map(|_| self.within(career)).collect();
        days.sort_unstable();
        let ladder = self.random.pick(&names::LADDERS);
        let starts = std::iter::once(career.hired).chain(days.iter().copied());
        let ends = days.iter().copied().map(Some).chain(std::iter::once(career.left));
        for (rung, (from, to)) in starts.zip(ends).enumerate() {
            let title = if manages && rung == promotions { names::MANAGER } else { ladder[rung] };
            self.period(number, title, from, to);
            self.titles.row(&self.row)?;
        }
        Ok(())
    }

    fn pay(&mut self, number: u64, career: &Career) -> io::Result<()> {
        let file = self.salary_file();
        let mut salary = 38_000 + self.random.below(25_000) + self.random.below(25_000);
        let mut from = career.hired;
        for year in 1..=career.years {
            let to = if year == career.years { career.left } else { Some(from + PAY_DAYS) };
            self.row.clear();
            write!(self.row, "{number},{salary},'")?;
            self.dates(from, to);
            self.salaries[file].row(&self.row)?;
            from += PAY_DAYS;
            salary = salary + self.random.below(4_500) - 500;
        }
        Ok(())
    }

    /// The salaries are in several files of about the same length; one employee's are all in one file.
    fn salary_file(&self) -> usize {
        let files = self.salaries.len();
        let rows_per_file = self.shape.salaries.div_ceil(files as u64);
        let written: u64 = self.salaries.iter().map(Statements::rows).sum();
        ((written / rows_per_file) as usize).min(files - 1)
    }

    /// A day between hiring and leaving (or the last day of the data).
    fn within(&mut self, career: &Career) -> Day {
        let end = career.left.unwrap_or(LAST_DAY).max(career.hired + 1);
        self.random.between(career.hired + 1, end)
    }

    /// A row with a period: number, word, both days.
    fn period(&mut self, number: u64, word: &str, from: Day, to: Option<Day>) {
        self.row.clear();
        self.row.extend_from_slice(number.to_string().as_bytes());
        self.row.push(b',');
        self.row.push(b'\'');
        self.row.extend_from_slice(word.as_bytes());
        self.row.extend_from_slice(b"','");
        self.dates(from, to);
    }

    /// Both days, after an open quote.
    fn dates(&mut self, from: Day, to: Option<Day>) {
        self.row.extend_from_slice(self.calendar.text(from));
        self.row.extend_from_slice(b"','");
        self.row.extend_from_slice(to.map_or(FOR_GOOD, |day| self.calendar.text(day)));
        self.row.push(b'\'');
    }
}
