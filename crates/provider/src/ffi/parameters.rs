//! The config service: options as parameters with a type, of which servers from MariaDB 11 on make system variables
//! (`wsrep_provider_gcs_fc_limit`). Such a server does not start without it.

#![allow(unsafe_code)]

use std::ffi::{CString, c_int, c_void};

use super::abi::{
    PARAMETER_BOOLEAN, PARAMETER_DOUBLE, PARAMETER_INTEGER, PARAMETER_READ_ONLY, ParameterCallback, RawParameter,
    RawParameterValue, Status, Wsrep,
};
use super::provider::with;
use crate::options::{Parameter, ParameterValue};

/// Hands the server each option, with its value.
pub unsafe extern "C" fn get_parameters(
    wsrep: *mut Wsrep,
    callback: Option<ParameterCallback>,
    context: *mut c_void,
) -> Status {
    let Some(callback) = callback else { return Status::Fatal };
    // SAFETY: the server's own table, function and context.
    unsafe {
        with(wsrep, Status::Fatal, |provider| {
            for parameter in provider.node.parameters() {
                send_to(&parameter, callback, context);
            }
            Status::Ok
        })
    }
}

/// A value with a zero byte is no text of C: it is left out.
unsafe fn send_to(parameter: &Parameter, callback: ParameterCallback, context: *mut c_void) {
    let Ok(name) = CString::new(parameter.name) else { return };
    let text;
    let (kind, value) = match &parameter.value {
        ParameterValue::Text(value) => {
            let Ok(value) = CString::new(value.as_str()) else { return };
            text = value;
            (0, RawParameterValue { as_string: text.as_ptr() })
        }
        // The whole union is written: its first byte alone would leave the others undefined.
        ParameterValue::Boolean(value) => (PARAMETER_BOOLEAN, RawParameterValue { as_integer: i64::from(*value) }),
        ParameterValue::Integer(value) => (PARAMETER_INTEGER, RawParameterValue { as_integer: *value }),
        ParameterValue::Double(value) => (PARAMETER_DOUBLE, RawParameterValue { as_double: *value }),
    };
    let fixed: c_int = if parameter.is_fixed { PARAMETER_READ_ONLY } else { 0 };
    let raw = RawParameter { flags: kind | fixed, name: name.as_ptr(), value };
    // SAFETY: the server's own function and context; what is pointed to lives until it returns. What it gives is not
    // read: it gives nothing in some versions.
    unsafe { callback(&raw const raw, context) };
}
