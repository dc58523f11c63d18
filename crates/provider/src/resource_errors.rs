//! Errors that say something of the node, not of the data: no room, no memory, a killed statement, a damaged file.
//!
//! A node that fails with one of these knows nothing of the others' tables. The server's message names the code of each
//! condition (`Error_code: 1114;`), in every language.

/// Codes of MariaDB (mysqld_error.h, mysys_err.h), with the reason.
const CODES: &[(u32, &str)] = &[
    (2, "reading a file failed"),
    (3, "writing a file failed"),
    (5, "no memory"),
    (20, "the disk is full"),
    (23, "no more file descriptors"),
    (1021, "the disk is full"),
    (1024, "reading a file failed"),
    (1026, "writing a file failed"),
    (1030, "the storage engine got an error of the system"),
    (1034, "a key file is damaged"),
    (1037, "no memory"),
    (1038, "no memory for sorting"),
    (1041, "no memory"),
    (1053, "the server shuts down"),
    (1114, "the table or its disk is full"),
    (1135, "no more threads"),
    (1194, "the table is damaged"),
    (1195, "the table is damaged"),
    (1205, "a lock was not released"),
    (1206, "no memory for locks"),
    (1213, "a deadlock"),
    (1317, "the statement was killed"),
    (1712, "an index is damaged"),
    (1927, "the connection was killed"),
    (1969, "the statement took too long"),
];

/// The reason, if the server's message names such an error.
pub fn resource_error(message: &[u8]) -> Option<&'static str> {
    let message = String::from_utf8_lossy(message);
    let codes = message.split("Error_code: ").skip(1);
    let codes = codes.filter_map(|rest| rest.split(|byte: char| !byte.is_ascii_digit()).next()?.parse().ok());
    codes.into_iter().find_map(|code: u32| CODES.iter().find(|(known, _)| *known == code)).map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::resource_error;

    #[test]
    fn errors_of_resources_are_told_from_errors_of_data() {
        for (message, reason) in [
            ("The table 't' is full, Error_code: 1114;", Some("the table or its disk is full")),
            ("La table 't' est pleine, Error_code: 1114;", Some("the table or its disk is full")),
            (
                " Got error 28 from storage engine, Error_code: 1030; handler error ;",
                Some("the storage engine got an error of the system"),
            ),
            (
                "Can't find record in 't', Error_code: 1032; Query was killed, Error_code: 1317;",
                Some("the statement was killed"),
            ),
            ("Can't find record in 't', Error_code: 1032; handler error HA_ERR_KEY_NOT_FOUND;", None),
            ("Duplicate entry '1114' for key 'PRIMARY', Error_code: 1062;", None),
            ("Error_code: ", None),
            ("", None),
        ] {
            assert_eq!(resource_error(message.as_bytes()), reason, "{message}");
        }
    }

    #[test]
    fn each_code_stands_once_in_order() {
        assert!(super::CODES.is_sorted_by(|a, b| a.0 < b.0));
    }
}
