//! Links with TLS, with a secret, with both, and with a list of addresses.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::authentication::{Authentication, Side};
use super::super::security::Secrets;
use super::super::security::test_files::TestFiles;
use super::*;

const SECRET: &str = "a-secret-of-all-nodes";

fn secret(text: &str) -> Security {
    Security { secrets: Some(Secrets::of(text)), ..Security::default() }
}

fn dynamic(security: Security) -> Security {
    Security { is_dynamic: true, ..security }
}

/// Nodes 1, 2, … with these settings; none dials.
fn nodes_with(settings: Vec<Security>) -> Nodes {
    let mut nodes = Nodes::new(&(1..=settings.len() as u64).map(tag).collect::<Vec<_>>());
    for (which, security) in settings.into_iter().enumerate() {
        nodes.at(which).set_security(Arc::new(security));
    }
    nodes
}

fn protection(nodes: &mut Nodes, which: usize, other: u64) -> &'static str {
    nodes.at(which).protection(NodeId(other))
}

/// The first node dials the second. They link, with this protection, and exchange frames of all sizes.
fn expect_link(one: Security, other: Security, expected: &str) {
    let mut nodes = nodes_with(vec![one, other]);
    nodes.dial(0, 1);
    nodes.until_settled();
    assert_eq!([protection(&mut nodes, 0, 2), protection(&mut nodes, 1, 1)], [expected; 2]);
    for request_id in 0..2_000 {
        assert!(nodes.say(0, 2, request_id) && nodes.say(1, 1, request_id));
        if request_id % 100 == 0 {
            nodes.turn();
        }
    }
    let large = Frame::Forward {
        term: crate::consensus::raft::Term(1),
        session: Uuid([1; 16]),
        number: 1,
        payload: vec![7; 20 << 20],
    };
    assert!(nodes.at(0).send(NodeId(2), &large));
    assert!(nodes.say(0, 2, 2_000));
    nodes.until("all came", |nodes| nodes.request_ids(1, 1).len() == 2_001 && nodes.request_ids(0, 2).len() == 2_000);
    assert!(nodes.request_ids(1, 1).into_iter().eq(0..2_001) && nodes.request_ids(0, 2).into_iter().eq(0..2_000));
    let has_large = |event: &Event| matches!(event, Event::Message { frame, .. } if *frame == large);
    assert!(nodes.events[1].iter().any(has_large));
    assert!(nodes.downs(0).is_empty() && nodes.downs(1).is_empty(), "{:?}", nodes.lately());
}

/// The first node dials the second. They do not link; the logs of the two contain these words, each once a minute.
fn expect_refusal(one: Security, other: Security, words: [&str; 2]) {
    let mut nodes = nodes_with(vec![one, other]);
    nodes.dial(0, 1);
    let is_said = |nodes: &Nodes, which: usize| nodes.refusals(which).iter().any(|text| text.contains(words[which]));
    nodes.until("both logs have it", |nodes| is_said(nodes, 0) && is_said(nodes, 1));
    nodes.turn_for(Duration::from_millis(2_500));
    for which in 0..2 {
        assert_eq!(nodes.ups(which), 0);
        assert_eq!(nodes.refusals(which).len(), 1, "{:?}", nodes.refusals(which));
        assert!(nodes.at(which).streams.len() <= 1);
    }
}

fn two_nodes() -> TestFiles {
    let files = TestFiles::new();
    files.ca("ca");
    files.node("ca", "n1");
    files.node("ca", "n2");
    files
}

#[test]
fn nodes_with_certificates_of_one_ca_link_by_tls() {
    let files = two_nodes();
    expect_link(files.security("ca", "n1"), files.security("ca", "n2"), "TLS");
}

#[test]
fn nodes_with_one_secret_link() {
    expect_link(secret(SECRET), secret(SECRET), "secret, without TLS");
}

#[test]
fn nodes_with_both_link() {
    let files = two_nodes();
    let [one, other] =
        ["n1", "n2"].map(|name| Security { secrets: secret(SECRET).secrets, ..files.security("ca", name) });
    expect_link(one, other, "TLS and secret");
}

