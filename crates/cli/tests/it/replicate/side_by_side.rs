//! A source with a backlog goes over several connections to the target, and the rows are those of one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, fs, process, thread};

use super::fan_in::{Agent, FanIn, run, texts};
use super::line_of;
use crate::random::Dice;

/// Connections of the agent for groups.
const WORKERS: usize = 5;

/// A source whose tables the target has, and that is paused: what is written now becomes a backlog.
fn paused(statements: &[&str]) -> (FanIn, Agent) {
    paused_with(&[], "", statements)
}

/// As [`paused`], with settings of the target, and what the configuration has behind the number of workers.
fn paused_with(of_target: &[(&str, &str)], keys: &str, statements: &[&str]) -> (FanIn, Agent) {
    let mut fan_in = FanIn::new(1, of_target);
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replace("[target]\n", &format!("[target]\nworkers = {WORKERS}\n{keys}")));
    let agent = fan_in.start();
    run(&fan_in.sources[0], statements);
    fan_in.catch_up();
    assert_eq!(fan_in.says("pause s1"), (String::new(), Some(0)));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    (fan_in, agent)
}

fn resume(fan_in: &FanIn) {
    assert_eq!(fan_in.says("resume s1"), (String::new(), Some(0)));
}

/// Ends the agent, which has never stopped the source nor begun again.
fn end_well(fan_in: &FanIn, agent: Agent) {
    assert_eq!(fan_in.says("stop").1, Some(0));
    let (log, code) = agent.end();
    assert!(code == Some(0) && !log.contains("stopped") && !log.contains("trying again"), "{log}");
}

/// Connections at the target, without the one that asks.
fn connections(fan_in: &FanIn) -> usize {
    let asked = texts(
        &fan_in.target,
        "SELECT COUNT(*) - 1 FROM information_schema.PROCESSLIST WHERE USER NOT IN ('system user', 'event_scheduler')",
    );
    asked[0][0].parse().unwrap()
}

/// Parents and children three deep, unique keys besides the primary one, a key whose letters have accents, rows without keys.
const TABLES: [&str; 7] = [
    "CREATE DATABASE d1",
    "CREATE TABLE d1.g (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
    "CREATE TABLE d1.p (id INT PRIMARY KEY, g INT, v INT, FOREIGN KEY (g) REFERENCES g (id) ON DELETE CASCADE) \
     ENGINE=InnoDB",
    "CREATE TABLE d1.c (id INT PRIMARY KEY, p INT, email VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci \
     UNIQUE, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB",
    "CREATE TABLE d1.n (name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci PRIMARY KEY, v INT) \
     ENGINE=InnoDB",
    "CREATE TABLE d1.no_key (v INT, w INT, KEY (v)) ENGINE=InnoDB",
    "CREATE TABLE d1.u (id INT PRIMARY KEY, a INT UNIQUE, b INT UNIQUE) ENGINE=InnoDB",
];

/// A statement on one of them. `span` is the number of different keys.
fn statement(dice: &mut Dice, span: u64) -> String {
    let (id, other) = (dice.below(span), dice.below(span));
    let letter = ["e", "é", "E", "ë", "ss", "ß", "Å", "a"][usize::try_from(dice.below(8)).unwrap()];
    match dice.below(16) {
        0 => format!("INSERT IGNORE INTO g VALUES ({id}, {other})"),
        1 => format!("DELETE FROM g WHERE id = {id}"),
        2 => format!("UPDATE g SET v = v + 1 WHERE id = {id}"),
        3 | 4 => format!("INSERT IGNORE INTO p VALUES ({id}, {other}, 0)"),
        5 => format!("UPDATE p SET v = v + 1 WHERE id BETWEEN {id} AND {}", id + 2),
        6 => format!("UPDATE IGNORE p SET id = {other} WHERE id = {id}"),
        7 | 8 => format!("REPLACE INTO c VALUES ({id}, {other}, '{letter}{other}')"),
        9 => format!("UPDATE IGNORE c SET email = '{letter}{other}' WHERE id = {id}"),
        10 => format!("REPLACE INTO n VALUES ('{letter}{id}', {other})"),
        11 => format!("DELETE FROM n WHERE name = '{letter}{id}'"),
        12 => format!("INSERT INTO no_key VALUES ({id}, {other}), ({id}, {other})"),
        13 => format!("UPDATE no_key SET w = w + 1 WHERE v = {id} LIMIT 3"),
        14 => format!("DELETE FROM no_key WHERE v = {id} LIMIT 2"),
        _ => format!("REPLACE INTO u VALUES ({id}, {other}, {})", dice.below(span)),
    }
}

