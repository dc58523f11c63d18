//! Contenders that read the files of the log, as after the loss of the server.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hortator_sandbox::Temporary;

use super::contender::Agent;
use super::sources::Source;
use crate::{Error, measure};

/// The program that the server has for it, and the client: one source after the other.
pub(super) fn by_client(
    sources: &[Source],
    target: &Temporary,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<(Duration, Agent), Error> {
    let (mut wall, mut used) = (Duration::ZERO, Agent { cpu: Duration::ZERO, peak_bytes: 0 });
    for source in sources {
        // The log of a backlog is one file.
        let (begin, end) = (&source.begin, &source.end);
        if begin.file != end.file {
            return Err(Error::Answer(format!("the log of {} has several files", source.schema)));
        }
        let script = "set -o pipefail; mariadb-binlog --no-defaults --start-position=\"$1\" \"$2\" | mariadb --no-defaults \
                      -u root -S \"$3\"";
        let mut command = Command::new("bash");
        command.args(["-c", script, "bash", &begin.position.to_string()]);
        command.arg(source.server.node(0).data_dir().join(&begin.file)).arg(target.node(0).socket());
        let usage = measure::run(command.stdin(Stdio::null()), &folder.join("recovery.log"), stop)?;
        wall += usage.wall;
        used = used.and(usage);
    }
    Ok((wall, used))
}

/// `hortator replicate run --from-files`, one source after the other.
pub(super) fn by_hortator(
    sources: &[Source],
    target: &Temporary,
    hortator: &Path,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<(Duration, Agent), Error> {
    let (mut wall, mut used) = (Duration::ZERO, Agent { cpu: Duration::ZERO, peak_bytes: 0 });
    for source in sources {
        let (name, begin) = (&source.schema, &source.begin);
        let text = format!(
            "[target]\nsocket = \"{}\"\nuser = \"root\"\n[[source]]\nname = \"{name}\"\nstart = \"{}:{}\"\n",
            target.node(0).socket().display(),
            begin.file,
            begin.position
        );
        let file = folder.join("recovery.toml");
        fs::write(&file, text).map_err(Error::io(format!("writing {}", file.display())))?;
        let mut command = Command::new(hortator);
        command.args(["replicate", "run"]).arg(&file).arg("--from-files").arg(source.server.node(0).data_dir());
        let usage = measure::run(command.stdin(Stdio::null()), &folder.join("recovery.log"), stop)?;
        wall += usage.wall;
        used = used.and(usage);
    }
    Ok((wall, used))
}
