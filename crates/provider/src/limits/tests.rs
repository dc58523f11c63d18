//! Flow control's limits, and the order of applying.

use super::*;

#[test]
fn a_pause_starts_above_the_limit_and_ends_at_the_factor_of_it() {
    let limits = FlowControlLimits { limit: 100.0, factor: 0.5, is_single_primary: true, waits_for_donors: false };
    assert_eq!(limits.interval(3), (50, 100));
}

#[test]
fn the_limit_grows_with_the_members_unless_there_is_one_primary() {
    let limits = FlowControlLimits { limit: 256.0, factor: 1.0, is_single_primary: false, waits_for_donors: false };
    assert_eq!([1, 3, 4].map(|members| limits.interval(members)), [(256, 256), (443, 443), (512, 512)]);
    let single = FlowControlLimits { is_single_primary: true, ..limits };
    assert_eq!(single.interval(4), (256, 256));
    assert_eq!(limits.interval(0), (256, 256), "the view is not known");
}

#[test]
fn extreme_values_have_limits() {
    let limits = FlowControlLimits { limit: 1e30, factor: 7.0, ..FlowControlLimits::default() };
    assert_eq!(limits.interval(5), (u64::MAX, u64::MAX));
    let limits = FlowControlLimits { limit: -1.0, factor: -1.0, ..FlowControlLimits::default() };
    assert_eq!(limits.interval(5), (0, 0));
}

#[test]
fn without_optimistic_parallel_applying_a_write_set_waits_for_what_its_node_had_seen() {
    let limits = Limits::default();
    let mut options = Options::default();
    limits.set(&options);
    assert_eq!(limits.apply_after(5, 9), 5);
    options.set("cert.optimistic_pa=no", true).unwrap();
    limits.set(&options);
    assert_eq!((limits.apply_after(5, 9), limits.apply_after(9, 5)), (9, 9));
}
