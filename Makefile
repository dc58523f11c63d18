# The set-up: `make demo` runs the main job, `make test` runs every check and test. Both first install what is
# missing from Debian's packages. Everything else is cargo's.

.PHONY: demo test ready

demo: ready
	cargo run --release --locked --package hortator -- bench employees --full

test: ready
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	# `cargo xtask tidy` is one of the tests.
	# Tests wait for their servers, for disks and for each other's locks: more of them than cores keep both cores busy.
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-6} cargo test --workspace --locked
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

ready:
	@scripts/packages
	@command -v cargo >/dev/null || { echo "make: cargo is not in PATH; install Rust from https://rustup.rs" >&2; exit 1; }
