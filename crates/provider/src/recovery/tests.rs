//! What a log means for tables that stand here or there.
