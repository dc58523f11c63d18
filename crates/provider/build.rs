//! The server calls dlclose, but threads and thread-locals of ours may still be there: the library stays in memory.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rerun-if-changed=build.rs");
}
