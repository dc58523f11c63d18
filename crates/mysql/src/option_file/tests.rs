//! Option files as text cases, compared with `my_print_defaults`.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tempfile::TempDir;

use super::*;

/// Files in a separate folder; `$DIR` in a text is that folder.
struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, text) in files {
            let path = folder.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.replace("$DIR", folder.0.path().to_str().unwrap())).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `--name=value` of every option in `[client]` and `[hortator]` as we read it, the warnings, the error.
    fn read(&self, name: &str) -> (Vec<Vec<u8>>, Vec<String>, Option<String>) {
        let groups = vec!["client".to_owned(), "hortator".to_owned()];
        let mut reader = Reader::new(groups, Some(self.path("home")));
        let error = reader.read(&self.path(name)).err().map(|error| error.to_string());
        let (entries, warnings) = reader.finish();
        (entries.iter().map(as_argument).collect(), warnings, error)
    }

    fn read_by_the_client(&self, name: &str) -> Vec<u8> {
        let output = Command::new("my_print_defaults")
            .arg(format!("--defaults-file={}", self.path(name).display()))
            .args(["client", "hortator"])
            .env("HOME", self.path("home"))
            .output()
            .expect("my_print_defaults of mariadb-client is installed");
        output.stdout
    }

    /// Replaces the folder's name in a message.
    fn plain(&self, message: &str) -> String {
        message.replace(self.0.path().to_str().unwrap(), "$DIR")
    }
}

fn as_argument(entry: &Entry) -> Vec<u8> {
    let mut argument = format!("--{}", entry.name).into_bytes();
    if let Some(value) = &entry.value {
        argument.push(b'=');
        argument.extend(value);
    }
    argument
}

fn check(text: &str, expected: &[&str]) {
    let folder = Folder::new(&[("my.cnf", text)]);
    let (options, warnings, error) = folder.read("my.cnf");
    assert_eq!(error, None, "{text}");
    assert_eq!(warnings, Vec::<String>::new(), "{text}");
    let options: Vec<_> = options.iter().map(|option| String::from_utf8_lossy(option)).collect();
    assert_eq!(options, expected, "{text}");
}

#[test]
fn groups_are_chosen() {
    check("[client]\na=1\n[mysqld]\nb=2\n[hortator]\nc=3\n[client]\nd=4", &["--a=1", "--c=3", "--d=4"]);
    check("[CLIENT]\na=1", &["--a=1"]);
    check("[client ] # the shared one\na=1", &["--a=1"]);
    check("[ client]\na=1", &[]);
    check("  [client]\n  a=1\r\n", &["--a=1"]);
    check("", &[]);
}

#[test]
fn values_lose_space_quotes_and_escapes() {
    check("[client]\na = b  c \t\nd\n", &["--a=b  c", "--d"]);
    check(
        "[client]\na='b c'\nb=\"'c'\"\nc='\nd='e\"\ne='f' 'g'",
        &["--a=b c", "--b='c'", "--c='", "--d='e\"", "--e=f' 'g"],
    );
    check(
        r"[client]
a=\n\t\r\b\s\\\'\x\",
        &["--a=\n\t\r\x08 \\'\\x\\"],
    );
    check("[client]\na=\nb=''", &["--a=", "--b="]);
    check("[client]\na=b=c", &["--a=b=c"]);
    check("[client]\na_b = 1\na-b = 2\nLoose-A", &["--a_b=1", "--a-b=2", "--Loose-A"]);
}

#[test]
fn comments_end_at_quotes() {
    check("# a\n; b\n[client]\n#c=1\n;d=1\n", &[]);
    check("[client]\na=1 # b\nc=2;d\ne#f\ng=3#4", &["--a=1", "--c=2;d", "--e", "--g=3"]);
    check("[client]\npassword='se#cret' # mine\nb=it's # one", &["--password=se#cret", "--b=it's # one"]);
    check("[client]\na=\"\\\"#\" # b", &["--a=\"#"]);
}

#[test]
fn errors_have_their_line() {
    for (text, expected) in [
        ("\na=1\n", "$DIR/my.cnf:2: an option before the first [group]"),
        ("[client\na=1\n", "$DIR/my.cnf:1: a group without its closing `]`"),
        ("[client]\n!include \n", "$DIR/my.cnf:2: `!include` without the name of a file"),
        ("[client]\n!includedir\n", "$DIR/my.cnf:2: `!include` without the name of a file"),
        ("!include $DIR/other\n", "$DIR/other:1: an option before the first [group]"),
        ("!includedir $DIR/none\n", "cannot read the option file $DIR/none: No such file or directory (os error 2)"),
    ] {
        let folder = Folder::new(&[("my.cnf", text), ("other", "a=1")]);
        let (_, _, error) = folder.read("my.cnf");
        assert_eq!(folder.plain(&error.unwrap()), expected, "{text}");
    }
}

#[test]
fn files_are_missing_or_too_large() {
    let folder = Folder::new(&[("large.cnf", &"#\n".repeat(1 << 19)), ("larger.cnf", &"#\n".repeat((1 << 19) + 1))]);
    assert_eq!(folder.read("large.cnf").2, None);
    let message = folder.plain(&folder.read("larger.cnf").2.unwrap());
    assert_eq!(message, "the option file $DIR/larger.cnf is larger than the limit of 1048576 bytes");
    let message = folder.plain(&folder.read("none.cnf").2.unwrap());
    assert_eq!(message, "cannot read the option file $DIR/none.cnf: No such file or directory (os error 2)");
    let mut reader = Reader::new(vec!["client".to_owned()], None);
    reader.read_if_present(&folder.path("none.cnf")).unwrap();
    assert_eq!(reader.finish(), (vec![], vec![]));
}

