//! A folder of SQL files: one file after the other in the order of their names, as `cat *.sql` gives them.

use super::folder::Folder;
use super::{Error, Member};
use crate::input::plain_name;

const LAYOUT: &str = "a folder of .sql files";

pub(super) fn members(folder: &Folder) -> Result<Vec<Member>, Error> {
    let (sql, others): (Vec<&str>, Vec<&str>) = folder.files().partition(|name| is_sql(name));
    if sql.is_empty() {
        return Err(Error::Empty { folder: folder.shown() });
    }
    let folders = folder.folders().iter().map(|name| format!("{name}/"));
    folder.refuse(LAYOUT, others.into_iter().map(str::to_owned).chain(folders).collect())?;
    Ok(sql.into_iter().map(|name| Member::file(folder.path_of(name))).collect())
}

pub(super) fn is_sql(name: &str) -> bool {
    plain_name(name).ends_with(".sql")
}
