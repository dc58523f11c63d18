//! The text format, and the file.

use super::*;
use crate::log::Index;
use crate::protocol::ProtocolRange;

fn raft(peers: Vec<PeerStatus>) -> RaftStatus {
    RaftStatus { peers, ..RaftStatus::default() }
}

fn peer(name: &str, match_index: Option<u64>) -> PeerStatus {
    PeerStatus {
        name: name.to_owned(),
        address: "10.0.0.2:4567".to_owned(),
        versions: ProtocolRange::SPOKEN,
        is_linked: true,
        weight: 0,
        is_witness: false,
        match_index: match_index.map(Index),
        applied: None,
    }
}

#[test]
fn numbers_are_samples_and_texts_are_labels() {
    let variables = [
        ("replicated", Value::Integer(7)),
        ("flow_control_paused", Value::Real(0.25)),
        ("flow_control_active", Value::Text("true".to_owned())),
        ("raft_leader", Value::Text("a \"b\"\n\\".to_owned())),
        ("incoming_addresses", Value::Text("x".to_owned())),
    ];
    let expected = r#"# HELP hortator_wsrep_replicated Status variable wsrep_replicated.
# TYPE hortator_wsrep_replicated counter
hortator_wsrep_replicated 7
# HELP hortator_wsrep_flow_control_paused Status variable wsrep_flow_control_paused.
# TYPE hortator_wsrep_flow_control_paused gauge
hortator_wsrep_flow_control_paused 0.25
# HELP hortator_wsrep_flow_control_active Status variable wsrep_flow_control_active.
# TYPE hortator_wsrep_flow_control_active gauge
hortator_wsrep_flow_control_active 1
# HELP hortator_wsrep_info Status variables that are texts.
# TYPE hortator_wsrep_info gauge
hortator_wsrep_info{raft_leader="a \"b\"\\"} 1
"#;
    assert_eq!(text(&variables, &raft(Vec::new())), expected);
}

#[test]
fn each_peer_has_a_sample_of_what_is_known_of_it() {
    let text = text(&[], &raft(vec![peer("n2", Some(9)), peer("n3", None)]));
    let samples: Vec<&str> = text.lines().filter(|line| line.starts_with("hortator_wsrep_raft_peer")).collect();
    assert_eq!(
        samples,
        [
            r#"hortator_wsrep_raft_peer_linked{node="n2",address="10.0.0.2:4567"} 1"#,
            r#"hortator_wsrep_raft_peer_linked{node="n3",address="10.0.0.2:4567"} 1"#,
            r#"hortator_wsrep_raft_peer_voter{node="n2",address="10.0.0.2:4567"} 0"#,
            r#"hortator_wsrep_raft_peer_voter{node="n3",address="10.0.0.2:4567"} 0"#,
            r#"hortator_wsrep_raft_peer_protocol_version{node="n2",address="10.0.0.2:4567"} 9"#,
            r#"hortator_wsrep_raft_peer_protocol_version{node="n3",address="10.0.0.2:4567"} 9"#,
            r#"hortator_wsrep_raft_peer_match_index{node="n2",address="10.0.0.2:4567"} 9"#,
        ]
    );
}

#[test]
fn the_file_is_replaced_whole_and_leaves_no_draft() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("node.prom");
    publish(&file, "old, and longer\n").unwrap();
    publish(&file, "new\n").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "new\n");
    fs::create_dir(folder.path().join("a-folder")).unwrap();
    assert!(publish(&folder.path().join("a-folder"), "new\n").is_err());
    assert!(publish(&folder.path().join("missing/node.prom"), "new\n").is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "only the file and the folder");
}
