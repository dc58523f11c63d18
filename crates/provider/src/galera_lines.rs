//! Lines of the error log that begin with Galera's words, and without this provider's name: scripts look for them.
//!
//! Each tells an event that this provider has too. Which lines programs look for: the patterns of pt-galera-log-explainer
//! (Percona Toolkit), and the suppressions and patterns of the servers' own tests. docs/provider.md lists the lines. The
//! words are an interface. Before you change one, search the servers' tests for it (`add_suppression`,
//! `SEARCH_PATTERN`).
//!
//! The functions give whole lines of events. A [`KnownMessage`] gives the first words of an error or a warning; this
//! provider's follow: the reason, and what to do. All is pure; the node passes the lines to the server.

use std::fmt;
use std::path::PathBuf;

use crate::gate::Shift;
use crate::identity::{Gtid, Uuid};
use crate::node::Error;
use crate::options;
use crate::server::Member;

#[cfg(test)]
mod tests;

/// The lines of a change of state, one for each step. `seqno`: the last committed one.
pub fn shifts(shift: &Shift, seqno: i64) -> Vec<String> {
    let befores = std::iter::once(shift.from).chain(shift.path.iter().copied());
    let steps = befores.zip(shift.path);
    steps.map(|(from, to)| format!("Shifting {} -> {} (TO: {seqno})", from.name(), to.name())).collect()
}

/// The lines of a node that was away, or has started, and has received from the others' logs what it missed. `after`: the last
/// seqno that it had; `state`: the view that it takes part from.
pub fn received_missed(after: i64, state: Gtid) -> Vec<String> {
    match state.seqno - 1 - after {
        missed if missed > 0 => vec![
            format!("Receiving IST...100.0% ({missed}/{missed} events) complete."),
            format!("IST received: {state}"),
        ],
        _ => Vec::new(),
    }
}

/// A view that a node has got.
pub struct ViewLines<'a> {
    /// The members of its last view.
    pub before: &'a [Member],
    /// The members now.
    pub members: &'a [Member],
    /// This node's index.
    pub own_index: i32,
    /// Number of views so far.
    pub number: i64,
    /// The view's GTID.
    pub state: Gtid,
}

impl ViewLines<'_> {
    /// The lines of a primary view. `address_of`: a member's address for other nodes, if it is known.
    pub fn lines(&self, address_of: impl Fn(&Member) -> Option<String>) -> Vec<String> {
        let Self { before, members, own_index, number, state } = *self;
        let count = members.len();
        let is_bootstrap = if number <= 1 { "yes" } else { "no" };
        let mut lines = vec![
            format!(
                "New COMPONENT: primary = yes, bootstrap = {is_bootstrap}, my_idx = {own_index}, memb_num = {count}"
            ),
            format!(
                "Quorum results: component = PRIMARY, conf_id = {number}, members = {count}/{count} (joined/total), \
                 act_id = {}, group UUID = {}",
                state.seqno, state.history_uuid
            ),
        ];
        let own = usize::try_from(own_index).ok().and_then(|own_index| members.get(own_index)).map(|member| member.id);
        let is_new = |member: &Member| before.iter().all(|known| known.id != member.id);
        let is_gone = |member: &Member| members.iter().all(|known| known.id != member.id);
        let endpoint = |member: &Member| address_of(member).unwrap_or_else(|| member.incoming.clone());
        for member in members.iter().filter(|member| is_new(member) && Some(member.id) != own) {
            lines.push(format!("declaring {} at tcp://{} stable", short(member.id), endpoint(member)));
        }
        for member in before.iter().filter(|member| is_gone(member)) {
            lines.push(format!("forgetting {} (tcp://{})", short(member.id), endpoint(member)));
        }
        for (index, member) in members.iter().enumerate().filter(|(_, member)| is_new(member)) {
            lines.push(format!("Member {index}.0 ({}) synced with group.", member.name));
        }
        lines
    }
}

/// The lines of a node that has lost the quorum.
pub fn non_primary() -> [String; 2] {
    [
        "New COMPONENT: primary = no, bootstrap = no, my_idx = 0, memb_num = 1".to_owned(),
        "Received NON-PRIMARY.".to_owned(),
    ]
}

/// The line of the lengths of the receive queue at which flow control ends and starts.
pub fn flow_control_interval((lower, upper): (u64, u64)) -> String {
    format!("Flow-control interval: [{lower}, {upper}]")
}

