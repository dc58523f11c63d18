//! The summary of a load as text.

use std::fmt::Write;

use comfy_table::{Table, presets};
use hortator_load::cluster::ClusterSummary;
use hortator_load::plan_report::Plan;
use hortator_load::report::{End, Summary};
use indicatif::{HumanBytes, HumanCount};

use super::checks;
use super::deferred_indexes;
use super::filter_args;
use super::verification;

/// The summary, for standard error. Nothing for a load that could not begin to read: its error says all.
pub(super) fn text(summary: &Summary) -> String {
    let mut text = String::new();
    if summary.end == End::Failed && summary.read_bytes == 0 && !summary.checkpoint.can_resume {
        return text;
    }
    let rate = HumanCount(summary.rows_per_s() as u64);
    let what = match summary.end {
        End::Complete => "loaded",
        End::WithErrors => "loaded with errors:",
        End::NotValidated => "loaded, not validated:",
        End::Failed => "failed after",
        End::Interrupted => "interrupted after",
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{what} {} rows in {:.2} s ({rate} rows/s); tables: {}, statements: {}, read: {}",
        HumanCount(summary.rows),
        summary.elapsed_s,
        summary.tables.len(),
        HumanCount(summary.statements),
        HumanBytes(summary.read_bytes),
    );
    let _ = writeln!(
        text,
        "connections: {} ({}); binary statements: {}, text statements: {}, skipped: {}, barriers: {}, replays: {}",
        summary.threads,
        summary.threads_reason,
        HumanCount(summary.binary_statements),
        HumanCount(summary.text_statements),
        HumanCount(summary.skipped),
        HumanCount(summary.barriers),
        HumanCount(summary.replays),
    );
    if let Some(cluster) = &summary.cluster {
        text.push_str(&of_cluster(cluster, summary.all_nodes_s));
    }
    if let Some(throttle) = &summary.throttle {
        let _ = writeln!(
            text,
            "throttle ({}): paused the threads of the load for {:.2} s, delayed them for {:.2} s to keep the rate",
            if throttle.limits.is_empty() { "no limits" } else { &throttle.limits },
            throttle.paused_s,
            throttle.rate_delayed_s,
        );
        for note in &throttle.notes {
            let _ = writeln!(text, "  {note}");
        }
    }
    let _ = writeln!(text, "{}", checks::line(summary));
    text.push_str(&filter_args::lines(&summary.filtered));
    text.push_str(&deferred_indexes::lines(summary));
    if summary.warnings > 0 {
        let _ = writeln!(text, "server warnings: {} (as with the client)", HumanCount(summary.warnings));
    }
    if summary.end != End::Complete {
        for table in &summary.tables {
            let _ = writeln!(text, "  {}: {} rows", table.table, HumanCount(table.rows));
        }
    }
    let checkpoint = &summary.checkpoint;
    if let Some(reason) = &checkpoint.local_journal_given_up {
        let _ = writeln!(text, "all later checkpoints are on the server: {reason}");
    }
    if checkpoint.rows_before > 0 {
        let _ = writeln!(text, "{} of these rows were loaded before this run", HumanCount(checkpoint.rows_before));
    }
    if checkpoint.restarts > 0 {
        let _ =
            writeln!(text, "the load lost the main session and resumed automatically: {} times", checkpoint.restarts);
    }
    if let (true, Some(load_id)) = (checkpoint.can_resume, checkpoint.load_id) {
        let _ = writeln!(
            text,
            "checkpoints of load {load_id} are stored: resume with the same command and --resume, or discard them with \
             --discard-checkpoint={load_id}",
        );
    }
    if let Some(analyzed) = &summary.analyzed {
        let _ = writeln!(text, "statistics renewed: {} tables in {:.2} s", analyzed.tables, analyzed.elapsed_s);
        for problem in &analyzed.problems {
            let _ = writeln!(text, "  not renewed: {problem}");
        }
    }
    if let Some(verification) = &summary.verification {
        text.push_str(&verification::text(verification));
    }
    if let Some(reject) = summary.reject.as_ref().filter(|reject| reject.statements + reject.notes > 0) {
        let notes = match reject.notes {
            0 => String::new(),
            notes => format!("; {} that cannot be repeated are comments", HumanCount(notes)),
        };
        let _ = writeln!(text, "rejected: {} statements in {}{notes}", HumanCount(reject.statements), reject.file);
    }
    if summary.failure_count > 0 {
        let not_shown = summary.failure_count.saturating_sub(summary.failures.len() as u64);
        let rest = match not_shown {
            0 => String::new(),
            _ => format!("; {} of them are not shown", HumanCount(not_shown)),
        };
        let _ = writeln!(text, "failures: {}{rest}", HumanCount(summary.failure_count));
    }
    text
}

/// The lines on a cluster.
fn of_cluster(cluster: &ClusterSummary, all_nodes_s: Option<f64>) -> String {
    let mut text = format!("cluster: writer: {}; ", cluster.written_to);
    let watched = cluster.nodes.len();
    let _ = match all_nodes_s {
        Some(seconds) if watched >= cluster.size => {
            writeln!(text, "all {watched} nodes applied all rows {seconds:.2} s later")
        }
        Some(seconds) => writeln!(text, "{watched} of {} nodes applied all rows {seconds:.2} s later", cluster.size),
        None => writeln!(text, "some nodes may not have applied all rows"),
    };
    let _ = write!(text, "flow control paused the cluster for {:.2} s", cluster.paused_s());
    if let Some(slowest) = cluster.slowest().filter(|node| node.most_waiting > 0) {
        let _ = write!(text, "; longest receive queue: {} with {} write sets", slowest.node, slowest.most_waiting);
    }
    let _ = writeln!(text, "; throttle delayed the workers for {:.2} s", cluster.throttled_s);
    for note in &cluster.notes {
        let _ = writeln!(text, "  {note}");
    }
    text
}

/// The plan, for standard output.
pub(super) fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    let mut tables = Table::new();
    tables.load_preset(presets::NOTHING);
    tables.set_header(["table", "rows", "text", "protocol", "order"]);
    for table in &plan.tables {
        let (rows, bytes) = (HumanCount(table.rows).to_string(), HumanBytes(table.bytes).to_string());
        tables.add_row([table.table.as_str(), &rows, &bytes, table.protocol, &table.order]);
    }
    let _ = writeln!(text, "{tables}");
    let _ = writeln!(
        text,
        "statements: {}, skipped: {}, barriers: {}",
        HumanCount(plan.statements),
        HumanCount(plan.skipped),
        HumanCount(plan.barrier_count),
    );
    for barrier in &plan.barriers {
        let _ = writeln!(text, "  barrier at {}: {}: {}", barrier.place, barrier.reason, barrier.statement);
    }
    let unnamed = plan.barrier_count - plan.barriers.len() as u64;
    if unnamed > 0 {
        let _ = writeln!(text, "  and {} more", HumanCount(unnamed));
    }
    for line in &plan.cluster {
        let _ = writeln!(text, "  cluster: {line}");
    }
    let _ = writeln!(text, "{}", checks::planned(plan));
    text.push_str(&filter_args::lines(&plan.filtered));
    text.push_str(&deferred_indexes::planned(plan));
    for note in &plan.server {
        let _ = writeln!(text, "  server: {note}");
    }
    text
}
