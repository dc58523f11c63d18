//! Options as typed parameters: the types are those that Galera's options have as system variables of MariaDB 11.8.

use super::kind::{self, Kind};
use super::table::OPTIONS;
use super::{CHECKED, Options};

/// An option and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: &'static str,
    pub value: ParameterValue,
    /// Whether it is read at the start only.
    pub is_fixed: bool,
}

/// The value of a parameter. Sizes are in bytes, times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    Text(String),
    Boolean(bool),
    Integer(i64),
    Double(f64),
}

impl Options {
    /// All options, in the order of their names.
    pub fn parameters(&self) -> Vec<Parameter> {
        let parameter = |option: &super::table::OptionRow| Parameter {
            name: option.name,
            value: typed(option.kind, self.value(option.name)).expect(CHECKED),
            is_fixed: option.is_fixed,
        };
        OPTIONS.iter().map(parameter).collect()
    }
}

/// `None` for a value of another kind.
fn typed(of: Kind, value: &str) -> Option<ParameterValue> {
    Some(match of {
        Kind::Text | Kind::Code => ParameterValue::Text(value.to_owned()),
        Kind::Boolean => ParameterValue::Boolean(kind::boolean(value)?),
        Kind::Number => ParameterValue::Integer(kind::number(value)? as i64),
        Kind::Fraction => ParameterValue::Double(kind::number(value)?),
        Kind::Bytes => ParameterValue::Integer(i64::try_from(kind::bytes(value)?).unwrap_or(i64::MAX)),
        Kind::Duration => ParameterValue::Double(kind::duration(value)?.as_secs_f64()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_the_types_of_galeras_variables() {
        let mut options = Options::default();
        options.set("gcs.fc_limit=20; gcache.size=1G; evs.suspect_timeout=PT1M30S; pc.ignore_sb=on", false).unwrap();
        let parameters = options.parameters();
        let of =
            |name: &str| parameters.iter().find(|one| one.name == name).map(|one| (one.value.clone(), one.is_fixed));
        assert_eq!(parameters.len(), OPTIONS.len());
        assert_eq!(of("gcs.fc_limit"), Some((ParameterValue::Integer(20), false)));
        assert_eq!(of("gcs.fc_factor"), Some((ParameterValue::Double(1.0), false)));
        assert_eq!(of("gcache.size"), Some((ParameterValue::Integer(1 << 30), true)));
        assert_eq!(of("evs.suspect_timeout"), Some((ParameterValue::Double(90.0), false)));
        assert_eq!(of("pc.ignore_sb"), Some((ParameterValue::Boolean(true), false)));
        assert_eq!(of("evs.debug_log_mask"), Some((ParameterValue::Text("0x1".to_owned()), false)));
    }

    #[test]
    fn what_servers_write_of_variables_is_read_back() {
        let mut options = Options::default();
        let written = "pc.ignore_sb=yes; gcs.fc_limit=3; gcs.fc_factor=0.500000; repl.causal_read_timeout=2.500000";
        options.set(written, true).unwrap();
        assert_eq!(options.causal_read_timeout().as_millis(), 2500);
        assert!(options.ignores_quorum());
    }
}
