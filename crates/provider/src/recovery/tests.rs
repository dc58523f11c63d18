//! Recovery plans for logs and positions of the tables.

use hortator_core::{Key, Mode};

use super::*;
use crate::consensus::raft::Term;
use crate::entry::WriteSetHead;
use crate::log::DiskLog;
use crate::log::Settings;
use crate::protocol::ProtocolVersion;
use crate::server::{Flags, Member};

mod whole_history;

const HISTORY: Uuid = Uuid([5; 16]);
const MEMBER: Uuid = Uuid([6; 16]);

struct Fixture {
    _folder: tempfile::TempDir,
    log: DiskLog,
}

/// A log with views at the seqnos `views` and write sets at the others.
fn fixture(seqnos: impl IntoIterator<Item = i64>, views: &[i64]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { segment_bytes: 1 << 16, retain_bytes: 1 << 20, sync: false };
    let (log, _) = DiskLog::open(folder.path(), settings, HISTORY.0).unwrap();
    for seqno in seqnos {
        let bytes = if views.contains(&seqno) {
            view(seqno)
        } else {
            write_set(seqno, seqno - 1, MEMBER, Flags(0x41), Key::row(b"s", b"t", 0, &seqno.to_le_bytes()))
        };
        log.append(&[&bytes]).unwrap();
    }
    log.flush(log.last()).unwrap();
    Fixture { _folder: folder, log }
}

fn write_set(seqno: i64, last_seen: i64, source: Uuid, flags: Flags, key: Key) -> Vec<u8> {
    let head = WriteSetHead { flags, source, trx: seqno as u64, conn: 1, last_seen, request_id: 0 };
    placed(seqno, entry::encode_write_set(&head, &[(key, Mode::RowExclusive)], 0))
}

fn view(seqno: i64) -> Vec<u8> {
    placed(seqno, entry::encode_view(seqno, &[Member { id: MEMBER, name: "n".into(), incoming: String::new() }]))
}

fn placed(seqno: i64, mut bytes: Vec<u8>) -> Vec<u8> {
    entry::set_stamp(&mut bytes, Stamp { seqno, term: Term(1), protocol: ProtocolVersion::FIRST });
    bytes
}

fn plan(log: &DiskLog, history_uuid: Uuid, tables: Option<Gtid>, saved: Option<&SavedState>) -> Result<Plan, Error> {
    make_plan(log, log.last(), history_uuid, tables, saved)
}

fn tables(seqno: i64) -> Option<Gtid> {
    Some(Gtid { history_uuid: HISTORY, seqno })
}

#[test]
fn a_log_of_views_needs_no_position() {
    let views_only = fixture([1, 2], &[1, 2]);
    let found = plan(&views_only.log, HISTORY, None, None).unwrap();
    assert_eq!((found.tables_at, found.end, found.write_sets_behind), (0, 2, 0));
    assert_eq!(plan(&views_only.log, HISTORY, None, Some(&SavedState::running(HISTORY, MEMBER))).unwrap().tables_at, 0);
    // Half of an SST may be there.
    let joins = SavedState::running(Uuid::UNDEFINED, MEMBER);
    assert!(matches!(plan(&views_only.log, HISTORY, None, Some(&joins)), Err(Error::NoPosition { end: 2, .. })));
    let used = fixture([1, 2], &[1]);
    assert!(matches!(plan(&used.log, HISTORY, None, None), Err(Error::NoPosition { end: 2, .. })));
}

#[test]
fn entries_after_the_tables_are_applied() {
    let Fixture { log, _folder } = fixture(1..=10, &[1, 5]);
    for (at, from, behind, of_write_sets) in [(0, 1, 10, 8), (4, 5, 6, 5), (9, 10, 1, 1), (10, 11, 0, 0)] {
        let plan = plan(&log, HISTORY, tables(at), None).unwrap();
        assert_eq!((plan.order.seqno, plan.end, plan.tables_at), (at, 10, at));
        assert_eq!(plan.order_from.0, from, "tables at {at}");
        assert_eq!((plan.behind(), plan.write_sets_behind), (behind, of_write_sets));
        assert_eq!(plan.last_committed, if at == 0 { 0 } else { at }, "tables at {at}");
        assert!(plan.has_all_verdicts && plan.remark.is_none());
        let former_members: Vec<_> = plan.former_members.iter().map(|member| member.id).collect();
        assert_eq!(former_members, vec![MEMBER; usize::from(at > 0)], "whose transactions may be open at {at}");
    }
}

#[test]
fn tables_ahead_of_the_log_are_accepted() {
    let Fixture { log, _folder } = fixture(1..=10, &[1]);
    let ahead = plan(&log, HISTORY, tables(14), None).unwrap();
    assert_eq!((ahead.order.seqno, ahead.end, ahead.tables_at, ahead.behind()), (10, 10, 14, 0));
    assert!(ahead.remark.unwrap().contains("ends at seqno 10"));

    // The log continued after 14: tables at 12 lack entries that no log has.
    log.append(&[&view(15)]).unwrap();
    log.flush(log.last()).unwrap();
    assert_eq!(plan(&log, HISTORY, tables(14), None).unwrap().behind(), 1);
    let error = plan(&log, HISTORY, tables(12), None).unwrap_err();
    assert!(matches!(error, Error::Gap { tables_at: 12, first: 14, missing: 2 }), "{error}");
}

