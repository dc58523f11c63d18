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
    check_with_unknown(nodes, work, confirmed, 0, count)
}

/// The same where nobody knows of some further rows whether they were committed: all nodes have the same of them.
pub(crate) fn check_with_unknown(
    nodes: &Nodes,
    work: &str,
    confirmed: u64,
    unknown: u64,
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
    compare_counts(work, confirmed, unknown, found)
}

fn compare_counts(work: &str, confirmed: u64, unknown: u64, found: Vec<u64>) -> Result<(), Error> {
    let possible = confirmed..=confirmed.saturating_add(unknown);
    if found.iter().all(|count| possible.contains(count) && *count == found[0]) {
        return Ok(());
    }
    Err(Error::NotConverged { work: work.to_owned(), confirmed, unknown, found })
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
        compare_counts("load", 7, 0, vec![7, 7, 7]).unwrap();
        for found in [vec![7, 6, 7], vec![8, 8, 8], vec![7, 7, 0]] {
            let counts = found.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            let message = compare_counts("load", 7, 0, found).unwrap_err().to_string();
            assert!(
                message.contains(&format!("the nodes have {counts} rows, but 7 rows were confirmed: ")),
                "{message}"
            );
        }
    }

    #[test]
    fn rows_of_lost_connections_may_be_there_or_not_but_on_all_nodes_alike() {
        for found in [vec![7, 7], vec![8, 8], vec![9, 9]] {
            compare_counts("load", 7, 2, found).unwrap();
        }
        for found in [vec![6, 6], vec![10, 10], vec![7, 8]] {
            let message = compare_counts("load", 7, 2, found).unwrap_err().to_string();
            let expected =
                "but 7 rows were confirmed and 2 rows had no answer, as their connections were lost: rows are lost";
            assert!(message.contains(expected), "{message}");
        }
    }
}
