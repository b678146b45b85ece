//! The loss with the normaliser of zero-mean Gaussians, and its derivatives.
//!
//! With `E_uv = theta_uv` and `E_uu = 2 theta_uu`, so that `theta'f(z) = z'Ez / 2`, the loss is
//!
//! `sum_k -1/2 logdet(I - s_k C_k E) - 1/2 tr(G E)`
//!
//! over the terms k: `C_k` the second moments of the sample that is weighted, `s_k` the sign with
//! which theta enters, and `G = sum_k s_k S_k` those of the other sample. The moments of the weighted
//! sample are `A_k = (I - s_k C_k E)^-1 C_k`, minus the gradient is `xi = G - sum_k s_k A_k`, and the
//! Hessian takes dE to `sum_k A_k dE A_k`, all entry by entry.
//!
//! Outside the variables J of the non-zero factors E is zero, so that all of it comes down to J:
//! with `C_JJ = L L'` and `M = I - s L'EL` (positive definite inside the domain),
//! `A_JJ = L M^-1 L'` and `A = C + C_J'(sE + E A_JJ E) C_J`. Where L is the sample itself, A is
//! `L M^-1 L'` for the L of all variables, too.

use crate::features::Products;
use crate::numerics::cholesky::{mirror, Cholesky};
use crate::numerics::simd::{axpy, dispatch, dot};
use crate::numerics::tiles::{
    add_gram, add_single_gram_rows, product, Panels, COLS, ROWS, SINGLE_ROWS,
};
use crate::objective::loss::Loss;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Squared pivots of a covariance above this share of its diagonal are no rounding.
const REGULAR: f64 = 1e-10;
/// Where they are above this one, its inverse has lost few digits.
const INVERTIBLE: f64 = 1e-3;

/// A non-zero entry of E, between two places among [`ActiveVariables`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The larger place.
    pub i: usize,
    /// The smaller place, or the same.
    pub j: usize,
    /// `theta_ij`, or `2 theta_ii`.
    pub value: f64,
}

impl Entry {
    /// The entry of a coefficient.
    pub fn new(i: usize, j: usize, theta: f64) -> Self {
        Self { i, j, value: if i == j { 2.0 * theta } else { theta } }
    }
}

/// Second moments of both samples.
#[derive(Debug)]
pub struct GaussianLoss {
    products: Products,
    terms: Vec<Term>,
    /// `G`, full.
    linear: Vec<f64>,
    /// `G - sum_k s_k C_k`: `xi` where theta is zero, full; roughly.
    at_zero: Vec<f32>,
}

#[derive(Debug)]
struct Term {
    sign: f64,
    /// The rows of the weighted sample.
    rows: Range<usize>,
    /// `C`, full.
    covariance: Vec<f64>,
}

/// The variables at work, with a root of each covariance among them.
#[derive(Debug)]
pub struct ActiveVariables {
    /// Their numbers.
    pub variables: Vec<usize>,
    roots: Vec<Root>,
}

/// What stands for the covariance of the active variables.
#[derive(Debug)]
enum Root {
    /// Its inverse P and its log-determinant, where it is far from singular: `A_JJ = (P - sE)^-1`.
    Inverse { values: Vec<f64>, log_determinant: f64 },
    /// L, row by row.
    Lower { width: usize, values: Vec<f64> },
    /// The sample itself as L.
    Sample { width: usize, values: Vec<f64> },
}

/// The moments of one term among the active variables.
#[derive(Debug)]
pub enum Moments {
    /// The matrix itself.
    Full(Vec<f64>),
    /// It is the Gram matrix of these rows, one for each variable.
    Gram {
        /// How long a row is.
        width: usize,
        /// Row by row.
        rows: Vec<f64>,
    },
}