#[test]
fn a_log_with_a_missing_entry_is_refused() {
    // Seqno 5 found no room; the next entry was written at its index, and again at its own.
    let Fixture { log, _folder } = fixture([1, 2, 3, 4, 6, 6, 7], &[1]);
    for tables_at in [3, 7] {
        let error = plan(&log, HISTORY, tables(tables_at), None).unwrap_err();
        assert!(matches!(error, Error::OutOfOrder { index: Index(6), seqno: 6, last: 6 }), "{error}");
        assert!(error.to_string().contains("let the node join again"), "{error}");
    }
}

#[test]
fn purged_entries_are_reported_as_missing() {
    let Fixture { log, _folder } = fixture(100..=110, &[]);
    assert_eq!(plan(&log, HISTORY, tables(99), None).unwrap().behind(), 11);
    let error = plan(&log, HISTORY, tables(90), None).unwrap_err().to_string();
    assert!(error.contains("9 seqnos are missing"), "{error}");
}

#[test]
fn an_unknown_position_is_an_error() {
    let Fixture { log, _folder } = fixture(1..=3, &[1]);
    let error = plan(&log, HISTORY, None, None).unwrap_err().to_string();
    assert!(error.contains("--wsrep-start-position"), "{error}");
    let other = Some(Gtid { history_uuid: Uuid([9; 16]), seqno: 3 });
    assert!(matches!(plan(&log, HISTORY, other, None).unwrap_err(), Error::OtherHistory { .. }));
}

#[test]
fn the_servers_position_overrides_the_saved_one() {
    let saved = SavedState { stopped_at: 7, ..SavedState::running(HISTORY, MEMBER) };
    let said = Gtid { history_uuid: HISTORY, seqno: 9 };
    assert_eq!(tables_at(said, Some(&saved)), Some(said));
    assert_eq!(tables_at(Gtid::UNDEFINED, Some(&saved)), tables(7));
    assert_eq!(tables_at(Gtid::UNDEFINED, Some(&SavedState { stopped_at: -1, ..saved })), None);
    let starting = SavedState { stopped_at: -1, begins_at: 4, ..saved };
    assert_eq!(tables_at(Gtid::UNDEFINED, Some(&starting)), tables(4));
    let failed = SavedState { stopped_at: -1, failed_at: 8, ..saved };
    assert_eq!(tables_at(said, Some(&failed)), tables(7));
    assert_eq!(tables_at(Gtid { seqno: 5, ..said }, Some(&failed)), tables(5));
}

#[test]
fn half_received_tables_have_no_position() {
    let half = SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED);
    assert_eq!(tables_at(Gtid { history_uuid: HISTORY, seqno: 9 }, Some(&half)), None);
}

#[test]
fn verdicts_are_reproduced() {
    let Fixture { log, _folder } = fixture(1..=3, &[1]);
    let table = Key::table(b"s", b"t");
    let row = Key::row(b"s", b"t", 0, b"1");
    let isolated = Flags(0x45);
    // DDL at 4, and then a transaction that had not seen it.
    log.append(&[&write_set(4, 3, MEMBER, isolated, table)]).unwrap();
    log.append(&[&write_set(5, 3, MEMBER, Flags(0x41), row)]).unwrap();
    log.append(&[&write_set(6, 5, MEMBER, Flags(0x41), row)]).unwrap();
    log.flush(log.last()).unwrap();
    for at in 0..6 {
        let Plan { mut order, order_from, .. } = plan(&log, HISTORY, tables(at), None).unwrap();
        let mut failed = Vec::new();
        for record in log.read(order_from).unwrap().take(6) {
            let (index, bytes) = record.unwrap();
            let (stamp, entry) = entry::decode(&bytes).unwrap();
            let verdict = order.apply_entry(index, stamp, &entry);
            failed.extend(verdict.filter(|verdict| !verdict.passed).map(|_| stamp.seqno));
        }
        assert_eq!(failed, if at < 5 { vec![5] } else { vec![] }, "from tables at {at}");
    }
}

#[test]
fn an_entry_of_a_newer_release_is_an_error() {
    let Fixture { log, _folder } = fixture(1..=2, &[1]);
    let mut bytes = entry::encode_no_op();
    bytes[1] = entry::FORMAT + 1;
    log.append(&[&bytes]).unwrap();
    log.flush(log.last()).unwrap();
    let error = plan(&log, HISTORY, tables(2), None).unwrap_err().to_string();
    assert!(error.contains("entry 3") && error.contains("newer release"), "{error}");
}
