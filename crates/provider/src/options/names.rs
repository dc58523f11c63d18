//! The table of options: names, defaults, kinds. The `log.*` and `raft.*` options are ours; all other names and defaults are
//! Galera's (Galera documentation, "Galera Parameters").

use std::time::Duration;

/// The kind of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// An integer or decimal number, also hexadecimal.
    Number,
    /// yes, no, true, false, on, off, 1, 0.
    Boolean,
    /// A number, with an optional K, M, G or T for powers of 1024.
    Bytes,
    /// ISO 8601 (PT30S, PT1M30.5S, P1D), or seconds.
    Duration,
}

impl Kind {
    pub fn takes(self, value: &str) -> bool {
        match self {
            Text => true,
            Number => number(value).is_some(),
            Boolean => boolean(value).is_some(),
            Bytes => bytes(value).is_some(),
            Time => duration(value).is_some(),
        }
    }

    pub fn describe(self) -> &'static str {
        match self {
            Text => "a text",
            Number => "a number",
            Boolean => "yes or no",
            Bytes => "a size such as 128M",
            Time => "a time such as PT30S",
        }
    }
}

/// One option.
pub struct Named {
    pub name: &'static str,
    pub default: &'static str,
    pub kind: Kind,
    /// Whether it is read at the start only.
    pub is_fixed: bool,
}

const fn may(name: &'static str, default: &'static str, kind: Kind) -> Named {
    Named { name, default, kind, is_fixed: false }
}

const fn once(name: &'static str, default: &'static str, kind: Kind) -> Named {
    Named { name, default, kind, is_fixed: true }
}

use Kind::{Boolean, Bytes, Duration as Time, Number, Text};

/// The default of `gmcast.listen_addr`.
pub const LISTEN_ADDRESS: &str = "tcp://0.0.0.0:4567";

/// In alphabetical order, as displayed.
pub const OPTIONS: &[Named] = &[
    once("base_dir", "", Text),
    once("base_host", "", Text),
    once("base_port", "4567", Number),
    may("cert.log_conflicts", "no", Boolean),
    may("cert.optimistic_pa", "yes", Boolean),
    may("debug", "no", Boolean),
    may("evs.auto_evict", "0", Number),
    may("evs.causal_keepalive_period", "PT1S", Time),
    may("evs.debug_log_mask", "0x1", Number),
    may("evs.delay_margin", "PT1S", Time),
    may("evs.delayed_keep_period", "PT30S", Time),
    may("evs.evict", "", Text),
    may("evs.inactive_check_period", "PT0.5S", Time),
    may("evs.inactive_timeout", "PT15S", Time),
    may("evs.info_log_mask", "0", Number),
    may("evs.install_timeout", "PT7.5S", Time),
    may("evs.join_retrans_period", "PT1S", Time),
    may("evs.keepalive_period", "PT1S", Time),
    may("evs.max_install_timeouts", "3", Number),
    may("evs.send_window", "4", Number),
    may("evs.stats_report_period", "PT1M", Time),
    may("evs.suspect_timeout", "PT5S", Time),
    may("evs.use_aggregate", "true", Boolean),
    may("evs.user_send_window", "2", Number),
    may("evs.version", "1", Number),
    may("evs.view_forget_timeout", "P1D", Time),
    once("gcache.dir", "", Text),
    may("gcache.freeze_purge_at_seqno", "-1", Number),
    may("gcache.keep_pages_count", "0", Number),
    may("gcache.keep_pages_size", "0", Bytes),
    may("gcache.keep_plaintext_size", "128M", Bytes),
    may("gcache.mem_size", "0", Bytes),
    once("gcache.name", "galera.cache", Text),
    may("gcache.page_size", "128M", Bytes),
    may("gcache.recover", "yes", Boolean),
    once("gcache.size", "128M", Bytes),
    once("gcomm.thread_prio", "", Text),
    may("gcs.fc_debug", "0", Number),
    may("gcs.fc_factor", "1.0", Number),
    may("gcs.fc_limit", "256", Number),
    may("gcs.fc_master_slave", "no", Boolean),
    may("gcs.fc_single_primary", "no", Boolean),
    may("gcs.max_packet_size", "64500", Bytes),
    may("gcs.max_throttle", "0.25", Number),
    may("gcs.recv_q_hard_limit", "9223372036854775807", Bytes),
    may("gcs.recv_q_soft_limit", "0.25", Number),
    may("gcs.sync_donor", "no", Boolean),
    may("gcs.vote_policy", "0", Number),
    once("gmcast.group", "", Text),
    may("gmcast.isolate", "0", Number),
    once("gmcast.listen_addr", LISTEN_ADDRESS, Text),
    once("gmcast.mcast_addr", "", Text),
    once("gmcast.mcast_ttl", "1", Number),
    may("gmcast.peer_addr", "", Text),
    may("gmcast.peer_timeout", "PT3S", Time),
    once("gmcast.segment", "0", Number),
    may("gmcast.time_wait", "PT5S", Time),
    once("gmcast.version", "0", Number),
    may("ist.recv_addr", "", Text),
    may("ist.recv_bind", "", Text),
    once("log.retain", "1G", Bytes),
    once("log.retain_time", "PT1M", Time),
    once("log.segment", "64M", Bytes),
    may("log.sync", "yes", Boolean),
    may("pc.announce_timeout", "PT3S", Time),
    may("pc.bootstrap", "no", Boolean),
    may("pc.checksum", "false", Boolean),
    may("pc.ignore_quorum", "false", Boolean),
    may("pc.ignore_sb", "false", Boolean),
    may("pc.linger", "PT20S", Time),
    may("pc.npvo", "false", Boolean),
    may("pc.recovery", "true", Boolean),
    may("pc.version", "0", Number),
    may("pc.wait_prim", "true", Boolean),
    may("pc.wait_prim_timeout", "PT30S", Time),
    may("pc.wait_restored_prim_timeout", "PT0S", Time),
    may("pc.weight", "1", Number),
    once("protonet.backend", "asio", Text),
    once("protonet.version", "0", Number),
    once("raft.election_timeout", "PT1S", Time),
    once("raft.heartbeat_interval", "PT0.15S", Time),
    may("repl.causal_read_timeout", "PT30S", Time),
    may("repl.commit_order", "3", Number),
    may("repl.key_format", "FLAT8", Text),
    may("repl.max_ws_size", "2147483647", Bytes),
    may("repl.proto_max", "11", Number),
    may("signal", "", Text),
    may("socket.checksum", "2", Number),
    may("socket.recv_buf_size", "auto", Text),
    may("socket.send_buf_size", "auto", Text),
    once("socket.dynamic", "false", Boolean),
    once("socket.ssl", "no", Boolean),
    once("socket.ssl_ca", "", Text),
    once("socket.ssl_cert", "", Text),
    once("socket.ssl_cipher", "", Text),
    once("socket.ssl_compression", "yes", Boolean),
    once("socket.ssl_key", "", Text),
    once("socket.ssl_password_file", "", Text),
    may("socket.ssl_reload", "", Text),
];