/// Transactions of such statements. Some of them the source refuses.
fn write(fan_in: &FanIn, dice: &mut Dice, transactions: usize, span: u64) {
    let mut connection = fan_in.sources[0].node(0).connect().unwrap();
    connection.execute(b"USE d1").unwrap();
    for _ in 0..transactions {
        connection.execute(b"BEGIN").unwrap();
        for _ in 0..=dice.below(4) {
            let _ = connection.execute(statement(dice, span).as_bytes());
        }
        connection.execute(b"COMMIT").unwrap();
    }
}

fn dice() -> Dice {
    let seed: u64 =
        env::var("HORTATOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(u64::from(process::id()));
    eprintln!("HORTATOR_SEED={seed}");
    Dice::new(seed)
}

#[test]
fn rows_of_many_conflicts_come_out_as_over_one_connection() {
    let mut dice = dice();
    for span in [20, 5_000] {
        let (fan_in, agent) = paused(&TABLES);
        write(&fan_in, &mut dice, 2_500, span);
        resume(&fan_in);
        fan_in.catch_up();
        fan_in.assert_equal(&["d1"]);
        assert!(connections(&fan_in) > WORKERS, "{} connections", connections(&fan_in));
        end_well(&fan_in, agent);
    }
}

/// Rows of one table, ten for each transaction, from 1.
fn backlog(fan_in: &FanIn, transactions: usize) {
    let mut connection = fan_in.sources[0].node(0).connect().unwrap();
    for number in 0..transactions {
        let first = number * 10;
        let insert = format!("INSERT INTO d1.t SELECT seq, 0 FROM d1.seq_{}_to_{}", first + 1, first + 10);
        connection.execute(insert.as_bytes()).unwrap();
    }
}

/// A group that has used a table waits for its turn, a definition of somebody else's waits for the group, and an earlier
/// group for the definition: the server sees no deadlock.
#[test]
fn definitions_of_another_session_stop_no_backlog() {
    const TABLES: usize = 4;
    let tables = (0..TABLES).map(|n| format!("CREATE TABLE d1.t{n} (id INT PRIMARY KEY, v INT) ENGINE=InnoDB"));
    let statements: Vec<String> = ["CREATE DATABASE d1".to_owned()].into_iter().chain(tables).collect();
    let (fan_in, agent) = paused(&statements.iter().map(String::as_str).collect::<Vec<_>>());
    let mut connection = fan_in.sources[0].node(0).connect().unwrap();
    // Each transaction uses the tables in another order.
    for number in 0..1_500 {
        connection.execute(b"BEGIN").unwrap();
        for step in 0..TABLES {
            let (table, first) = ((number + step) % TABLES, number * 10 + 1);
            let rows = format!("d1.seq_{first}_to_{}", first + 9);
            connection.execute(format!("INSERT INTO d1.t{table} SELECT seq, 0 FROM {rows}").as_bytes()).unwrap();
        }
        connection.execute(b"COMMIT").unwrap();
    }
    let mut other = fan_in.target.node(0).connect().unwrap();
    let is_over = AtomicBool::new(false);
    let count = thread::scope(|scope| {
        let definitions = scope.spawn(|| {
            let mut count = 0;
            while !is_over.load(Ordering::Relaxed) {
                other.execute(format!("ALTER TABLE d1.t{} ENGINE=InnoDB", count % TABLES).as_bytes()).unwrap();
                count += 1;
            }
            count
        });
        resume(&fan_in);
        fan_in.catch_up();
        is_over.store(true, Ordering::Relaxed);
        definitions.join().unwrap()
    });
    assert!(count > TABLES, "{count} definitions");
    fan_in.assert_equal(&["d1"]);
    end_well(&fan_in, agent);
}

const ONE_TABLE: [&str; 2] = ["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB"];

#[test]
fn an_error_in_a_backlog_names_its_transaction_and_leaves_those_behind_it() {
    let (fan_in, _agent) = paused(&ONE_TABLE);
    run(&fan_in.target, &["INSERT INTO d1.t VALUES (4567, 1), (8888, 1)"]);
    backlog(&fan_in, 1_000);
    resume(&fan_in);
    fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped"));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains("rows of d1.t") && shown.contains("Duplicate entry '4567'"), "{shown}");
    let ids = || texts(&fan_in.target, "SELECT COUNT(*), MAX(id) FROM d1.t WHERE v = 0");
    assert_eq!(ids(), [["4560", "4560"]], "all before the transaction at fault, and nothing behind it");
    run(&fan_in.target, &["DELETE FROM d1.t WHERE id = 4567"]);
    resume(&fan_in);
    fan_in.wait_until("it to stop", |_| fan_in.says("status").0.contains("Duplicate entry '8888'"));
    assert_eq!(ids(), [["8880", "8880"]]);
    assert_eq!(fan_in.says("skip s1").1, Some(0));
    fan_in.catch_up();
    assert_eq!(blocks_that_differ(&fan_in), [["888", "1"]]);
    assert_eq!(ids(), [["9990", "10000"]]);
}

/// The transactions of a backlog that the target does not have as a whole, with the rows it has of them.
fn blocks_that_differ(fan_in: &FanIn) -> Vec<Vec<String>> {
    texts(
        &fan_in.target,
        "SELECT (seq - 1) DIV 10, COUNT(id) FROM d1.seq_1_to_10000 LEFT JOIN d1.t ON id = seq GROUP BY 1 HAVING COUNT(id) <> 10 ORDER BY 1",
    )
}

#[test]
fn errors_in_a_backlog_that_are_ignored_leave_out_their_transactions_only() {
    let (fan_in, agent) = paused_with(&[], "ignore_errors = [1062]\n", &ONE_TABLE);
    // Several in one group, in groups behind each other, the first and the last transaction.
    let wrong = [5, 1_017, 1_023, 1_999, 2_004, 5_555, 9_991];
    for id in wrong {
        run(&fan_in.target, &[&format!("INSERT INTO d1.t VALUES ({id}, 1)")]);
    }
    backlog(&fan_in, 1_000);
    resume(&fan_in);
    fan_in.catch_up();
    let expected: Vec<_> = wrong.iter().map(|id| vec![(id / 10).to_string(), "1".to_owned()]).collect();
    assert_eq!(blocks_that_differ(&fan_in), expected);
    fan_in.wait_until("the count", |_| fan_in.says("status --json").0.contains("\"passed_over\":7"));
    end_well(&fan_in, agent);
}

#[test]
fn groups_that_time_out_while_others_are_filled() {
    for hold_ms in [1_500, 2_300, 2_700] {
        let (fan_in, _agent) = paused_with(&[("innodb_lock_wait_timeout", "1")], "", &ONE_TABLE);
        backlog(&fan_in, 1_500);
        let mut holder = fan_in.target.node(0).connect().unwrap();
        holder.execute(b"BEGIN").unwrap();
        holder.execute(b"INSERT INTO d1.t VALUES (2005, 9)").unwrap();
        resume(&fan_in);
        fan_in.wait_until("the rows before it", |_| {
            texts(&fan_in.target, "SELECT COUNT(*) FROM d1.t WHERE id <= 1000") == [["1000"]]
        });
        thread::sleep(Duration::from_millis(hold_ms));
        holder.execute(b"ROLLBACK").unwrap();
        fan_in.catch_up();
        fan_in.assert_equal(&["d1"]);
    }
}

#[test]
fn changes_keep_the_server_id_of_their_first_server() {
    let of_target = [("log_bin", "bin"), ("binlog_format", "ROW")];
    let (mut fan_in, agent) = paused_with(&of_target, "", &ONE_TABLE);
    assert_eq!(fan_in.says("stop").1, Some(0));
    agent.end();
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replace("[[source]]\n", "[[source]]\nignore_server_ids = [99]\n"));
    let mut source = fan_in.sources[0].node(0).connect().unwrap();
    for id in 0..3_000 {
        // A group's last transaction is one that is passed over, often.
        let server = if id % 3 == 0 { 77 } else { 99 };
        source.execute(format!("SET SESSION server_id = {server}").as_bytes()).unwrap();
        source.execute(format!("INSERT INTO d1.t VALUES ({id}, {server})").as_bytes()).unwrap();
    }
    let agent = fan_in.start();
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT COUNT(*), MIN(v), MAX(v) FROM d1.t"), [["1000", "77", "77"]]);
    let mut events = texts(&fan_in.target, "SHOW BINLOG EVENTS IN 'bin.000001'");
    events.retain(|event| event[2].starts_with("Table_map") && event[5].contains("d1.t"));
    assert!(!events.is_empty() && events.iter().all(|event| event[3] == "77"), "{:?}", &events[..5.min(events.len())]);
    end_well(&fan_in, agent);
}

