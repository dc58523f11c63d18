//! Finding a cluster's nodes: those that the user names, or those that the first one knows.

use std::thread;
use std::time::Duration;

use hortator_mysql::{Address, ConnectOptions, Connection};

use super::facts::{Facts, NodeState};
use super::{Error, node_address};

/// The port of nodes that are named without one.
const DEFAULT_PORT: u16 = 3306;
/// How long a node may take for each step while it is looked for.
const LOOK_LIMIT: Duration = Duration::from_secs(5);

/// A server, and how it is called in messages.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) label: String,
    pub(super) options: ConnectOptions,
    pub(super) found: Found,
}

/// What was found where a node should be.
#[derive(Debug)]
pub(super) enum Found {
    /// A node, and what it says.
    Node(Box<Facts>),
    /// A server that is no node.
    NoNode,
    /// Nobody who lets us in, and why.
    Away(String),
}

/// Nodes of one cluster.
#[derive(Debug)]
pub(super) struct Nodes {
    pub(super) list: Vec<Node>,
    /// The first that takes statements, a synced one if there is any.
    pub(super) home: usize,
    /// What the user should know of the others.
    pub(super) notes: Vec<String>,
}

impl Node {
    pub(super) fn facts(&self) -> Option<&Facts> {
        match &self.found {
            Found::Node(facts) => Some(facts),
            Found::NoNode | Found::Away(_) => None,
        }
    }

    /// Why it takes no statements; `None` when it does.
    fn trouble(&self) -> Option<String> {
        match &self.found {
            Found::Node(facts) => match &facts.state {
                NodeState::NotReady(said) => Some(said.clone()),
                NodeState::Synced | NodeState::Desynced => None,
            },
            Found::NoNode => Some("it is no node of a Galera cluster".to_owned()),
            Found::Away(reason) => Some(reason.clone()),
        }
    }
}

/// The nodes that a server knows, itself first; `None` when it is no node.
pub(super) fn known_to(connect: &ConnectOptions) -> Result<Option<Nodes>, Error> {
    let port = default_port(connect);
    let Some(facts) = Facts::ask(&mut Connection::open(connect)?, port)? else { return Ok(None) };
    let own = facts.index;
    let told = facts.addresses.iter().enumerate().filter(|(index, _)| Some(*index) != own);
    let others: Vec<Address> = told.filter_map(|(_, address)| address.clone()).collect();
    let mut notes = Vec::new();
    let untold = facts.size.saturating_sub(1 + others.len());
    if untold > 0 {
        notes.push(format!(
            "{untold} of the cluster's {} nodes do not tell their address (wsrep_node_incoming_address): name all with \
             --nodes to have them watched",
            facts.size,
        ));
    }
    let cluster = facts.cluster.clone();
    let own =
        Node { label: label(&facts, &connect.address), options: connect.clone(), found: Found::Node(Box::new(facts)) };
    let (others, strangers): (Vec<Node>, Vec<Node>) = look(connect, others)
        .into_iter()
        .partition(|node| node.facts().map_or(!matches!(node.found, Found::NoNode), |facts| facts.cluster == cluster));
    // An address that means another server from here than it does over there.
    notes.extend(
        strangers
            .iter()
            .map(|node| format!("{} is another server as seen from here: name all with --nodes", node.label)),
    );
    Ok(Some(chosen([own].into_iter().chain(others).collect(), notes)?))
}

/// The nodes of these names.
pub(super) fn named(connect: &ConnectOptions, names: &[String]) -> Result<Nodes, Error> {
    let port = default_port(connect);
    let addresses = names.iter().map(|name| node_address(name.trim(), port)).collect::<Result<Vec<_>, _>>()?;
    let mut list = look(connect, addresses);
    if let Some(node) = list.iter().find(|node| matches!(node.found, Found::NoNode)) {
        return Err(Error::NoNode { node: node.label.clone() });
    }
    let mut notes = Vec::new();
    let (mut members, mut first) = (Vec::new(), None::<(String, String)>);
    list.retain(|node| {
        let member = node.facts().map(|facts| facts.member.clone()).unwrap_or_default();
        let is_again = !member.is_empty() && members.contains(&member);
        if is_again {
            notes.push(format!("{} is named twice", node.label));
        }
        members.push(member);
        !is_again
    });
    for node in &list {
        let Some(facts) = node.facts().filter(|facts| facts.has_cluster()) else { continue };
        match &first {
            None => first = Some((node.label.clone(), facts.cluster.clone())),
            Some((_, cluster)) if *cluster == facts.cluster => {}
            Some((other, expected)) => {
                return Err(Error::OtherCluster {
                    node: node.label.clone(),
                    found: facts.cluster.clone(),
                    other: other.clone(),
                    expected: expected.clone(),
                });
            }
        }
    }
    let size = list.iter().filter_map(|node| Some(node.facts()?.size)).max().unwrap_or(0);
    if size > list.len() {
        notes.push(format!("the cluster has {size} nodes, and --nodes names {}: only these are watched", list.len()));
    }
    chosen(list, notes)
}

/// Chooses home, and says which nodes cannot take its place for now.
fn chosen(list: Vec<Node>, mut notes: Vec<String>) -> Result<Nodes, Error> {
    let first =
        |state: &NodeState| list.iter().position(|node| node.facts().is_some_and(|facts| facts.state == *state));
    let Some(home) = first(&NodeState::Synced).or_else(|| first(&NodeState::Desynced)) else {
        let found = list.iter().map(|node| format!("{}: {}", node.label, node.trouble().unwrap_or_default()));
        return Err(Error::NoneReady { found: found.collect::<Vec<_>>().join("; ") });
    };
    for node in &list {
        if let Some(trouble) = node.trouble() {
            notes.push(format!("{} takes no part in the load: {trouble}", node.label));
        }
    }
    Ok(Nodes { list, home, notes })
}

/// Looks at all of them at once: one that is away costs its patience only once.
fn look(connect: &ConnectOptions, addresses: Vec<Address>) -> Vec<Node> {
    thread::scope(|scope| {
        let looks: Vec<_> = addresses
            .into_iter()
            .map(|address| scope.spawn(|| look_at(ConnectOptions { address, ..connect.clone() })))
            .collect();
        looks.into_iter().map(|look| look.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

fn look_at(options: ConnectOptions) -> Node {
    let patient = ConnectOptions {
        connect_timeout: options.connect_timeout.min(LOOK_LIMIT),
        read_timeout: Some(LOOK_LIMIT),
        // A node that takes no statements has no default schema either.
        database: None,
        ..options.clone()
    };
    let port = default_port(&options);
    let address = options.address.clone();
    match Connection::open(&patient).and_then(|mut connection| Facts::ask(&mut connection, port)) {
        Ok(Some(facts)) => Node { label: label(&facts, &address), options, found: Found::Node(Box::new(facts)) },
        Ok(None) => Node { label: address.to_string(), options, found: Found::NoNode },
        Err(error) => Node { label: address.to_string(), options, found: Found::Away(error.to_string()) },
    }
}

fn label(facts: &Facts, address: &Address) -> String {
    format!("{} ({address})", facts.name)
}

fn default_port(connect: &ConnectOptions) -> u16 {
    match connect.address {
        Address::Tcp { port, .. } => port,
        Address::Socket(_) => DEFAULT_PORT,
    }
}
