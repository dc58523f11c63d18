//! A plot as SVG, drawn by the plotters crate.
//!
//! The colours are names: the page's style sheet gives each of them its value for light and dark screens. The legend is part
//! of the HTML around the plot, where it cannot cover a line; each series also has a shape of its own, for readers who do
//! not tell the colours apart, and for print.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, Ranged};
use plotters::prelude::{
    ChartBuilder, Circle, Color, Cross, DrawingArea, DrawingAreaErrorKind, IntoDrawingArea, IntoFont, PathElement,
    RGBColor, Rectangle, SVGBackend, Text, TriangleMarker,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{ShapeStyle, TextStyle};

use super::markdown::number;
use super::{BarGroup, Line, Mark, Plot, PlotForm};
use crate::report::Spread;

/// Width of a plot in its own pixels; it scales to the page.
pub(super) const WIDTH: u32 = 520;
const HEIGHT: u32 = 330;
/// Height of a bar with its space, and of a group's heading.
const BAR_HEIGHT: u32 = 24;
/// Around the bars.
const BARS_MARGIN: u32 = 64;
/// Where bars begin, at least and at most: their names stand before.
const NAMES_WIDTH: (usize, usize) = (100, 310);
/// Of a letter of a name, about.
const LETTER_WIDTH: usize = 7;
/// In units of plotters: 12.9 pixels.
const FONT_SIZE: i32 = 16;

/// Text and axes.
pub(super) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Lines behind the data.
pub(super) const GRID: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
/// Figures that others reported.
pub(super) const MARK: RGBColor = RGBColor(0x77, 0x77, 0x77);
/// Series, in an order that neighbours differ for colour-blind readers too (Okabe and Ito).
pub(super) const SERIES: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x80, 0x60, 0x40),
    RGBColor(0x55, 0x55, 0x55),
];
/// A mark so many times above all figures would press them to the axis: an arrow stands for it.
const MARK_LIMIT: f64 = 3.0;
/// Of the text of a mark.
const MARK_TEXT_HEIGHT: i32 = 14;
/// With more points in a line, a plot has no shapes on its lines.
const SHAPES_LIMIT: usize = 16;

type Drawn<'b> = Result<(), DrawingAreaErrorKind<<SVGBackend<'b> as plotters::prelude::DrawingBackend>::ErrorType>>;

/// The plot; empty where there is nothing to show.
pub(super) fn svg(plot: &Plot) -> String {
    let mut text = String::new();
    let height = match &plot.form {
        PlotForm::Lines { .. } => HEIGHT,
        PlotForm::Bars(groups) => BARS_MARGIN + BAR_HEIGHT * u32::try_from(slots(groups)).unwrap_or(u32::MAX >> 8),
    };
    let drawn = {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        let drawn = match &plot.form {
            PlotForm::Lines { is_log_x, lines } => draw_lines(&area, plot, *is_log_x, lines),
            PlotForm::Bars(groups) => draw_bars(&area, plot, groups, height),
        };
        drawn.and_then(|()| area.present())
    };
    // Writing to a string does not fail.
    if drawn.is_err() { String::new() } else { text }
}

/// The shape of a series in the legend, as SVG.
pub(super) fn swatch(series: usize) -> String {
    let mut text = String::new();
    let drawn = {
        let area = SVGBackend::with_string(&mut text, (28, 14)).into_drawing_area();
        let style = SERIES[series % SERIES.len()].stroke_width(2);
        let line = area.draw(&PathElement::new(vec![(0, 7), (28, 7)], style));
        line.and_then(|()| draw_shape(&area, (14, 7), series)).and_then(|()| area.present())
    };
    if drawn.is_err() { String::new() } else { text }
}

fn font() -> TextStyle<'static> {
    ("sans-serif", FONT_SIZE).into_font().color(&INK)
}

/// The marks that the axis reaches, the lowest first, and a text for those that are far beyond all figures; `top` is the largest of these.
fn marks(plot: &Plot, top: f64) -> (Vec<&Mark>, Option<String>) {
    let is_near = |mark: &&Mark| mark.value <= top * MARK_LIMIT || top <= 0.0;
    let (mut near, far): (Vec<&Mark>, Vec<&Mark>) = plot.marks.iter().partition(is_near);
    near.sort_by(|one, other| one.value.total_cmp(&other.value));
    let far: Vec<String> = far.into_iter().map(mark_text).collect();
    (near, (!far.is_empty()).then(|| far.join(", ")))
}

fn mark_text(mark: &Mark) -> String {
    format!("{} {}", mark.label, number(mark.value))
}

/// An axis from `least` to `most` with labels at these values.
struct Axis {
    least: f64,
    most: f64,
    ticks: Vec<f64>,
}

