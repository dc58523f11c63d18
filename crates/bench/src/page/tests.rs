//! The forms of a page, of which one cell failed.

use super::*;

fn cell(threads: u32) -> BTreeMap<String, String> {
    BTreeMap::from([("threads".to_owned(), threads.to_string())])
}

fn run(contender: &str, threads: u32, round: usize, wall_s: f64) -> Run {
    let figures = BTreeMap::from([("wall_s".to_owned(), wall_s)]);
    Run { cell: cell(threads), contender: contender.to_owned(), round, result: RunResult::Figures(figures) }
}

fn example() -> Page {
    let spread = |median, least, most| Spread { median, least, most };
    let point = |x, median, least, most| Point { x, y: spread(median, least, most) };
    let lines = vec![
        Line {
            name: "client".into(),
            points: vec![point(1.0, 900.0, 850.0, 990.0), point(16.0, 1_000.0, 900.0, 1_100.0)],
        },
        Line {
            name: "load & more".into(),
            points: vec![
                point(1.0, 1_900.0, 1_850.0, 1_990.0),
                point(4.0, 6_400.0, 6_000.0, 7_100.0),
                point(16.0, 9_400.0, 8_000.0, 10_100.0),
            ],
        },
    ];
    let lines = Plot {
        title: "Rows per second by connections".into(),
        x: "connections".into(),
        y: "rows/s".into(),
        form: PlotForm::Lines { is_log_x: true, lines },
        marks: vec![Mark { label: "reported".into(), value: 7_200.0 }],
    };
    let bars = |name: &str| BarGroup {
        name: name.into(),
        bars: vec![
            ("client".into(), Some(spread(1.0, 0.9, 1.1))),
            ("load, deferred".into(), Some(spread(25.3, 24.0, 27.0))),
            ("own copy".into(), None),
        ],
    };
    let bars = Plot {
        title: "Times with and without keys".into(),
        x: "with ÷ without".into(),
        y: String::new(),
        form: PlotForm::Bars(vec![bars("one node"), bars("three nodes")]),
        marks: vec![Mark { label: "reported".into(), value: 25.3 }],
    };
    let table = Table {
        headings: vec!["contender".into(), "wall s".into()],
        text_columns: 1,
        rows: vec![vec!["client".into(), "2.00".into()], vec!["own <copy>".into(), "—".into()]],
    };
    Page {
        version: JSON_VERSION,
        experiment: "example".into(),
        title: "An example".into(),
        question: "Is 1 < 2?".into(),
        answers: vec!["Yes, by 1.".into()],
        reported: vec!["No (2011, 8 cores).".into()],
        command: "hortator bench example".into(),
        date: "2026-02-28".into(),
        machine: "2 cores".into(),
        versions: vec!["server 1".into()],
        settings: vec!["a=1".into(), "b=2".into()],
        contenders: vec![ContenderNote {
            name: "client".into(),
            description: "One connection.".into(),
            survives: "a power cut".into(),
        }],
        warnings: vec!["other programs used 0.5 cores".into()],
        sections: vec![Section {
            title: "Times".into(),
            text: vec!["Medians.".into()],
            tables: vec![table],
            plots: vec![lines, bars],
        }],
        limits: vec!["Networks.".into()],
        runs: vec![
            run("client", 1, 1, 2.0),
            run("client", 1, 2, 2.5),
            run("load", 1, 1, 1.0),
            Run { result: RunResult::Failed("3 rows are missing".into()), ..run("load", 1, 2, 0.0) },
        ],
    }
}

