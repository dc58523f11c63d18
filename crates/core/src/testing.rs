//! Testing
