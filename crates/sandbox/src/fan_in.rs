//! Several sources that write all the time, and a target for `hortator replicate`, with its configuration.
//!
//! The sources write by themselves: an event calls a procedure every second. Neither is in the binary log, so that the target
//! has the tables only.

use std::fs;

use crate::error::At;
use crate::node::Node;
use crate::sandbox::Sandbox;
use crate::{Error, options};

/// The configuration's name in the sandbox's folder.
pub(crate) const CONFIGURATION: &str = "replicate.toml";
/// The first file of a source's binary log, and the position of its first event.
const START: &str = "binlog.000001:4";
/// Orders that a source takes each second.
const ORDERS: u32 = 20;

/// The arguments of a source's server, or of the target's, which is the last.
pub(crate) fn arguments(sources: usize, index: usize) -> Vec<String> {
    if index == sources {
        return Vec::new();
    }
    let arguments = [
        "--log-bin=binlog",
        "--binlog-format=ROW",
        // After a crash, a source must still have what the target has applied.
        "--sync-binlog=1",
        "--event-scheduler=ON",
        "--innodb-buffer-pool-size=64M",
    ];
    arguments.map(str::to_owned).to_vec()
}

/// Gives the sources their tables and their load, and writes the configuration.
pub(crate) fn set_up(sandbox: &Sandbox) -> Result<(), Error> {
    let nodes: Vec<Node<'_>> = sandbox.nodes().collect();
    let Some((target, sources)) = nodes.split_last() else { return Ok(()) };
    let mut text = format!("# The servers of this sandbox.\n\n[target]\n{}", endpoint(*target)?);
    for (number, source) in (1..).zip(sources) {
        begin_load(*source, number)?;
        text += &format!("\n[[source]]\nname = \"shop{number}\"\nstart = \"{START}\"\n{}", endpoint(*source)?);
    }
    let file = sandbox.folder().join(CONFIGURATION);
    fs::write(&file, text).at("write", &file)
}

/// How to connect, as the configuration says it.
fn endpoint(node: Node<'_>) -> Result<String, Error> {
    let socket = options::path_option("socket", &node.socket())?;
    let socket = socket.trim_start_matches("--socket=");
    Ok(format!("socket = \"{socket}\"\nuser = \"root\"\n"))
}

/// A shop with its orders, of which some change and some go.
fn begin_load(source: Node<'_>, number: usize) -> Result<(), Error> {
    let shop = format!("shop{number}");
    let statements = [
        format!("CREATE DATABASE {shop}"),
        format!("USE {shop}"),
        "CREATE TABLE customers (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL, orders INT NOT NULL \
         DEFAULT 0) ENGINE=InnoDB"
            .to_owned(),
        "CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, placed DATETIME(3) NOT NULL, \
         state ENUM('new', 'paid', 'sent') NOT NULL DEFAULT 'new', KEY (placed), FOREIGN KEY (customer) REFERENCES \
         customers (id)) ENGINE=InnoDB"
            .to_owned(),
        "INSERT INTO customers (name) SELECT CONCAT('customer ', seq) FROM seq_1_to_1000".to_owned(),
        "SET SESSION sql_log_bin = 0".to_owned(),
        format!(
            "CREATE PROCEDURE take_orders() BEGIN DECLARE taken INT DEFAULT 0; DECLARE buyer INT; \
             WHILE taken < {ORDERS} DO \
             SET buyer = 1 + FLOOR(RAND() * 1000); SET taken = taken + 1; \
             START TRANSACTION; \
             INSERT INTO orders (customer, placed) VALUES (buyer, NOW(3)); \
             UPDATE customers SET orders = orders + 1 WHERE id = buyer; \
             UPDATE orders SET state = 'paid' WHERE state = 'new' AND id = CAST(LAST_INSERT_ID() AS SIGNED) - 20; \
             DELETE FROM orders WHERE id = CAST(LAST_INSERT_ID() AS SIGNED) - 5000; \
             COMMIT; END WHILE; END"
        ),
        "CREATE EVENT take_orders ON SCHEDULE EVERY 1 SECOND DO CALL take_orders()".to_owned(),
    ];
    let mut connection = source.connect()?;
    for statement in statements {
        connection.execute(statement.as_bytes()).map_err(|error| source.statement(error))?;
    }
    Ok(())
}
