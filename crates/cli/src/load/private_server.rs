//! The private server of `hortator load --sandbox`: started for the first such load, and kept to look at.

use anyhow::Context;
use hortator_mysql::ConnectOptions;
use hortator_sandbox::{Builder, Sandbox, State};

/// The sandbox's name, as `hortator sandbox` knows it.
const NAME: &str = "load";

/// Starts the server where it does not run, and says how to look at it.
pub(super) fn start() -> anyhow::Result<ConnectOptions> {
    let dir = hortator_sandbox::default_folder()?;
    let known = Sandbox::list(&dir)?.into_iter().find(|sandbox| sandbox.name() == NAME);
    let sandbox = match known {
        Some(sandbox) => {
            if sandbox.node(0).state() != State::Running {
                sandbox.start().context("cannot start the private server")?;
            }
            sandbox
        }
        None => Builder::standalone().dir(dir).create(NAME).context("cannot start the private server")?,
    };
    let node = sandbox.node(0);
    eprintln!("hortator: loading into the sandbox `{NAME}`: {}", node.client_command().join(" "));
    eprintln!("hortator: the server keeps running; `hortator sandbox down {NAME}` removes it with its data");
    Ok(node.connect_options())
}
