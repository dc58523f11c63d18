//! An error and its causes as one line.

/// The error, then its causes, each once: the text of many errors ends with that of their cause.
pub fn one_line(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.ends_with(&cause) {
            let separator = if text.is_empty() { "" } else { ": " };
            text = text + separator + &cause;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use anyhow::Context as _;

    use super::*;

    /// An error whose text has its cause in it, as those of files do.
    #[derive(Debug)]
    struct Unreadable(std::io::Error);

    impl fmt::Display for Unreadable {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "cannot read my.cnf: {}", self.0)
        }
    }

    impl std::error::Error for Unreadable {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_cause_stands_there_once() {
        let cause = || std::io::Error::other("no such file");
        let cases = [
            (anyhow::Error::new(cause()), "no such file"),
            (anyhow::Error::new(cause()).context("reading a"), "reading a: no such file"),
            (anyhow::Error::new(Unreadable(cause())), "cannot read my.cnf: no such file"),
            (
                Err::<(), _>(Unreadable(cause())).context("options").unwrap_err(),
                "options: cannot read my.cnf: no such file",
            ),
        ];
        for (error, expected) in cases {
            assert_eq!(one_line(&error), expected);
        }
    }
}
