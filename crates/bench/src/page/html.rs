//! A page as one HTML file that needs no network: style and plots are part of it.

use std::fmt::Write as _;

use super::markdown::runs;
use super::plot::{svg, swatch};
use super::{Page, Plot, PlotForm, Section, Table};

const STYLE: &str = include_str!("page.css");

pub(super) fn page(page: &Page) -> String {
    let mut body = String::new();
    let title = escape(&page.title);
    let _ = writeln!(body, "<h1>{title}</h1>\n<p class=\"soft\">{}, {}</p>", escape(&page.date), escape(&page.machine));
    for warning in &page.warnings {
        let _ = writeln!(body, "<p class=\"warning\">{}</p>", escape(warning));
    }
    summary(&mut body, page, usize::MAX);
    page.sections.iter().for_each(|shown| section(&mut body, shown));
    set_up(&mut body, page);
    let _ = writeln!(
        body,
        "<h2>Every run</h2>\n<details><summary>{} runs</summary>\n{}</details>",
        page.runs.len(),
        table(&runs(&page.runs))
    );
    document(&title, &body)
}

/// A whole document; the title is escaped.
pub(super) fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// Question and so many of the answers.
pub(super) fn summary(body: &mut String, page: &Page, answers: usize) {
    body.push_str("<dl class=\"summary\">\n");
    let question = [page.question.clone()];
    for (head, items) in [
        ("Question", &question[..]),
        ("This run", &page.answers[..page.answers.len().min(answers)]),
        ("What others reported", &page.reported[..]),
    ] {
        if items.is_empty() {
            continue;
        }
        let _ = writeln!(body, "<dt>{head}</dt>");
        for item in items {
            let _ = writeln!(body, "<dd>{}</dd>", escape(item));
        }
    }
    body.push_str("</dl>\n");
}

fn section(body: &mut String, section: &Section) {
    let _ = writeln!(body, "<h2>{}</h2>", escape(&section.title));
    for paragraph in &section.text {
        let _ = writeln!(body, "<p>{}</p>", escape(paragraph));
    }
    section.plots.iter().for_each(|plot| body.push_str(&figure(plot)));
    section.tables.iter().for_each(|shown| body.push_str(&table(shown)));
}

fn figure(plot: &Plot) -> String {
    let mut legend = String::new();
    if let PlotForm::Lines { lines, .. } = &plot.form {
        if lines.iter().all(|line| line.points.is_empty()) {
            return format!(
                "<figure>\n<figcaption>{}</figcaption>\n<p class=\"soft\">No figures.</p>\n</figure>\n",
                escape(&plot.title)
            );
        }
        for (index, line) in lines.iter().enumerate() {
            let _ = write!(legend, "<li>{}{}</li>", swatch(index), escape(&line.name));
        }
        legend = format!("<ul class=\"legend\">{legend}</ul>\n");
    }
    let title = escape(&plot.title);
    // For those who do not see the plot: what it shows; its figures are in the table.
    let drawn = scaled(&svg(plot)).replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{title}\" "), 1);
    format!("<figure>\n<figcaption>{title}</figcaption>\n{legend}{drawn}</figure>\n")
}

/// Without a size of its own, so that it takes the page's width.
fn scaled(svg: &str) -> String {
    let Some((head, rest)) = svg.split_once('>') else { return String::new() };
    let kept = head.split_inclusive("\" ").filter(|part| !part.starts_with("width=") && !part.starts_with("height="));
    format!("{}>{rest}", kept.collect::<String>())
}

fn set_up(body: &mut String, page: &Page) {
    body.push_str("<h2>Set-up</h2>\n<ul>\n");
    for note in &page.contenders {
        let _ = writeln!(
            body,
            "<li><b>{}</b>: {} A confirmed commit survives {}.</li>",
            escape(&note.name),
            escape(&note.description),
            escape(&note.survives)
        );
    }
    for fact in [page.settings.join(", "), page.versions.join("; ")] {
        let _ = writeln!(body, "<li>{}</li>", escape(&fact));
    }
    let _ = writeln!(body, "</ul>\n<p>Repeat it with:</p>\n<pre>{}</pre>", escape(&page.command));
    if !page.limits.is_empty() {
        body.push_str("<h2>What the figures do not show</h2>\n<ul>\n");
        for limit in &page.limits {
            let _ = writeln!(body, "<li>{}</li>", escape(limit));
        }
        body.push_str("</ul>\n");
    }
}

fn table(table: &Table) -> String {
    let class = |column: usize| if column < table.text_columns { "" } else { " class=\"n\"" };
    let cells = |tag: &str, cells: &[String]| {
        let cell = |(column, cell): (usize, &String)| format!("<{tag}{}>{}</{tag}>", class(column), escape(cell));
        cells.iter().enumerate().map(cell).collect::<String>()
    };
    let mut text = format!("<div class=\"wide\"><table>\n<thead><tr>{}</tr></thead>\n", cells("th", &table.headings));
    for row in &table.rows {
        let _ = writeln!(text, "<tr>{}</tr>", cells("td", row));
    }
    text + "</table></div>\n"
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
