//! Random frames round-trip; truncated or damaged ones are refused, or wait for more.

use super::*;
use crate::consensus::NodeId;
use crate::consensus::lineage::Lineage;
use crate::consensus::raft::{Append, EntryMeta, LogId, Membership, Message, Term};
use crate::identity::Uuid;
use crate::log::Index;
use crate::protocol::{ProtocolRange, ProtocolVersion};
use crate::vote_result::ApplyError;

const NEWEST: ProtocolVersion = ProtocolRange::SPOKEN.newest;

/// splitmix64.
pub(in crate::consensus) struct Rng(u64);

impl Rng {
    /// From HORTATOR_SEED, or a new seed, which is printed if the test fails.
    pub fn seeded() -> Self {
        use std::hash::{BuildHasher, Hasher, RandomState};
        let given = std::env::var("HORTATOR_SEED").ok().map(|seed| seed.parse().unwrap());
        let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish() % 1_000_000);
        println!("HORTATOR_SEED={seed}");
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn bytes(&mut self, bound: u64) -> Vec<u8> {
        (0..self.below(bound)).map(|_| self.next() as u8).collect()
    }

    fn text(&mut self) -> String {
        (0..self.below(12)).map(|_| ['a', 'ß', '\n', '名', '.', ':'][self.below(6) as usize]).collect()
    }

    fn uuid(&mut self) -> Uuid {
        let mut bytes = [0; 16];
        bytes.fill_with(|| self.next() as u8);
        Uuid(bytes)
    }

    fn versions(&mut self) -> ProtocolRange {
        let lowest = self.below(200) as u8;
        let newest = lowest + self.below(20) as u8;
        ProtocolRange { lowest: ProtocolVersion(lowest), newest: ProtocolVersion(newest) }
    }

    fn lineage(&mut self) -> Lineage {
        (0..self.below(10)).fold(Lineage::UNKNOWN, |lineage, _| lineage.bootstrapped(self.uuid()))
    }

    fn place(&mut self) -> LogId {
        LogId { term: Term(self.next()), index: Index(self.next()) }
    }

    fn membership(&mut self) -> Membership {
        let voters: Vec<NodeId> = (0..self.below(6)).map(|_| NodeId(self.next())).collect();
        Membership::of(voters.into_iter().flat_map(|voter| std::iter::repeat_n(voter, self.below(3) as usize + 1)))
    }

    fn shape(&mut self) -> EntryMeta {
        let membership = self.flag().then(|| self.membership());
        EntryMeta { term: Term(self.next()), membership }
    }

    fn message(&mut self) -> Message {
        let term = Term(self.next());
        match self.below(5) {
            0 => Message::VoteRequest { is_pre_vote: self.flag(), term, last: self.place() },
            1 => Message::VoteReply {
                is_pre_vote: self.flag(),
                term,
                is_granted: self.flag(),
                is_recovering: self.flag(),
                memberships: (0..self.below(4)).map(|_| self.membership()).collect(),
            },
            2 => Message::AppendReply {
                term,
                round: self.next(),
                is_accepted: self.flag(),
                upto: Index(self.next()),
                last: Index(self.next()),
            },
            3 => Message::TimeoutNow { term },
            _ => Message::Append(Append {
                term,
                prev_log_id: self.place(),
                leader_commit: Index(self.next()),
                round: self.next(),
                entries: (0..self.below(5)).map(|_| self.shape()).collect(),
            }),
        }
    }

