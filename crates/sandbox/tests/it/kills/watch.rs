//! Reads from a starting server, from the first moment that it answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hortator_mysql::Connection;
use hortator_sandbox::Node;

/// The observations of a client during the start of a server.
#[derive(Debug, Default, Clone, Copy)]
pub struct Seen {
    /// Answers that the server is not ready.
    pub refusals: usize,
    /// Answers with data.
    pub answers: usize,
    /// The lowest value of the counter in them.
    pub lowest: Option<i64>,
    /// Wrong totals of the accounts.
    pub wrong_totals: usize,
}

/// Reads until the flag is set. Reconnects when necessary.
pub fn watch(node: Node<'_>, is_over: &AtomicBool) -> Seen {
    let mut seen = Seen::default();
    let mut options = node.connect_options();
    options.connect_timeout = Duration::from_secs(5);
    while !is_over.load(Ordering::SeqCst) {
        let Ok(mut connection) = Connection::open(&options) else {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        };
        while !is_over.load(Ordering::SeqCst) {
            match connection.fetch(b"SELECT v, (SELECT SUM(balance) FROM kills.account) FROM kills.counter") {
                Ok(rows) => {
                    let number = |at: usize| -> i64 {
                        String::from_utf8(rows[0][at].clone().unwrap()).unwrap().parse().unwrap()
                    };
                    seen.answers += 1;
                    seen.lowest = Some(seen.lowest.map_or(number(0), |lowest| lowest.min(number(0))));
                    seen.wrong_totals += usize::from(number(1) != 8000);
                }
                Err(error) if error.is_unready() => seen.refusals += 1,
                Err(error) if error.is_lost() => break,
                Err(error) => panic!("while it comes up: {error}"),
            }
        }
    }
    seen
}
