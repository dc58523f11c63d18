//! Patterns for the names of objects: `shop.orders`, `shop.order_*`, `*.log`, `` `my.shop`.`a*b` ``.

use std::fmt;
use std::str::FromStr;

/// A pattern for a schema and one for a name in it. `*` stands for any number of characters, `?` for one; in backticks both
/// stand for themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    schema: Glob,
    name: Glob,
    text: String,
}

/// Several patterns, with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePatterns(pub Vec<NamePattern>);

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NamePatternError {
    /// There is no dot.
    #[error("`{0}` names no schema: write `SCHEMA.TABLE`, as in `shop.orders`, `shop.*` or `*.orders`")]
    NoSchema(String),
    /// One of the two parts is empty.
    #[error("`{0}` has an empty part: write `SCHEMA.TABLE`, as in `shop.orders`, `shop.*` or `*.orders`")]
    EmptyPart(String),
    /// There is more than one dot.
    #[error(
        "`{0}` has more than two parts: write a name that contains a dot in backticks, as in `` `my.shop`.orders ``"
    )]
    TooManyParts(String),
    /// A backtick has no partner.
    #[error("`{0}` has a backtick without its partner")]
    OpenQuote(String),
}

/// One part of a pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Glob(Vec<Element>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Is(char),
    AnyOne,
    AnyMany,
}

impl NamePattern {
    /// Whether an object has such a name. `folds`: the server compares the names of schemas and tables in any case;
    /// `folds_name`: that of this object besides.
    pub(crate) fn matches(&self, schema: &str, name: &str, folds: bool, folds_name: bool) -> bool {
        self.matches_schema(schema, folds) && self.name.matches(name, folds || folds_name)
    }

    /// Whether objects of this schema can have such a name.
    pub(crate) fn matches_schema(&self, schema: &str, folds: bool) -> bool {
        self.schema.matches(schema, folds)
    }

    /// Whether it is certain for a name of which only the ASCII characters are known. The other characters are at least one.
    pub(crate) fn judges_ascii_of(&self, is_schema_known: bool, is_name_known: bool) -> bool {
        (is_schema_known || self.schema.is_plain()) && (is_name_known || self.name.is_plain())
    }

    /// Whether every object of the schemas that it matches has such a name.
    pub(crate) fn takes_whole_schemas(&self) -> bool {
        !self.name.0.is_empty() && self.name.0.iter().all(|element| *element == Element::AnyMany)
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for NamePattern {
    type Err = NamePatternError;

    fn from_str(text: &str) -> Result<Self, NamePatternError> {
        let mut patterns = parse(text, false)?;
        patterns.pop().ok_or_else(|| NamePatternError::NoSchema(text.to_owned()))
    }
}

impl FromStr for NamePatterns {
    type Err = NamePatternError;

    fn from_str(text: &str) -> Result<Self, NamePatternError> {
        parse(text, true).map(Self)
    }
}

/// The patterns of a text. `has_list`: a comma outside of backticks begins the next one.
fn parse(text: &str, has_list: bool) -> Result<Vec<NamePattern>, NamePatternError> {
    let mut found = Vec::new();
    let mut parts = vec![Glob::default()];
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let part = parts.last_mut().map(|part| &mut part.0);
        match (character, part) {
            ('`', Some(part)) => loop {
                match characters.next() {
                    // A doubled backtick is one.
                    Some((_, '`')) if characters.peek().is_some_and(|(_, next)| *next == '`') => {
                        characters.next();
                        part.push(Element::Is('`'));
                    }
                    Some((_, '`')) => break,
                    Some((_, character)) => part.push(Element::Is(character)),
                    None => return Err(NamePatternError::OpenQuote(text.to_owned())),
                }
            },
            ('.', _) => parts.push(Glob::default()),
            (',', _) if has_list => {
                found.push(pattern(&text[start..at], std::mem::replace(&mut parts, vec![Glob::default()]))?);
                start = at + 1;
            }
            ('*', Some(part)) => part.push(Element::AnyMany),
            ('?', Some(part)) => part.push(Element::AnyOne),
            (character, Some(part)) => part.push(Element::Is(character)),
            (_, None) => {}
        }
    }
    found.push(pattern(&text[start..], parts)?);
    Ok(found)
}

fn pattern(text: &str, parts: Vec<Glob>) -> Result<NamePattern, NamePatternError> {
    let text = text.to_owned();
    match <[Glob; 2]>::try_from(parts) {
        Ok(parts) if parts.iter().any(|part| part.0.is_empty()) => Err(NamePatternError::EmptyPart(text)),
        Ok([schema, name]) => Ok(NamePattern { schema, name, text }),
        Err(parts) if parts.len() < 2 => Err(NamePatternError::NoSchema(text)),
        Err(_) => Err(NamePatternError::TooManyParts(text)),
    }
}

impl Glob {
    /// Whether it holds only ASCII characters and `*`.
    fn is_plain(&self) -> bool {
        self.0.iter().all(|element| match element {
            Element::Is(character) => character.is_ascii(),
            Element::AnyMany => true,
            Element::AnyOne => false,
        })
    }

    fn matches(&self, name: &str, folds: bool) -> bool {
        let fold = |character: char| character.to_lowercase().next().unwrap_or(character);
        let is_same = |one: char, other: char| one == other || (folds && fold(one) == fold(other));
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut element) = (0, 0);
        // Where the last `*` stands, and up to where it reaches so far.
        let mut star: Option<(usize, usize)> = None;
        while at < name.len() {
            match self.0.get(element) {
                Some(Element::AnyMany) => {
                    star = Some((element, at));
                    element += 1;
                }
                Some(Element::AnyOne) => (at, element) = (at + 1, element + 1),
                Some(Element::Is(wanted)) if is_same(*wanted, name[at]) => (at, element) = (at + 1, element + 1),
                _ => match star {
                    Some((of, reach)) => {
                        star = Some((of, reach + 1));
                        (at, element) = (reach + 1, of + 1);
                    }
                    None => return false,
                },
            }
        }
        self.0[element..].iter().all(|element| *element == Element::AnyMany)
    }
}