/// A node: `1.0 (node2)`, with its index in the view. A joiner is in no view yet: `-1.-1`, as Galera's for a node that is not
/// in the group.
pub fn node(members: &[Member], name: &str) -> String {
    match members.iter().position(|member| member.name == name) {
        Some(index) => format!("{index}.0 ({name})"),
        None => format!("-1.-1 ({name})"),
    }
}

/// The line of a request for an SST. `preference`: `wsrep_sst_donor`.
pub fn transfer_request(joiner: &str, preference: &str, donor: &str) -> String {
    let preference = if preference.is_empty() { "*any*" } else { preference };
    format!("Member {joiner} requested state transfer from '{preference}'. Selected {donor}(SYNCED) as donor.")
}

/// The line of the end of an SST. `failure`: why it failed.
pub fn transfer_end(joiner: &str, donor: &str, failure: Option<&str>) -> String {
    match failure {
        None => format!("{donor}: State transfer to {joiner} complete."),
        Some(why) => format!("{donor}: State transfer to {joiner} failed: {why}"),
    }
}

/// The line of a node that could not apply a write set, and asks for a vote. `error`: a hash of the server's message.
pub fn vote(node: &str, gtid: Gtid, error: u64, message: &str) -> String {
    format!("Member {node} initiates vote on {gtid},{error:016x}:  {message}")
}

/// The line of a node that starts or ends to be desynced.
pub fn desync(node: &str, is_desynced: bool) -> String {
    let what = if is_desynced { "desyncs itself from group" } else { "resyncs itself to group." };
    format!("Member {node} {what}")
}

/// A member ID as Galera shortens it: eight and four digits.
fn short(member_id: Uuid) -> String {
    member_id.to_string().chars().take(13).collect()
}

/// A line that starts with known words. `Display` gives them, without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownMessage {
    /// The server could not apply a write set.
    NotApplied(Gtid),
    /// This node's tables differ from those of the other nodes.
    Inconsistent(Gtid),
    /// This node applied what most nodes could not apply.
    Outvoted(Gtid),
    /// `wsrep_cluster_address` has another form.
    BackendUri,
    /// `wsrep_cluster_address` has another scheme than gcomm.
    Scheme,
    /// No quorum of the cluster is reachable.
    Unreachable,
    /// `--wsrep-new-cluster` on a node whose cluster has other voters.
    UnsafeBootstrap,
    /// An unknown name in `wsrep_provider_options`.
    UnknownOption(String),
    /// `grastate.dat` is missing.
    NoGrastate(PathBuf),
    /// The joiner's SST failed.
    SstNotReceived,
    /// The joiner's server did not prepare an SST.
    SstNotPrepared,
}

impl KnownMessage {
    /// The first words for an error of the node, if scripts look for some.
    pub fn of(error: &Error) -> Option<Self> {
        match error {
            Error::Options(options::Error::Unknown(name)) => Some(Self::UnknownOption(name.clone())),
            Error::Address(address) if address.contains("://") => Some(Self::Scheme),
            Error::Address(_) => Some(Self::BackendUri),
            Error::NoQuorum(_) => Some(Self::Unreachable),
            Error::HasOtherVoters(_) => Some(Self::UnsafeBootstrap),
            _ => None,
        }
    }
}

impl fmt::Display for KnownMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotApplied(gtid) => write!(f, "Failed to apply write set: gtid: {gtid}"),
            Self::Inconsistent(gtid) => write!(f, "Inconsistency detected: Inconsistent by consensus on {gtid}"),
            Self::Outvoted(gtid) => {
                write!(f, "Vote 0 (success) on {gtid} is inconsistent with group. Leaving cluster. ")?;
                Self::Inconsistent(*gtid).fmt(f)
            }
            Self::BackendUri => f.write_str("gcs connect failed: Invalid argument"),
            Self::Scheme => f.write_str("gcs connect failed: Socket type not supported"),
            Self::Unreachable => f.write_str("gcs connect failed: Connection timed out"),
            Self::UnsafeBootstrap => f.write_str("It may not be safe to bootstrap the cluster from this node"),
            Self::UnknownOption(name) => write!(f, "Unknown parameter '{name}'"),
            Self::NoGrastate(path) => write!(f, "Could not open state file for reading: '{}'", path.display()),
            Self::SstNotReceived => f.write_str("Will never receive state. Need to abort"),
            Self::SstNotPrepared => f.write_str("SST request callback failed. This is unrecoverable, restart required"),
        }
    }
}
