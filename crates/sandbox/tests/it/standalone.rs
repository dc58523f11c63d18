//! One server: its life, and its death in several ways.

use hortator_sandbox::Builder;

#[test]
fn a_temporary_server_answers_and_is_gone_when_dropped() {
    let started = std::time::Instant::now();
    let server = Builder::standalone().start_temporary().unwrap();
    eprintln!("ready after {:?}", started.elapsed());
    let rows = server.node(0).connect().unwrap().fetch(b"SELECT 6 * 7").unwrap();
    assert_eq!(rows, [[Some(b"42".to_vec())]]);
    let (folder, pid) = (server.folder().to_owned(), server.node(0).pid().unwrap());
    drop(server);
    assert!(!folder.exists());
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}
