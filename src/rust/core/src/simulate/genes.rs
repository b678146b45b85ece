//! Gene expression from a regulatory network: Hill kinetics, noise, and steady states of circles.

use super::components::components;
use crate::error::{room_for, Error, Result};
use crate::monitor::Monitor;
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// What a regulator does to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Raises it.
    Activates,
    /// Lowers it.
    Represses,
    /// Raises it at low and lowers it at high concentrations.
    Both,
}

/// One arrow of the network, with `u = (r / half)^hill` for a regulator at concentration `r`.
#[derive(Debug, Clone, Copy)]
pub struct Regulation {
    /// The regulator.
    pub from: usize,
    /// The target.
    pub to: usize,
    /// What it does.
    pub kind: Kind,
    /// Concentration of half effect.
    pub half: f64,
    /// The Hill coefficient; 1 is Michaelis and Menten's.
    pub hill: f64,
}

impl Regulation {
    /// Positive constants, and `u` far from overflow at any level that noise can bring about.
    fn is_sound(&self) -> bool {
        self.half > 0.0 && self.hill > 0.0 && self.half.powf(-self.hill) < 1e100
    }
}

/// Standard deviations of the logarithm.
#[derive(Debug, Clone, Copy)]
pub struct Noise {
    /// On every gene, before it acts on others.
    pub biological: f64,
    /// On the result.
    pub measurement: f64,
}

/// A sample, and how many of its rows found no steady state.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// One observation a row.
    pub sample: Array2<f64>,
    /// Rows that were still moving when patience ran out.
    pub unsettled: usize,
}

/// Iteration of a circle ends when nothing moves by more than this.
const SETTLED: f64 = 1e-13;
/// A promoter activity that varies less is lost in rounding errors.
const WEAKEST: f64 = 1e-9;
/// Sweeps at one step length, before it is halved.
const PATIENCE: usize = 2000;
/// Step lengths 1/2, 1/4, ... that are tried.
const HALVINGS: i32 = 8;

/// Genes that nothing else drives: the first of every component that no arrow enters from outside.
/// Arrows into them have no effect.
pub fn top_regulators(genes: usize, arrows: &[(usize, usize)]) -> Vec<usize> {
    let found = components(&targets(genes, arrows.iter().copied()));
    let mut member = vec![0; genes];
    for (index, component) in found.iter().enumerate() {
        component.iter().for_each(|gene| member[*gene] = index);
    }
    let mut entered = vec![false; found.len()];
    for (_, to) in arrows.iter().filter(|(from, to)| member[*from] != member[*to]) {
        entered[member[*to]] = true;
    }
    let closed = found.iter().zip(entered).filter(|(_, entered)| !entered);
    let mut tops: Vec<usize> =
        closed.filter_map(|(component, _)| component.iter().copied().min()).collect();
    tops.sort_unstable();
    tops
}

fn targets(genes: usize, arrows: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut targets = vec![Vec::new(); genes];
    arrows.for_each(|(from, to)| targets[from].push(to));
    targets
}

/// The network in the order in which expression is worked out.
#[derive(Debug, Clone)]
pub struct GeneNetwork {
    genes: Vec<Gene>,
    tops: Vec<usize>,
    /// Regulators first; genes that regulate each other in a circle together.
    circles: Vec<Circle>,
}

#[derive(Debug, Clone)]
struct Gene {
    regulators: Vec<Regulation>,
    /// Promoter activity at its lowest and highest, for regulators between 0 and 1.
    range: (f64, f64),
}

/// Genes to be worked out together, most often one.
#[derive(Debug, Clone)]
struct Circle {
    members: Vec<usize>,
    /// Whether a gene is regulated by one that comes no earlier. Such genes close the circles.
    closing: Vec<bool>,
}

impl GeneNetwork {
    /// The network of these regulations among `genes` genes.
    pub fn new(genes: usize, regulations: &[Regulation]) -> Result<Self> {
        if regulations.iter().any(|r| r.from >= genes || r.to >= genes) {
            return Err(Error::Argument("a regulation names a gene that is not there".into()));
        }
        if !regulations.iter().all(Regulation::is_sound) {
            return Err(Error::Argument(
                "`half` and `hill` are positive, and `half` not too close to 0".into(),
            ));
        }
        let arrows: Vec<_> = regulations.iter().map(|r| (r.from, r.to)).collect();
        let tops = top_regulators(genes, &arrows);
        let effective: Vec<Regulation> =
            regulations.iter().filter(|r| tops.binary_search(&r.to).is_err()).copied().collect();
        let mut regulators = vec![Vec::new(); genes];
        effective.iter().for_each(|r| regulators[r.to].push(*r));
        let order = components(&targets(genes, effective.iter().map(|r| (r.from, r.to))));
        let circles = order
            .into_iter()
            .filter(|members| members.iter().any(|gene| tops.binary_search(gene).is_err()))
            .map(|members| Circle::new(members, &regulators))
            .collect();
        let genes: Vec<Gene> = regulators.into_iter().map(Gene::new).collect();
        match genes.iter().position(|gene| !gene.responds()) {
            Some(gene) => Err(Error::Argument(format!(
                "gene {} does not respond to its regulators: their `half` is too large",
                gene + 1
            ))),
            None => Ok(Self { genes, tops, circles }),
        }
    }

