//! What makes two loads the same: their files by name and size, and what the statements' meaning hangs on.

use serde::{Deserialize, Serialize};

use crate::input::layout::{Input, InputPart};

/// A load's input, as far as it can be told without reading it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The files in their order; `-` is standard input.
    pub files: Vec<InputFile>,
    /// The default schema at the beginning.
    pub database: Option<String>,
    /// Whether comments are sent.
    pub comments: bool,
    /// Whether CR LF and NUL are taken as they are.
    pub binary_mode: bool,
    /// The options that say what of it is loaded, and with which changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<String>,
}

/// One file, or a folder with all its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Its name, without its folder: a dump may have been moved.
    pub name: String,
    /// Its size as stored; nothing is known of a pipe.
    pub size_bytes: Option<u64>,
}

impl Identity {
    /// Of this input.
    #[must_use]
    pub fn new(input: &Input, database: Option<&str>, comments: bool, binary_mode: bool) -> Self {
        let file = |part: &InputPart| InputFile { name: part.name.clone(), size_bytes: part.size_bytes };
        let files = input.parts().iter().map(file).collect();
        Self { files, database: database.map(str::to_owned), comments, binary_mode, filter: Vec::new() }
    }

    /// With the options that say what of it is loaded, and with which changes.
    #[must_use]
    pub fn with_filter(self, filter: Vec<String>) -> Self {
        Self { filter, ..self }
    }

    /// Whether the input can be told from another of the same name, and read once more: a pipe can't.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.files.iter().all(|file| file.size_bytes.is_some())
    }

    /// Whether the other is of files of the same names.
    #[must_use]
    pub fn has_names_of(&self, other: &Self) -> bool {
        self.files.iter().map(|file| &file.name).eq(other.files.iter().map(|file| &file.name))
    }

    /// In which option, of those that give the same text another meaning, the other differs; in words.
    #[must_use]
    pub fn differs_in_options(&self, other: &Self) -> Option<String> {
        let database = |identity: &Self| match &identity.database {
            Some(database) => format!("--database={database}"),
            None => "no --database".to_owned(),
        };
        let switch = |is_on: bool, name: &str| if is_on { format!("--{name}") } else { format!("no --{name}") };
        let filter = |identity: &Self| match &identity.filter[..] {
            [] => "no options that select or change statements".to_owned(),
            options => options.join(" "),
        };
        let differs = |before: String, now: String| {
            (before != now).then(|| format!("the first run had {before}, this run has {now}"))
        };
        differs(database(self), database(other))
            .or_else(|| differs(switch(self.comments, "comments"), switch(other.comments, "comments")))
            .or_else(|| differs(switch(self.binary_mode, "binary-mode"), switch(other.binary_mode, "binary-mode")))
            .or_else(|| differs(filter(self), filter(other)))
    }

    /// In words.
    #[must_use]
    pub fn describe(&self) -> String {
        let name = |file: &InputFile| match file.size_bytes {
            Some(size) => format!("{} ({size} bytes)", file.name),
            None if file.name == "-" => "standard input".to_owned(),
            None => file.name.clone(),
        };
        let files: Vec<String> = self.files.iter().map(name).collect();
        match &self.database {
            Some(database) => format!("{} into {database}", files.join(", ")),
            None => files.join(", "),
        }
    }
}