    fn frame(&mut self) -> Frame {
        match self.below(22) {
            0 => Frame::Forward {
                term: Term(self.next()),
                session: self.uuid(),
                number: self.next(),
                payload: self.bytes(200),
            },
            1 => Frame::MemberStatus(MemberStatus {
                versions: self.versions(),
                member_id: self.uuid(),
                applied: self.next() as i64,
                oldest_seen: self.next() as i64,
                has_tables: self.flag(),
                wants_view: self.flag(),
                is_behind: self.flag(),
                donating_to: self.flag().then(|| self.text()),
                apply_error: self.flag().then(|| ApplyError { seqno: self.next() as i64, error: self.next() }),
                weight: self.next() as u8,
            }),
            2 => Frame::Join { request: self.bytes(100), donor: self.text() },
            3 => Frame::InstallSnapshot(SnapshotMeta {
                term: Term(self.next()),
                log_id: self.place(),
                membership: self.membership(),
                addresses: (0..self.below(4)).map(|_| (NodeId(self.next()), self.text())).collect(),
                upto: Index(self.next()),
                lineage: self.lineage(),
                protocol: ProtocolVersion(self.next() as u8),
            }),
            4 => Frame::Leave,
            5 => Frame::LeaveReply,
            6 => Frame::ReadIndex { request_id: self.next() },
            7 => Frame::ReadIndexReady { request_id: self.next(), index: Index(self.next()) },
            8 => Frame::LeaderHint { node: NodeId(self.next()), address: self.text() },
            9 => Frame::Refused { text: self.text() },
            10 => Frame::SnapshotRequired,
            11 => Frame::PrepareSstRequest,
            12 => Frame::PrepareSst,
            13 => Frame::StartDonation { request: self.bytes(100), instance_id: self.uuid(), address: self.text() },
            14 => Frame::DonorAssigned { node: NodeId(self.next()) },
            15 => Frame::DonationStatusRequest,
            16 => Frame::DonationStatus {
                status: match self.below(4) {
                    0 => DonationStatus::NotStarted,
                    1 => DonationStatus::InProgress,
                    2 => DonationStatus::Sent,
                    _ => DonationStatus::Failed { code: self.next() as i64 },
                },
                resolved_upto: self.next() as i64,
            },
            _ => {
                let message = self.message();
                let entries = if let Message::Append(append) = &message { append.entries.len() } else { 0 };
                Frame::Raft { message, payloads: (0..entries).map(|_| self.bytes(100)).collect() }
            }
        }
    }

    fn received(&mut self) -> IncomingFrame {
        IncomingFrame::Signal(match self.below(20) {
            0 => Signal::Hello(Hello {
                versions: self.versions(),
                in_force: self.flag().then(|| ProtocolVersion(self.next() as u8)),
                history_uuid: self.uuid(),
                lineage: self.lineage(),
                node: NodeId(self.next()),
                instance_id: self.uuid(),
                cluster_name: self.text(),
                name: self.text(),
                incoming: self.text(),
                address: self.text(),
                extension: self.bytes(9),
            }),
            1 => Signal::Rejected { text: self.text() },
            2 => Signal::Keepalive,
            3 => Signal::Lineage { history_uuid: self.uuid(), lineage: self.lineage() },
            4 => Signal::Duplicate { instance_id: self.uuid() },
            _ => return IncomingFrame::Frame(self.frame()),
        })
    }
}

fn put(buffer: &mut Vec<u8>, what: &IncomingFrame) {
    match what {
        IncomingFrame::Signal(signal) => encode_signal(buffer, signal).unwrap(),
        IncomingFrame::Frame(frame) => encode(buffer, frame, NEWEST).unwrap(),
    }
}

fn bytes_of(what: &IncomingFrame) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, what);
    bytes
}

fn frame_reader(bytes: &[u8]) -> FrameReader {
    let mut frame_reader = FrameReader::new(BODY_LIMIT_BYTES, ProtocolRange::SPOKEN);
    frame_reader.read_buffer().extend_from_slice(bytes);
    frame_reader
}

#[test]
fn frames_round_trip_in_pieces_of_any_size() {
    let mut rng = Rng::seeded();
    let sent: Vec<IncomingFrame> = (0..3_000).map(|_| rng.received()).collect();
    let mut bytes = Vec::new();
    sent.iter().for_each(|what| put(&mut bytes, what));
    let mut frame_reader = FrameReader::new(BODY_LIMIT_BYTES, ProtocolRange::SPOKEN);
    let mut received = Vec::new();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.len().min(1 + rng.below(700) as usize));
        frame_reader.read_buffer().extend_from_slice(piece);
        rest = behind;
        while let Some(what) = frame_reader.next().unwrap() {
            received.push(what);
        }
    }
    assert!(sent == received, "{} frames came of {}", received.len(), sent.len());
}

