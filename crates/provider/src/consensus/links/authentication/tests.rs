//! Both sides of the handshake, message by message.

use super::*;
use crate::consensus::NodeId;
use crate::consensus::lineage::Lineage;
use crate::identity::Uuid;
use crate::protocol::ProtocolRange;

const SECRET: &str = "a-secret-of-all-nodes";

fn hello(number: u8) -> Hello {
    Hello {
        versions: ProtocolRange::SPOKEN,
        in_force: None,
        history_uuid: Uuid([9; 16]),
        lineage: Lineage::UNKNOWN,
        node: NodeId(u64::from(number)),
        instance_id: Uuid([number; 16]),
        cluster_name: "rowers".to_owned(),
        name: format!("n{number}"),
        incoming: String::new(),
        address: format!("n{number}:4567"),
        extension: Vec::new(),
    }
}

/// A connection from node 1 to node 2 after the exchange of challenges and hellos.
struct Exchange {
    dialler: Authentication,
    acceptor: Authentication,
}

impl Exchange {
    fn new(nonces: [u8; 2]) -> Self {
        let [dialled, accepted] = nonces.map(|byte| [byte; 32]);
        let mut dialler = Authentication::new(Side::Dialler, dialled);
        let mut acceptor = Authentication::new(Side::Acceptor, accepted);
        acceptor.on_challenge(dialled).unwrap();
        dialler.on_challenge(accepted).unwrap();
        dialler.on_hello_sent(&hello(1));
        dialler.on_hello(&hello(2));
        acceptor.on_hello_sent(&hello(2));
        acceptor.on_hello(&hello(1));
        Self { dialler, acceptor }
    }
}

fn mac(authentication: &Authentication, secret: &str, binding: &[u8]) -> [u8; MAC_BYTES] {
    match authentication.proof(&Secrets::of(secret), binding) {
        Some(Signal::Proof { mac }) => mac,
        other => panic!("{other:?}"),
    }
}

#[test]
fn both_sides_prove_the_same_secret() {
    let Exchange { dialler, acceptor } = Exchange::new([1, 2]);
    let secrets = Secrets::of(SECRET);
    assert_eq!(acceptor.check(&secrets, b"tls", &mac(&dialler, SECRET, b"tls")), Ok(()));
    assert_eq!(dialler.check(&secrets, b"tls", &mac(&acceptor, SECRET, b"tls")), Ok(()));
}

#[test]
fn another_secret_or_connection_proves_nothing() {
    let Exchange { dialler, acceptor } = Exchange::new([1, 2]);
    let secrets = Secrets::of(SECRET);
    let mut refused = vec![
        mac(&dialler, "a-secret-of-another-cluster", b""),
        // Of another session of TLS: somebody in between has one with each side.
        mac(&dialler, SECRET, b"another session"),
        // Sent back.
        mac(&acceptor, SECRET, b""),
        // Recorded on another connection of the same nodes, with one of the two challenges.
        mac(&Exchange::new([1, 3]).dialler, SECRET, b""),
        mac(&Exchange::new([3, 2]).dialler, SECRET, b""),
        [0; MAC_BYTES],
    ];
    // Of a node with another hello.
    let mut other = Exchange::new([1, 2]).dialler;
    other.on_hello_sent(&hello(3));
    refused.push(mac(&other, SECRET, b""));
    for mac in refused {
        assert_eq!(acceptor.check(&secrets, b"", &mac), Err(Error::WrongProof));
    }
    assert_eq!(acceptor.check(&secrets, b"", &mac(&dialler, SECRET, b"")), Ok(()));
}

#[test]
fn messages_out_of_order_are_refused() {
    let secrets = Secrets::of(SECRET);
    let mut acceptor = Authentication::new(Side::Acceptor, [2; 32]);
    assert_eq!(acceptor.check(&secrets, b"", &[0; MAC_BYTES]), Err(Error::Early));
    assert_eq!(acceptor.proof(&secrets, b""), None);
    assert_eq!(acceptor.on_challenge([2; 32]), Err(Error::OwnChallenge));
    assert_eq!(acceptor.on_challenge([1; 32]), Ok(()));
    assert_eq!(acceptor.on_challenge([3; 32]), Err(Error::SecondChallenge));
    assert_eq!(acceptor.check(&secrets, b"", &[0; MAC_BYTES]), Err(Error::Early), "no hello");
}
