//! Whether all nodes have what was confirmed, no more and no less.

use hortator_mysql::Connection;

use super::Workload;
use crate::Error;
use crate::nodes::Nodes;

/// Every node's count must be that of what was confirmed, once it has applied all that the cluster has agreed on.
pub(super) fn check(
    nodes: &Nodes,
    work: Workload,
    confirmed: u64,
    count: impl Fn(&mut Connection) -> Result<u64, Error>,
) -> Result<(), Error> {
    let mut found = Vec::new();
    for mut connection in nodes.connect_all()? {
        // A server without a provider has the setting too.
        let set = connection.execute(b"SET SESSION wsrep_sync_wait = 1");
        set.map_err(Error::server("having reads wait for the cluster"))?;
        found.push(count(&mut connection)?);
    }
    agree(work, confirmed, found)
}

fn agree(work: Workload, confirmed: u64, found: Vec<u64>) -> Result<(), Error> {
    if found.iter().all(|count| *count == confirmed) {
        return Ok(());
    }
    Err(Error::Apart { work: work.title(), confirmed, found })
}

/// The number that a query gives.
pub(super) fn number(connection: &mut Connection, query: &str) -> Result<u64, Error> {
    let rows = connection.fetch(query.as_bytes()).map_err(Error::server("counting the rows"))?;
    let number = rows.into_iter().flatten().flatten().next().unwrap_or_default();
    Ok(String::from_utf8_lossy(&number).parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_with_a_row_too_few_or_too_many_is_told() {
        agree(Workload::Load, 7, vec![7, 7, 7]).unwrap();
        for found in [vec![7, 6, 7], vec![8, 8, 8], vec![7, 7, 0]] {
            let counts = found.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            let message = agree(Workload::Load, 7, found).unwrap_err().to_string();
            assert!(message.contains(&format!("7 rows were confirmed, and the nodes have {counts}")), "{message}");
        }
    }
}