impl Moments {
    /// The matrix.
    pub fn full(&self) -> Cow<'_, [f64]> {
        match self {
            Self::Full(matrix) => Cow::Borrowed(matrix),
            Self::Gram { width, rows } => {
                let size = rows.len() / width;
                let mut matrix = vec![0.0; size * size];
                add_gram_of(rows, *width, 1.0, &mut matrix);
                mirror(&mut matrix, size);
                Cow::Owned(matrix)
            }
        }
    }

    /// The matrix of `size` variables in single precision, row by row.
    pub fn single(&self, size: usize) -> Vec<f32> {
        match self {
            Self::Full(matrix) => matrix.iter().map(|value| *value as f32).collect(),
            Self::Gram { width, rows } => {
                let left = single_panels(size, *width, rows);
                let right = single_panels(size, *width, rows);
                let mut matrix = vec![0.0; size * size];
                let tasks = matrix.par_chunks_mut((SINGLE_ROWS * size).max(1)).enumerate();
                tasks.for_each(|(task, out)| {
                    add_single_gram_rows(size, &left, &right, task * SINGLE_ROWS, out);
                });
                mirror(&mut matrix, size);
                matrix
            }
        }
    }

    /// Whether the matrix has yet to be computed.
    pub fn is_gram(&self) -> bool {
        matches!(self, Self::Gram { .. })
    }

    /// The entries at some places of a matrix of `size` variables.
    pub fn at(&self, size: usize, places: &[(usize, usize)]) -> Vec<f64> {
        match self {
            Self::Full(matrix) => places.iter().map(|(i, j)| matrix[i * size + j]).collect(),
            Self::Gram { width, rows } => dispatch(GramEntries { width: *width, rows, places }),
        }
    }
}

/// Rows of `width` values each, side by side.
fn single_panels<const WIDTH: usize>(
    count: usize,
    width: usize,
    rows: &[f64],
) -> Panels<WIDTH, f32> {
    Panels::build(count, width, |first, height, panel| {
        for (slot, row) in rows[first * width..][..height * width].chunks_exact(width).enumerate() {
            for (slots, value) in panel.chunks_exact_mut(WIDTH).zip(row) {
                slots[slot] = *value as f32;
            }
        }
    })
}

struct GramEntries<'a> {
    width: usize,
    rows: &'a [f64],
    places: &'a [(usize, usize)],
}

impl WithSimd for GramEntries<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let Self { width, rows, places } = self;
        let mut out = Vec::with_capacity(places.len());
        for (i, j) in places {
            out.push(dot(simd, &rows[i * width..][..width], &rows[j * width..][..width]));
        }
        out
    }
}

/// The loss at some theta, with every `M` (or `P - sE`) factored.
pub struct Evaluation {
    /// The loss.
    pub value: f64,
    factors: Vec<Cholesky>,
}

impl GaussianLoss {
    /// The closed form that takes the place of an empirical loss.
    pub fn new(products: &Products, loss: &Loss) -> Self {
        let terms: Vec<Term> = loss
            .terms()
            .iter()
            .map(|term| {
                let share = vec![1.0 / term.rows.len() as f64; term.rows.len()];
                let covariance = second_moments(products, term.rows.clone(), &share);
                Term { sign: term.sign, rows: term.rows.clone(), covariance }
            })
            .collect();
        let mut gaussian =
            Self { products: products.clone(), terms, linear: Vec::new(), at_zero: Vec::new() };
        gaussian.set_linear(loss);
        gaussian
    }

    /// Take another linear term.
    pub fn set_linear(&mut self, loss: &Loss) {
        let d = self.products.variables();
        self.linear = linear_moments(&self.products, &self.terms, loss);
        self.at_zero.resize(d * d, 0.0);
        let rows = self.at_zero.par_chunks_mut(d.max(1)).zip(self.linear.par_chunks(d.max(1)));
        rows.enumerate().for_each_init(Vec::new, |sums, (u, (row, linear))| {
            sums.clear();
            sums.extend_from_slice(linear);
            for term in &self.terms {
                subtract(term.sign, &term.covariance[u * d..], sums);
            }
            row.iter_mut().zip(sums).for_each(|(value, sum)| *value = *sum as f32);
        });
    }

