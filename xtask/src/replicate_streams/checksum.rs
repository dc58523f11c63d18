//! `cargo xtask replicate-streams checksum`: pt-table-checksum on a source. Its statements compute checksums of chunks where they
//! run: on the target, too, if they come through the log at the right place.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};

use super::agent::{Agent, Progress};
use super::servers::{Role, start};
use super::sysbench::{Bench, transactions};
use crate::mtr_as_dumps::server::Server;

const SCHEMA: &str = "d1";
/// Chunks, and those that differ, as the manual of the tool asks for them.
const QUERY: &str = "SELECT COUNT(*), COALESCE(SUM(master_cnt <> this_cnt OR master_crc <> this_crc \
                     OR ISNULL(master_crc) <> ISNULL(this_crc)), 0) FROM percona.checksums";

/// Runs it while sysbench writes; then with a row that differs, which it has to find.
pub(super) fn run(suites: &Path, hortator: &Path, time: Duration) -> anyhow::Result<()> {
    let (source, target) = (start(Role::Source, "ROW", suites)?, start(Role::Target, "ROW", suites)?);
    source.connect()?.execute(b"RESET MASTER")?;
    let agent = Agent::start(hortator, &[source.socket()], &target.socket())?;
    let bench = Bench::prepare(&source, SCHEMA)?;
    let writers = bench.spawn(time)?;
    let said = checksum(&source)?;
    println!("{} transactions of sysbench in {} s meanwhile", transactions(writers)?, time.as_secs());
    println!("{said}");
    let (chunks, differing) = result(&agent, &target)?;
    println!("{chunks} chunks at the target, {differing} differ");
    if chunks == 0 || differing > 0 {
        bail!("the target differs, or has no checksums");
    }
    let spoil = format!("UPDATE {SCHEMA}.sbtest1 SET c = CONCAT('x', SUBSTR(c, 2)) WHERE id = 5000");
    target.connect()?.execute(spoil.as_bytes())?;
    checksum(&source)?;
    let (chunks, differing) = result(&agent, &target)?;
    println!("{chunks} chunks at the target after a change there, {differing} differ");
    if differing != 1 {
        bail!("the check does not find a difference");
    }
    Ok(())
}

fn checksum(source: &Server) -> anyhow::Result<String> {
    let mut command = Command::new("pt-table-checksum");
    command.args(["--no-version-check", "--no-check-binlog-format", "--recursion-method=none", "--user=root"]);
    command.arg(format!("--socket={}", source.socket().display())).arg(format!("--databases={SCHEMA}"));
    // Small chunks, so that there are many.
    command.args(["--chunk-size=500", "--chunk-time=0"]);
    let output = command.output().context("cannot run pt-table-checksum: it is of Debian's package percona-toolkit")?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned();
    if output.status.success() { Ok(said) } else { bail!("pt-table-checksum: {said}") }
}

/// How many chunks the target has, and how many of them differ.
fn result(agent: &Agent, target: &Server) -> anyhow::Result<(u64, u64)> {
    let progress = agent.catch_up()?;
    if progress != Progress::CaughtUp {
        bail!("{progress:?}");
    }
    let row = target.connect()?.fetch(QUERY.as_bytes())?.into_iter().next().unwrap_or_default();
    let number = |value: &Option<Vec<u8>>| {
        let text = String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
        text.parse().with_context(|| format!("`{text}` is no number"))
    };
    match row.as_slice() {
        [chunks, differing] => Ok((number(chunks)?, number(differing)?)),
        _ => bail!("the target has no checksums"),
    }
}
