//! When a current row of a table with history ends: never, which MariaDB writes as the latest TIMESTAMP that it knows.
//!
//! That is in 2038, and in 2106 since MariaDB 11.5. A server of one kind takes a row with the other's value for one that has
//! ended, or cannot read it.

/// The first MariaDB whose TIMESTAMP goes to 2106.
pub(crate) const SINCE: (u32, u32, u32) = (11, 5, 0);
/// The same as in version comments.
const SINCE_NUMBER: u32 = 110_500;

/// Of earlier servers, and of later ones, in UTC.
const TEXTS: [&str; 2] = ["2038-01-19 03:14:07.999999", "2106-02-07 06:28:15.999999"];
/// The same as it stands in row images: seconds, and the fraction.
const VALUES: [[u8; 7]; 2] = [[0x7f, 0xff, 0xff, 0xff, 0x0f, 0x42, 0x3f], [0xff, 0xff, 0xff, 0xff, 0x0f, 0x42, 0x3f]];

/// Whether a server knows TIMESTAMPs to 2106; `version` is as in version comments.
pub(crate) fn goes_to_2106(version: u32) -> bool {
    version >= SINCE_NUMBER
}

/// The text for a server, in the place of that of any server; others stay.
pub(crate) fn text(value: &[u8], target_goes_to_2106: bool) -> &[u8] {
    match TEXTS.iter().any(|text| text.as_bytes() == value) {
        true => TEXTS[usize::from(target_goes_to_2106)].as_bytes(),
        false => value,
    }
}

/// Makes the value of a row image that of the target, if it is the other one.
pub(crate) fn convert(value: &mut [u8], target_goes_to_2106: bool) {
    if *value == VALUES[usize::from(!target_goes_to_2106)] {
        value.copy_from_slice(&VALUES[usize::from(target_goes_to_2106)]);
    }
}