    /// Whether no covariance is singular.
    pub fn is_regular(&self) -> bool {
        let d = self.products.variables();
        self.terms.iter().all(|term| conditioned(&term.covariance, d, REGULAR).is_some())
    }

    /// Signs of the terms.
    pub fn signs(&self) -> impl Iterator<Item = f64> + '_ {
        self.terms.iter().map(|term| term.sign)
    }

    /// `G_uv`.
    pub fn linear(&self, u: usize, v: usize) -> f64 {
        self.linear[u * self.products.variables() + v]
    }

    /// `xi` where theta is zero, full; roughly.
    pub fn roughly_at_zero(&self) -> &[f32] {
        &self.at_zero
    }

    /// Exactly that of two variables.
    pub fn at_zero(&self, u: usize, v: usize) -> f64 {
        let at = u * self.products.variables() + v;
        self.terms.iter().fold(self.linear[at], |xi, term| xi - term.sign * term.covariance[at])
    }

    /// Prepare to work on some variables.
    pub fn restrict_to(&self, variables: Vec<usize>) -> ActiveVariables {
        let roots = self.terms.par_iter().map(|term| self.root(term, &variables)).collect();
        ActiveVariables { variables, roots }
    }

    /// By Cholesky, or where the covariance is singular or large by the sample itself.
    fn root(&self, term: &Term, variables: &[usize]) -> Root {
        let (size, d) = (variables.len(), self.products.variables());
        if size < term.rows.len() {
            let entry = |i: usize, j: usize| term.covariance[variables[i] * d + variables[j]];
            let matrix: Vec<f64> =
                (0..size).flat_map(|i| (0..size).map(move |j| entry(i, j))).collect();
            if let Some(factor) = conditioned(&matrix, size, INVERTIBLE) {
                let log_determinant = factor.log_determinant();
                return Root::Inverse { values: factor.inverse(), log_determinant };
            }
            if let Some(factor) = conditioned(&matrix, size, REGULAR) {
                return Root::Lower { width: size, values: factor.lower() };
            }
        }
        let values = self.scaled_rows(term, variables.iter().copied());
        Root::Sample { width: term.rows.len(), values }
    }

    /// The sample of some variables, such that its Gram matrix is their covariance.
    fn scaled_rows(&self, term: &Term, variables: impl Iterator<Item = usize>) -> Vec<f64> {
        let scale = 1.0 / (term.rows.len() as f64).sqrt();
        let mut rows = Vec::with_capacity(term.rows.len() * variables.size_hint().0);
        for u in variables {
            let sample = &self.products.column(1, u)[term.rows.clone()];
            rows.extend(sample.iter().map(|z| scale * z));
        }
        rows
    }

    /// Each `M` or `P - sE` factored, or `None` outside the domain.
    fn factors(&self, active: &ActiveVariables, entries: &[Entry]) -> Option<Vec<Cholesky>> {
        let factor = |(term, root): (&Term, &Root)| match root {
            Root::Inverse { values, .. } => {
                let size = active.variables.len();
                let mut matrix = values.clone();
                for Entry { i, j, value } in entries {
                    matrix[i * size + j] -= term.sign * value;
                }
                Cholesky::new(&matrix, size)
            }
            Root::Lower { width, values } | Root::Sample { width, values } => {
                let size = active.variables.len();
                let image = times(entries, values, *width);
                let left =
                    Panels::pack_rows(*width, size, |k| &values[k * width..], |_| -term.sign);
                let right = Panels::pack_rows(*width, size, |k| &image[k * width..], |_| 1.0);
                let mut matrix = vec![0.0; width * width];
                (0..*width).for_each(|i| matrix[i * width + i] = 1.0);
                add_gram(*width, &left, &right, &mut matrix);
                Cholesky::new(&matrix, *width)
            }
        };
        self.terms.par_iter().zip(&active.roots).map(factor).collect()
    }

    /// The loss, or `None` outside its domain.
    pub fn evaluate(&self, active: &ActiveVariables, entries: &[Entry]) -> Option<Evaluation> {
        let factors = self.factors(active, entries)?;
        Some(Evaluation { value: self.value_of(active, entries, &factors), factors })
    }

    fn value_of(&self, active: &ActiveVariables, entries: &[Entry], factors: &[Cholesky]) -> f64 {
        let normalizer = |(factor, root): (&Cholesky, &Root)| match root {
            Root::Inverse { log_determinant, .. } => factor.log_determinant() + log_determinant,
            _ => factor.log_determinant(),
        };
        let normalizers: f64 =
            factors.iter().zip(&active.roots).map(normalizer).map(|log| -0.5 * log).sum();
        let linear: f64 = entries
            .iter()
            .map(|Entry { i, j, value }| {
                let g = self.linear(active.variables[*i], active.variables[*j]);
                // tr(GE) / 2 has both places of a pair, and half of a square.
                if i == j {
                    0.5 * g * value
                } else {
                    g * value
                }
            })
            .sum();
        normalizers - linear
    }

    /// The moments `A_k` among the active variables.
    pub fn moments(&self, active: &ActiveVariables, at: &Evaluation) -> Vec<Moments> {
        let solve = |(factor, root): (&Cholesky, &Root)| match root {
            Root::Inverse { .. } => Moments::Full(factor.inverse()),
            Root::Lower { width, values } | Root::Sample { width, values } => {
                let mut rows = values.clone();
                factor.solve_lower_rows(&mut rows);
                Moments::Gram { width: *width, rows }
            }
        };
        at.factors.par_iter().zip(&active.roots).map(solve).collect()
    }

    /// `xi` of all variables where it is known among the active ones, in the room of another one.
    pub fn xi<'a>(
        &'a self,
        active: &'a ActiveVariables,
        entries: &[Entry],
        (at, moments): (&Evaluation, &'a [Moments]),
        mut room: Room,
    ) -> XiOfAll<'a> {
        let parts = (0..self.terms.len())
            .map(|k| {
                let room = room.products.pop().unwrap_or_default();
                self.moments_of_all(k, active, entries, (at, &moments[k]), room)
            })
            .collect();
        XiOfAll::new(self, parts, room)
    }

    /// How the moments of term k among all variables come about.
    fn moments_of_all<'m>(
        &self,
        k: usize,
        active: &'m ActiveVariables,
        entries: &[Entry],
        (at, moments): (&Evaluation, &'m Moments),
        room: Vec<f64>,
    ) -> MomentsOfAll<'m> {
        let (term, d) = (&self.terms[k], self.products.variables());
        if entries.is_empty() {
            MomentsOfAll::Covariance
        } else if matches!(active.roots[k], Root::Sample { .. }) {
            let scale = 1.0 / (term.rows.len() as f64).sqrt();
            let sample = |u: usize| &self.products.column(1, u)[term.rows.clone()];
            MomentsOfAll::Products(at.factors[k].solve_lower_panels(room, d, sample, scale))
        } else if active.variables.len() == d {
            MomentsOfAll::Known(moments.full())
        } else {
            let image = self.beside_covariance(term, active, entries, &moments.full());
            MomentsOfAll::BesideCovariance { variables: &active.variables, image }
        }
    }

    /// `(sE + E A_JJ E) C_J`: times `C_J'` it is what the moments have beside the covariance.
    fn beside_covariance(
        &self,
        term: &Term,
        active: &ActiveVariables,
        entries: &[Entry],
        moments: &[f64],
    ) -> Vec<f64> {
        let (d, size) = (self.products.variables(), active.variables.len());
        // E A E = E (E A)'.
        let image = transposed(&times(entries, moments, size), size);
        let mut inner = times(entries, &image, size);
        for Entry { i, j, value } in entries {
            inner[i * size + j] += term.sign * value;
            if i != j {
                inner[j * size + i] += term.sign * value;
            }
        }
        let across = |k: usize| &term.covariance[active.variables[k] * d..][..d];
        let left = Panels::pack_rows(size, size, |k| &inner[k * size..], |_| 1.0);
        let right = Panels::pack_rows(d, size, across, |_| 1.0);
        product(size, d, &left, &right)
    }
}

