//! What the command line of `cargo xtask mtr` asks for.

use anyhow::bail;

use super::Group;
use super::provider::Provider;
use super::single_node;

/// What is run when nothing is named.
const DEFAULT_GROUP: &str = "wsrep";
const SUITES: [&str; 4] = ["wsrep", "galera", "galera_sr", "galera_3nodes"];
/// The name of the tests that one node is enough for.
const SINGLE: &str = "single";
/// The name of what is made of tests that were named one by one.
const NAMED: &str = "named tests";

/// A command line, understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) providers: Vec<Provider>,
    pub(super) groups: Vec<Group>,
}

impl Arguments {
    pub(super) fn parse(mut words: impl Iterator<Item = String>) -> anyhow::Result<Arguments> {
        let mut providers = vec![Provider::Ours, Provider::Galera];
        let mut groups = Vec::new();
        let (mut named, mut on_one_node) = (Vec::new(), Vec::new());
        while let Some(word) = words.next() {
            match word.as_str() {
                "--provider" => {
                    providers = match words.next().as_deref() {
                        Some("ours") => vec![Provider::Ours],
                        Some("galera") => vec![Provider::Galera],
                        Some("both") => vec![Provider::Ours, Provider::Galera],
                        _ => bail!("--provider takes `ours`, `galera` or `both`"),
                    }
                }
                SINGLE => groups.push(single(single_node::tests(), true)),
                suite if SUITES.contains(&suite) => groups.push(whole(suite)),
                // As in single:galera.basic.
                test if test.strip_prefix("single:").is_some_and(is_test) => {
                    on_one_node.push(test["single:".len()..].to_owned());
                }
                test if is_test(test) => named.push(test.to_owned()),
                other => bail!(
                    "`{other}` is no suite ({}, or {SINGLE} for what one node is enough for) and no test of one, as in \
                     galera.basic, or single:galera.basic with one node",
                    SUITES.join(", ")
                ),
            }
        }
        if !named.is_empty() {
            groups.push(Group {
                name: NAMED.to_owned(),
                is_whole: false,
                suites: suites_of(&named),
                tests: Some(named),
                on_one_node: false,
            });
        }
        if !on_one_node.is_empty() {
            groups.push(single(on_one_node, false));
        }
        if groups.is_empty() {
            groups.push(whole(DEFAULT_GROUP));
        }
        Ok(Arguments { providers, groups })
    }
}

fn whole(suite: &str) -> Group {
    Group { name: suite.to_owned(), is_whole: true, suites: vec![suite.to_owned()], tests: None, on_one_node: false }
}

fn single(tests: Vec<String>, is_whole: bool) -> Group {
    Group { name: SINGLE.to_owned(), is_whole, suites: suites_of(&tests), tests: Some(tests), on_one_node: true }
}

fn is_test(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '#');
    word.split_once('.')
        .is_some_and(|(suite, test)| SUITES.contains(&suite) && !test.is_empty() && test.chars().all(plain))
}

fn suites_of(tests: &[String]) -> Vec<String> {
    let mut suites: Vec<String> = tests.iter().filter_map(|test| Some(test.split_once('.')?.0.to_owned())).collect();
    suites.sort();
    suites.dedup();
    suites
}
