//! The reason why clients read a total twice: MariaDB's snapshots are not always consistent, with or without a
//! provider.

use std::thread;

use hortator_sandbox::Builder;

use super::tables;
use crate::kills::fetch;

const SECONDS: u32 = 30;
const WRITERS: usize = 8;
const READERS: usize = 3;

/// Both procedures run in the server: clients are too slow to see this often.
const TRANSFERS: &str = "CREATE PROCEDURE transfers() BEGIN \
    DECLARE source, target, amount INT; \
    DECLARE deadline DATETIME DEFAULT NOW() + INTERVAL {SECONDS} SECOND; \
    WHILE SYSDATE() < deadline DO \
      SET source = 1 + FLOOR(RAND() * 20), target = 1 + FLOOR(RAND() * 20), amount = 1 + FLOOR(RAND() * 9); \
      IF source < target THEN \
        START TRANSACTION; \
        UPDATE account SET balance = balance - amount WHERE id = source; \
        UPDATE account SET balance = balance + amount WHERE id = target; \
        COMMIT; \
      END IF; \
    END WHILE; END";
const LOOKS: &str = "CREATE PROCEDURE looks() BEGIN \
    DECLARE half, other BIGINT; \
    DECLARE deadline DATETIME DEFAULT NOW() + INTERVAL {SECONDS} SECOND; \
    DECLARE looks, another INT DEFAULT 0; \
    WHILE SYSDATE() < deadline DO \
      START TRANSACTION; \
      SELECT SUM(balance) INTO half FROM account WHERE id <= 10; \
      SELECT SUM(balance) INTO other FROM account WHERE id > 10; \
      COMMIT; \
      SET looks = looks + 1; \
      IF half + other <> 20000 THEN SET another = another + 1; END IF; \
    END WHILE; \
    SELECT looks, another; END";

/// Fails when MariaDB's snapshots become consistent: then one read of the total is enough.
#[test]
#[ignore = "half a minute, and of the server only"]
fn a_standalone_server_shows_inconsistent_snapshots() {
    let sandbox = Builder::standalone().set("innodb_flush_log_at_trx_commit", "0").start_temporary().unwrap();
    let connect = || {
        let mut connection = sandbox.node(0).connect().unwrap();
        connection.execute(b"USE fire").map(|_| connection)
    };
    tables::make(&mut sandbox.node(0).connect().unwrap());
    for procedure in [TRANSFERS, LOOKS] {
        let procedure = procedure.replace("{SECONDS}", &SECONDS.to_string());
        connect().unwrap().execute(procedure.as_bytes()).unwrap();
    }
    let counts = thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| connect().unwrap().execute(b"CALL transfers()").unwrap());
        }
        let readers: Vec<_> =
            (0..READERS).map(|_| scope.spawn(|| fetch(&mut connect().unwrap(), "CALL looks()"))).collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).collect::<Vec<_>>()
    });
    let sum = |column: usize| counts.iter().map(|rows| rows[0][column].parse::<u64>().unwrap()).sum::<u64>();
    let (looks, another) = (sum(0), sum(1));
    println!("{looks} reads of the total in a transaction, {another} of another one");
    assert!(another > 0, "none of {looks} snapshots was torn");
    let total = fetch(&mut connect().unwrap(), "SELECT SUM(balance) FROM account");
    assert_eq!(total, [[tables::TOTAL.to_string()]]);
}
