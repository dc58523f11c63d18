//! Compression, truncation, names and places.
