//! Node discovery: the nodes that the user names, or those that the first node reports.

use std::thread;
use std::time::Duration;

use hortator_mysql::{Address, ConnectOptions, Connection};

use super::node_info::{NodeInfo, NodeState};
use super::{Error, node_address};

/// The port of nodes that are named without one.
const DEFAULT_PORT: u16 = 3306;
/// How long each step of probing a node may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// A server, with its name in messages.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) label: String,
    pub(super) options: ConnectOptions,
    pub(super) found: ProbeResult,
}

/// The result of probing an address.
#[derive(Debug)]
pub(super) enum ProbeResult {
    /// A node.
    Node(Box<NodeInfo>),
    /// A server outside any cluster.
    NotANode,
    /// No connection, and why.
    Unreachable(String),
}

/// Nodes of one cluster.
#[derive(Debug)]
pub(super) struct Nodes {
    pub(super) list: Vec<Node>,
    /// The first node that accepts statements; a synced node if there is one.
    pub(super) writer: usize,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

impl Node {
    pub(super) fn info(&self) -> Option<&NodeInfo> {
        match &self.found {
            ProbeResult::Node(info) => Some(info),
            ProbeResult::NotANode | ProbeResult::Unreachable(_) => None,
        }
    }

    /// Why the node does not accept statements; `None` if it does.
    fn trouble(&self) -> Option<String> {
        match &self.found {
            ProbeResult::Node(info) => match &info.state {
                NodeState::NotReady(said) => Some(said.clone()),
                NodeState::Synced | NodeState::Desynced => None,
            },
            ProbeResult::NotANode => Some("not a node of a Galera cluster".to_owned()),
            ProbeResult::Unreachable(reason) => Some(reason.clone()),
        }
    }
}

/// The nodes that a server reports over this connection, itself first; `None` for a server outside any cluster.
pub(super) fn known_to(connect: &ConnectOptions, connection: &mut Connection) -> Result<Option<Nodes>, Error> {
    let port = default_port(connect);
    let Some(info) = NodeInfo::ask(connection, port)? else { return Ok(None) };
    let own = info.index;
    let known = info.addresses.iter().enumerate().filter(|(index, _)| Some(*index) != own);
    let others: Vec<Address> = known.filter_map(|(_, address)| address.clone()).collect();
    let mut notes = Vec::new();
    let unreported = info.size.saturating_sub(1 + others.len());
    if unreported > 0 {
        notes.push(format!(
            "{unreported} of the {} nodes of the cluster do not report an address (wsrep_node_incoming_address): name all nodes \
             with --nodes to have the load monitor them",
            info.size,
        ));
    }
    let cluster = info.cluster.clone();
    let own = Node {
        label: label(&info, &connect.address),
        options: connect.clone(),
        found: ProbeResult::Node(Box::new(info)),
    };
    let (others, outsiders): (Vec<Node>, Vec<Node>) = probe_nodes(connect, others).into_iter().partition(|node| {
        node.info().map_or(!matches!(node.found, ProbeResult::NotANode), |info| info.cluster == cluster)
    });
    // From here, the address leads to another server than from the node that reported it.
    notes.extend(outsiders.iter().map(|node| {
        format!("address {} leads to a server outside the cluster: name all nodes with --nodes", node.label)
    }));
    Ok(Some(chosen([own].into_iter().chain(others).collect(), notes)?))
}

/// The nodes of these names.
pub(super) fn named(connect: &ConnectOptions, names: &[String]) -> Result<Nodes, Error> {
    let port = default_port(connect);
    let addresses = names.iter().map(|name| node_address(name.trim(), port)).collect::<Result<Vec<_>, _>>()?;
    let mut list = probe_nodes(connect, addresses);
    if let Some(node) = list.iter().find(|node| matches!(node.found, ProbeResult::NotANode)) {
        return Err(Error::NoNode { node: node.label.clone() });
    }
    let mut notes = Vec::new();
    let (mut members, mut first) = (Vec::new(), None::<(String, String)>);
    list.retain(|node| {
        let member = node.info().map(|info| info.member.clone()).unwrap_or_default();
        let is_again = !member.is_empty() && members.contains(&member);
        if is_again {
            notes.push(format!("--nodes names {} twice", node.label));
        }
        members.push(member);
        !is_again
    });
    for node in &list {
        let Some(info) = node.info().filter(|info| info.has_cluster()) else { continue };
        match &first {
            None => first = Some((node.label.clone(), info.cluster.clone())),
            Some((_, cluster)) if *cluster == info.cluster => {}
            Some((other, expected)) => {
                return Err(Error::OtherCluster {
                    node: node.label.clone(),
                    found: info.cluster.clone(),
                    other: other.clone(),
                    expected: expected.clone(),
                });
            }
        }
    }
    let size = list.iter().filter_map(|node| Some(node.info()?.size)).max().unwrap_or(0);
    if size > list.len() {
        notes.push(format!(
            "the cluster has {size} nodes, but --nodes names {}: the load monitors only these",
            list.len()
        ));
    }
    chosen(list, notes)
}

/// Chooses the writer, and notes which nodes cannot replace it for now.
fn chosen(list: Vec<Node>, mut notes: Vec<String>) -> Result<Nodes, Error> {
    let first = |state: &NodeState| list.iter().position(|node| node.info().is_some_and(|info| info.state == *state));
    let Some(writer) = first(&NodeState::Synced).or_else(|| first(&NodeState::Desynced)) else {
        let found = list.iter().map(|node| format!("{}: {}", node.label, node.trouble().unwrap_or_default()));
        return Err(Error::NoneReady { found: found.collect::<Vec<_>>().join("; ") });
    };
    for node in &list {
        if let Some(trouble) = node.trouble() {
            notes.push(format!("the load does not use {}: {trouble}", node.label));
        }
    }
    Ok(Nodes { list, writer, notes })
}

/// Probes all addresses in parallel: unreachable nodes cost one timeout in total.
fn probe_nodes(connect: &ConnectOptions, addresses: Vec<Address>) -> Vec<Node> {
    thread::scope(|scope| {
        let probes: Vec<_> = addresses
            .into_iter()
            .map(|address| scope.spawn(|| probe_node(ConnectOptions { address, ..connect.clone() })))
            .collect();
        probes.into_iter().map(|probe| probe.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

fn probe_node(options: ConnectOptions) -> Node {
    let options_for_probe = ConnectOptions {
        connect_timeout: options.connect_timeout.min(PROBE_TIMEOUT),
        read_timeout: Some(PROBE_TIMEOUT),
        // A node that does not accept statements has no default schema.
        database: None,
        ..options.clone()
    };
    let port = default_port(&options);
    let address = options.address.clone();
    match Connection::open(&options_for_probe).and_then(|mut connection| NodeInfo::ask(&mut connection, port)) {
        Ok(Some(info)) => Node { label: label(&info, &address), options, found: ProbeResult::Node(Box::new(info)) },
        Ok(None) => Node { label: address.to_string(), options, found: ProbeResult::NotANode },
        Err(error) => Node { label: address.to_string(), options, found: ProbeResult::Unreachable(error.to_string()) },
    }
}

fn label(info: &NodeInfo, address: &Address) -> String {
    format!("{} ({address})", info.name)
}

fn default_port(connect: &ConnectOptions) -> u16 {
    match connect.address {
        Address::Tcp { port, .. } => port,
        Address::Socket(_) => DEFAULT_PORT,
    }
}