/// The moments of one term among all variables.
enum MomentsOfAll<'a> {
    /// Those of the sample.
    Covariance,
    /// A matrix at hand.
    Known(Cow<'a, [f64]>),
    /// The inner products of these.
    Products(Panels<ROWS>),
    /// `C_J'` times this image of `C_J`, beside those of the sample.
    BesideCovariance { variables: &'a [usize], image: Vec<f64> },
}

impl MomentsOfAll<'_> {
    /// What is there as a matrix.
    fn plain<'b>(&'b self, term: &'b Term) -> Option<&'b [f64]> {
        match self {
            Self::Covariance | Self::BesideCovariance { .. } => Some(&term.covariance),
            Self::Known(matrix) => Some(matrix),
            Self::Products(_) => None,
        }
    }

    fn is_beside_covariance(&self) -> bool {
        matches!(self, Self::Covariance | Self::BesideCovariance { .. })
    }

    /// How many products each of the other moments is a sum of.
    fn depth(&self) -> usize {
        match self {
            Self::Products(side) => side.depth(),
            Self::BesideCovariance { variables, .. } => variables.len(),
            Self::Covariance | Self::Known(_) => 0,
        }
    }

    /// One side of product k, for some variables from `first` on: as many as it has at once.
    fn side<'b>(
        &'b self,
        term: &'b Term,
        d: usize,
        right: bool,
        k: usize,
        first: usize,
    ) -> &'b [f64] {
        match self {
            Self::Products(side) => side.values_at(k, first),
            Self::BesideCovariance { image, .. } if right => &image[k * d + first..][..d - first],
            Self::BesideCovariance { variables, .. } => {
                &term.covariance[variables[k] * d + first..][..d - first]
            }
            Self::Covariance | Self::Known(_) => &[],
        }
    }

    /// One of the moments.
    fn at(&self, term: &Term, d: usize, u: usize, v: usize) -> f64 {
        let plain = self.plain(term).map_or(0.0, |matrix| matrix[u * d + v]);
        plain
            + match self {
                Self::Products(side) => side.product_of(u, v),
                Self::BesideCovariance { variables, image } => {
                    let pairs = variables.iter().enumerate();
                    pairs.map(|(k, j)| term.covariance[j * d + u] * image[k * d + v]).sum()
                }
                Self::Covariance | Self::Known(_) => 0.0,
            }
    }
}

