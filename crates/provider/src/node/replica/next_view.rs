//! The members of the next view: absent members leave before new ones join.

use crate::identity::Uuid;
use crate::server::Member;

/// The members of the next view, the current ones first and in order: servers derive their AUTO_INCREMENT offset from
/// it. `None` if the view stays.
///
/// `is_here`: which current members are present; `wanting`: the nodes that request a view.
pub(super) fn next_view(
    current: &[Member],
    is_here: impl Fn(Uuid) -> bool,
    wanting: impl Iterator<Item = Member>,
) -> Option<Vec<Member>> {
    let mut members: Vec<Member> = current.iter().filter(|member| is_here(member.id)).cloned().collect();
    // First a view without the absent members: it ends a member ID on all nodes, before the node's next one is there.
    if !members.is_empty() && members.len() < current.len() {
        return Some(members);
    }
    for member in wanting {
        // A status from before the member's view may still be in flight.
        if !members.iter().any(|other| other.id == member.id) {
            members.push(member);
        }
    }
    (!members.is_empty() && members != current).then_some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(member_id: u8, name: &str) -> Member {
        Member { id: Uuid([member_id; 16]), name: name.to_owned(), incoming: String::new() }
    }

    /// The members after `current`, where those in `gone` are absent.
    fn next(current: &[Member], gone: &[u8], wanting: &[Member]) -> Option<Vec<Member>> {
        next_view(current, |member_id| !gone.contains(&member_id.0[0]), wanting.iter().cloned())
    }

    #[test]
    fn a_node_with_a_new_member_id_misses_one_view() {
        let [a, b, c, again] = [member(1, "a"), member(2, "b"), member(3, "c"), member(4, "c")];
        let all = [a.clone(), b.clone(), c];
        let without = next(&all, &[3], std::slice::from_ref(&again)).unwrap();
        assert_eq!(without, [a.clone(), b.clone()]);
        assert_eq!(next(&without, &[], std::slice::from_ref(&again)).unwrap(), [a, b, again]);
    }

    #[test]
    fn a_view_whose_only_member_is_gone_is_replaced() {
        let [old, new] = [member(1, "a"), member(2, "a")];
        assert_eq!(next(&[old], &[1], std::slice::from_ref(&new)).unwrap(), [new]);
    }

    #[test]
    fn no_change_makes_no_view() {
        let [a, b] = [member(1, "a"), member(2, "b")];
        assert_eq!(next(&[a.clone(), b.clone()], &[], &[]), None);
        assert_eq!(next(&[], &[], &[]), None);
        assert_eq!(next(std::slice::from_ref(&a), &[1], &[]), None, "no request: no empty view");
        assert_eq!(next(&[a.clone(), b], &[], &[a]), None, "it asked before it was in the view");
    }
}
