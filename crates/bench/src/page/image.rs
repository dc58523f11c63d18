//! The plots of a page as one SVG image, for a README or a slide: with its own background, titles and legends.

use std::fmt::Write as _;

use super::html::escape;
use super::plot::{WIDTH, svg, swatch};
use super::{Page, Plot, PlotForm};

/// Between a plot and what is around it.
const GAP: u32 = 10;
/// A line of text.
const LINE: u32 = 20;
/// Letters of a title's line.
const TITLE_CHARS: usize = 68;
const STYLE: &str = include_str!("page.css");

/// The image; empty for a page without plots.
pub(super) fn image(page: &Page) -> String {
    let mut body = String::new();
    let mut y = GAP;
    for plot in page.sections.iter().flat_map(|section| &section.plots) {
        y = title(&mut body, plot, y);
        y = legend(&mut body, plot, y);
        let drawn = svg(plot);
        let Some(height) = height(&drawn) else { continue };
        let _ = writeln!(body, "{}", drawn.replacen("<svg ", &format!("<svg y=\"{y}\" "), 1));
        y += height + GAP;
    }
    if body.is_empty() {
        return body;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y}\" width=\"{WIDTH}\" height=\"{y}\">\n\
         <style>{}</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill: var(--paper)\"/>\n{body}</svg>\n",
        escape(STYLE)
    )
}

/// The height of a drawn plot.
fn height(drawn: &str) -> Option<u32> {
    drawn.split_once("height=\"")?.1.split_once('"')?.0.parse().ok()
}

/// Writes the title in as many lines as it needs; gives where the next thing begins.
fn title(body: &mut String, plot: &Plot, mut y: u32) -> u32 {
    let mut lines = vec![String::new()];
    for word in plot.title.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < TITLE_CHARS => {
                line.push_str(if line.is_empty() { "" } else { " " });
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    for line in lines {
        y += LINE;
        let _ = writeln!(body, "{}", text(GAP, y, &line, " font-weight=\"600\""));
    }
    y + GAP
}

/// The same for the names of lines; bars have theirs in the plot.
fn legend(body: &mut String, plot: &Plot, mut y: u32) -> u32 {
    let PlotForm::Lines { lines, .. } = &plot.form else { return y };
    for (index, line) in lines.iter().enumerate() {
        let shape = swatch(index).replacen("<svg ", &format!("<svg x=\"{GAP}\" y=\"{y}\" "), 1);
        let _ = writeln!(body, "{shape}{}", text(GAP + 34, y + 12, &line.name, ""));
        y += LINE;
    }
    y
}

fn text(x: u32, y: u32, words: &str, attributes: &str) -> String {
    format!("<text x=\"{x}\" y=\"{y}\" fill=\"#222222\" font-size=\"13\"{attributes}>{}</text>", escape(words))
}
