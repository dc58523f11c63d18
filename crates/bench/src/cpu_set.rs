//! CPUs for single processes.

use std::fmt;
use std::fs;
use std::io;

use rustix::thread::{CpuSet, Pid, sched_setaffinity};

use crate::Error;

/// A list of CPUs, as `0-1,4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(Vec<usize>);

impl CpuList {
    /// The list in this text, in the form of taskset(1); `None` if it is of another form, or empty.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            if first > last || last >= CpuSet::MAX_CPU {
                return None;
            }
            cpus.extend(first..=last);
        }
        Some(Self(cpus))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus: Vec<String> = self.0.iter().map(usize::to_string).collect();
        f.write_str(&cpus.join(","))
    }
}

/// Checks that this machine has all of the CPUs.
///
/// # Errors
/// [`Error::Answer`] with those that it has.
pub(crate) fn check(lists: &[CpuList]) -> Result<(), Error> {
    const ONLINE: &str = "/sys/devices/system/cpu/online";
    let online = fs::read_to_string(ONLINE).map_err(Error::io(format!("reading {ONLINE}")))?;
    let Some(online) = CpuList::parse(online.trim()) else { return Ok(()) };
    match lists.iter().flat_map(|list| &list.0).find(|cpu| !online.0.contains(cpu)) {
        Some(cpu) => Err(Error::Answer(format!("this machine has no CPU {cpu}: give some of {online} with --cpus"))),
        None => Ok(()),
    }
}

/// Gives each process its CPUs, the last list also to those that are left; without a list, nothing changes.
///
/// # Errors
/// [`Error::Io`] when this machine does not have such a CPU.
pub(crate) fn assign(lists: &[CpuList], processes: &[u32]) -> Result<(), Error> {
    for (index, process) in processes.iter().enumerate() {
        if let Some(list) = lists.get(index).or(lists.last()) {
            set(list, *process).map_err(Error::io(format!("giving CPUs {list} to process {process}")))?;
        }
    }
    Ok(())
}

/// All threads that there are; those that they start inherit it.
fn set(list: &CpuList, process: u32) -> io::Result<()> {
    let mut cpus = CpuSet::new();
    list.0.iter().for_each(|cpu| cpus.set(*cpu));
    let mut done = Vec::new();
    // A thread may start another one before its own turn.
    loop {
        let before = done.len();
        for entry in fs::read_dir(format!("/proc/{process}/task"))? {
            let Some(thread) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            if !done.contains(&thread) {
                match sched_setaffinity(Pid::from_raw(thread), &cpus) {
                    // It has ended.
                    Ok(()) | Err(rustix::io::Errno::SRCH) => done.push(thread),
                    Err(error) => return Err(error.into()),
                }
            }
        }
        if done.len() == before {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn lists_are_as_for_taskset() {
        for (text, shown) in [("0", "0"), ("0-2,5", "0,1,2,5"), ("3,1", "3,1")] {
            assert_eq!(CpuList::parse(text).unwrap().to_string(), shown);
        }
        for bad in ["", "a", "2-1", "1-", "0,,1", "-1", "99999"] {
            assert_eq!(CpuList::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_process_runs_on_its_cpus_only() {
        let mut sleeper = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
        let allowed = || {
            let status = fs::read_to_string(format!("/proc/{}/status", sleeper.id())).unwrap();
            status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned()
        };
        let first = allowed().split([',', '-']).next().unwrap().to_owned();
        assign(&[CpuList::parse(&first).unwrap()], &[sleeper.id()]).unwrap();
        assert_eq!(allowed(), first);
        let missing = assign(&[CpuList::parse("1023").unwrap()], &[sleeper.id()]).unwrap_err().to_string();
        assert!(missing.contains("giving CPUs 1023"), "{missing}");
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
}
