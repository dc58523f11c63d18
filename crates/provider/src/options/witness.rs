//! The options of a witness: some of a node's have no effect there.

use super::{CHECKED, Error, Options, kind};

/// The options that a witness uses.
const USED: [&str; 18] = [
    "auth.secret_file",
    "base_host",
    "base_port",
    "gcache.size",
    "gmcast.isolate",
    "gmcast.listen_addr",
    "log.retain",
    "log.retain_time",
    "log.segment",
    "log.sync",
    "raft.election_timeout",
    "raft.heartbeat_interval",
    "socket.dynamic",
    "socket.ssl",
    "socket.ssl_ca",
    "socket.ssl_cert",
    "socket.ssl_key",
    "socket.ssl_reload",
];

/// They would make a node continue without a majority.
const REFUSED: [&str; 3] = ["pc.bootstrap", "pc.ignore_quorum", "pc.ignore_sb"];

impl Options {
    /// Notes on options that are given and have an effect on nodes only.
    ///
    /// # Errors
    /// An option asks the witness to continue alone.
    pub fn check_for_witness(&self) -> Result<Vec<String>, Error> {
        let is_on = |name: &&str| kind::boolean(&self.values[*name]).expect(CHECKED);
        if let Some(name) = REFUSED.into_iter().find(is_on) {
            return Err(Error::NotForWitness(name));
        }
        let works = |name: &&&'static str| {
            let row = super::OPTIONS.iter().find(|row| row.name == **name);
            row.is_some_and(|row| !matches!(row.effect, super::Effect::Ignored(_)))
        };
        let without_effect = self.given.iter().filter(|name| !USED.contains(name)).filter(works);
        Ok(without_effect.map(|name| format!("the option {name} has no effect on a witness")).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{OPTIONS, Options};
    use super::*;

    fn checked(text: &str) -> Result<Vec<String>, String> {
        let mut options = Options::default();
        options.set(text, false).unwrap();
        options.check_for_witness().map_err(|error| error.to_string())
    }

    #[test]
    fn the_options_of_a_witness_are_options() {
        for name in USED.iter().chain(&REFUSED) {
            assert!(OPTIONS.iter().any(|option| option.name == *name), "{name}");
        }
    }

    #[test]
    fn options_of_nodes_are_named() {
        assert_eq!(checked("log.retain=2G; socket.ssl=no"), Ok(Vec::new()));
        let expected = "the option gcs.fc_limit has no effect on a witness".to_owned();
        assert_eq!(
            checked("gcs.fc_limit=256; pc.ignore_sb=no"),
            Ok(vec![expected, "the option pc.ignore_sb has no effect on a witness".to_owned()])
        );
        assert_eq!(checked("evs.suspect_timeout=PT7S"), Ok(Vec::new()), "nor on a node: that is a note already");
    }

    #[test]
    fn a_witness_never_continues_alone() {
        for name in REFUSED {
            let message = checked(&format!("{name}=yes")).unwrap_err();
            assert!(message.contains(&format!("{name} is not for a witness")), "{message}");
        }
    }
}
