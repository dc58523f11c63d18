//! The names of figures that several experiments measure. A name ends in its unit.

use crate::load_generator::Generated;
use crate::rounds::Figures;

/// From the start of a program to its end.
pub(crate) const WALL: &str = "wall_s";
/// From the start of a program until all nodes have all rows.
pub(crate) const ALL: &str = "all_nodes_s";
/// The measured time of threads that run for a fixed time.
pub(crate) const MEASURED: &str = "measured_s";
/// Confirmed rows for each second.
pub(crate) const RATE: &str = "rows_per_s";
/// CPU time of all servers.
pub(crate) const SERVER_CPU: &str = "server_cpu_s";
/// The servers' CPU time for each second.
pub(crate) const CORES: &str = "server_cores";
/// Microseconds of the servers' CPU time for each row: on a busy machine steadier than the time.
pub(crate) const ROW_CPU: &str = "server_cpu_us_per_row";
/// CPU time of the program that loads.
pub(crate) const LOADER_CPU: &str = "loader_cpu_s";
/// Its peak resident memory.
pub(crate) const LOADER_PEAK: &str = "loader_peak_mib";
/// CPU time of everything else on the machine.
pub(crate) const OTHER_CPU: &str = "other_cpu_s";
/// From the end of the last statement until all nodes had applied everything.
pub(crate) const LAG: &str = "apply_lag_s";
/// The time for which flow control stopped the cluster.
pub(crate) const FLOW_CONTROL: &str = "flow_control_s";
/// Below it are half of the statements, 95 % and 99 %.
pub(crate) const LATENCIES: [(&str, f64); 3] = [("p50_ms", 0.5), ("p95_ms", 0.95), ("p99_ms", 0.99)];
/// The longest statement.
pub(crate) const LONGEST: (&str, f64) = ("max_ms", 1.0);

/// The figures that say how long a run took, the first of which counts.
pub(crate) const TIMES: [&str; 3] = [ALL, WALL, MEASURED];

/// The figure that counts an error.
pub(crate) fn error_figure(number: impl std::fmt::Display) -> String {
    format!("errors_{number}")
}

/// Figures from names and values.
pub(crate) fn named<'a>(values: impl IntoIterator<Item = (&'a str, f64)>) -> Figures {
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The figures of threads that ran for a fixed time.
pub(crate) fn of_threads(generated: &Generated) -> Figures {
    let Generated { rows, errors, usage, apply_lag, latencies } = generated;
    let seconds = usage.wall.as_secs_f64();
    let mut figures = named([
        (RATE, rows / seconds),
        (CORES, usage.server_cpu.as_secs_f64() / seconds),
        // Statements that take longer than the measured time have a part in it.
        (ROW_CPU, usage.server_cpu.as_secs_f64() * 1e6 / rows.max(1.0)),
        (MEASURED, seconds),
        ("client_cpu_s", usage.own_cpu.as_secs_f64()),
        (OTHER_CPU, usage.other_cpu.as_secs_f64()),
        (LAG, apply_lag.as_secs_f64()),
    ]);
    figures.extend(errors.figures());
    let latency = |(name, share): (&str, f64)| Some((name.to_owned(), latencies.quantile_ms(share)?));
    figures.extend(LATENCIES.into_iter().chain([LONGEST]).filter_map(latency));
    figures
}