#[test]
fn an_incomplete_frame_waits_for_the_rest() {
    let mut rng = Rng::seeded();
    for _ in 0..60 {
        let what = rng.received();
        let bytes = bytes_of(&what);
        for cut in 0..bytes.len() {
            assert_eq!(frame_reader(&bytes[..cut]).next(), Ok(None), "cut at {cut}");
        }
        assert_eq!(frame_reader(&bytes).next(), Ok(Some(what)));
    }
}

#[test]
fn a_flipped_bit_is_detected() {
    let mut rng = Rng::seeded();
    for _ in 0..60 {
        let bytes = bytes_of(&rng.received());
        for at in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            assert!(frame_reader(&flipped).next().is_err(), "bit {at}");
        }
    }
}

/// Valid checksums for any head and body.
fn sealed(kind: u8, body: &[u8]) -> Vec<u8> {
    let version = if kind < kind::FIRST_MESSAGE { HANDSHAKE_VERSION } else { NEWEST };
    let mut bytes = vec![b'H', b'G', version.0, kind];
    bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(body).to_le_bytes());
    let crc = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

#[test]
fn invalid_bodies_with_valid_checksums_are_refused() {
    let mut rng = Rng::seeded();
    for _ in 0..20_000 {
        let original = bytes_of(&rng.received());
        let (kind, mut body) = (original[3], original[HEAD_BYTES..].to_vec());
        match rng.below(4) {
            0 => body.truncate(rng.below(body.len() as u64 + 1) as usize),
            1 => body.extend(rng.bytes(9)),
            2 if !body.is_empty() => {
                let at = rng.below(body.len() as u64) as usize;
                body[at] = rng.next() as u8;
            }
            _ => body = rng.bytes(100),
        }
        let kind = if rng.below(4) == 0 { rng.next() as u8 } else { kind };
        let bytes = sealed(kind, &body);
        // The bytes are either a valid frame or refused.
        match frame_reader(&bytes).next() {
            Ok(Some(what)) => assert_eq!(bytes_of(&what), bytes),
            Ok(None) => panic!("all of it is there"),
            Err(error) => assert!(matches!(error, Error::InvalidBody { .. }), "{error}"),
        }
    }
}

fn refusal(bytes: &[u8]) -> String {
    frame_reader(bytes).next().unwrap_err().to_string()
}

