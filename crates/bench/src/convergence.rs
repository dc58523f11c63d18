//! The check that all nodes have exactly the confirmed rows.

use hortator_mysql::Connection;

use crate::Error;
use crate::nodes::Nodes;

/// Checks that every node has the confirmed number of rows, after it has applied everything that the cluster has
/// committed.
pub(crate) fn check(
    nodes: &Nodes,
    work: &str,
    confirmed: u64,
    count: impl Fn(&mut Connection) -> Result<u64, Error>,
) -> Result<(), Error> {
    let mut found = Vec::new();
    for mut connection in nodes.connect_all()? {
        if nodes.has_provider() {
            let set = connection.execute(b"SET SESSION wsrep_sync_wait = 1");
            set.map_err(Error::server("setting wsrep_sync_wait"))?;
        }
        found.push(count(&mut connection)?);
    }
    compare_counts(work, confirmed, found)
}

fn compare_counts(work: &str, confirmed: u64, found: Vec<u64>) -> Result<(), Error> {
    if found.iter().all(|count| *count == confirmed) {
        return Ok(());
    }
    Err(Error::NotConverged { work: work.to_owned(), confirmed, found })
}

/// The number that a query returns.
pub(crate) fn number(connection: &mut Connection, query: &str) -> Result<u64, Error> {
    let rows = connection.fetch(query.as_bytes()).map_err(Error::server("counting the rows"))?;
    let number = rows.into_iter().flatten().flatten().next().unwrap_or_default();
    Ok(String::from_utf8_lossy(&number).parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_with_missing_or_extra_rows_is_an_error() {
        compare_counts("load", 7, vec![7, 7, 7]).unwrap();
        for found in [vec![7, 6, 7], vec![8, 8, 8], vec![7, 7, 0]] {
            let counts = found.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            let message = compare_counts("load", 7, found).unwrap_err().to_string();
            assert!(message.contains(&format!("the nodes have {counts} rows, but 7 rows were confirmed")), "{message}");
        }
    }
}