impl Ranged for Axis {
    type FormatOption = plotters::coord::ranged1d::NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.least) / (self.most - self.least).max(f64::MIN_POSITIVE);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.least..self.most
    }
}

impl plotters::coord::ranged1d::ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        format_tick(*value)
    }
}

/// From 0 to at least `most`, with four to seven labels.
fn from_zero(most: f64) -> Axis {
    let most = if most > 0.0 { most } else { 1.0 };
    let step = step(most / 5.0);
    let count = (most / step).ceil();
    Axis { least: 0.0, most: step * count, ticks: (0..=count as u32).map(|tick| step * f64::from(tick)).collect() }
}

/// From at most `least`, which is below 0, to at least `most`.
fn across_zero(least: f64, most: f64) -> Axis {
    let step = step((most.max(0.0) - least) / 6.0);
    let (first, last) = ((least / step).floor() as i32, (most.max(0.0) / step).ceil() as i32);
    let at = |tick: i32| step * f64::from(tick);
    Axis { least: at(first), most: at(last), ticks: (first..=last).map(at).collect() }
}

/// 1, 2 or 5 times a power of ten, and not below `least`.
fn step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= least * 0.999_999);
    factor.unwrap_or(10.0) * power
}

/// The x axis: labels at the points themselves where these are few.
fn along(lines: &[Line], is_log: bool) -> Axis {
    let mut values: Vec<f64> =
        lines.iter().flat_map(|line| &line.points).map(|point| position(point.x, is_log)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let (Some(least), Some(most)) = (values.first().copied(), values.last().copied()) else { return from_zero(1.0) };
    if values.len() > 8 && !is_log {
        return if least < 0.0 { across_zero(least, most) } else { from_zero(most) };
    }
    let margin = ((most - least) * 0.04).max(0.02);
    Axis { least: least - margin, most: most + margin, ticks: values }
}

fn position(x: f64, is_log: bool) -> f64 {
    if is_log { x.max(f64::MIN_POSITIVE).log10() } else { x }
}

/// 1,500 as 1.5k.
fn format_tick(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        size if size >= 1e6 => (value / 1e6, "M"),
        size if size >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let text = format!("{scaled:.2}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

fn draw_lines<'b>(area: &DrawingArea<SVGBackend<'b>, Shift>, plot: &Plot, is_log: bool, lines: &[Line]) -> Drawn<'b> {
    let top = lines.iter().flat_map(|line| &line.points).map(|point| point.y.most).fold(0.0, f64::max);
    let (marks, far) = marks(plot, top);
    let top = marks.iter().map(|mark| mark.value).fold(top, f64::max);
    let x_axis = along(lines, is_log);
    let (left, right) = (x_axis.least, x_axis.most);
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .margin_right(20)
        .x_label_area_size(40)
        .y_label_area_size(58)
        .build_cartesian_2d(x_axis, from_zero(top * 1.02))?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(plotters::style::TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(font())
        .x_label_formatter(&|x| format_tick(if is_log { 10_f64.powf(*x) } else { *x }))
        .x_desc(&plot.x)
        .y_desc(&plot.y)
        .draw()?;
    let label = TextStyle::from(("sans-serif", FONT_SIZE - 1).into_font()).color(&MARK);
    if let Some(far) = far {
        let label = label.pos(Pos::new(HPos::Right, VPos::Top));
        area.draw(&Text::new(format!("↑ {far}"), (WIDTH as i32 - 20, 10), label))?;
    }
    let label = label.pos(Pos::new(HPos::Right, VPos::Bottom));
    let mut lowest = i32::MAX;
    for mark in marks {
        chart.draw_series([PathElement::new(vec![(left, mark.value), (right, mark.value)], MARK.stroke_width(1))])?;
        // Above its line, and above the text of the mark below it.
        let (x, y) = chart.backend_coord(&(right, mark.value));
        let y = y.min(lowest);
        lowest = y - MARK_TEXT_HEIGHT;
        area.draw(&Text::new(mark_text(mark), (x, y), label.clone()))?;
    }
    let has_shapes = lines.iter().all(|line| line.points.len() <= SHAPES_LIMIT);
    for (index, line) in lines.iter().enumerate() {
        let colour = SERIES[index % SERIES.len()];
        let points: Vec<(f64, Spread)> = line.points.iter().map(|point| (position(point.x, is_log), point.y)).collect();
        let medians: Vec<(f64, f64)> = points.iter().map(|(x, y)| (*x, y.median)).collect();
        chart.draw_series([PathElement::new(medians.clone(), colour.stroke_width(2))])?;
        let bars = points.iter().filter(|(_, y)| y.most > y.least);
        chart.draw_series(
            bars.map(|(x, y)| PathElement::new(vec![(*x, y.least), (*x, y.most)], colour.stroke_width(1))),
        )?;
        if has_shapes {
            for median in &medians {
                draw_shape(area, chart.backend_coord(median), index)?;
            }
        }
    }
    Ok(())
}

/// The shape of a series, at a place of the area.
fn draw_shape<'b>(area: &DrawingArea<SVGBackend<'b>, Shift>, at: (i32, i32), series: usize) -> Drawn<'b> {
    let colour = SERIES[series % SERIES.len()];
    let filled = ShapeStyle::from(&colour).filled();
    let (x, y) = at;
    match series % 4 {
        0 => area.draw(&Circle::new(at, 4, filled)),
        1 => area.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], filled)),
        2 => area.draw(&TriangleMarker::new(at, 6, filled)),
        _ => area.draw(&Cross::new(at, 4, colour.stroke_width(2))),
    }
}

