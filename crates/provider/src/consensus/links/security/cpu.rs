//! The processor's instructions that the crypto library needs. It has no other code for those that it lacks.
//!
//! Source: graviola's documentation, "Limitations".

use super::Error;

/// The instructions, and whether the processor has them.
#[cfg(target_arch = "x86_64")]
fn needed() -> Vec<(&'static str, bool)> {
    use std::arch::is_x86_feature_detected as has;
    vec![
        ("AES", has!("aes")),
        ("PCLMULQDQ", has!("pclmulqdq")),
        ("AVX", has!("avx")),
        ("AVX2", has!("avx2")),
        ("BMI1", has!("bmi1")),
        ("BMI2", has!("bmi2")),
        ("ADX", has!("adx")),
    ]
}

/// The instructions, and whether the processor has them.
#[cfg(target_arch = "aarch64")]
fn needed() -> Vec<(&'static str, bool)> {
    use std::arch::is_aarch64_feature_detected as has;
    vec![("NEON", has!("neon")), ("AES", has!("aes")), ("PMULL", has!("pmull")), ("SHA2", has!("sha2"))]
}

/// Checks this processor.
pub(super) fn check() -> Result<(), Error> {
    verdict(&needed())
}

fn verdict(instructions: &[(&str, bool)]) -> Result<(), Error> {
    let names = |only_missing: bool| {
        let wanted = instructions.iter().filter(|(_, is_there)| !only_missing || !is_there);
        wanted.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    };
    if instructions.iter().all(|(_, is_there)| *is_there) {
        return Ok(());
    }
    Err(Error::Processor { needed: names(false), missing: names(true) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_instruction_is_named() {
        assert!(verdict(&[("AES", true), ("AVX2", true)]).is_ok());
        let text = verdict(&[("AES", true), ("AVX2", false), ("ADX", false)]).unwrap_err().to_string();
        assert!(text.contains("needs a processor with AES, AVX2, ADX, and this one lacks AVX2, ADX."), "{text}");
    }
}