/// Options with a smallest and a largest time, in seconds, and the reason.
const TIME_RANGES: &[(&str, f64, f64, &str)] = &[
    (
        "log.retain_time",
        5.0,
        86_400.0,
        "but it must be PT5S to P1D, and more than twice innodb_flush_log_at_timeout: InnoDB flushes its own log that \
         rarely, and after a power failure the provider's log must hold what InnoDB has lost",
    ),
    ("raft.election_timeout", 0.3, 60.0, "but it must be PT0.3S to PT1M"),
    ("raft.heartbeat_interval", 0.05, 10.0, "but it must be PT0.05S to PT10S"),
];

/// A leader sends at least this many heartbeats in an election timeout.
pub const HEARTBEATS_PER_ELECTION: f64 = 3.0;

/// Why a valid value is out of the range of its option.
pub fn out_of_range(name: &str, value: &str) -> Option<&'static str> {
    let (_, least, most, why) = TIME_RANGES.iter().find(|(of, ..)| *of == name)?;
    let seconds = duration(value)?.as_secs_f64();
    (seconds < *least || seconds > *most).then_some(why)
}

pub fn boolean(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "yes" | "true" | "on" | "1" => Some(true),
        "no" | "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

pub fn number(value: &str) -> Option<f64> {
    match value.strip_prefix("0x") {
        Some(rest) => u64::from_str_radix(rest, 16).ok().map(|number| number as f64),
        None => value.parse().ok().filter(|number: &f64| number.is_finite()),
    }
}

pub fn bytes(value: &str) -> Option<u64> {
    let (digits, shift) = match value.char_indices().last()? {
        (at, unit) if unit.is_ascii_alphabetic() => {
            let shift = match unit.to_ascii_uppercase() {
                'K' => 10,
                'M' => 20,
                'G' => 30,
                'T' => 40,
                _ => return None,
            };
            (&value[..at], shift)
        }
        _ => (value, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

pub fn duration(value: &str) -> Option<Duration> {
    let Some(rest) = value.strip_prefix('P') else {
        return Duration::try_from_secs_f64(value.parse().ok()?).ok();
    };
    let (days, time) = rest.split_once('T').unwrap_or((rest, ""));
    let mut seconds = 0.0;
    for (part, units) in [(days, &[('D', 86_400.0)][..]), (time, &[('H', 3600.0), ('M', 60.0), ('S', 1.0)][..])] {
        let mut rest = part;
        for (unit, factor) in units {
            if let Some((number, after)) = rest.split_once(*unit) {
                seconds += number.parse::<f64>().ok()? * factor;
                rest = after;
            }
        }
        if !rest.is_empty() {
            return None;
        }
    }
    Duration::try_from_secs_f64(seconds).ok().filter(|_| rest.len() > 1)
}