/// Lines of a plot of bars: one for each bar and each heading.
fn slots(groups: &[BarGroup]) -> usize {
    groups.iter().map(|group| group.bars.len() + 1).sum()
}

fn draw_bars<'b>(
    area: &DrawingArea<SVGBackend<'b>, Shift>,
    plot: &Plot,
    groups: &[BarGroup],
    height: u32,
) -> Drawn<'b> {
    let values = groups.iter().flat_map(|group| &group.bars).filter_map(|(_, value)| Some(value.as_ref()?.most));
    let top = values.fold(0.0, f64::max);
    let (marks, far) = marks(plot, top);
    // The longest bar leaves room for its number.
    let axis = from_zero(marks.iter().map(|mark| mark.value).fold(top * 1.15, f64::max));
    let longest = groups.iter().flat_map(|group| &group.bars).map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let names_width = (longest * LETTER_WIDTH + 12).clamp(NAMES_WIDTH.0, NAMES_WIDTH.1);
    let (left, right) = (names_width as i32, WIDTH as i32 - 20);
    let (top, bottom) = (18, height as i32 - 42);
    let place = |value: f64| axis.map(&value, (left, right));
    let small = TextStyle::from(("sans-serif", FONT_SIZE - 1).into_font()).color(&MARK);
    for tick in &axis.ticks {
        let x = place(*tick);
        area.draw(&PathElement::new(vec![(x, top), (x, bottom)], GRID.stroke_width(1)))?;
        let label = font().pos(Pos::new(HPos::Center, VPos::Top));
        area.draw(&Text::new(format_tick(*tick), (x, bottom + 4), label))?;
    }
    let label = font().pos(Pos::new(HPos::Center, VPos::Bottom));
    area.draw(&Text::new(plot.x.clone(), (left.midpoint(right), height as i32 - 4), label))?;
    let mut y = top;
    let bar_height = BAR_HEIGHT as i32;
    // Names of all groups have the same colours.
    let mut names: Vec<&str> = Vec::new();
    for group in groups {
        let heading = font().pos(Pos::new(HPos::Left, VPos::Bottom));
        area.draw(&Text::new(group.name.clone(), (4, y + bar_height - 2), heading))?;
        y += bar_height;
        for (name, value) in &group.bars {
            let index = names.iter().position(|known| known == name).unwrap_or(names.len());
            if index == names.len() {
                names.push(name);
            }
            let colour = SERIES[index % SERIES.len()];
            let middle = y + bar_height / 2;
            let label = font().pos(Pos::new(HPos::Right, VPos::Center));
            area.draw(&Text::new(name.clone(), (left - 6, middle), label))?;
            let beside = small.pos(Pos::new(HPos::Left, VPos::Center));
            match value {
                Some(Spread { median, least, most }) => {
                    let filled = ShapeStyle::from(&colour).filled();
                    area.draw(&Rectangle::new([(left, y + 4), (place(*median), y + bar_height - 4)], filled))?;
                    if most > least {
                        let range = vec![(place(*least), middle), (place(*most), middle)];
                        area.draw(&PathElement::new(range, INK.stroke_width(1)))?;
                    }
                    area.draw(&Text::new(number(*median), (place(*most) + 5, middle), beside))?;
                }
                None => area.draw(&Text::new("failed", (left + 5, middle), beside))?,
            }
            y += bar_height;
        }
    }
    let label = small.pos(Pos::new(HPos::Right, VPos::Bottom));
    for mark in marks {
        let x = place(mark.value);
        area.draw(&PathElement::new(vec![(x, top), (x, bottom)], MARK.stroke_width(2)))?;
        area.draw(&Text::new(mark_text(mark), (x - 3, top), label.clone()))?;
    }
    if let Some(far) = far {
        area.draw(&Text::new(format!("{far} →"), (right, top), label))?;
    }
    area.draw(&PathElement::new(vec![(left, top), (left, bottom)], INK.stroke_width(1)))
}