#[test]
fn errors_name_what_was_found() {
    let strange = refusal(b"GET / HTTP/1.1\r\n");
    assert!(strange.contains("starts with [47, 45, 54"), "{strange}");
    let mut other = bytes_of(&IncomingFrame::Signal(Signal::Keepalive));
    other[2] = HANDSHAKE_VERSION.0 + 1;
    let crc = crc32fast::hash(&other[..12]);
    other[12..].copy_from_slice(&crc.to_le_bytes());
    let text = refusal(&other);
    let both =
        format!("handshake has version {}, this node's has version {HANDSHAKE_VERSION}", HANDSHAKE_VERSION.0 + 1);
    assert!(text.contains(&both), "{text}");
    let text = refusal(&sealed(99, b""));
    assert!(text.contains("kind 99") && text.contains("the kind is unknown"), "{text}");
    let text = refusal(&sealed(kind::CONFIRM, b"1234567"));
    assert!(text.contains("ends within a field"), "{text}");
    let mut long = sealed(kind::APPEND, b"");
    long[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    let crc = crc32fast::hash(&long[..12]);
    long[12..16].copy_from_slice(&crc.to_le_bytes());
    let text = refusal(&long);
    assert!(text.contains("4294967295 bytes is larger than the limit"), "{text}");
}

#[test]
fn a_rejection_of_another_version_can_be_read() {
    let rejected = IncomingFrame::Signal(Signal::Rejected { text: "run the same release".to_owned() });
    let mut bytes = bytes_of(&rejected);
    bytes[2] = 200;
    let crc = crc32fast::hash(&bytes[..12]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    assert_eq!(frame_reader(&bytes).next(), Ok(Some(rejected)));
}

#[test]
fn an_announced_length_costs_no_memory() {
    let frame = Frame::ReadIndex { request_id: 1 };
    let mut bytes = Vec::new();
    encode(&mut bytes, &frame, NEWEST).unwrap();
    bytes[4..8].copy_from_slice(&(1u32 << 31).to_le_bytes());
    let crc = crc32fast::hash(&bytes[..12]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    let mut frame_reader = frame_reader(&bytes);
    assert_eq!(frame_reader.next(), Ok(None));
    assert!(frame_reader.read_buffer().capacity() < 1 << 18);
    // Neither does a list's.
    let mut body = vec![0; 40];
    body.extend_from_slice(&u32::MAX.to_le_bytes());
    let text = refusal(&sealed(kind::APPEND, &body));
    assert!(text.contains("more items than the frame can hold"), "{text}");
}

#[test]
fn borrowed_payloads_encode_to_the_same_bytes() {
    let mut rng = Rng::seeded();
    let entries: Vec<EntryMeta> = (0..4).map(|_| rng.shape()).collect();
    let payloads: Vec<Vec<u8>> = (0..4).map(|_| rng.bytes(50)).collect();
    let append = Append { term: Term(3), prev_log_id: rng.place(), leader_commit: Index(9), round: 4, entries };
    let mut from_parts = Vec::new();
    let slices: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
    encode_append(&mut from_parts, &append, &slices, NEWEST).unwrap();
    let frame = Frame::Raft { message: Message::Append(append), payloads };
    assert_eq!(from_parts, bytes_of(&IncomingFrame::Frame(frame)));
}

/// A frame in that version, read by a node that speaks those.
fn sent_in(version: ProtocolVersion, frame: &Frame, versions: ProtocolRange) -> Result<Option<IncomingFrame>, Error> {
    let mut bytes = Vec::new();
    encode(&mut bytes, frame, version).unwrap();
    let mut frame_reader = FrameReader::new(BODY_LIMIT_BYTES, versions);
    frame_reader.read_buffer().extend_from_slice(&bytes);
    frame_reader.next()
}

#[test]
fn a_frame_has_the_form_of_its_version() {
    const FIRST: ProtocolVersion = ProtocolVersion::FIRST;
    let only = |version| ProtocolRange { lowest: version, newest: version };
    let mut rng = Rng::seeded();
    for _ in 0..500 {
        let frame = rng.frame();
        let mut in_first = frame.clone();
        if let Frame::InstallSnapshot(snapshot) = &mut in_first {
            snapshot.protocol = FIRST;
        }
        if let Frame::MemberStatus(status) = &mut in_first {
            status.weight = 1;
        }
        let received = |version, frame: &Frame, versions| match sent_in(version, frame, versions) {
            Ok(Some(IncomingFrame::Frame(frame))) => frame,
            other => panic!("{other:?}"),
        };
        assert_eq!(received(FIRST, &frame, only(FIRST)), in_first, "as the previous release sees it");
        assert_eq!(received(FIRST, &frame, ProtocolRange::SPOKEN), in_first);
        assert_eq!(received(NEWEST, &frame, ProtocolRange::SPOKEN), frame);
        let error = sent_in(NEWEST, &frame, only(FIRST)).unwrap_err();
        assert_eq!(error, Error::OtherVersion { found: NEWEST, spoken: only(FIRST) });
    }
}

#[test]
fn the_hello_of_a_later_release_is_read_and_kept_as_it_came() {
    let mut rng = Rng::seeded();
    let hello = loop {
        if let IncomingFrame::Signal(Signal::Hello(hello)) = rng.received() {
            break hello;
        }
    };
    let later = IncomingFrame::Signal(Signal::Hello(Hello { extension: b"more fields".to_vec(), ..hello }));
    let bytes = bytes_of(&later);
    let read = frame_reader(&bytes).next().unwrap().unwrap();
    assert_eq!(read, later);
    assert_eq!(bytes_of(&read), bytes, "the proof of the secret is about these bytes");
}
