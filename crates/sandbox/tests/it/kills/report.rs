//! The results of many kills, as a table for comparing two providers.

use std::time::Duration;

#[derive(Debug, Default)]
pub struct Report {
    pub rounds: usize,
    pub kills: usize,
    pub kills_in_recovery: usize,
    pub confirmed: usize,
    pub unsettled: usize,
    pub unsettled_there: usize,
    pub refusals: usize,
    pub applied_again: i64,
    pub rounds_with_loss: usize,
    pub lost: usize,
    pub torn: usize,
    pub rules_broken: usize,
    pub stale_reads: usize,
    pub refused_reads: usize,
    pub starts: Vec<Duration>,
}

impl Report {
    /// The table in Markdown.
    pub fn table(&self, provider: &str) -> String {
        let mut starts = self.starts.clone();
        starts.sort();
        let seconds = |part: usize| starts.get((starts.len() * part / 100).min(starts.len().saturating_sub(1)));
        let seconds = |part| seconds(part).map_or(0.0, Duration::as_secs_f64);
        let starts = format!("{:.1} / {:.1} / {:.1}", seconds(50), seconds(95), seconds(100));
        let rows: [(&str, String); 13] = [
            ("rounds", self.rounds.to_string()),
            ("kills, and of these while it recovered", format!("{}, {}", self.kills, self.kills_in_recovery)),
            ("transactions confirmed", self.confirmed.to_string()),
            ("transactions rolled back (conflicts)", self.refusals.to_string()),
            ("applied again from the log", self.applied_again.to_string()),
            ("rounds that lost confirmed transactions", self.rounds_with_loss.to_string()),
            ("confirmed transactions lost", self.lost.to_string()),
            ("clients whose tables no whole transactions make", self.torn.to_string()),
            ("rules broken (totals, foreign keys, CHECK TABLE)", self.rules_broken.to_string()),
            ("unconfirmed at the kill, and of these there", format!("{}, {}", self.unsettled, self.unsettled_there)),
            ("reads refused while it came up", self.refused_reads.to_string()),
            ("reads that saw less than was confirmed", self.stale_reads.to_string()),
            ("seconds to start again, half / 95 % / all within", starts),
        ];
        let mut text = format!("| | {provider} |\n|---|---:|\n");
        rows.iter().for_each(|(what, value)| text.push_str(&format!("| {what} | {value} |\n")));
        text
    }
}
