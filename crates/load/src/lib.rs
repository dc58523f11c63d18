//! Placeholder.

pub mod input;
pub mod lexer;