/// Room for the products behind `xi` of all variables.
#[derive(Debug, Default)]
pub struct Room {
    /// Of each term.
    products: Vec<Vec<f64>>,
    /// Of both sides.
    left: Vec<f32>,
    right: Vec<f32>,
}

/// `xi` of all variables: roughly, in single precision, by which nearly all factors can be told to stay
/// out, and exactly where it matters.
pub struct XiOfAll<'a> {
    loss: &'a GaussianLoss,
    parts: Vec<MomentsOfAll<'a>>,
    /// Both sides of the products of all terms, minus their signs on the left.
    sides: Option<(Panels<SINGLE_ROWS, f32>, Panels<COLS, f32>)>,
    /// By how much a rough value may be off, beside its own rounding.
    pub rounding: f64,
}

impl<'a> XiOfAll<'a> {
    fn new(loss: &'a GaussianLoss, parts: Vec<MomentsOfAll<'a>>, room: Room) -> Self {
        let d = loss.products.variables();
        let depth: usize = parts.iter().map(MomentsOfAll::depth).sum();
        if depth == 0 {
            return Self { loss, parts, sides: None, rounding: 0.0 };
        }
        let fill = |right: bool, side: usize, first: usize, width: usize, panel: &mut [f32]| {
            let mut rows = panel.chunks_exact_mut(side);
            for (term, part) in loss.terms.iter().zip(&parts) {
                let scale = if right { 1.0 } else { -term.sign };
                for (k, slots) in (0..part.depth()).zip(&mut rows) {
                    let mut done = 0;
                    while done < width {
                        let values = part.side(term, d, right, k, first + done);
                        for (slot, value) in slots[done..width].iter_mut().zip(values) {
                            *slot = (scale * value) as f32;
                        }
                        done += values.len();
                    }
                }
            }
        };
        let left = Panels::build_in(room.left, d, depth, |first, width, panel| {
            fill(false, SINGLE_ROWS, first, width, panel);
        });
        let right = Panels::build_in(room.right, d, depth, |first, width, panel| {
            fill(true, COLS, first, width, panel);
        });
        // Every product, every sum and both sides are rounded.
        let steps = (depth + 4) as f64 * 0.5 * f64::from(f32::EPSILON);
        let rounding = steps * largest_norm(&left) * largest_norm(&right);
        Self { loss, parts, sides: Some((left, right)), rounding }
    }