#[test]
fn users_of_the_target_lock_rows_and_change_the_table_meanwhile() {
    let (fan_in, agent) = paused(&ONE_TABLE);
    backlog(&fan_in, 3_000);
    // In the middle of the rows to come, for longer than a worker waits for a lock.
    let mut holder = fan_in.target.node(0).connect().unwrap();
    holder.execute(b"BEGIN").unwrap();
    holder.execute(b"INSERT INTO d1.t VALUES (15005, 9)").unwrap();
    resume(&fan_in);
    let committed =
        |last: u64| texts(&fan_in.target, &format!("SELECT COUNT(*) FROM d1.t WHERE id <= {last}"))[0][0].clone();
    fan_in.wait_until("the rows before it", |_| committed(14_000) == "14000");
    // Not more often: the server shows what it knew for a tenth of a second.
    fan_in.wait_until("a worker to wait for the holder", |_| {
        thread::sleep(Duration::from_millis(200));
        let waits = "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
        texts(&fan_in.target, waits) != [["0"]]
    });
    thread::sleep(Duration::from_secs(5));
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.t WHERE id > 15010"), [[""; 0]; 0], "out of turn");
    holder.execute(b"ROLLBACK").unwrap();
    // Each waits for the groups that have rows in the table, and new rows wait for it.
    let mut altered = 0;
    while committed(30_000) != "30000" {
        run(&fan_in.target, &["ALTER TABLE d1.t FORCE, ALGORITHM=COPY"]);
        altered += 1;
    }
    eprintln!("altered {altered} times");
    fan_in.catch_up();
    let (shown, _) = fan_in.says("status --json");
    assert!(shown.contains("\"replays\":") && !shown.contains("\"replays\":0,"), "groups gave way: {shown}");
    fan_in.assert_equal(&["d1"]);
    end_well(&fan_in, agent);
}

