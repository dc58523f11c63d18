//! What follows from a node's own words.

use super::flow_control_limit;

#[test]
fn the_limit_of_flow_control_grows_with_the_cluster() {
    let options = "evs.version = 1; gcs.fc_factor = 1.0; gcs.fc_limit = 100; gcs.fc_single_primary = no; ";
    assert_eq!(flow_control_limit(options, 1), 100.0);
    assert_eq!(flow_control_limit(options, 4), 200.0);
    assert_eq!(flow_control_limit(&options.replace("primary = no", "primary = yes"), 4), 100.0);
    assert_eq!(flow_control_limit("", 4), 32.0);
}