    /// The room it took.
    pub fn into_room(self) -> Room {
        let products = self.parts.into_iter().filter_map(|part| match part {
            MomentsOfAll::Products(side) => Some(side.into_room()),
            _ => None,
        });
        let sides = self.sides.map(|(left, right)| (left.into_room(), right.into_room()));
        let (left, right) = sides.unwrap_or_default();
        Room { products: products.collect(), left, right }
    }

    /// Roughly all of it: its lower triangle in a full matrix that is overwritten. `look` is shown some
    /// rows at a time, with the number of the first, when these are done.
    pub fn rough<T: Send>(
        &self,
        xi: &mut [f32],
        look: impl Fn(usize, &[f32]) -> T + Sync,
    ) -> Vec<T> {
        let d = self.loss.products.variables();
        let tasks = xi.par_chunks_mut((SINGLE_ROWS * d).max(1)).enumerate();
        let finish = |(task, rows): (usize, &mut [f32])| {
            let first = task * SINGLE_ROWS;
            self.start(first, rows);
            if let Some((left, right)) = &self.sides {
                add_single_gram_rows(d, left, right, first, rows);
            }
            look(first, rows)
        };
        tasks.map(finish).collect()
    }

    /// Some rows, without the products.
    fn start(&self, first: usize, rows: &mut [f32]) {
        let GaussianLoss { products, terms, linear, at_zero } = self.loss;
        let d = products.variables();
        let near_zero = self.parts.iter().all(MomentsOfAll::is_beside_covariance);
        let mut sums = vec![0.0; d];
        for (u, row) in (first..).zip(rows.chunks_exact_mut(d)) {
            if near_zero {
                row[..=u].copy_from_slice(&at_zero[u * d..][..=u]);
                continue;
            }
            let sums = &mut sums[..=u];
            sums.copy_from_slice(&linear[u * d..][..=u]);
            for (term, part) in terms.iter().zip(&self.parts) {
                if let Some(matrix) = part.plain(term) {
                    subtract(term.sign, &matrix[u * d..], sums);
                }
            }
            row.iter_mut().zip(sums).for_each(|(value, sum)| *value = *sum as f32);
        }
    }

    /// Exactly that of two variables.
    pub fn at(&self, u: usize, v: usize) -> f64 {
        let d = self.loss.products.variables();
        let terms = self.loss.terms.iter().zip(&self.parts);
        let moments: f64 = terms.map(|(term, part)| term.sign * part.at(term, d, u, v)).sum();
        self.loss.linear(u, v) - moments
    }
}

