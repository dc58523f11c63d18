//! Endpoints as DBAs write them.

use super::{EndpointArg, parse, split_password};

/// Options as `name=value`, and the other parts of an endpoint.
fn shown(endpoint: &EndpointArg) -> String {
    let value = |option: &hortator_mysql::options::Argument| {
        let value = option.value.as_ref().map(|value| format!("={}", value.to_string_lossy()));
        format!("{}{}", option.name, value.unwrap_or_default())
    };
    let mut parts: Vec<String> = endpoint.options.iter().map(value).collect();
    parts.extend(endpoint.group.iter().map(|group| format!("[{group}]")));
    parts.extend(endpoint.sandbox.iter().map(|(name, node)| format!("{name} {node}")));
    parts.join(" ")
}

#[test]
fn endpoints_are_parsed() {
    for (text, expected) in [
        ("db1", "host=db1"),
        ("db1:3307/shop", "host=db1 port=3307 database=shop"),
        ("anna@db1", "host=db1 user=anna"),
        ("[::1]:3307", "host=::1 port=3307"),
        ("mysql://db1", "host=db1"),
        ("mariadb://anna:s%40x@db1/sh%6fp", "host=db1 user=anna password=s@x database=shop"),
        ("mysql://a:b:c@db1", "host=db1 user=a password=b:c"),
        ("mysql://root@localhost/?socket=/run/x", "host=localhost user=root socket=/run/x"),
        ("db1?ssl-ca=/a%26b&skip-ssl", "host=db1 ssl-ca=/a&b skip-ssl"),
        ("socket:/run/x?database=shop", "host=localhost socket=/run/x database=shop"),
        ("sandbox:trial", "trial 1"),
        ("sandbox:trial/2?database=shop", "database=shop trial 2"),
        ("sandbox:trial/node3", "trial 3"),
        ("group:_db1", "[_db1]"),
    ] {
        assert_eq!(shown(&parse(text).unwrap()), expected, "{text}");
    }
}

#[test]
fn invalid_endpoints_are_errors() {
    for (text, expected) in [
        ("", "the host is missing"),
        ("http://db1", "a URL begins with mysql://"),
        ("db1:many", "`many` is not a port"),
        ("db1:70000", "`70000` is not a port"),
        ("db1/%zz", "two hexadecimal digits"),
        ("db1/%f", "two hexadecimal digits"),
        ("socket:", "give the path of the socket"),
        ("group:", "give the suffix of the groups"),
        ("sandbox:trial/two", "give a node number"),
        ("sandbox:trial?user=x", "only ?database=NAME"),
        ("db1?password=x", "better in an option file"),
        ("db1?password-fd=x", "takes a number"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn passwords_are_found() {
    let some = |text: &str, password: &str| Some((text.to_owned(), password.to_owned()));
    assert_eq!(split_password("mysql://u:p@h/s?x=1"), some("mysql://u@h/s?x=1", "p"));
    assert_eq!(split_password("u:p:q@h"), some("u@h", "p:q"));
    assert_eq!(split_password("u:p@q@h:1"), some("u@h:1", "p@q"));
    for text in ["mysql://u@h", "h:3306", "h", "socket:/a:b@c", "sandbox:a", "mysql://h/a:b@c", "group:a:b@c"] {
        assert_eq!(split_password(text), None, "{text}");
    }
}