#[test]
fn a_certificate_of_another_ca_is_refused_and_both_logs_say_why() {
    let files = two_nodes();
    files.ca("other");
    files.node("other", "n3");
    let unknown = "(socket.ssl_cert) is not signed by a CA in socket.ssl_ca of this node";
    // The dialling side is the first to see a certificate.
    let alert = "the node there refuses the certificate of this node (socket.ssl_cert; alert UnknownCA)";
    expect_refusal(files.security("other", "n3"), files.security("ca", "n1"), [unknown, alert]);
    // A node that trusts the others, and is not trusted by them.
    let both = [files.path("ca.pem"), files.path("other.pem")].map(|path| std::fs::read_to_string(path).unwrap());
    files.write("both.pem", &both.concat());
    expect_refusal(files.security("both", "n3"), files.security("ca", "n1"), [alert, unknown]);
}

#[test]
fn a_node_without_tls_is_told_that_the_other_has_it() {
    let files = two_nodes();
    let only = "this node links by TLS only: set socket.ssl";
    expect_refusal(Security::default(), files.security("ca", "n1"), [only, only]);
    let none = "the node there has no TLS (socket.ssl), and this node has: ";
    expect_refusal(files.security("ca", "n1"), Security::default(), [none, "the input is TLS"]);
}

#[test]
fn a_wrong_or_missing_secret_is_refused_and_both_logs_say_why() {
    let wrong = "proves another secret than that of this node";
    expect_refusal(secret("another-secret-of-others"), secret(SECRET), [wrong, wrong]);
    let has_none = "n2 has no shared secret";
    expect_refusal(secret(SECRET), Security::default(), [has_none, has_none]);
    let needed = "links only with nodes that prove that they know its secret";
    expect_refusal(Security::default(), secret(SECRET), [needed, needed]);
}

#[test]
fn a_dynamic_node_links_with_all() {
    let files = two_nodes();
    let tls = |name| files.security("ca", name);
    expect_link(dynamic(tls("n1")), Security::default(), "without TLS");
    expect_link(Security::default(), dynamic(tls("n1")), "without TLS");
    expect_link(dynamic(tls("n1")), tls("n2"), "TLS");
    expect_link(tls("n1"), dynamic(tls("n2")), "TLS");
    expect_link(dynamic(tls("n1")), dynamic(tls("n2")), "TLS");
    expect_link(dynamic(secret(SECRET)), Security::default(), "without TLS");
    expect_link(dynamic(secret("another-secret-of-others")), dynamic(secret(SECRET)), "without TLS");
    expect_link(dynamic(secret(SECRET)), dynamic(secret(SECRET)), "secret, without TLS");
}

#[test]
fn links_without_tls_end_when_a_node_is_no_longer_dynamic() {
    let files = two_nodes();
    let mut nodes = nodes_with(vec![Security::default(), Security::default()]);
    nodes.dial(0, 1);
    nodes.until_settled();
    for (which, name) in ["n1", "n2"].into_iter().enumerate() {
        nodes.at(which).set_security(Arc::new(dynamic(files.security("ca", name))));
    }
    nodes.turn_for(Duration::from_millis(300));
    assert_eq!((protection(&mut nodes, 0, 2), nodes.downs(0).len()), ("without TLS", 0), "it stays");
    nodes.at(1).set_security(Arc::new(files.security("ca", "n2")));
    nodes.until("it ends", |nodes| !nodes.downs(1).is_empty());
    nodes.until_settled();
    assert_eq!([protection(&mut nodes, 0, 2), protection(&mut nodes, 1, 1)], ["TLS"; 2]);
}