#[test]
fn fewer_connections_than_it_would_have() {
    let mut fan_in = FanIn::new(1, &[]);
    run(
        &fan_in.target,
        &["CREATE USER few@localhost WITH MAX_USER_CONNECTIONS 2", "GRANT ALL ON *.* TO few@localhost"],
    );
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replacen("user = \"root\"\n", "user = \"few\"\nworkers = 4\n", 1));
    let agent = fan_in.start();
    run(&fan_in.sources[0], &ONE_TABLE);
    fan_in.catch_up();
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    backlog(&fan_in, 1_000);
    resume(&fan_in);
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    let connections = |count: u32| fan_in.says("status --json").0.contains(&format!("\"connections\":{count},"));
    // Where a statement has taken a second, one of the two watches the target.
    let all_open =
        || texts(&fan_in.target, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'few'") == [["2"]];
    assert!(connections(2) || connections(1) && all_open(), "{}", fan_in.says("status --json").0);
    // Those that could not connect are started again in the same session.
    run(&fan_in.target, &["ALTER USER few@localhost WITH MAX_USER_CONNECTIONS 0"]);
    run(&fan_in.sources[0], &["CREATE TABLE d1.more (id INT PRIMARY KEY) ENGINE=InnoDB"]);
    fan_in.catch_up();
    let mut source = fan_in.sources[0].node(0).connect().unwrap();
    let mut holder = fan_in.target.node(0).connect().unwrap();
    let mut id = 0;
    fan_in.wait_until("all connections", |_| {
        // A backlog.
        holder.execute(b"BEGIN").unwrap();
        holder.execute(format!("INSERT INTO d1.more VALUES ({})", id + 1).as_bytes()).unwrap();
        for _ in 0..1_000 {
            id += 1;
            source.execute(format!("INSERT INTO d1.more VALUES ({id})").as_bytes()).unwrap();
        }
        holder.execute(b"ROLLBACK").unwrap();
        fan_in.catch_up();
        connections(5)
    });
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    assert_eq!(fan_in.says("stop").1, Some(0));
    let (log, _) = agent.end();
    assert_eq!(log.matches("applies over fewer connections").count(), 1, "{log}");
    assert!(log.contains("s1: applies over fewer connections than it could: ") && log.contains("max_user"), "{log}");
}