    /// `n` observations: top regulators uniform on (0, 1), everything else by kinetics. A row has a
    /// random stream of its own, so the number of threads changes nothing.
    pub fn draw(&self, n: usize, noise: Noise, seed: u64, monitor: &Monitor) -> Result<Expression> {
        room_for(n, 2 * self.genes.len() + 8)?;
        let rows: Vec<(Vec<f64>, bool)> = (0..n)
            .into_par_iter()
            .map(|row| {
                monitor.check()?;
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                rng.set_stream(row as u64);
                Ok(self.observe(noise, &mut rng))
            })
            .collect::<Result<_>>()?;
        let mut sample = Array2::zeros((n, self.genes.len()));
        for (mut target, (values, _)) in sample.rows_mut().into_iter().zip(&rows) {
            target.iter_mut().zip(values).for_each(|(t, value)| *t = *value);
        }
        Ok(Expression { sample, unsettled: rows.iter().filter(|(_, settled)| !settled).count() })
    }

    fn observe(&self, noise: Noise, rng: &mut ChaCha8Rng) -> (Vec<f64>, bool) {
        let mut lognormal = |sd: f64| {
            let z: f64 = StandardNormal.sample(rng);
            (sd * z).exp()
        };
        let inside: Vec<f64> = self.genes.iter().map(|_| lognormal(noise.biological)).collect();
        let outside: Vec<f64> = self.genes.iter().map(|_| lognormal(noise.measurement)).collect();
        let mut level = vec![0.5; self.genes.len()];
        for top in &self.tops {
            level[*top] = rng.random::<f64>() * inside[*top];
        }
        let mut settled = true;
        for circle in &self.circles {
            settled &= self.settle(circle, &inside, &mut level);
        }
        level.iter_mut().zip(&outside).for_each(|(value, factor)| *value *= factor);
        (level, settled)
    }

    /// Work out one circle. A gene alone takes one step. Genes that close a circle move only part
    /// of the way, and shorter parts once that does not end: with steps short enough, the way of
    /// one such gene is that of a differential equation on the line, which has nowhere to go round.
    fn settle(&self, circle: &Circle, noise: &[f64], level: &mut [f64]) -> bool {
        if !circle.closing.contains(&true) {
            circle
                .members
                .iter()
                .for_each(|gene| level[*gene] = self.response(*gene, noise, level));
            return true;
        }
        (1..=HALVINGS).any(|halving| {
            let step = 0.5f64.powi(halving);
            (0..PATIENCE).any(|_| self.sweep(circle, step, noise, level) < SETTLED)
        })
    }

    /// Returns the furthest that any gene is from its response.
    fn sweep(&self, circle: &Circle, step: f64, noise: &[f64], level: &mut [f64]) -> f64 {
        let mut furthest = 0.0f64;
        for (gene, closing) in circle.members.iter().zip(&circle.closing) {
            let way = self.response(*gene, noise, level) - level[*gene];
            level[*gene] += if *closing { step * way } else { way };
            furthest = furthest.max(way.abs());
        }
        furthest
    }

    fn response(&self, gene: usize, noise: &[f64], level: &[f64]) -> f64 {
        self.genes[gene].activity(level) * noise[gene]
    }
}

impl Circle {
    fn new(members: Vec<usize>, regulators: &[Vec<Regulation>]) -> Self {
        let closing = members
            .iter()
            .enumerate()
            .map(|(place, gene)| {
                regulators[*gene].iter().any(|r| members[place..].contains(&r.from))
            })
            .collect();
        Self { members, closing }
    }
}

impl Gene {
    fn new(regulators: Vec<Regulation>) -> Self {
        let range = activity_range(&regulators);
        Self { regulators, range }
    }

    /// Whether there is anything to rescale. Without regulators there is nothing to respond to.
    fn responds(&self) -> bool {
        let (lowest, highest) = self.range;
        self.regulators.is_empty() || highest - lowest > WEAKEST
    }