#[test]
fn new_files_count_for_new_links_only() {
    let files = two_nodes();
    files.ca("new");
    files.node("new", "n3");
    let mut nodes =
        nodes_with(vec![files.security("ca", "n1"), files.security("ca", "n2"), files.security("new", "n3")]);
    nodes.dial(0, 1);
    nodes.until("the first two are linked", |nodes| nodes.ups(0) == 1 && nodes.ups(1) == 1);
    // The second node gets a certificate of the new CA.
    files.node("new", "n2");
    nodes.at(1).set_security(Arc::new(files.security("new", "n2")));
    nodes.dial(2, 1);
    nodes.until("the third is linked", |nodes| nodes.ups(1) == 2);
    assert_eq!((protection(&mut nodes, 1, 1), nodes.downs(1).len()), ("TLS", 0), "the old link stays");
    nodes.at(0).isolate(true);
    nodes.at(0).isolate(false);
    nodes.until("the old certificates do not link any more", |nodes| !nodes.refusals(0).is_empty());
    assert_eq!(nodes.ups(0), 1);
}

/// Answers when it is told to.
struct TestList {
    allowed: bool,
    is_free: AtomicBool,
    asked: Mutex<Vec<IpAddr>>,
}

impl TestList {
    fn new(allowed: bool, is_free: bool) -> Arc<Self> {
        Arc::new(Self { allowed, is_free: AtomicBool::new(is_free), asked: Mutex::default() })
    }
}

impl Allowlist for TestList {
    fn allows(&self, address: IpAddr) -> bool {
        self.asked.lock().unwrap().push(address);
        while !self.is_free.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.allowed
    }
}

#[test]
fn a_node_that_is_not_in_the_allowlist_is_refused_and_both_logs_say_why() {
    let mut nodes = Nodes::new(&[tag(1), tag(2), tag(3)]);
    let list = TestList::new(false, true);
    nodes.at(1).set_allowlist(list.clone());
    nodes.dial(0, 1);
    let text = "127.0.0.1, the address of n1, is not in mysql.wsrep_allowlist of n2";
    let is_said = |nodes: &Nodes, which: usize| nodes.refusals(which).iter().any(|said| said.contains(text));
    nodes.until("both logs have it", |nodes| is_said(nodes, 0) && is_said(nodes, 1));
    assert_eq!(list.asked.lock().unwrap()[0], IpAddr::from([127, 0, 0, 1]));
    nodes.turn_for(Duration::from_secs(2));
    assert_eq!((nodes.ups(0), nodes.refusals(0).len(), nodes.refusals(1).len()), (0, 1, 1));
    // Those that the node itself dials are not asked about.
    nodes.dial(1, 2);
    nodes.until("the other one is linked", |nodes| nodes.ups(1) == 1);
}

#[test]
fn a_server_that_does_not_answer_stops_nobody_else() {
    let mut nodes = Nodes::new(&[tag(1), tag(2), tag(3)]);
    nodes.dial(0, 1);
    nodes.until("two are linked", |nodes| nodes.ups(0) == 1 && nodes.ups(1) == 1);
    let list = TestList::new(true, false);
    nodes.at(1).set_allowlist(list.clone());
    nodes.dial(2, 1);
    let mut said = 0;
    let late = "the server has not told whether mysql.wsrep_allowlist has the node's address for 5s";
    nodes.until("the server is asked", |_| !list.asked.lock().unwrap().is_empty());
    while !nodes.refusals(1).iter().any(|text| text.contains(late)) {
        assert!(nodes.say(0, 2, said));
        said += 1;
        nodes.turn_for(Duration::from_millis(20));
    }
    nodes.until("frames came meanwhile", |nodes| nodes.request_ids(1, 1).len() as u64 == said);
    assert_eq!((nodes.ups(1), nodes.downs(1).len()), (1, 0));
    // The answer to the old question is about a connection that is gone.
    list.is_free.store(true, Ordering::Relaxed);
    nodes.until("the third is linked", |nodes| nodes.ups(1) == 2);
}

