//! The resources of a program: wall time, CPU time, peak memory; and the CPU time of a server.
//!
//! All from `/proc`, without tools that may not be installed. CPU time is read when the program has ended and before
//! its exit status is collected: until then the kernel keeps its counters, to the last tick. Peak memory (`VmHWM`) is
//! gone by then and is read every `SAMPLE_INTERVAL` instead; growth within the last interval is missed.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::Error;

/// The interval for reading the memory of a running program.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(20);
/// The bytes from the end of a failed program's output that go into the error.
const TAIL_BYTES: usize = 2_000;

/// The resources of a program from start to end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// From before its start to its end.
    pub wall: Duration,
    /// User and system time of all of its threads, and of children it waited for.
    pub cpu: Duration,
    /// The peak resident memory.
    pub peak_bytes: u64,
}

/// Runs a program to its end. Its output goes to `log`; its standard input is that of the command.
///
/// Ends the program with SIGTERM when `stop` becomes true.
///
/// # Errors
/// [`Error::Io`] when the program cannot be started or watched, [`Error::Failed`] with the end of its output when its
/// exit status is not success, [`Error::Interrupted`] after `stop`.
pub fn run(command: &mut Command, log: &Path, stop: &AtomicBool) -> Result<Usage, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = File::create(log).map_err(Error::io(format!("creating {}", log.display())))?;
    let errors = output.try_clone().map_err(Error::io(format!("opening {} twice", log.display())))?;
    command.stdout(Stdio::from(output)).stderr(Stdio::from(errors));

    let start = Instant::now();
    let mut child = command.spawn().map_err(Error::io(format!("starting {program}")))?;
    let watched = watch(&child, start, stop);
    // Always reap the child, or its pid could later belong to another process.
    let status = child.wait().map_err(Error::io(format!("waiting for {program}")))?;
    let usage = watched.map_err(Error::io(format!("watching {program}")))?;
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    if !status.success() {
        return Err(Error::Failed { program, status: status.to_string(), output: tail(log) });
    }
    Ok(usage)
}

fn watch(child: &Child, start: Instant, stop: &AtomicBool) -> io::Result<Usage> {
    let pid = Pid::from_child(child);
    let ended = AtomicBool::new(false);
    let peak_bytes = AtomicU64::new(0);
    let wall = thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                peak_bytes.fetch_max(peak_memory_bytes(child.id()).unwrap_or(0), Ordering::Relaxed);
                if stop.load(Ordering::Relaxed) {
                    // The program may have just ended by itself: then no process receives the signal.
                    let _ = rustix::process::kill_process(pid, Signal::TERM);
                }
                thread::sleep(SAMPLE_INTERVAL);
            }
        });
        let exited = rustix::io::retry_on_intr(|| {
            rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        });
        let wall = start.elapsed();
        ended.store(true, Ordering::Relaxed);
        exited.map(|_| wall)
    })?;
    Ok(Usage { wall, cpu: cpu_time(child.id())?, peak_bytes: peak_bytes.into_inner() })
}

/// The peak resident memory of a running process; None when it has ended.
#[must_use]
pub fn peak_memory_bytes(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// User and system time of a process so far, including children that it waited for.
///
/// # Errors
/// When the process does not exist.
pub fn cpu_time(process: u32) -> io::Result<Duration> {
    let path = format!("/proc/{process}/stat");
    let stat = fs::read_to_string(&path)?;
    let ticks = cpu_ticks(&stat).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, format!("{path} does not have the format of proc(5): {stat}"))
    })?;
    Ok(ticks_as_time(ticks))
}

/// The CPU time of all cores since boot, for all processes.
///
/// # Errors
/// When `/proc/stat` cannot be read.
pub fn machine_cpu_time() -> io::Result<Duration> {
    let stat = fs::read_to_string("/proc/stat")?;
    let ticks = busy_ticks(&stat)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/stat does not have the format of proc(5)"))?;
    Ok(ticks_as_time(ticks))
}

/// The ticks of all cores, except idle and waiting for disks; user time includes guests already.
fn busy_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let times: Vec<u64> = line.split_whitespace().map_while(|time| time.parse().ok()).collect();
    let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = times[..] else { return None };
    Some(user + nice + system + irq + softirq + steal)
}

fn ticks_as_time(ticks: u64) -> Duration {
    Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// `utime`, `stime`, `cutime` and `cstime` of proc(5), together.
fn cpu_ticks(stat: &str) -> Option<u64> {
    // The program's name is in parentheses and may itself contain spaces and parentheses.
    let after_name = &stat[stat.rfind(')')? + 1..];
    let times: Vec<u64> = after_name.split_whitespace().skip(11).take(4).map_while(|time| time.parse().ok()).collect();
    (times.len() == 4).then(|| times.iter().sum())
}

/// The end of a log, for an error.
fn tail(log: &Path) -> String {
    let output = fs::read(log).unwrap_or_default();
    let end = &output[output.len().saturating_sub(TAIL_BYTES)..];
    String::from_utf8_lossy(end).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Usage, Error> {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        run(&mut command, &folder.path().join("log"), &AtomicBool::new(false))
    }

    #[test]
    fn distinguishes_wall_time_from_cpu_time() {
        let idle = shell("sleep 0.3").unwrap();
        let busy = shell("i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done").unwrap();
        // Other work on the machine makes both longer, and neither does more.
        assert!(busy.cpu > idle.cpu && idle.cpu < idle.wall && busy.cpu <= busy.wall * 2, "{idle:?}, {busy:?}");
    }

    #[test]
    fn reads_peak_memory() {
        // The shell holds 64 MiB in one variable, then frees it.
        let held = "x=$(head -c 67108864 /dev/zero | tr '\\0' x); x=; sleep";
        // The system keeps the peak, so that one look before the end is enough; beside other work it may come late.
        let looked = (0..6).map(|tries| shell(&format!("{held} {}", f64::from(1 << tries) / 10.0)).unwrap().peak_bytes);
        assert!(looked.into_iter().any(|peak_bytes| peak_bytes > 64 << 20));
        assert!(shell("sleep 0.1").unwrap().peak_bytes < 16 << 20);
    }

    #[test]
    fn a_failure_contains_the_output_of_the_program() {
        let error = shell("echo it broke >&2; exit 3").unwrap_err().to_string();
        assert!(error.contains("it broke") && error.contains("exit status: 3"), "{error}");
    }

    #[test]
    fn stops_the_program_when_the_flag_is_set() {
        let folder = tempfile::tempdir().unwrap();
        let ended = run(Command::new("sleep").arg("infinity"), &folder.path().join("log"), &AtomicBool::new(true));
        assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    }

    #[test]
    fn reads_a_stat_whose_name_looks_like_fields() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 1 0 5 6 7";
        assert_eq!(cpu_ticks(stat), Some(127));
        assert_eq!(cpu_ticks("7 (x) S 1"), None);
    }

    #[test]
    fn busy_ticks_exclude_idle_time() {
        assert_eq!(busy_ticks("cpu  1 2 4 100 200 8 16 32 64 128\ncpu0 1 2 4 100 200 8 16 32 64 128\n"), Some(63));
        assert_eq!(busy_ticks("intr 1\n"), None);
    }
}
