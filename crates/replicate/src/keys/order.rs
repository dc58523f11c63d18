//! Which transactions of one source wait for each other.

/// The rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Those that use the same rows, by primary, unique and foreign keys.
    #[default]
    Keys,
    /// Those that write to the same schema: the rule of older tools, for comparison.
    Schema,
}
