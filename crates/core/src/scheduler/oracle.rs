//! Oracle