    /// Promoter activity, rescaled to [0, 1]; noise may take a regulator over 1, but not this.
    fn activity(&self, level: &[f64]) -> f64 {
        let (lowest, highest) = self.range;
        let raw = promoter_activity(&self.regulators, |r| level[r.from]);
        ((raw - lowest) / (highest - lowest)).clamp(0.0, 1.0)
    }
}

/// `A / (1 + A) / (1 + R)`: `A` sums `u` over what activates and `R` over what represses. Without
/// an activator the first part is 1.
fn promoter_activity(regulators: &[Regulation], level: impl Fn(&Regulation) -> f64) -> f64 {
    let (mut activation, mut repression, mut activated) = (0.0, 0.0, false);
    for regulation in regulators {
        let u = (level(regulation) / regulation.half).powf(regulation.hill);
        if regulation.kind != Kind::Represses {
            activation += u;
            activated = true;
        }
        if regulation.kind != Kind::Activates {
            repression += u;
        }
    }
    combine(if activated { Some(activation) } else { None }, repression)
}

fn combine(activation: Option<f64>, repression: f64) -> f64 {
    activation.map_or(1.0, |a| a / (1.0 + a)) / (1.0 + repression)
}

/// Lowest and highest promoter activity for regulators in [0, 1].
fn activity_range(regulators: &[Regulation]) -> (f64, f64) {
    let most = |kind: Kind| {
        let of_kind = regulators.iter().filter(|r| r.kind == kind);
        of_kind.map(|r| r.half.powf(-r.hill)).sum::<f64>()
    };
    let (activation, repression, both) =
        (most(Kind::Activates), most(Kind::Represses), most(Kind::Both));
    if activation == 0.0 && both == 0.0 {
        return (combine(None, repression), 1.0);
    }
    // What does both is best at the t that maximises (a + t) / (1 + a + t) / (1 + t), where
    // (a + t)^2 = 1 - a, as far as it can go.
    let t = ((1.0 - activation).max(0.0).sqrt() - activation).clamp(0.0, both);
    (0.0, combine(Some(activation + t), t))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Noise = Noise { biological: 0.0, measurement: 0.0 };

    fn regulation(from: usize, to: usize, kind: Kind, half: f64, hill: f64) -> Regulation {
        Regulation { from, to, kind, half, hill }
    }

    fn draw(genes: usize, regulations: &[Regulation], noise: Noise, n: usize) -> Expression {
        let network = GeneNetwork::new(genes, regulations).unwrap();
        network.draw(n, noise, 4, &Monitor::new()).unwrap()
    }

    #[test]
    fn single_regulators_follow_their_formula() {
        let (half, hill) = (0.4f64, 3.0);
        let expression = draw(
            4,
            &[
                regulation(0, 1, Kind::Activates, half, hill),
                regulation(0, 2, Kind::Represses, half, hill),
                regulation(0, 3, Kind::Both, half, hill),
            ],
            QUIET,
            50,
        );
        let full = half.powf(-hill);
        for row in expression.sample.rows() {
            let u = (row[0] / half).powf(hill);
            assert!((row[1] - u / (1.0 + u) * (1.0 + full) / full).abs() < 1e-12);
            let least = 1.0 / (1.0 + full);
            assert!((row[2] - (1.0 / (1.0 + u) - least) / (1.0 - least)).abs() < 1e-12);
            // At its best for u = 1, where it is 1/4.
            assert!((row[3] - 4.0 * u / (1.0 + u).powi(2)).abs() < 1e-12);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn the_range_is_the_range() {
        let kinds = [Kind::Activates, Kind::Represses, Kind::Both];
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for case in 0..200 {
            let regulators: Vec<Regulation> = (0..1 + case % 3)
                .map(|from| {
                    let kind = kinds[rng.random_range(0..3)];
                    let half = 0.2 + 1.3 * rng.random::<f64>();
                    regulation(from, 9, kind, half, f64::from(rng.random_range(1..4)))
                })
                .collect();
            let (lowest, highest) = activity_range(&regulators);
            let steps = 20usize;
            let points = (steps + 1).pow(regulators.len() as u32);
            let (mut low, mut high) = (f64::INFINITY, 0.0f64);
            for point in 0..points {
                let at = |r: &Regulation| {
                    (point / (steps + 1).pow(r.from as u32) % (steps + 1)) as f64 / steps as f64
                };
                let activity = promoter_activity(&regulators, at);
                low = low.min(activity);
                high = high.max(activity);
            }
            // A grid meets the lowest, and comes near the highest from below.
            assert!((low - lowest).abs() < 1e-12, "{regulators:?}: {low} {lowest}");
            assert!(high <= highest + 1e-12 && high > 0.97 * highest, "{high} {highest}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn circles_come_to_rest_at_a_fixed_point() {
        // 0 drives a circle of three repressors that overshoot, and a gene that represses itself.
        let regulations = [
            regulation(0, 1, Kind::Activates, 0.5, 1.0),
            regulation(1, 2, Kind::Represses, 0.4, 4.0),
            regulation(2, 3, Kind::Represses, 0.4, 4.0),
            regulation(3, 1, Kind::Represses, 0.4, 4.0),
            regulation(0, 4, Kind::Activates, 0.5, 2.0),
            regulation(4, 4, Kind::Represses, 0.3, 4.0),
        ];
        let network = GeneNetwork::new(5, &regulations).unwrap();
        assert_eq!(network.tops, vec![0]);
        let expression = draw(5, &regulations, QUIET, 200);
        assert_eq!(expression.unsettled, 0);
        for row in expression.sample.rows() {
            let level = row.to_vec();
            for gene in 1..5 {
                let response = network.genes[gene].activity(&level);
                assert!((response - level[gene]).abs() < 1e-12, "{gene}: {level:?}");
            }
        }
    }

    #[test]
    fn a_circle_that_nothing_drives_gets_a_top() {
        // 2 <-> 3 drive 1; 0 regulates itself.
        let arrows = [(2, 3), (3, 2), (3, 1), (0, 0)];
        assert_eq!(top_regulators(4, &arrows), vec![0, 2]);
        let regulations: Vec<Regulation> =
            arrows.iter().map(|(u, v)| regulation(*u, *v, Kind::Activates, 0.5, 1.0)).collect();
        let sample = draw(4, &regulations, QUIET, 30).sample;
        for gene in 0..4 {
            let column = sample.column(gene);
            assert!(column.iter().any(|value| (value - column[0]).abs() > 0.05));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much to interpret")]
    fn noise_has_its_size_and_acts_inside_the_network_or_outside() {
        let regulations = [
            regulation(0, 1, Kind::Activates, 0.5, 1.0),
            regulation(1, 2, Kind::Activates, 0.5, 1.0),
        ];
        let n = 20_000;
        let inside = draw(3, &regulations, Noise { biological: 0.2, measurement: 0.0 }, n).sample;
        let outside = draw(3, &regulations, Noise { biological: 0.0, measurement: 0.3 }, n).sample;
        let quiet = draw(3, &regulations, QUIET, n).sample;
        let sd = |values: Vec<f64>| (values.iter().map(|v| v * v).sum::<f64>() / n as f64).sqrt();
        // 1 + z / sqrt(2 n) for the standard deviation of n normal numbers: five of these.
        let tolerance = 5.0 / (2.0 * n as f64).sqrt();
        let column = |a: &Array2<f64>, b: &Array2<f64>, gene: usize| {
            a.column(gene).iter().zip(b.column(gene)).map(|(a, b)| (a / b).ln()).collect()
        };
        assert!((sd(column(&inside, &quiet, 0)) / 0.2 - 1.0).abs() < tolerance);
        for gene in 0..3 {
            assert!((sd(column(&outside, &quiet, gene)) / 0.3 - 1.0).abs() < tolerance);
        }
        // What gene 1 says with its noise is what gene 2 hears.
        let noise: Vec<f64> = (0..n)
            .map(|row| {
                let u = inside[[row, 1]] / 0.5;
                (inside[[row, 2]] / (u / (1.0 + u) * 1.5).min(1.0)).ln()
            })
            .collect();
        assert!((sd(noise) / 0.2 - 1.0).abs() < tolerance);
    }

    #[test]
    fn threads_change_nothing_and_seeds_do() {
        let regulations = [regulation(0, 1, Kind::Activates, 0.5, 1.0)];
        let network = GeneNetwork::new(2, &regulations).unwrap();
        let noise = Noise { biological: 0.1, measurement: 0.1 };
        let on = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| network.draw(33, noise, seed, &Monitor::new()).unwrap())
        };
        assert_eq!(on(1, 1), on(3, 1));
        assert_ne!(on(1, 1), on(1, 2));
    }

    #[test]
    fn nonsense_is_refused() {
        for wrong in [
            regulation(0, 5, Kind::Activates, 0.5, 1.0),
            regulation(0, 1, Kind::Activates, 0.0, 1.0),
            regulation(0, 1, Kind::Activates, 0.5, f64::NAN),
            regulation(0, 1, Kind::Activates, 1e300, 1.0),
            regulation(0, 1, Kind::Represses, 1e300, 1.0),
            regulation(0, 1, Kind::Both, 1e-300, 4.0),
        ] {
            assert!(matches!(GeneNetwork::new(2, &[wrong]), Err(Error::Argument(_))));
        }
    }
}
