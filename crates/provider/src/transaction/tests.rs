//! When a transaction yields to a brute-force abort.

use super::*;

const FRAGMENT: Flags = Flags(0);

/// A transaction in its turn.
fn committing(flags: Flags) -> Transaction {
    let transaction = Transaction::new(1);
    assert!(transaction.begin_certification());
    transaction.on_ordered(5, flags, true);
    assert!(!transaction.begin_commit());
    transaction
}

#[test]
fn a_transaction_yields_while_its_fragment_commits_and_not_while_it_commits_itself() {
    let transaction = committing(FRAGMENT);
    assert_eq!(transaction.abort(6, false), AbortAnswer::Granted(5));
    assert!(transaction.state().passed, "the fragment is committed all the same");
    assert_eq!(committing(Flags::TRX_END).abort(6, false), AbortAnswer::Refused(5));
}
