//! The table of options: names, defaults, kinds, and what each does here. The `log.*`, `metrics.*` and `raft.*` options
//! are ours; all other names and defaults are Galera's (Galera documentation, "Galera Parameters").
//!
//! The notes on options without effect and the table in docs/provider.md follow from it.

use super::kind::Kind;

/// What an option does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It has an effect.
    Works(&'static str),
    /// It sets that other option, under that condition.
    SetsOther(&'static str, &'static str),
    /// It has no effect, for that reason.
    Ignored(&'static str),
}

/// One option.
pub struct OptionRow {
    pub name: &'static str,
    pub default: &'static str,
    pub kind: Kind,
    /// Whether it is read at the start only.
    pub is_fixed: bool,
    pub effect: Effect,
}

const fn may(name: &'static str, default: &'static str, kind: Kind, effect: Effect) -> OptionRow {
    OptionRow { name, default, kind, is_fixed: false, effect }
}

const fn once(name: &'static str, default: &'static str, kind: Kind, effect: Effect) -> OptionRow {
    OptionRow { name, default, kind, is_fixed: true, effect }
}

use Effect::{Ignored, SetsOther, Works};
use Kind::{Boolean, Bytes, Code, Duration as Time, Fraction, Number, Text};

/// The default of `gmcast.listen_addr`.
pub const LISTEN_ADDRESS: &str = "tcp://0.0.0.0:4567";

const DATA_FOLDER: &str = "the log is in the data folder";
const DEVELOPERS: &str = "for the developers of Galera";
const EVICTION: &str = "a node that does not answer loses its vote and rejoins by itself";
const HEARTBEAT: &str = "`raft.heartbeat_interval` sets how often a leader gives a sign";
const ELECTION: &str =
    "`raft.election_timeout` sets when a leader counts as lost; the limits for other nodes are fixed";
const GROUP_COMMUNICATION: &str = "it tunes Galera's group communication; Raft orders the write sets here";
const VERSIONS: &str = "nodes compare the versions when they connect";
const RETENTION: &str = "`log.retain` and `log.retain_time` set what the log keeps";
const THREADS: &str = "the provider has its own threads";
const RECEIVE_QUEUE: &str = "the receive queue has a fixed limit; the rest stays in the log on disk";
const MULTICAST: &str = "there is no multicast";
const NO_IST: &str = "missed write sets come over the link between the nodes";
const PRIMARY_COMPONENT: &str = "it tunes how Galera finds a Primary Component; Raft elects a leader here";
const CHECKSUMS: &str = "all messages have CRC-32 checksums";
const WAITS: &str = "a starting node waits until it finds a majority, as long as that takes";
const BUFFERS: &str = "the system sets the socket buffers";

/// In alphabetical order, as displayed.
pub const OPTIONS: &[OptionRow] = &[
    once("auth.secret_file", "", Text, Works("the file with the shared secret of the cluster ([Secure](#secure))")),
    once("base_dir", "", Text, Ignored(DATA_FOLDER)),
    once(
        "base_host",
        "",
        Text,
        Works("the address at which the other nodes reach this node; default `wsrep_node_address`"),
    ),
    once("base_port", "4567", Number, Works("the port between nodes")),
    may(
        "cert.log_conflicts",
        "no",
        Boolean,
        Works("the error log tells why certification failed a transaction of this node"),
    ),
    may(
        "cert.optimistic_pa",
        "yes",
        Boolean,
        Works(
            "`no`: this node applies a write set only after everything that the write set's node had seen; less parallel",
        ),
    ),
    may("debug", "no", Boolean, Ignored(DEVELOPERS)),
    may("evs.auto_evict", "0", Number, Ignored(EVICTION)),
    may("evs.causal_keepalive_period", "PT1S", Time, Ignored(HEARTBEAT)),
    may("evs.debug_log_mask", "0x1", Code, Ignored(DEVELOPERS)),
    may("evs.delay_margin", "PT1S", Time, Ignored(EVICTION)),
    may("evs.delayed_keep_period", "PT30S", Time, Ignored(EVICTION)),
    may("evs.evict", "", Text, Ignored(EVICTION)),
    may("evs.inactive_check_period", "PT0.5S", Time, Ignored(ELECTION)),
    may("evs.inactive_timeout", "PT15S", Time, Ignored(ELECTION)),
    may("evs.info_log_mask", "0", Code, Ignored(DEVELOPERS)),
    may("evs.install_timeout", "PT7.5S", Time, Ignored(GROUP_COMMUNICATION)),
    may("evs.join_retrans_period", "PT1S", Time, Ignored(GROUP_COMMUNICATION)),
    may("evs.keepalive_period", "PT1S", Time, Ignored(HEARTBEAT)),
    may("evs.max_install_timeouts", "3", Number, Ignored(GROUP_COMMUNICATION)),
    may("evs.send_window", "4", Number, Ignored(GROUP_COMMUNICATION)),
    may("evs.stats_report_period", "PT1M", Time, Ignored(GROUP_COMMUNICATION)),
    may("evs.suspect_timeout", "PT5S", Time, Ignored(ELECTION)),
    may("evs.use_aggregate", "true", Boolean, Ignored(GROUP_COMMUNICATION)),
    may("evs.user_send_window", "2", Number, Ignored(GROUP_COMMUNICATION)),
    may("evs.version", "1", Code, Ignored(VERSIONS)),
    may("evs.view_forget_timeout", "P1D", Time, Ignored(GROUP_COMMUNICATION)),
    once("gcache.dir", "", Text, Ignored(DATA_FOLDER)),
    may("gcache.freeze_purge_at_seqno", "-1", Number, Ignored(RETENTION)),
    may("gcache.keep_pages_count", "0", Number, Ignored(RETENTION)),
    may("gcache.keep_pages_size", "0", Bytes, Ignored(RETENTION)),
    may("gcache.keep_plaintext_size", "128M", Bytes, Ignored("the log is not encrypted")),
    may("gcache.mem_size", "0", Bytes, Ignored("the log is on disk; write sets in memory have fixed limits")),
    once("gcache.name", "galera.cache", Text, Ignored(DATA_FOLDER)),
    may("gcache.page_size", "128M", Bytes, Ignored(RETENTION)),
    may("gcache.recover", "yes", Boolean, Ignored("the log survives every restart")),
    once("gcache.size", "128M", Bytes, SetsOther("log.retain", "if `log.retain` is not set")),
    once("gcomm.thread_prio", "", Text, Ignored(THREADS)),
    may("gcs.fc_debug", "0", Number, Ignored(DEVELOPERS)),
    may("gcs.fc_factor", "1.0", Fraction, Works("the pause ends when the queue is this fraction of the limit")),
    may(
        "gcs.fc_limit",
        "256",
        Number,
        Works(
            "[flow control](#slow-nodes-and-flow-control): the length of the receive queue at which a node asks for a pause",
        ),
    ),
    may("gcs.fc_master_slave", "no", Boolean, SetsOther("gcs.fc_single_primary", "the older name")),
    may(
        "gcs.fc_single_primary",
        "no",
        Boolean,
        Works("`no`: the limit is `gcs.fc_limit` times the square root of the number of members"),
    ),
    may("gcs.max_packet_size", "64500", Bytes, Ignored("a write set is sent whole")),
    may("gcs.max_throttle", "0.25", Fraction, Ignored(RECEIVE_QUEUE)),
    may("gcs.recv_q_hard_limit", "9223372036854775807", Bytes, Ignored(RECEIVE_QUEUE)),
    may("gcs.recv_q_soft_limit", "0.25", Fraction, Ignored(RECEIVE_QUEUE)),
    may("gcs.sync_donor", "no", Boolean, Works("`yes`: flow control waits for a node that sends an SST too")),
    may("gcs.vote_policy", "0", Number, Ignored("inconsistency votes are by majority, always")),
    once("gmcast.group", "", Text, Ignored("`wsrep_cluster_name` names the cluster")),
    may("gmcast.isolate", "0", Number, Works("1 isolates the node from the network, for tests")),
    once("gmcast.listen_addr", LISTEN_ADDRESS, Text, Works("the listen address")),
    once("gmcast.mcast_addr", "", Text, Ignored(MULTICAST)),
    once("gmcast.mcast_ttl", "1", Number, Ignored(MULTICAST)),
    may("gmcast.peer_addr", "", Text, Ignored("`wsrep_cluster_address` names the nodes, and the voters are stored")),
    may("gmcast.peer_timeout", "PT3S", Time, Ignored(ELECTION)),
    once("gmcast.segment", "0", Number, Ignored("every node is linked to every other one")),
    may("gmcast.time_wait", "PT5S", Time, Ignored("a node may connect again at once")),
    once("gmcast.version", "0", Code, Ignored(VERSIONS)),
    may("ist.recv_addr", "", Text, Ignored(NO_IST)),
    may("ist.recv_bind", "", Text, Ignored(NO_IST)),
    once("log.retain", "1G", Bytes, Works("minimum size of the log that the node keeps")),
    once(
        "log.retain_time",
        "PT1M",
        Time,
        Works("how long the log keeps what this node has applied, PT5S to P1D ([Files](#files))"),
    ),
    once("log.segment", "64M", Bytes, Works("size of a log file")),
    may("log.sync", "yes", Boolean, Works("a log entry is durable when it is on disk")),
    once(
        "metrics.file",
        "",
        Text,
        Works(
            "the file that gets the [metrics for Prometheus](#monitoring); empty: none. A relative path is below the data folder",
        ),
    ),
    once("metrics.interval", "PT10S", Time, Works("how often it is written: PT1S to PT1H")),
    may("pc.announce_timeout", "PT3S", Time, Ignored(PRIMARY_COMPONENT)),
    may(
        "pc.bootstrap",
        "no",
        Boolean,
        Works(
            "`yes` on a running non-Primary node: [continue without a majority](#two-nodes-and-continuing-without-a-majority)",
        ),
    ),
    may("pc.checksum", "false", Boolean, Ignored(CHECKSUMS)),
    may("pc.ignore_quorum", "false", Boolean, Works("the same without an operator")),
    may("pc.ignore_sb", "false", Boolean, Works("the same without an operator")),
    may("pc.linger", "PT20S", Time, Ignored(PRIMARY_COMPONENT)),
    may("pc.npvo", "false", Boolean, Ignored(PRIMARY_COMPONENT)),
    may("pc.recovery", "true", Boolean, Ignored("a restarted node always knows its cluster")),
    may("pc.version", "0", Code, Ignored(VERSIONS)),
    may("pc.wait_prim", "true", Boolean, Ignored(WAITS)),
    may("pc.wait_prim_timeout", "PT30S", Time, Ignored(WAITS)),
    may("pc.wait_restored_prim_timeout", "PT0S", Time, Ignored(WAITS)),
    may(
        "pc.weight",
        "1",
        Number,
        Works(
            "the number of votes of this node, from 1 to 16 ([the majority](#the-majority)); in force a moment later, when \
             most votes have agreed",
        ),
    ),
    once("protonet.backend", "asio", Text, Ignored(THREADS)),
    once("protonet.version", "0", Code, Ignored(VERSIONS)),
    once(
        "raft.election_timeout",
        "PT1S",
        Time,
        Works(
            "without a sign of the leader for one to two times this, a node starts an election; PT0.3S to PT1M. Longer: fewer elections on slow networks, later ones after a crash. The same on all nodes",
        ),
    ),
    once(
        "raft.heartbeat_interval",
        "PT0.15S",
        Time,
        Works("a leader gives a sign this often: at most a third of `raft.election_timeout`"),
    ),
    may("repl.causal_read_timeout", "PT30S", Time, Works("how long a read with `wsrep_sync_wait` waits")),
    may("repl.commit_order", "3", Code, Ignored("commits are always in the order of the seqnos")),
    may("repl.key_format", "FLAT8", Text, Ignored("keys are hashes of 128 bits")),
    may(
        "repl.max_ws_size",
        "2147483647",
        Bytes,
        Works("maximum size of a transaction in bytes; a larger one gets an error"),
    ),
    may("repl.proto_max", "11", Code, Ignored(VERSIONS)),
    may("signal", "", Text, Ignored(DEVELOPERS)),
    may("socket.checksum", "2", Number, Ignored(CHECKSUMS)),
    may(
        "socket.dynamic",
        "false",
        Boolean,
        Works("`yes`: also links without TLS and secret, for the time of a change"),
    ),
    may("socket.recv_buf_size", "auto", Text, Ignored(BUFFERS)),
    may("socket.send_buf_size", "auto", Text, Ignored(BUFFERS)),
    once(
        "socket.ssl",
        "no",
        Boolean,
        Works("TLS between nodes ([Secure](#secure)); a key and a certificate turn it on too"),
    ),
    once(
        "socket.ssl_ca",
        "",
        Text,
        Works("the CAs whose certificates make a node; empty: only `socket.ssl_cert` itself"),
    ),
    once("socket.ssl_cert", "", Text, Works("the certificate of the node, then those of intermediate CAs")),
    once("socket.ssl_cipher", "", Text, Ignored("TLS 1.3 has its own ciphers")),
    once("socket.ssl_compression", "yes", Boolean, Ignored("there is no compression")),
    once("socket.ssl_key", "", Text, Works("the unencrypted key of the certificate")),
    once("socket.ssl_password_file", "", Text, Ignored("keys must not be encrypted")),
    may("socket.ssl_reload", "no", Boolean, Works("`1`: reads the files of TLS and of the secret again")),
];

impl OptionRow {
    /// The row of the table in docs/provider.md.
    #[cfg(test)]
    pub fn markdown(&self) -> String {
        let when = if self.is_fixed { ". At the start only" } else { "" };
        let effect = match self.effect {
            Works(what) => format!("{what}{when}"),
            SetsOther(other, condition) => format!("sets `{other}`, {condition}{when}"),
            Ignored(reason) => format!("*no effect*: {reason}"),
        };
        format!("| `{}` | {} | {effect} |", self.name, self.default)
    }
}
