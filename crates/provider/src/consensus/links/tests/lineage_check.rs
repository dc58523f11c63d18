//! Clusters with a common past: which nodes may not link, and what each side learns of the lineages.

use super::*;

const HISTORY: Uuid = Uuid([9; 16]);

/// A node with these generations.
fn of(number: u64, generations: &[u8]) -> Hello {
    Hello { history_uuid: HISTORY, lineage: lineage(generations), ..tag(number) }
}

fn lineage(generations: &[u8]) -> Lineage {
    generations.iter().fold(Lineage::UNKNOWN, |lineage, number| lineage.bootstrapped(Uuid([*number; 16])))
}

/// The relation each time the nodes met, and the messages for the log.
fn met(nodes: &Nodes, which: usize) -> (Vec<LineageRelation>, Vec<&str>) {
    let seen = nodes.events[which].iter().filter_map(|event| match event {
        Event::LineageMismatch { relation, text, is_news, .. } => Some((*relation, is_news.then_some(text.as_str()))),
        _ => None,
    });
    let (relations, texts): (Vec<_>, Vec<_>) = seen.unzip();
    (relations, texts.into_iter().flatten().collect())
}

/// The two meet again and again, whichever dials; they never link; each knows the relation, and its log has it once,
/// with both names and addresses.
fn expect_refusal(one: &[u8], other: &[u8], relations: [LineageRelation; 2], words: &str) {
    for dialler in [0, 1] {
        let mut nodes = Nodes::new(&[of(1, one), of(2, other)]);
        nodes.dial(dialler, 1 - dialler);
        nodes.until("they meet three times", |nodes| (0..2).all(|which| met(nodes, which).0.len() >= 3));
        for (which, relation) in relations.into_iter().enumerate() {
            let (seen, texts) = met(&nodes, which);
            assert!(seen.iter().all(|one| *one == relation), "{which}: {seen:?}");
            assert_eq!(texts.len(), 1, "{texts:?}");
            let addresses = [nodes.address(0), nodes.address(1)];
            let names = ["n1", "n2", &addresses[0], &addresses[1], words];
            assert!(names.iter().all(|word| texts[0].contains(word)), "{texts:?}");
            assert_eq!((nodes.ups(which), nodes.refusals(which)), (0, vec![]));
        }
        assert_eq!(met(&nodes, 0).1, met(&nodes, 1).1, "both say the same");
    }
}

#[test]
fn both_sides_report_an_excluded_node() {
    expect_refusal(
        &[1],
        &[1, 2],
        [LineageRelation::Descendant, LineageRelation::Ancestor],
        "hortator.raft.log removed) without n1",
    );
    expect_refusal(
        &[1, 2, 3],
        &[1],
        [LineageRelation::Ancestor, LineageRelation::Descendant],
        "hortator.raft.log removed) without n2",
    );
}

#[test]
fn both_sides_report_a_split_brain() {
    expect_refusal(&[1, 2], &[1, 3], [LineageRelation::Diverged; 2], "split-brain");
}

#[test]
fn nodes_of_one_generation_link() {
    let mut nodes = Nodes::new(&[of(1, &[1, 2]), of(2, &[1, 2])]);
    nodes.dial(0, 1);
    nodes.until_settled();
    assert_eq!(met(&nodes, 0), (vec![], vec![]));
}

#[test]
fn a_bootstrap_ends_the_links_to_excluded_nodes() {
    let mut nodes = Nodes::new(&[of(1, &[1]), of(2, &[1]), of(3, &[])]);
    [(0, 1), (0, 2)].into_iter().for_each(|(from, to)| nodes.dial(from, to));
    nodes.until("they are linked", |nodes| nodes.ups(0) == 2);
    nodes.until("they are linked", |nodes| nodes.ups(1) == 1 && nodes.ups(2) == 1);
    nodes.at(0).set_lineage(HISTORY, lineage(&[1, 2]));
    assert!(!nodes.at(0).is_linked(NodeId(2)), "nothing goes between them from then on");
    nodes.until("the one left out knows", |nodes| met(nodes, 1).0.contains(&LineageRelation::Descendant));
    nodes.until("the link is down", |nodes| nodes.downs(0).len() == 1 && nodes.downs(1).len() == 1);
    nodes.until("they meet again", |nodes| met(nodes, 1).0.len() >= 2);
    assert_eq!((nodes.ups(0), nodes.ups(1)), (2, 1));
    assert!(met(&nodes, 0).0.iter().all(|relation| *relation == LineageRelation::Ancestor));
    // A node without a cluster stays linked, and learns the lineage.
    let learnt = nodes.at(2).peers().next().map(|peer| peer.lineage);
    assert_eq!((learnt, nodes.downs(2).len()), (Some(lineage(&[1, 2])), 0));
}

#[test]
fn a_joiner_that_adopts_a_lineage_drops_the_other() {
    let mut nodes = Nodes::new(&[of(1, &[1]), of(2, &[1, 2]), of(3, &[])]);
    nodes.dial(2, 0);
    nodes.dial(2, 1);
    nodes.until("it is linked with both", |nodes| nodes.ups(2) == 2 && nodes.ups(0) == 1 && nodes.ups(1) == 1);
    nodes.at(2).set_lineage(HISTORY, lineage(&[1, 2]));
    nodes.until("the other knows", |nodes| {
        met(nodes, 0).0.contains(&LineageRelation::Descendant) && nodes.downs(0).len() == 1
    });
    let learnt = |nodes: &Nodes| nodes.links[1].as_ref().unwrap().peers().next().map(|peer| peer.lineage);
    nodes.until("its own learn it", |nodes| learnt(nodes) == Some(lineage(&[1, 2])));
    assert_eq!((nodes.downs(1).len(), nodes.downs(2).len()), (0, 1));
}
