//! Sides as DBAs write them.

use super::{SideArg, parse, split_password};

/// Options as `name=value`, and what else a side may be.
fn shown(side: &SideArg) -> String {
    let value = |option: &hortator_mysql::options::Argument| {
        let value = option.value.as_ref().map(|value| format!("={}", value.to_string_lossy()));
        format!("{}{}", option.name, value.unwrap_or_default())
    };
    let mut parts: Vec<String> = side.options.iter().map(value).collect();
    parts.extend(side.group.iter().map(|group| format!("[{group}]")));
    parts.extend(side.sandbox.iter().map(|(name, node)| format!("{name} {node}")));
    parts.join(" ")
}

#[test]
fn sides_are_read() {
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
fn what_is_not_a_side_is_told() {
    for (text, expected) in [
        ("", "there is no host"),
        ("http://db1", "a URL begins with mysql://"),
        ("db1:many", "`many` is no port"),
        ("db1:70000", "`70000` is no port"),
        ("db1/%zz", "two hexadecimal digits"),
        ("db1/%f", "two hexadecimal digits"),
        ("socket:", "give the socket's file"),
        ("group:", "give the groups' suffix"),
        ("sandbox:trial/two", "nodes are counted"),
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