#[test]
fn folders_that_include_themselves_end() {
    let folder = Folder::new(&[("d/1.cnf", "!includedir $DIR/d"), ("d/2.cnf", "!includedir $DIR/d")]);
    let message = folder.plain(&folder.read("d/1.cnf").2.unwrap());
    assert!(message.contains("more than 1000 files include one another"), "{message}");
}

#[test]
fn ignored_options_give_a_warning() {
    let folder = Folder::new(&[
        ("my.cnf", "[client]\na=1\n!require x\n!include $DIR/open.cnf\n!include $DIR/self.cnf"),
        ("open.cnf", "[client]\nb=1\n"),
        ("self.cnf", "[client]\nc=1\n!include $DIR/self.cnf"),
    ]);
    fs::set_permissions(folder.path("open.cnf"), fs::Permissions::from_mode(0o666)).unwrap();
    let (options, warnings, error) = folder.read("my.cnf");
    assert_eq!((options.len(), error), (11, None));
    let warnings: Vec<_> = warnings.iter().map(|warning| folder.plain(warning)).collect();
    assert_eq!(
        warnings,
        [
            "$DIR/my.cnf:3: ignored: write `!include FILE` or `!includedir FOLDER`",
            "the option file $DIR/open.cnf is ignored: all users can write to it",
            "$DIR/self.cnf:3: not included: 10 files already include one another",
        ]
    );
}

#[test]
fn values_stay_out_of_debug_output() {
    let mut reader = Reader::new(vec!["client".to_owned()], None);
    let folder = Folder::new(&[("my.cnf", "[client]\npassword=secret")]);
    reader.read(&folder.path("my.cnf")).unwrap();
    let shown = format!("{reader:?}");
    assert!(shown.contains("password") && !shown.contains("secret"), "{shown}");
}

/// Our result equals that of my_print_defaults.
#[test]
fn agrees_with_my_print_defaults() {
    let cases: &[&str] = &[
        "[client]\nuser=alice\npassword = \"se#cret\"   # trailing\nhost = db # c\nhost2=db#nocomment\n",
        "[client]\nhost3 = 'quo \"ted\" x'\nesc=a\\nb\\tc\\\\d\\se\\qf\\rg\\bh\nesc2=\"a\\nb \\s 'x'\"\nbare\n",
        "[client]\n  indented-name   =   spaced value   \nloose-foo=1\nloose_foo_bar\nport=\nempty=\"\"\nmid=\"a\"b\n",
        "[client]\nq2=\"unterminated\nq3='a''b'\ntrail=back\\\nhashq=\"a\" # b\" c\n",
        "[client-mariadb]  # comment after group\nx=1\n[ client ]\ny=2\n[client ]\nz=2\n[CLIENT]\nw=2\n",
        "[client]\n=a\nuser=b\n",
        "[client]\r\nuser=a\r\npassword=b \r\n[client]junk\r\nzz=2\n",
        "[client]\nu  # comment bare\nv #c=d\nw = #c\ny = \"x # y\nk = ab\\# c\nk2 = \"ab\\\" # c\"\nk3 = it's # c\n",
        "[client]\nk4=\"a # b\" # c\nk5=a \"b # c\" d # e\nk6 = a ; b\nk7 a=b\n",
        "[client]\np2=\"\np3='\np4=\"\"x\"\"\np5=\"a\\\"\np6=a\\\n p7 = \\s x \\s \n!include nothing\n",
        "[client]\nc=1\\\\n\nd=\"a\tb\"\ne\t=\tf\n[client]#x\ng=\"#\"\nh='#'\"#\"#\ni=\"\\\"#\"#\n\x0bj=1\x0c\n",
        "[]\na=1\n[client-server]\nb=1\n[[client]]\nc=1\n[cli]ent]\nd=1\n[client]\ne=1",
        "[client]\npre=1\n!includedir $DIR/inc.d\npost=1\n!include $DIR/inc.d/c.ini\npost2=1\n",
        "[client]\n! include $DIR/inc.d/a.cnf\n!include\t$DIR/inc.d/a.cnf # c\n!include \"$DIR/inc.d/a.cnf\"\nz=1\n",
        "[client]\nz=1\n!include ~/.my.cnf\n  !includedir   $DIR/inc.d/  \nz=2\n!includedirs $DIR/inc.d\nz=3",
        "[client]\npre=1\n!bogus $DIR/inc.d\n!includedir=$DIR/inc.d\npost=1\n",
        "[client]\nself=1\n!include $DIR/my.cnf\npost=1\n",
        "[client]\npassword=p\u{e4}ss\u{2603}word\n",
    ];
    for text in cases {
        let folder = Folder::new(&[
            ("my.cnf", text),
            ("inc.d/b.cnf", "[client]\nbb=1\n"),
            ("inc.d/a.cnf", "[client]\naa=1\n"),
            ("inc.d/Z.cnf", "[hortator]\nZZ=1\n"),
            ("inc.d/c.ini", "[client]\ncc=1\n"),
            ("inc.d/.hidden.cnf", "[client]\nhidden=1\n"),
            ("inc.d/x.cnf.bak", "[client]\nbak=1\n"),
            ("inc.d/folder.cnf/y.cnf", "[client]\nfolder=1\n"),
            ("home/.my.cnf", "[client]\nhome=1\n"),
        ]);
        let (options, _, error) = folder.read("my.cnf");
        assert_eq!(error, None, "{text}");
        let ours: Vec<u8> = options.into_iter().flat_map(|option| [option, vec![b'\n']].concat()).collect();
        let theirs = folder.read_by_the_client("my.cnf");
        assert!(!theirs.is_empty(), "my_print_defaults refused: {text}");
        assert_eq!(String::from_utf8_lossy(&ours), String::from_utf8_lossy(&theirs), "{text}");
    }
}
