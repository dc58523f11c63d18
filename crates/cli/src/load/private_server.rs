//! The private server of `hortator load --sandbox`: the first such load starts it; it keeps running.

use anyhow::Context;
use hortator_mysql::ConnectOptions;
use hortator_sandbox::{Builder, Sandbox, State};

/// The sandbox's name, as `hortator sandbox` knows it.
const NAME: &str = "load";

/// Starts the server if it does not run, and prints how to connect to it.
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