#[test]
fn strangers_on_the_port_of_a_node_with_tls_time_out() {
    let files = two_nodes();
    let mut nodes = nodes_with(vec![files.security("ca", "n1"), files.security("ca", "n2")]);
    nodes.dial(0, 1);
    nodes.until_settled();
    let call = |nodes: &Nodes, bytes: &[u8]| {
        let mut stream = TcpStream::connect(address(nodes, 1)).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    };
    let held = |nodes: &Nodes| nodes.links[1].as_ref().unwrap().streams.len();
    // Meanwhile the link is idle for as long as it may be silent. Nothing; the start of a record; a record that is no handshake; another program.
    let silent: Vec<TcpStream> = [&b""[..], &[0x16, 3, 1], &[0x16, 3, 3, 0, 4, 9, 9, 9, 9], b"GET / HTTP/1.1\r\n\r\n"]
        .iter()
        .map(|bytes| call(&nodes, bytes))
        .collect();
    nodes.until("all are gone", |nodes| held(nodes) == 1 && nodes.refusals(1).len() >= 4);
    let said = nodes.refusals(1).join("\n");
    for words in [
        "has sent no hello for 5s",
        "has not completed the TLS handshake for 5s",
        "the TLS connection has failed: ",
        "another program uses this address",
    ] {
        assert!(said.contains(words), "{said}");
    }
    drop(silent);
    // Many that begin TLS, while frames go their way.
    let mut hello = Vec::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap().to_string();
    nodes.at(0).dial(&target);
    nodes.turn_for(Duration::from_millis(20));
    let (mut stream, _) = listener.accept().unwrap();
    nodes.turn();
    hello.resize(64 << 10, 0);
    let bytes = stream.read(&mut hello).unwrap();
    nodes.at(0).hang_up(&target);
    assert_eq!(hello[0], 0x16);
    let mut callers: Vec<TcpStream> = Vec::new();
    for request_id in 0..500 {
        if request_id % 2 == 0 {
            callers.push(call(&nodes, &hello[..bytes]));
        }
        assert!(nodes.say(0, 2, request_id));
        nodes.turn();
    }
    nodes.until("all came", |nodes| nodes.request_ids(1, 1).len() == 500);
    nodes.until("the callers are gone", |nodes| held(nodes) == 1);
    drop(callers);
    assert!(nodes.downs(1).is_empty());
}

#[test]
fn a_stranger_learns_no_proof() {
    let mut nodes = nodes_with(vec![secret(SECRET)]);
    let mut stream = TcpStream::connect(address(&nodes, 0)).unwrap();
    let mut bytes = Vec::new();
    for signal in [Signal::Challenge { nonce: [1; 32] }, Signal::Hello(tag(2)), Signal::Proof { mac: [0; 32] }] {
        wire::encode_signal(&mut bytes, &signal).unwrap();
    }
    stream.write_all(&bytes).unwrap();
    nodes.until("it is refused", |nodes| !nodes.refusals(0).is_empty());
    nodes.turn();
    stream.set_read_timeout(Some(WAIT_LIMIT)).unwrap();
    let mut reader = wire::FrameReader::new(wire::HANDSHAKE_LIMIT_BYTES, ProtocolRange::SPOKEN);
    stream.read_to_end(reader.read_buffer()).unwrap();
    let answers: Vec<_> = std::iter::from_fn(|| reader.next().unwrap()).collect();
    assert!(
        matches!(
            answers.as_slice(),
            [
                wire::IncomingFrame::Signal(Signal::Challenge { .. }),
                wire::IncomingFrame::Signal(Signal::Hello(_)),
                wire::IncomingFrame::Signal(Signal::Rejected { .. })
            ]
        ),
        "{answers:?}"
    );
    assert_eq!(nodes.ups(0), 0);
}

#[test]
fn a_node_that_learns_its_history_during_the_handshake_links_at_once() {
    let mut nodes = nodes_with(vec![secret(SECRET), secret(SECRET)]);
    nodes.dial(0, 1);
    let has_hello_under_way = |nodes: &Nodes| {
        let links = nodes.links[0].as_ref().unwrap();
        links.streams.values().any(Stream::has_sent_hello)
    };
    let end = Instant::now() + WAIT_LIMIT;
    while !has_hello_under_way(&nodes) {
        assert!(Instant::now() < end);
        let mut events = Vec::new();
        nodes.at(0).poll(Duration::from_millis(1), &mut events);
    }
    // The hello says nothing of the history; the node learns it before the other one answers.
    nodes.at(0).set_lineage(Uuid([7; 16]), Lineage::UNKNOWN);
    nodes.until_settled();
    assert_eq!([nodes.refusals(0), nodes.refusals(1)], [[""; 0]; 2]);
    assert_eq!(protection(&mut nodes, 0, 2), "secret, without TLS");
}

