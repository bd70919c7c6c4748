//! The figures of a report, each from the values that it shows.
//!
//! The constraint that shaped it: a configuration has one colour and one mark in all figures of a report, so they are
//! given out once, for all. A figure without a value is not drawn.

use super::axis::Axis;
use super::panel::{Entry, Intervals, Join, Panel, Point, Rule, Series, Sheet};
use super::{Figure, canvas};
use crate::error::Result;
use crate::metric::metric_of;
use crate::report::quantity::{Quantity, Scale};
use crate::report::study::{
    Means, Measured, OverheadPoint, Overheads, Study, Tail, Tails, TracerCost, Turn, WarmUp,
};
use crate::report::table::word;

/// Width of a figure, pixels: a page's column, and a document's on GitHub.
const WIDTH: f64 = 760.0;
/// Height of a panel that stands alone.
const TALL: f64 = 330.0;
/// Height of a panel beside others.
const LOW: f64 = 205.0;

/// Draws figures whose configurations look the same in all of them.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    configurations: Vec<String>,
}

/// The title of a metric for axes and captions.
pub(crate) fn title_of(metric: &str) -> &str {
    metric_of(metric).map_or(metric, |metric| metric.title)
}

fn add(list: &mut Vec<String>, name: &str) {
    if !list.iter().any(|known| known == name) {
        list.push(name.to_owned());
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut list = Vec::new();
    names.for_each(|name| add(&mut list, name));
    list
}

fn point(x: f64, measured: &Measured) -> Option<Point> {
    let estimate = measured.as_ref().ok()?;
    Some(Point { x, y: estimate.value, interval: estimate.interval, open: false })
}

/// All ends of intervals and all values: what an axis must hold.
fn heights(series: &[Series]) -> impl Iterator<Item = f64> + Clone {
    series.iter().flat_map(|s| &s.points).flat_map(|p| {
        let (low, high) = p.interval.unwrap_or((p.y, p.y));
        [p.y, low, high]
    })
}

fn scaled(point: Point, scale: &Scale) -> Point {
    let by = |v: f64| v / scale.factor;
    Point { y: by(point.y), interval: point.interval.map(|(low, high)| (by(low), by(high))), ..point }
}

fn axis_title(title: &str, scale: &Scale) -> String {
    if scale.name.is_empty() { title.to_owned() } else { format!("{title} ({})", scale.name) }
}

impl Figures {
    /// The figures of a study.
    pub fn new(study: &Study) -> Figures {
        let mut configurations: Vec<String> = study.tally.attempts.keys().cloned().collect();
        for overheads in &study.overheads {
            overheads.points.iter().for_each(|p| add(&mut configurations, &p.configuration));
        }
        for cost in &study.tracers {
            cost.rows.iter().for_each(|row| add(&mut configurations, &row.configuration));
        }
        for means in &study.means {
            means.points.iter().for_each(|p| add(&mut configurations, &p.configuration));
        }
        Figures { configurations }
    }

    fn slot(&self, configuration: &str) -> usize {
        self.configurations.iter().position(|known| known == configuration).unwrap_or(0)
    }

    fn legend(&self, configurations: &[String], join: Join) -> Vec<Entry> {
        let entry = |name: &String| Entry { name: name.clone(), slot: self.slot(name), open: false, join };
        configurations.iter().map(entry).collect()
    }

    /// Panels of the same kind under a legend: two in a row when they are few, else three.
    fn grid(&self, legend: Vec<Entry>, mut panels: Vec<Panel>, titles: (&str, &str)) -> Sheet {
        let columns = match panels.len() {
            0 | 1 => 1,
            2 | 4 => 2,
            _ => 3,
        };
        let count = panels.len();
        for (i, panel) in panels.iter_mut().enumerate() {
            // Titles stand at the left and at the bottom edge only.
            if i % columns == 0 {
                titles.1.clone_into(&mut panel.y.title);
            }
            if i + columns >= count {
                titles.0.clone_into(&mut panel.x.title);
            }
        }
        let height = if columns == 1 { TALL } else { LOW };
        Sheet { legend, panels, columns, width: WIDTH, height }
    }

    fn finish(name: String, caption: String, sheet: &Sheet) -> Result<Option<Figure>> {
        if sheet.panels.iter().all(|p| p.series.iter().all(|s| s.points.is_empty())) {
            return Ok(None);
        }
        let about = caption.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned();
        let svg = canvas::draw(&name, &about, sheet)?;
        Ok(Some(Figure { name, caption, svg }))
    }

    /// Lower bound overheads over heaps, a panel a workload and a line a configuration (paper, Figures 1 and 5).
    ///
    /// # Errors
    /// [`crate::Error::Drawing`].
    pub fn overheads(&self, overheads: &Overheads) -> Result<Option<Figure>> {
        let name = word(&format!("lbo-{}-{}", overheads.metric, overheads.distillation));
        // A curve of one heap would be a column of dots.
        if overheads.multiples().len() == 1 {
            return self.overheads_at_one_heap(name, overheads);
        }
        let value = |p: &OverheadPoint| Some((p.multiple?, p.ratio.clone()));
        let all: Vec<_> = overheads
            .points
            .iter()
            .filter_map(|p| value(p).map(|(x, y)| (p.workload.clone(), p.configuration.clone(), x, y)))
            .collect();
        let sheet = self.over_heaps(&all, "lower bound overhead", None, Some(1.0));
        let metric = title_of(&overheads.metric);
        let caption = format!(
            "Lower bound overheads of {metric} over heap sizes, by workload. The heap is a multiple of the workload's smallest; 1 is the lowest cost of the program without its collector ({}). Bars are {} % intervals; a line begins at the smallest heap that its collector can run in.",
            overheads.distillation, overheads.confidence,
        );
        Self::finish(name, caption, &sheet)
    }

    fn overheads_at_one_heap(&self, name: String, overheads: &Overheads) -> Result<Option<Figure>> {
        let rows: Vec<_> = overheads
            .points
            .iter()
            .map(|p| (p.workload.as_str(), p.configuration.as_str(), &p.ratio))
            .collect();
        let means: Vec<_> =
            overheads.summaries.iter().map(|s| (s.configuration.as_str(), &s.geomean)).collect();
        let metric = title_of(&overheads.metric);
        let sheet = self.by_workload(&rows, &means, &format!("lower bound overhead of {metric}"));
        let caption = format!(
            "Lower bound overheads of {metric}, by workload. 1, the dashed line, is the lowest cost of the program without its collector ({}); lines are {} % intervals.",
            overheads.distillation, overheads.confidence,
        );
        Self::finish(name, caption, &sheet)
    }

    /// The geometric mean of lower bound overheads over heaps (paper, Figure 2).
    ///
    /// # Errors
    /// [`crate::Error::Drawing`].
    pub fn geomeans(&self, overheads: &Overheads) -> Result<Option<Figure>> {
        let all: Vec<_> = overheads
            .curves
            .iter()
            .filter_map(|s| Some((String::new(), s.configuration.clone(), s.multiple?, s.geomean.clone())))
            .collect();
        let mut sheet = self.over_heaps(&all, "lower bound overhead, geometric mean", None, Some(1.0));
        // One panel has room for bands, which show better where intervals overlap.
        for series in sheet.panels.iter_mut().flat_map(|panel| &mut panel.series) {
            series.intervals = Intervals::Band;
        }
        let caption = format!(
            "Geometric mean over workloads of the lower bound overheads of {}. Only workloads that completed at every point that is compared are in it; distilled by {}, {} % intervals.",
            title_of(&overheads.metric),
            overheads.distillation,
            overheads.confidence,
        );
        let name = word(&format!("lbo-geomean-{}-{}", overheads.metric, overheads.distillation));
        Self::finish(name, caption, &sheet)
    }

    /// Means of a metric over heaps, a panel a workload: janky frames are drawn so (paper, Figure 4).
    ///
    /// # Errors
    /// [`crate::Error::Drawing`].
    pub fn means(&self, means: &Means) -> Result<Option<Figure>> {
        let all: Vec<_> = means
            .points
            .iter()
            .filter_map(|p| Some((p.workload.clone(), p.configuration.clone(), p.multiple?, p.mean.clone())))
            .collect();
        let quantity = means.quantity();
        let values = all.iter().filter_map(|(.., mean)| mean.as_ref().ok()).map(|estimate| estimate.value);
        let scale = quantity.scale(values);
        let title = title_of(&means.metric);
        let sheet = self.over_heaps(&all, &axis_title(title, &scale), Some(scale), None);
        let caption = format!("{} over heap sizes, by workload. Means over invocations.", capital(title));
        Self::finish(word(&format!("heaps-{}", means.metric)), caption, &sheet)
    }

    fn over_heaps(
        &self,
        all: &[(String, String, f64, Measured)],
        y_title: &str,
        scale: Option<Scale>,
        level: Option<f64>,
    ) -> Sheet {
        // A workload or configuration without a single value has no panel and no entry in the legend.
        let known = || all.iter().filter(|(.., measured)| measured.is_ok());
        let configurations = distinct(known().map(|(_, c, ..)| c.as_str()));
        let workloads = distinct(known().map(|(w, ..)| w.as_str()));
        let multiples: Vec<f64> = all.iter().map(|(_, _, x, _)| *x).collect();
        let panels = workloads.iter().map(|workload| {
            let line = |configuration: &String| {
                let mine = all.iter().filter(|(w, c, ..)| w == workload && c == configuration);
                let mut points: Vec<Point> = mine.filter_map(|(_, _, x, y)| point(*x, y)).collect();
                if let Some(scale) = &scale {
                    points = points.into_iter().map(|p| scaled(p, scale)).collect();
                }
                points.sort_by(|a, b| a.x.total_cmp(&b.x));
                Series {
                    slot: self.slot(configuration),
                    points,
                    join: Join::Line,
                    intervals: Intervals::Bars,
                }
            };
            let series: Vec<Series> = configurations.iter().map(line).collect();
            let y = match level {
                Some(level) => Axis::fitting("", heights(&series).chain([level]), 6),
                None => Axis::straight("", heights(&series), true, 6),
            };
            Panel {
                title: workload.clone(),
                x: Axis::log("", multiples.iter().copied(), "\u{d7}", 8),
                y,
                rules: level.map(Rule::Level).into_iter().collect(),
                series,
            }
        });
        let panels = panels.collect();
        self.grid(
            self.legend(&configurations, Join::Line),
            panels,
            ("heap, multiple of the smallest", y_title),
        )
    }

    /// Percentiles of latencies or frame times, a panel a workload and heap (paper, Figure 3).
    ///
    /// # Errors
    /// [`crate::Error::Drawing`].
    pub fn tails(&self, tails: &Tails) -> Result<Option<Figure>> {
        let name_of = |tail: &Tail| match tail.multiple {
            Some(multiple) => format!("{}, {} heap", tail.workload, heap(multiple)),
            None => tail.workload.clone(),
        };
        let names: Vec<String> = tails.curves.iter().map(name_of).collect();
        let configurations = distinct(tails.curves.iter().map(|t| t.configuration.as_str()));
        let scale =
            Quantity::of_metric("wall").scale(tails.curves.iter().flat_map(|t| &t.points).map(|(_, v)| *v));
        let highest =
            tails.curves.iter().flat_map(|t| &t.points).map(|(p, _)| p.min(99.999)).fold(50.0, f64::max);
        let few = tails.curves.iter().all(|t| t.points.len() <= 12);
        let join = if few { Join::Line } else { Join::Curve };
        let panels = distinct(names.iter().map(String::as_str)).into_iter().map(|name| {
            let mine = tails.curves.iter().zip(&names).filter(|(_, n)| **n == name);
            let series: Vec<Series> = mine
                .map(|(tail, _)| Series {
                    slot: self.slot(&tail.configuration),
                    // The longest of all has no percentile that an axis could show: it stands at its end.
                    points: tail
                        .points
                        .iter()
                        .map(|(p, v)| Point {
                            x: p.min(highest),
                            y: v / scale.factor,
                            interval: None,
                            open: false,
                        })
                        .collect(),
                    join,
                    intervals: Intervals::Bars,
                })
                .collect();
            let y = Axis::fitting("", heights(&series), 6);
            Panel { title: name, x: Axis::percentiles("", highest), y, rules: vec![], series }
        });
        let panels = panels.collect();
        let what = tail_title(&tails.kind);
        let sheet =
            self.grid(self.legend(&configurations, join), panels, ("percentile", &axis_title(what, &scale)));
        let caption = format!(
            "Percentiles of the {what}, by workload and heap. The axis is stretched towards the tail: 90, 99 and 99.9 are equally far apart."
        );
        Self::finish(word(&format!("tail-{}", tails.kind)), caption, &sheet)
    }

    /// What tracers cost each workload: a dot with its interval (overall values in the last row).
    ///
    /// # Errors
    /// [`crate::Error::Drawing`].
    pub fn tracers(&self, cost: &TracerCost) -> Result<Option<Figure>> {
        let rows: Vec<_> = cost
            .rows
            .iter()
            .map(|row| (row.workload.as_str(), row.configuration.as_str(), &row.ratio))
            .collect();
        let means: Vec<_> = cost.summaries.iter().map(|s| (s.configuration.as_str(), &s.geomean)).collect();
        let sheet = self.by_workload(&rows, &means, &format!("{}, traced / bare", title_of(&cost.metric)));
        let caption = format!(
            "What tracers cost in {}: traced over bare, paired within blocks, by workload. The dashed line is no difference; lines are {} % intervals.",
            title_of(&cost.metric),
            cost.confidence,
        );
        Self::finish(word(&format!("tracers-{}", cost.metric)), caption, &sheet)
    }

    /// Ratios as dots, a lane a workload and configuration, with geometric means in the last.
    fn by_workload(
        &self,
        rows: &[(&str, &str, &Measured)],
        means: &[(&str, &Measured)],
        title: &str,
    ) -> Sheet {
        let configurations = distinct(rows.iter().filter(|row| row.2.is_ok()).map(|row| row.1));
        let mut names = distinct(rows.iter().map(|row| row.0));
        let overall = names.len();
        if !means.is_empty() {
            names.push("geometric mean".into());
        }
        let lanes = configurations.len().max(1) as f64;
        let series: Vec<Series> = configurations
            .iter()
            .enumerate()
            .map(|(lane, configuration)| {
                let offset = 0.6 * ((lane as f64 + 0.5) / lanes - 0.5);
                let dot = |row: usize, ratio: &Measured| {
                    let estimate = ratio.as_ref().ok()?;
                    let (x, interval) = (estimate.value, estimate.interval);
                    Some(Point { x, y: -(row as f64) - offset, interval, open: false })
                };
                let mine = rows.iter().filter(|row| row.1 == configuration);
                let row_of = |name: &str| names.iter().position(|n| n == name).unwrap_or(0);
                let mut points: Vec<Point> =
                    mine.filter_map(|(workload, _, ratio)| dot(row_of(workload), ratio)).collect();
                let mean = means.iter().find(|(name, _)| name == configuration);
                points.extend(mean.and_then(|(_, ratio)| dot(overall, ratio)));
                let slot = self.slot(configuration);
                Series { slot, points, join: Join::None, intervals: Intervals::Lying }
            })
            .collect();
        let ends = series.iter().flat_map(|s| &s.points).flat_map(|p| {
            let (low, high) = p.interval.unwrap_or((p.x, p.x));
            [p.x, low, high]
        });
        let x = Axis::fitting(title, ends.chain([1.0]), 9);
        let height = names.len() as f64 * (12.0 * lanes).clamp(20.0, 96.0) + 56.0;
        let panel =
            Panel { title: String::new(), x, y: Axis::names(&names), rules: vec![Rule::At(1.0)], series };
        let legend = self.legend(&configurations, Join::None);
        Sheet { legend, panels: vec![panel], columns: 1, width: WIDTH, height }
    }

    /// Iterations of invocations, a panel a workload and configuration, with what is not measured shaded.
    ///
    /// # Errors
    /// [`crate::Error::Drawing`].
    pub fn warm_ups(&self, warm_ups: &[WarmUp]) -> Result<Option<Figure>> {
        let Some(metric) = warm_ups.first().map(|w| w.metric.as_str()) else { return Ok(None) };
        let scale = Quantity::of_metric(metric)
            .scale(warm_ups.iter().flat_map(|w| &w.invocations).flatten().copied());
        let panels = warm_ups.iter().map(|warm_up| {
            let series: Vec<Series> = warm_up
                .invocations
                .iter()
                .map(|values| Series {
                    slot: self.slot(&warm_up.configuration),
                    points: values
                        .iter()
                        .enumerate()
                        .map(|(i, v)| Point {
                            x: i as f64 + 1.0,
                            y: v / scale.factor,
                            interval: None,
                            open: (i as u32) + 1 < warm_up.measured_from,
                        })
                        .collect(),
                    join: Join::Line,
                    intervals: Intervals::Bars,
                })
                .collect();
            let longest = warm_up.invocations.iter().map(Vec::len).max().unwrap_or(1).max(1) as f64;
            let mut x = Axis::straight("", [1.0, longest].into_iter(), false, 8);
            x.range = (0.6, longest + 0.4);
            x.ticks.retain(|(v, _)| v.fract() == 0.0 && *v >= 1.0 && *v <= longest);
            let aside = f64::from(warm_up.measured_from) - 0.5;
            let mut rules = vec![Rule::Aside(0.6, aside)];
            rules.retain(|_| aside > 0.6);
            rules.extend(warm_up.steady_from.map(|n| Rule::At(f64::from(n) - 0.5)));
            Panel {
                title: format!("{}, {}", warm_up.workload, warm_up.configuration),
                x,
                y: Axis::straight("", heights(&series), true, 5),
                rules,
                series,
            }
        });
        let panels = panels.collect();
        let sheet = self.grid(vec![], panels, ("iteration", &axis_title(title_of(metric), &scale)));
        let caption = format!(
            "{} of each iteration, a line an invocation. Shaded iterations with open marks are not measured; a dashed line is where a steady state was found to begin.",
            capital(title_of(metric)),
        );
        Self::finish(word(&format!("iterations-{metric}")), caption, &sheet)
    }

    /// Invocations in the order in which they ran, relative to their cell: shows drift, and what was disturbed.
    ///
    /// # Errors
    /// [`crate::Error::Drawing`].
    pub fn order(&self, turns: &[Turn], metric: &str) -> Result<Option<Figure>> {
        let hosts = distinct(turns.iter().map(|t| t.host.as_str()));
        let panels = hosts.iter().map(|host| {
            let mine: Vec<&Turn> = turns.iter().filter(|t| t.host == *host).collect();
            let points: Vec<Point> = mine
                .iter()
                .enumerate()
                .map(|(i, t)| Point { x: i as f64 + 1.0, y: t.relative, interval: None, open: !t.counts })
                .collect();
            let all = |p: &Point| p.y;
            let y = Axis::fitting("", points.iter().map(all).chain([1.0]).collect::<Vec<_>>().into_iter(), 6);
            let mut rules = vec![Rule::Level(1.0)];
            for (i, pair) in mine.windows(2).enumerate() {
                if pair[0].block != pair[1].block && blocks(&mine) <= 40 {
                    rules.push(Rule::At(i as f64 + 1.5));
                }
            }
            let mut x = Axis::straight("", [1.0, points.len() as f64].into_iter(), false, 10);
            x.ticks.retain(|(v, _)| v.fract() == 0.0 && *v >= 1.0);
            let series = vec![Series { slot: 0, points, join: Join::None, intervals: Intervals::Bars }];
            Panel { title: if hosts.len() > 1 { host.clone() } else { String::new() }, x, y, rules, series }
        });
        let panels = panels.collect();
        let legend = vec![
            Entry { name: "counts".into(), slot: 0, open: false, join: Join::None },
            Entry { name: "disturbed, left out".into(), slot: 0, open: true, join: Join::None },
        ];
        let mut sheet =
            self.grid(legend, panels, ("invocation, in the order in which they ran", "relative to its cell"));
        if sheet.columns > 1 {
            sheet.columns = 1;
            sheet.height = LOW;
        }
        let caption = format!(
            "Every invocation in the order in which it ran: its {} over the median of its cell. Dashed lines part the blocks. A trend would be drift of the machine; interleaving spreads it over all cells alike.",
            title_of(metric),
        );
        Self::finish("run-order".into(), caption, &sheet)
    }
}

fn blocks(turns: &[&Turn]) -> usize {
    turns.windows(2).filter(|pair| pair[0].block != pair[1].block).count()
}

/// What a kind of distribution is of.
fn tail_title(kind: &str) -> &str {
    match kind {
        "latency" => "request latency",
        "metered" => "metered request latency",
        "frame" => "frame time",
        "input" => "input latency",
        other => other,
    }
}

/// With a capital letter, as a sentence begins.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A heap as a multiple: `2×`, `1.59×`.
pub(crate) fn heap(multiple: f64) -> String {
    let text = format!("{multiple:.2}");
    format!("{}\u{d7}", text.trim_end_matches('0').trim_end_matches('.'))
}
