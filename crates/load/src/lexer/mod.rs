//! Reading SQL as bytes: cutting a dump into the statements that the `mariadb` client would send, and the tokens of
//! one statement. Nothing here talks to a server or knows what a statement means.

mod charset;
mod dialect;
mod quoted;
mod token;

pub use charset::Charset;
pub use dialect::Dialect;
pub use token::{Kind, Token, Tokens, decode_string, tokens};

#[cfg(test)]
mod tests;
