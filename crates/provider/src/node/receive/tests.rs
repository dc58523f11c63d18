//! Who delivers, and who comes after.

use std::thread;

use super::*;

#[test]
fn another_takes_the_place_of_a_thread_that_panics() {
    let receiving = Receiving::default();
    assert!(receiving.start());
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            assert!(receiving.take_over());
            let _delivering = Delivering(&receiving);
            assert!(matches!(receiving.next(), Work::Begin));
            panic!("a fault, as the test wants it");
        });
        assert!(first.join().is_err());
        let second = scope.spawn(|| {
            assert!(receiving.take_over());
            assert!(matches!(receiving.next(), Work::Leave));
            receiving.go(true)
        });
        // As soon as there is somebody who can take the leave.
        while lock(&receiving.state).threads == 0 {
            thread::yield_now();
        }
        receiving.stop();
        assert!(second.join().unwrap());
    });
    assert!(!receiving.is_connected());
}
