//! Which protocol version two nodes use on their link, or why they may not link.
//!
//! A hello says which versions its node speaks, and which one is in force in its cluster. Two nodes need the version that
//! is in force; a node that is behind may know an older one, so the higher of the two counts. Nodes without a cluster use
//! the lowest version that both speak. A link keeps up when a higher version comes into force, or ends.

use super::Links;
use super::log_limiter::one_line;
use super::stream::Stage;
use crate::consensus::wire::Hello;
use crate::protocol::ProtocolVersion;

/// The version of the frames between these nodes.
///
/// # Errors
/// One of them lacks the version in force, or they have none in common.
pub fn link_version(own: &Hello, other: &Hello) -> Result<ProtocolVersion, String> {
    let in_force = own.in_force.max(other.in_force);
    let version = in_force.unwrap_or(own.versions.lowest.max(other.versions.lowest));
    let Some(lacks) = [other, own].into_iter().find(|hello| !hello.versions.contains(version)) else {
        return Ok(version);
    };
    let [name, address] = [&lacks.name, &lacks.address].map(|text| one_line(text));
    let versions = lacks.versions;
    Err(match in_force {
        Some(version) if version > versions.newest => format!(
            "protocol version {version} is in force in the cluster, and {name} at {address} speaks versions {versions}: \
             install a release on it that speaks version {version}. There is no way back to an earlier version"
        ),
        Some(version) => format!(
            "protocol version {version} is in force in the cluster, and {name} at {address} speaks versions {versions}: \
             its release is too new. Install one that speaks version {version} on all nodes first"
        ),
        None => format!(
            "{} speaks protocol versions {}, {} speaks {}: install releases that have a version in common",
            one_line(&other.name),
            other.versions,
            one_line(&own.name),
            own.versions,
        ),
    })
}

impl Links {
    /// Sets the version in force. Nodes that do not speak it are disconnected.
    pub fn set_protocol(&mut self, version: ProtocolVersion) {
        self.own.in_force = Some(version);
        let linked: Vec<u64> = self.linked.values().copied().collect();
        for id in linked {
            let Some(stream) = self.streams.get_mut(&id) else { continue };
            let Stage::Linked(peer) = &stream.stage else { continue };
            match link_version(&self.own, peer) {
                Ok(version) => stream.version = version,
                Err(text) => self.reject(id, &text),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::NodeId;
    use crate::consensus::lineage::Lineage;
    use crate::identity::Uuid;
    use crate::protocol::ProtocolRange;

    fn hello(name: &str, (lowest, newest): (u8, u8), in_force: Option<u8>) -> Hello {
        let [lowest, newest] = [lowest, newest].map(ProtocolVersion);
        Hello {
            versions: ProtocolRange { lowest, newest },
            in_force: in_force.map(ProtocolVersion),
            history_uuid: Uuid::UNDEFINED,
            lineage: Lineage::UNKNOWN,
            node: NodeId(1),
            instance_id: Uuid::UNDEFINED,
            cluster_name: String::new(),
            name: name.to_owned(),
            incoming: String::new(),
            address: format!("{name}:4567"),
            extension: Vec::new(),
        }
    }

    /// Both ways.
    fn check(one: ((u8, u8), Option<u8>), other: ((u8, u8), Option<u8>), expected: Result<u8, &[&str]>) {
        let (one, other) = (hello("n1", one.0, one.1), hello("n2", other.0, other.1));
        for found in [link_version(&one, &other), link_version(&other, &one)] {
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found.0, expected),
                (Err(text), Err(words)) => assert!(words.iter().all(|word| text.contains(word)), "{text}"),
                (found, _) => panic!("{found:?}"),
            }
        }
    }

    #[test]
    fn the_version_in_force_counts() {
        check(((7, 8), Some(7)), ((7, 7), Some(7)), Ok(7));
        check(((7, 8), Some(8)), ((7, 8), Some(8)), Ok(8));
        check(((7, 8), Some(8)), ((7, 8), Some(7)), Ok(8));
        check(((7, 9), Some(8)), ((8, 9), Some(7)), Ok(8));
    }

    #[test]
    fn a_node_without_a_cluster_takes_the_cluster_s_or_the_lowest() {
        check(((7, 8), None), ((7, 8), Some(8)), Ok(8));
        check(((7, 8), None), ((8, 9), Some(8)), Ok(8));
        check(((7, 8), None), ((7, 9), None), Ok(7));
        check(((7, 8), None), ((8, 9), None), Ok(8));
    }

    #[test]
    fn a_node_without_the_version_in_force_is_named_with_the_remedy() {
        let words: &[&str] = &["version 8 is in force", "n2 at n2:4567 speaks versions 7-7", "speaks version 8"];
        check(((7, 8), Some(8)), ((7, 7), Some(7)), Err(words));
        check(((7, 8), Some(8)), ((7, 7), None), Err(words));
        let words: &[&str] = &["version 7 is in force", "n2 at n2:4567 speaks versions 8-9", "too new"];
        check(((7, 8), Some(7)), ((8, 9), None), Err(words));
        let words: &[&str] = &["n1 speaks", "7-8", "n2 speaks", "9-9", "in common"];
        check(((7, 8), None), ((9, 9), None), Err(words));
    }
}
