//! What the sources write: the tables, and the transactions of the backlog. All of it follows from the numbers of source and
//! transaction.

/// Rows of each table before the backlog.
const ROWS: u64 = 5_000;
/// Tables of small transactions.
const TABLES: u64 = 4;
/// Parents of families.
const PARENTS: u64 = 1_000;
/// Rows of one large transaction, for each small transaction that there would be.
const LARGE_ROWS: u64 = 20;

/// The table of beats.
pub(super) const BEAT: &str = "beat";

/// A kind of backlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Two updates, an INSERT and a DELETE, spread over four tables.
    Small,
    /// Updates of one row.
    HotRow,
    /// A parent and its children, with a foreign key.
    Families,
    /// One transaction of many rows.
    Large,
    /// As small, at a fixed rate, and a table of beats, which show how far the target is behind.
    Live,
}

impl Workload {
    /// All backlogs.
    pub const ALL: [Workload; 4] = [Workload::Small, Workload::HotRow, Workload::Families, Workload::Large];

    /// How it is called on the command line and in the report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Workload::Small => "small",
            Workload::HotRow => "hot-row",
            Workload::Families => "families",
            Workload::Large => "large",
            Workload::Live => "live",
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Workload::Small => "two updates, an INSERT and a DELETE on four tables in one transaction",
            Workload::HotRow => "updates of one row",
            Workload::Families => "a parent row and its children, with a foreign key",
            Workload::Large => "one transaction of many rows",
            Workload::Live => "small transactions at a fixed rate",
        }
    }

    /// Transactions that a source writes where it is to write so many.
    pub(super) fn transactions(self, asked: u64) -> u64 {
        match self {
            Workload::Large => 1,
            Workload::Small | Workload::HotRow | Workload::Families | Workload::Live => asked,
        }
    }

    /// Its tables, without the schema.
    pub(super) fn tables(self) -> Vec<String> {
        match self {
            Workload::Small => (0..TABLES).map(|table| format!("small{table}")).collect(),
            Workload::HotRow => vec!["hot".to_owned()],
            Workload::Families => vec!["parent".to_owned(), "child".to_owned()],
            Workload::Large => vec!["large".to_owned()],
            Workload::Live => Workload::Small.tables().into_iter().chain([BEAT.to_owned()]).collect(),
        }
    }

    /// The statements that make the tables as they are before the backlog, in the default schema.
    pub(super) fn setup(self) -> Vec<String> {
        let filled = |table: &str| {
            [
                format!(
                    "CREATE TABLE {table} (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, \
                     pad CHAR(60) NOT NULL, KEY (k)) ENGINE=InnoDB"
                ),
                format!("INSERT INTO {table} (k, c, pad) SELECT seq, MD5(seq), SHA1(seq) FROM seq_1_to_{ROWS}"),
            ]
        };
        match self {
            Workload::Small => self.tables().iter().flat_map(|table| filled(table)).collect(),
            Workload::HotRow => vec![
                "CREATE TABLE hot (id INT PRIMARY KEY, n BIGINT) ENGINE=InnoDB".to_owned(),
                "INSERT INTO hot VALUES (1, 0)".to_owned(),
            ],
            Workload::Families => vec![
                "CREATE TABLE parent (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB".to_owned(),
                "CREATE TABLE child (id INT AUTO_INCREMENT PRIMARY KEY, parent INT NOT NULL, v CHAR(60), \
                 FOREIGN KEY (parent) REFERENCES parent (id)) ENGINE=InnoDB"
                    .to_owned(),
                format!("INSERT INTO parent SELECT seq, 0 FROM seq_1_to_{PARENTS}"),
            ],
            Workload::Live => {
                let mut statements = Workload::Small.setup();
                statements.push(format!("CREATE TABLE {BEAT} (id BIGINT PRIMARY KEY) ENGINE=InnoDB"));
                statements
            }
            Workload::Large => {
                vec![
                    "CREATE TABLE large (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL) ENGINE=InnoDB"
                        .to_owned(),
                ]
            }
        }
    }

    /// The backlog of a source as a script for the client.
    pub(super) fn backlog(self, source: usize, transactions: u64) -> String {
        let mut script = String::new();
        if self == Workload::Large {
            let rows = transactions * LARGE_ROWS;
            return format!("INSERT INTO large SELECT seq, seq % 1000, MD5(seq) FROM seq_1_to_{rows};\n");
        }
        for number in 0..transactions {
            script.push_str(&self.transaction(source, number));
            script.push('\n');
        }
        script
    }

    /// One transaction of a source, as statements that end with `;`.
    pub(super) fn transaction(self, source: usize, number: u64) -> String {
        let seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(source as u64).rotate_left(23);
        match self {
            Workload::Small | Workload::Live => {
                let (table, one, two) = (seed % TABLES, 1 + seed % ROWS, 1 + seed / 7 % ROWS);
                let gone = 1 + (one + two) % ROWS;
                format!(
                    "BEGIN;UPDATE small{table} SET k=k+1 WHERE id={one};UPDATE small{table} SET c=MD5({number}) WHERE \
                     id={two};INSERT INTO small{table} (k,c,pad) VALUES ({number},MD5({number}),SHA1({number}));DELETE \
                     FROM small{table} WHERE id={gone};COMMIT;"
                )
            }
            Workload::HotRow => format!("UPDATE hot SET n=n+{} WHERE id=1;", 1 + number % 7),
            Workload::Families => {
                let parent = 1 + seed % PARENTS;
                format!(
                    "BEGIN;UPDATE parent SET n=n+2 WHERE id={parent};INSERT INTO child (parent,v) VALUES \
                     ({parent},MD5({number})),({parent},SHA1({number}));COMMIT;"
                )
            }
            Workload::Large => {
                let first = number * LARGE_ROWS + 1;
                let last = first + LARGE_ROWS - 1;
                format!("INSERT INTO large SELECT seq, seq % 1000, MD5(seq) FROM seq_{first}_to_{last};")
            }
        }
    }
}