/// The largest norm of any variable, rounded up.
fn largest_norm<const WIDTH: usize>(panels: &Panels<WIDTH, f32>) -> f64 {
    let mut largest = 0.0_f32;
    for index in 0..panels.len() {
        let mut squares = [0.0_f32; WIDTH];
        for values in panels.panel(index).chunks_exact(WIDTH) {
            squares.iter_mut().zip(values).for_each(|(square, value)| *square += value * value);
        }
        largest = squares.into_iter().fold(largest, f32::max);
    }
    1.01 * f64::from(largest).sqrt()
}

/// Subtract `sign` times the first of some values.
fn subtract(sign: f64, values: &[f64], from: &mut [f64]) {
    from.iter_mut().zip(values).for_each(|(target, value)| *target -= sign * value);
}

/// `G`: moments weighted by the linear term. Where all rows of a term weigh the same, these are its own.
fn linear_moments(products: &Products, terms: &[Term], loss: &Loss) -> Vec<f64> {
    let d = products.variables();
    let mut linear = vec![0.0; d * d];
    for rows in loss.samples() {
        let weights = &loss.linear()[rows.clone()];
        let first = weights.first().copied().unwrap_or(0.0);
        let equal = weights.iter().all(|weight| *weight == first);
        let own = terms.iter().find(|term| equal && term.rows == rows);
        if equal && first == 0.0 {
            continue;
        } else if let Some(Term { covariance, .. }) = own {
            subtract(-first * rows.len() as f64, covariance, &mut linear);
        } else {
            subtract(-1.0, &second_moments(products, rows.clone(), weights), &mut linear);
        }
    }
    linear
}

/// Add `scale` times the inner products of all rows of a matrix.
fn add_gram_of(rows: &[f64], width: usize, scale: f64, out: &mut [f64]) {
    let count = rows.len() / width.max(1);
    let row = |i: usize| &rows[i * width..][..width];
    let weights = vec![scale; width];
    let left = Panels::pack(count, width, row, Some(&weights));
    let right = Panels::pack(count, width, row, None);
    add_gram(count, &left, &right, out);
}

/// `Z'diag(weights)Z` over some rows, full.
fn second_moments(products: &Products, rows: Range<usize>, weights: &[f64]) -> Vec<f64> {
    let (d, n) = (products.variables(), rows.len());
    let column = |u: usize| &products.column(1, u)[rows.clone()];
    let left = Panels::pack(d, n, column, Some(weights));
    let right = Panels::pack(d, n, column, None);
    let mut moments = vec![0.0; d * d];
    add_gram(d, &left, &right, &mut moments);
    mirror(&mut moments, d);
    moments
}

/// A factor whose squared pivots are all above this share of the diagonal.
fn conditioned(matrix: &[f64], size: usize, share: f64) -> Option<Cholesky> {
    let factor = Cholesky::new(matrix, size)?;
    let sound = (0..size).all(|i| factor.pivot(i).powi(2) > share * matrix[i * size + i]);
    sound.then_some(factor)
}

fn transposed(matrix: &[f64], size: usize) -> Vec<f64> {
    let mut out = vec![0.0; matrix.len()];
    for (i, row) in matrix.chunks_exact(size).enumerate() {
        row.iter().enumerate().for_each(|(j, value)| out[j * size + i] = *value);
    }
    out
}

/// `E` times a matrix given row by row.
fn times(entries: &[Entry], matrix: &[f64], width: usize) -> Vec<f64> {
    dispatch(Times { entries, matrix, width })
}

struct Times<'a> {
    entries: &'a [Entry],
    matrix: &'a [f64],
    width: usize,
}

impl WithSimd for Times<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let Self { entries, matrix, width } = self;
        let mut out = vec![0.0; matrix.len()];
        for Entry { i, j, value } in entries {
            axpy(simd, *value, &matrix[j * width..][..width], &mut out[i * width..][..width]);
            if i != j {
                axpy(simd, *value, &matrix[i * width..][..width], &mut out[j * width..][..width]);
            }
        }
        out
    }
}