#[test]
fn a_node_that_calls_without_a_proof_gives_none_to_the_one_that_asks() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut nodes = nodes_with(vec![dynamic(secret(SECRET))]);
    nodes.at(0).dial(&listener.local_addr().unwrap().to_string());
    listener.set_nonblocking(true).unwrap();
    let mut accept = || {
        let end = Instant::now() + WAIT_LIMIT;
        loop {
            assert!(Instant::now() < end);
            nodes.turn();
            if let Ok((socket, _)) = listener.accept() {
                nodes.turn_for(Duration::from_millis(50));
                return socket;
            }
        }
    };
    let signals = |signals: &[Signal]| {
        let mut bytes = Vec::new();
        signals.iter().for_each(|signal| wire::encode_signal(&mut bytes, signal).unwrap());
        bytes
    };
    // The first call asks for a proof, and is refused, so the second one does not.
    let mut first = accept();
    first.write_all(&signals(&[Signal::Rejected { text: "no secret".to_owned() }])).unwrap();
    let mut second = accept();
    second.write_all(&signals(&[Signal::Challenge { nonce: [1; 32] }, Signal::Hello(tag(2))])).unwrap();
    nodes.until("it is refused", |nodes| nodes.refusals(0).iter().any(|text| text.contains("without being asked")));
    nodes.turn();
    let mut reader = wire::FrameReader::new(wire::HANDSHAKE_LIMIT_BYTES, ProtocolRange::SPOKEN);
    second.set_nonblocking(false).unwrap();
    second.set_read_timeout(Some(WAIT_LIMIT)).unwrap();
    second.read_to_end(reader.read_buffer()).unwrap();
    let answers: Vec<_> = std::iter::from_fn(|| reader.next().unwrap()).collect();
    assert!(
        matches!(
            answers.as_slice(),
            [wire::IncomingFrame::Signal(Signal::Hello(_)), wire::IncomingFrame::Signal(Signal::Rejected { .. })]
        ),
        "{answers:?}"
    );
    assert_eq!(nodes.ups(0), 0);
}

#[test]
fn a_second_proof_is_refused_while_the_server_is_asked() {
    let mut nodes = nodes_with(vec![secret(SECRET)]);
    nodes.at(0).set_allowlist(TestList::new(true, true));
    let own = tag(2);
    let mut caller = Authentication::new(Side::Dialler, [1; 32]);
    let mut stream = TcpStream::connect(address(&nodes, 0)).unwrap();
    let send = |stream: &mut TcpStream, signals: &[Signal]| {
        let mut bytes = Vec::new();
        signals.iter().for_each(|signal| wire::encode_signal(&mut bytes, signal).unwrap());
        stream.write_all(&bytes).unwrap();
    };
    send(&mut stream, &[caller.challenge(), Signal::Hello(own.clone())]);
    caller.on_hello_sent(&own);
    nodes.turn_for(Duration::from_millis(100));
    let mut bytes = vec![0; 4 << 10];
    let count = stream.read(&mut bytes).unwrap();
    let mut reader = wire::FrameReader::new(wire::HANDSHAKE_LIMIT_BYTES, ProtocolRange::SPOKEN);
    reader.read_buffer().extend_from_slice(&bytes[..count]);
    for answer in std::iter::from_fn(|| reader.next().unwrap()) {
        match answer {
            wire::IncomingFrame::Signal(Signal::Hello(hello)) => caller.on_hello(&hello),
            wire::IncomingFrame::Signal(Signal::Challenge { nonce }) => caller.on_challenge(nonce).unwrap(),
            other => panic!("{other:?}"),
        }
    }
    let proof = caller.proof(&Secrets::of(SECRET), b"").unwrap();
    send(&mut stream, &[proof.clone(), proof]);
    nodes.until("it is refused", |nodes| nodes.refusals(0).contains(&"the node has sent a second proof"));
    assert_eq!(nodes.ups(0), 0);
}
