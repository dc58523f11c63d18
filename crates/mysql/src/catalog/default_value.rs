//! What the expression of a column's default depends on, from the text that the server prints of it.

use super::tokens::{Backslash, Token, tokens};

/// Functions, and words that printed expressions have in front of parentheses, whose values depend on nothing but their
/// arguments, the time, and chance that no session variable seeds.
const INDEPENDENT: &str = "\
    abs acos and as ascii asin atan atan2 between bin bin_to_uuid binary bit_count bit_length case cast ceil \
    ceiling char char_length character_length coalesce concat concat_ws conv convert cos cot crc32 \
    curdate current_date current_time current_timestamp curtime date date_add date_sub datediff datetime day \
    dayofmonth dayofweek dayofyear decimal degrees div double else elt exp extract field find_in_set \
    float floor from_base64 from_days from_unixtime greatest hex hour if ifnull in inet6_aton inet6_ntoa \
    inet_aton inet_ntoa insert instr interval is is_uuid isnull json_array json_compact json_extract json_length \
    json_merge_patch json_merge_preserve json_object json_quote json_unquote json_valid json_value last_day \
    lcase least left length like linestring ln localtime localtimestamp locate log log10 log2 lower lpad ltrim \
    makedate maketime md5 microsecond mid minute mod month not now nullif oct octet_length or ord pi point \
    polygon position pow power quarter radians random_bytes regexp repeat replace reverse rlike round rpad rtrim \
    second sha sha1 sha2 sign sin space sqrt st_geometryfromtext st_geomfromtext strcmp substr substring \
    substring_index sys_guid sysdate tan then time timestamp timestampadd timestampdiff to_base64 to_days trim \
    truncate ucase unhex unix_timestamp upper utc_date utc_time utc_timestamp uuid uuid_short uuid_to_bin \
    varchar weekday when xor year";

/// Functions that stand without parentheses, and words of them, that read the session or a sequence.
const BARE: [&str; 7] = ["current_role", "current_user", "next", "previous", "rownum", "session_user", "system_user"];

/// Whether the value of a default depends on the session beyond its clock: the expression has a variable, or calls a
/// function that is not known to be independent. `expression` is the server's text; where `backslashes` has more than one
/// reading, either counts.
pub(super) fn reads_session(expression: &[u8], backslashes: &[Backslash]) -> bool {
    backslashes.iter().any(|backslash| reads_session_as(expression, *backslash))
}

/// Whether the expression has a user or system variable.
pub(super) fn names_variable(expression: &[u8], backslashes: &[Backslash]) -> bool {
    let is_at = |token: &Token<'_>| matches!(token, Token::Symbol(b'@'));
    backslashes.iter().any(|backslash| tokens(expression, *backslash).any(|token| is_at(&token)))
}

fn reads_session_as(expression: &[u8], backslash: Backslash) -> bool {
    let mut tokens = tokens(expression, backslash).peekable();
    while let Some(token) = tokens.next() {
        let is_call = tokens.peek().is_some_and(|next| next.is_symbol(b'('));
        let is_dependent = match &token {
            Token::Symbol(symbol) => *symbol == b'@',
            Token::Text => false,
            Token::Name(_) => is_call,
            Token::Word(_) if is_call => !INDEPENDENT.split(' ').any(|name| token.is_word(name)),
            Token::Word(_) => BARE.iter().any(|name| token.is_word(name)),
        };
        if is_dependent {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
