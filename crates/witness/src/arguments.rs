//! The command line. Names are those of the server's variables without `wsrep_`, where one exists.

use std::path::PathBuf;

use clap::Parser;
use hortator_wsrep::witness::Setup;

/// Votes in a cluster of Hortator's wsrep provider, and holds its log, without a database server
///
/// Two nodes and a witness continue after the loss of any one of the three. The witness needs a machine of its own,
/// but little of it. It joins by itself when it reaches the cluster, and stays a voter when it stops.
///
/// SIGTERM ends it; SIGHUP makes it read the files of TLS and of the secret again.
#[derive(Debug, Parser)]
#[command(name = "hortator-witness", version)]
#[expect(clippy::doc_markdown, reason = "clap prints it as it is")]
pub struct Arguments {
    /// The folder of its log; created if it does not exist, private, and of one witness
    #[arg(long, value_name = "DIR", required_unless_present = "man_page")]
    pub dir: Option<PathBuf>,
    /// The nodes of the cluster, as in wsrep_cluster_address
    #[arg(long, value_name = "gcomm://A,B", required_unless_present = "man_page")]
    pub cluster_address: Option<String>,
    /// The name of the cluster: wsrep_cluster_name of its nodes
    #[arg(long, value_name = "NAME", default_value = "my_wsrep_cluster")]
    pub cluster_name: String,
    /// The address to listen on, and the port [default port: 4567; default: gmcast.listen_addr of --provider-options]
    #[arg(long, value_name = "ADDR[:PORT]")]
    pub listen: Option<String>,
    /// The address at which the nodes reach the witness, as wsrep_node_address [default: that of --listen]
    #[arg(long, value_name = "ADDR[:PORT]")]
    pub node_address: Option<String>,
    /// Its name in the nodes' status, as wsrep_node_name
    #[arg(long, value_name = "NAME", default_value = "witness")]
    pub node_name: String,
    /// Options as in wsrep_provider_options: `socket.ssl_*`, `auth.secret_file`, `raft.*` and `log.*` have an effect
    #[arg(long, value_name = "OPTIONS", default_value = "", hide_default_value = true)]
    pub provider_options: String,
    /// Give the vote back for good, and end; stop the running witness first
    #[arg(long)]
    pub leave: bool,
    /// Print the man page.
    #[arg(long, hide = true)]
    pub man_page: bool,
}

impl Arguments {
    /// What the witness starts with.
    pub fn setup(&self) -> Setup {
        Setup {
            name: self.node_name.clone(),
            folder: self.dir.clone().unwrap_or_default(),
            cluster_name: self.cluster_name.clone(),
            cluster_address: self.cluster_address.clone().unwrap_or_default(),
            listen: self.listen.clone(),
            node_address: self.node_address.clone(),
            options: self.provider_options.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::try_parse_from(["hortator-witness"].into_iter().chain(line.split_whitespace()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn folder_and_cluster_address_are_needed() {
        let setup = parse("--dir /w --cluster-address gcomm://a,b --listen 10.0.0.3").unwrap().setup();
        assert_eq!((setup.name.as_str(), setup.cluster_name.as_str()), ("witness", "my_wsrep_cluster"));
        assert_eq!((setup.listen.as_deref(), setup.node_address), (Some("10.0.0.3"), None));
        for line in ["", "--dir /w", "--cluster-address gcomm://a"] {
            assert!(parse(line).unwrap_err().contains("required"), "{line}");
        }
    }

    #[test]
    fn the_man_page_needs_nothing() {
        assert!(parse("--man-page").unwrap().man_page);
    }
}