#[test]
fn a_target_that_passes_over_wrong_rows_gets_them_in_turn() {
    let (fan_in, agent) = paused(&ONE_TABLE);
    run(&fan_in.target, &["SET GLOBAL slave_exec_mode = IDEMPOTENT"]);
    backlog(&fan_in, 1_000);
    resume(&fan_in);
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    assert!(connections(&fan_in) <= WORKERS, "{} connections", connections(&fan_in));
    end_well(&fan_in, agent);
}

/// A backlog of which the first group waits for a user of the target, while later ones run: `last` is the end of the first
/// group, `then` what follows.
fn behind_a_lock(fan_in: &FanIn, settings: &str, [last, then]: [&str; 2]) {
    run(&fan_in.sources[0], &["INSERT INTO d1.held VALUES (1, 0)"]);
    resume(fan_in);
    fan_in.catch_up();
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    let mut holder = fan_in.target.node(0).connect().unwrap();
    holder.execute(b"BEGIN").unwrap();
    holder.execute(b"SELECT * FROM d1.held WHERE id = 1 FOR UPDATE").unwrap();
    let mut source = fan_in.sources[0].node(0).connect().unwrap();
    source.execute(b"UPDATE d1.held SET v = v + 1").unwrap();
    let fill = |source: &mut hortator_mysql::Connection, from: u32, count: u32| {
        for id in from..from + count {
            source.execute(format!("INSERT INTO d1.filler VALUES ({id})").as_bytes()).unwrap();
        }
    };
    fill(&mut source, 0, 98);
    source.execute(settings.as_bytes()).unwrap();
    source.execute(last.as_bytes()).unwrap();
    source.execute(b"SET foreign_key_checks = 1").unwrap();
    source.execute(then.as_bytes()).unwrap();
    fill(&mut source, 1_000, 500);
    resume(fan_in);
    thread::sleep(Duration::from_millis(600));
    holder.execute(b"ROLLBACK").unwrap();
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// Grandparents whose rows take those of their children's children with them.
const THREE_DEEP: [&str; 9] = [
    "CREATE DATABASE d1",
    "CREATE TABLE d1.held (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
    "CREATE TABLE d1.filler (id INT PRIMARY KEY) ENGINE=InnoDB",
    "CREATE TABLE d1.g (id INT PRIMARY KEY) ENGINE=InnoDB",
    "CREATE TABLE d1.p (id INT PRIMARY KEY, g INT, FOREIGN KEY (g) REFERENCES g (id) ON DELETE CASCADE) ENGINE=InnoDB",
    "CREATE TABLE d1.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB",
    "INSERT INTO d1.g VALUES (1), (2)",
    "INSERT INTO d1.p VALUES (1, 1), (2, 2)",
    "INSERT INTO d1.c VALUES (1, 1), (2, 2)",
];

/// A row that the statement behind it deletes.
const LATE_CHILD: [&str; 2] = ["INSERT INTO d1.c VALUES (100, 1)", "DELETE FROM d1.g WHERE id = 1"];

/// With foreign_key_checks = 0 they lock no parents, and run in turn.
#[test]
fn rows_that_cascades_delete_are_changed_before() {
    for checks in [0, 1] {
        let (fan_in, agent) = paused(&THREE_DEEP);
        behind_a_lock(&fan_in, &format!("SET foreign_key_checks = {checks}"), LATE_CHILD);
        assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.c"), [["2"]]);
        end_well(&fan_in, agent);
    }
}

#[test]
fn numbers_that_the_target_gives_follow_the_source_s_order() {
    let (fan_in, agent) = paused(&THREE_DEEP);
    run(&fan_in.target, &["ALTER TABLE d1.filler ADD seq BIGINT NOT NULL AUTO_INCREMENT, ADD KEY (seq)"]);
    run(&fan_in.sources[0], &["INSERT INTO d1.held VALUES (1, 0)"]);
    let mut source = fan_in.sources[0].node(0).connect().unwrap();
    for id in 0..600 {
        source.execute(format!("INSERT INTO d1.filler VALUES ({id})").as_bytes()).unwrap();
    }
    resume(&fan_in);
    fan_in.catch_up();
    let wrong = texts(&fan_in.target, "SELECT id, seq FROM d1.filler WHERE seq <> id + 1 LIMIT 3");
    assert_eq!(wrong, [[""; 0]; 0]);
    end_well(&fan_in, agent);
}
