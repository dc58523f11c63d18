//! Reads SQL as bytes: splits a dump into the statements that the `mariadb` client would send, and a statement into
//! tokens. This module does not talk to a server and does not know what a statement means.

mod charset;
mod command;
mod dialect;
mod error;
mod leading_sets;
mod quoted;
mod scan;
mod splitter;
mod statements;
mod token;

pub(crate) use charset::{is_ascii_safe, is_single_byte, is_wide};
pub(crate) use quoted::{decode, end_of_quoted};

pub use charset::Charset;
pub use dialect::Dialect;
pub use error::{Error, Location};
pub use statements::{
    Item, Mark, SOURCE_DEPTH_LIMIT, STATEMENT_LIMIT_BYTES, Statement, Statements, StatementsOptions, Terminator,
};
pub use token::{Kind, Token, Tokens, decode_string, tokens};

#[cfg(test)]
mod tests;