#[test]
fn all_forms_have_the_question_the_answers_and_every_run() {
    let page = example();
    let (markdown, html) = (page.markdown(), page.html().replace("&lt;", "<"));
    if let Some(folder) = std::env::var_os("HORTATOR_PAGE_EXAMPLE") {
        std::fs::write(std::path::Path::new(&folder).join("example.html"), page.html()).unwrap();
    }
    for text in [&markdown, &html] {
        for part in [
            "An example",
            "Is 1 < 2?",
            "Yes, by 1.",
            "No (2011, 8 cores).",
            "hortator bench example",
            "2026-02-28",
            "0.5 cores",
            "a power cut",
            "a=1, b=2",
            "server 1",
            "Networks.",
            "own <copy",
            "failed: 3 rows are missing",
            "2.50",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
    assert!(markdown.contains("| threads | contender | round | wall_s |\n|---|---|---:|---:|\n"), "{markdown}");
    assert!(markdown.contains("| 1 | client | 2 | 2.50 |"), "{markdown}");
    assert_eq!(Page::from_json("example.json", &page.json()).unwrap(), page);
}

#[test]
fn the_html_needs_no_network_and_escapes_text() {
    let html = example().html();
    let of_svg = html.replace("http://www.w3.org/2000/svg", "");
    for word in ["http", "<script", "src=", "<link", "<copy>"] {
        assert!(!of_svg.contains(word), "{word}");
    }
    assert_eq!(html.matches("role=\"img\"").count(), 2);
    assert!(html.contains("load &amp; more") && html.contains("<polyline") && html.contains("10k"), "{html}");
    assert!(html.contains(">failed</text>") || html.contains("\nfailed\n"), "{html}");
}

/// A cell of which one run failed has no figure in any form.
#[test]
fn a_failed_cell_has_no_figure() {
    let page = example();
    assert_eq!(page.spread(&cell(1), "load", "wall_s"), None);
    assert_eq!(page.spread(&cell(1), "client", "wall_s"), Some(Spread { median: 2.25, least: 2.0, most: 2.5 }));
    assert_eq!(page.spread(&cell(2), "client", "wall_s"), None);
}

#[test]
fn what_changed_beyond_the_spread() {
    let (before, mut after) = (example(), example());
    after.runs =
        vec![run("client", 1, 1, 2.5), run("client", 1, 2, 3.0), run("load", 1, 1, 1.0), run("new", 1, 1, 1.0)];
    let changes = compare(&before, &after).unwrap();
    let shown: Vec<(&str, bool)> =
        changes.iter().map(|change| (&*change.contender, change.is_beyond_spread())).collect();
    // The ranges of the client touch; the other two have figures in one report only.
    assert_eq!(shown, [("client", false), ("load", true), ("new", true)]);
    after.runs[0] = run("client", 1, 1, 2.6);
    assert!(compare(&before, &after).unwrap()[0].is_beyond_spread());
    let table = compare::table(&changes);
    assert_eq!(table.rows[0], ["threads 1", "client", "wall_s", "2.25 (2.00–2.50)", "2.75 (2.50–3.00)", "1.22"]);
    assert_eq!(table.rows[2][3..], ["—", "1.00 (1.00–1.00)", "—"]);
}

#[test]
fn reports_that_cannot_be_compared() {
    let page = example();
    let other = Page { experiment: "fan-in".into(), ..example() };
    let error = compare(&page, &other).unwrap_err().to_string();
    assert_eq!(error, "one is a report of `bench example`, the other of `bench fan-in`");
    let error = Page::from_json("a.json", "{}").unwrap_err().to_string();
    assert!(error.starts_with("a.json is not a report of `hortator bench --json`"), "{error}");
    let later = Page { version: JSON_VERSION + 1, ..page };
    let error = Page::from_json("a.json", &later.json()).unwrap_err().to_string();
    assert_eq!(error, "a.json has version 2 of the form; this program reads version 1");
}

/// A line that is as flat as can be, or has no point at all.
#[test]
fn plots_of_little() {
    let plot = |points: Vec<Point>| Plot {
        title: String::new(),
        x: String::new(),
        y: String::new(),
        form: PlotForm::Lines { is_log_x: true, lines: vec![Line { name: "a".into(), points }] },
        marks: Vec::new(),
    };
    let zero = Spread { median: 0.0, least: 0.0, most: 0.0 };
    for points in [vec![], vec![Point { x: 1.0, y: zero }], vec![Point { x: 0.0, y: zero }, Point { x: 1e9, y: zero }]]
    {
        let drawn = plot::svg(&plot(points));
        assert!(drawn.starts_with("<svg") && drawn.ends_with("</svg>\n") && !drawn.contains("NaN"), "{drawn}");
    }
}

/// A figure of another machine must not press those of this run to the axis.
#[test]
fn an_arrow_stands_for_a_mark_far_beyond_the_figures() {
    let one = Spread { median: 1.0, least: 1.0, most: 1.0 };
    let forms = [
        PlotForm::Lines {
            is_log_x: false,
            lines: vec![Line { name: "a".into(), points: vec![Point { x: 1.0, y: one }] }],
        },
        PlotForm::Bars(vec![BarGroup { name: "G3".into(), bars: vec![("client".into(), Some(one))] }]),
    ];
    for form in forms {
        let drawn = |value| {
            let marks = vec![Mark { label: "reported".into(), value }];
            let (title, x, y) = (String::new(), String::new(), String::new());
            plot::svg(&Plot { title, x, y, form: form.clone(), marks })
        };
        let (near, far) = (drawn(2.5), drawn(25.3));
        assert!(near.contains("reported 2.50\n") && !near.contains('↑') && !near.contains('→'), "{near}");
        assert!(far.contains("↑ reported 25.3") || far.contains("reported 25.3 →"), "{far}");
        // The axis ends near the figure.
        assert!(!far.contains("\n20\n") && !far.contains("\n10\n"), "{far}");
    }
}

/// Figures that are close to each other have texts one above the other.
#[test]
fn texts_of_marks_do_not_cover_each_other() {
    let spread = Spread { median: 250_000.0, least: 250_000.0, most: 250_000.0 };
    let mark = |label: &str, value| Mark { label: label.into(), value };
    let drawn = plot::svg(&Plot {
        title: String::new(),
        x: String::new(),
        y: String::new(),
        form: PlotForm::Lines {
            is_log_x: false,
            lines: vec![Line { name: "a".into(), points: vec![Point { x: 1.0, y: spread }] }],
        },
        marks: vec![mark("paramy", 8_700.0), mark("client", 7_200.0), mark("without", 21_500.0)],
    });
    let y = |label: &str| {
        let text = drawn.split("<text ").find(|text| text.contains(label)).unwrap();
        text.split(" y=\"").nth(1).unwrap().split('"').next().unwrap().parse::<i32>().unwrap()
    };
    let ys = [y("client"), y("paramy"), y("without")];
    assert!(ys[0] - ys[1] >= 13 && ys[1] - ys[2] >= 13, "{ys:?}");
}

/// Times before an event are left of it, not outside of the plot.
#[test]
fn an_axis_can_begin_below_zero() {
    let one = Spread { median: 1.0, least: 1.0, most: 1.0 };
    let points = (-4..16).map(|second| Point { x: f64::from(second), y: one }).collect();
    let plot = Plot {
        title: String::new(),
        x: "seconds since the kill".into(),
        y: String::new(),
        form: PlotForm::Lines { is_log_x: false, lines: vec![Line { name: "a".into(), points }] },
        marks: Vec::new(),
    };
    let drawn = plot::svg(&plot);
    let labels: Vec<&str> =
        drawn.lines().map(str::trim).filter(|line| ["-5", "0", "5", "10", "15"].contains(line)).collect();
    assert!(labels.contains(&"-5") && labels.contains(&"15"), "{drawn}");
    let line = drawn.split("<polyline").find(|part| part.contains("#0072B2")).unwrap_or_default();
    let xs = line.split("points=\"").nth(1).unwrap().split('"').next().unwrap().split_whitespace();
    assert!(xs.map(|point| point.split(',').next().unwrap().parse::<i32>().unwrap()).all(|x| x >= 58), "{line}");
}

#[test]
fn the_image_has_every_plot_with_its_legend() {
    let page = example();
    let image = page.image();
    let plots = page.sections.iter().flat_map(|section| &section.plots).count();
    // The shapes of two lines, and the image itself.
    assert_eq!((image.matches("<svg ").count(), image.matches("</svg>").count()), (plots + 3, plots + 3), "{image}");
    for part in ["Rows per second by connections", "load &amp; more", "load, deferred", "prefers-color-scheme"] {
        assert!(image.contains(part), "{part} is not in {image}");
    }
    assert_eq!(Page::default().image(), "");
}
