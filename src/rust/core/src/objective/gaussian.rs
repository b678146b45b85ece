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
use crate::numerics::cholesky::{mirror, Cholesky, SingleInverse};
use crate::numerics::simd::{axpy, dispatch, dot};
use crate::numerics::tiles::{
    add_gram, add_single_gram_rows, product, Panels, COLS, ROWS, SINGLE_ROWS,
};
use crate::objective::loss::Loss;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

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
    linear: Linear,
    /// `G - sum_k s_k C_k`: `xi` where theta is zero, full; roughly.
    at_zero: Vec<f32>,
}

/// `G`.
#[derive(Debug)]
enum Linear {
    /// Full.
    Matrix(Vec<f64>),
    /// The sum of these times the covariances of the terms; and the same roughly, full, for those who
    /// pass over all of it.
    OfTerms { shares: Vec<f64>, rough: Vec<f32> },
}

#[derive(Debug)]
struct Term {
    sign: f64,
    /// The rows of the weighted sample.
    rows: Range<usize>,
    /// `C`, full.
    covariance: Vec<f64>,
    /// The sample of all variables, such that its Gram matrix is C, in single precision: where it is
    /// asked for.
    sample: OnceLock<Panels<SINGLE_ROWS, f32>>,
}

impl Term {
    /// What the sample times itself is the covariance by.
    fn scale(&self) -> f64 {
        1.0 / (self.rows.len() as f64).sqrt()
    }

    /// The largest norm of any variable in `sample`.
    fn largest_norm(&self, d: usize) -> f64 {
        self.covariance.iter().step_by(d + 1).copied().fold(0.0, f64::max).sqrt()
    }
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
    /// L.
    Lower(Rows),
    /// The sample itself as L.
    Sample(Rows),
}

/// A row of values for each active variable.
#[derive(Debug)]
struct Rows {
    width: usize,
    /// Row by row.
    values: Vec<f64>,
    /// Its columns side by side.
    columns: Panels<ROWS>,
}

impl Rows {
    fn new(size: usize, width: usize, values: Vec<f64>) -> Self {
        let columns = Panels::pack_rows(width, size, |k| &values[k * width..], |_| 1.0);
        Self { width, values, columns }
    }

    /// `scale` times `E` times these rows, with its columns side by side.
    fn times(&self, entries: &[Entry], scale: f64) -> Panels<COLS> {
        Panels::build(self.width, self.columns.depth(), |first, _, panel| {
            let columns = &self.columns.panel(first / ROWS)[first % ROWS..];
            dispatch(TimesColumns { entries, scale, columns, panel });
        })
    }
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

    /// The matrix of `size` variables in single precision, row by row, in the place of another one.
    pub fn single(&self, size: usize, matrix: &mut Vec<f32>) {
        matrix.clear();
        match self {
            Self::Full(values) => matrix.extend(values.iter().map(|value| *value as f32)),
            Self::Gram { width, rows } => {
                let row = |u: usize| &rows[u * width..][..*width];
                let left = single_panels(size, *width, row, 1.0);
                let right = single_panels(size, *width, row, 1.0);
                matrix.resize(size * size, 0.0);
                let tasks = matrix.par_chunks_mut((SINGLE_ROWS * size).max(1)).enumerate();
                tasks.for_each(|(task, out)| {
                    add_single_gram_rows(size, &left, &right, task * SINGLE_ROWS, out);
                });
                mirror(matrix, size);
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

/// `scale` times rows of `width` values each, side by side.
fn single_panels<'a, const WIDTH: usize>(
    count: usize,
    width: usize,
    row: impl Fn(usize) -> &'a [f64] + Sync,
    scale: f64,
) -> Panels<WIDTH, f32> {
    Panels::build(count, width, |first, height, panel| {
        for (slot, u) in (first..first + height).enumerate() {
            for (slots, value) in panel.chunks_exact_mut(WIDTH).zip(row(u)) {
                slots[slot] = (scale * value) as f32;
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
                let (sign, rows) = (term.sign, term.rows.clone());
                Term { sign, rows, covariance, sample: OnceLock::new() }
            })
            .collect();
        let (products, linear) = (products.clone(), Linear::Matrix(Vec::new()));
        let mut gaussian = Self { products, terms, linear, at_zero: Vec::new() };
        gaussian.set_linear(loss);
        gaussian
    }

    /// Take another linear term.
    pub fn set_linear(&mut self, loss: &Loss) {
        let d = self.products.variables();
        self.linear = linear_moments(&self.products, &self.terms, loss);
        let mut at_zero = std::mem::take(&mut self.at_zero);
        at_zero.resize(d * d, 0.0);
        let rows = at_zero.par_chunks_mut(d.max(1)).enumerate();
        rows.for_each_init(Vec::new, |sums, (u, row)| {
            sums.resize(d, 0.0);
            self.linear_row(u, sums);
            for term in &self.terms {
                subtract(term.sign, &term.covariance[u * d..], sums);
            }
            row.iter_mut().zip(sums).for_each(|(value, sum)| *value = *sum as f32);
        });
        self.at_zero = at_zero;
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
        let at = u * self.products.variables() + v;
        match &self.linear {
            Linear::Matrix(matrix) => matrix[at],
            Linear::OfTerms { shares, .. } => {
                let terms = shares.iter().zip(&self.terms);
                terms.map(|(share, term)| share * term.covariance[at]).sum()
            }
        }
    }

    /// The first values of row u of `G`.
    fn linear_row(&self, u: usize, row: &mut [f64]) {
        let start = u * self.products.variables();
        match &self.linear {
            Linear::Matrix(matrix) => row.copy_from_slice(&matrix[start..][..row.len()]),
            Linear::OfTerms { shares, .. } => sum_of_terms(shares, &self.terms, start, row),
        }
    }

    /// `xi` where theta is zero, full; roughly.
    pub fn roughly_at_zero(&self) -> &[f32] {
        &self.at_zero
    }

    /// Exactly that of two variables.
    pub fn at_zero(&self, u: usize, v: usize) -> f64 {
        let at = u * self.products.variables() + v;
        self.terms.iter().fold(self.linear(u, v), |xi, term| xi - term.sign * term.covariance[at])
    }

    /// The second derivative along the coordinate of two variables where theta is zero.
    pub fn curvature_at_zero(&self, u: usize, v: usize) -> f64 {
        let d = self.products.variables();
        let of = |Term { covariance, .. }: &Term| {
            covariance[u * d + u] * covariance[v * d + v] + covariance[u * d + v].powi(2)
        };
        self.terms.iter().map(of).sum()
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
                return Root::Lower(Rows::new(size, size, factor.lower()));
            }
        }
        let values = self.scaled_rows(term, variables.iter().copied());
        Root::Sample(Rows::new(size, term.rows.len(), values))
    }

    /// The sample of some variables, such that its Gram matrix is their covariance.
    fn scaled_rows(&self, term: &Term, variables: impl Iterator<Item = usize>) -> Vec<f64> {
        let scale = term.scale();
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
            Root::Lower(rows) | Root::Sample(rows) => {
                let width = rows.width;
                let image = rows.times(entries, -term.sign);
                let mut matrix = vec![0.0; width * width];
                (0..width).for_each(|i| matrix[i * width + i] = 1.0);
                add_gram(width, &rows.columns, &image, &mut matrix);
                Cholesky::new(&matrix, width)
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
            Root::Lower(Rows { width, values, .. }) | Root::Sample(Rows { width, values, .. }) => {
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
        (at, moments): (&'a Evaluation, &'a [Moments]),
        room: Room,
    ) -> XiOfAll<'a> {
        let parts = (0..self.terms.len())
            .map(|k| self.moments_of_all(k, active, entries, (at, &moments[k])))
            .collect();
        XiOfAll::new(self, parts, room)
    }

    /// How the moments of term k among all variables come about.
    fn moments_of_all<'m>(
        &self,
        k: usize,
        active: &'m ActiveVariables,
        entries: &[Entry],
        (at, moments): (&'m Evaluation, &'m Moments),
    ) -> MomentsOfAll<'m> {
        let (term, d) = (&self.terms[k], self.products.variables());
        if entries.is_empty() {
            MomentsOfAll::Covariance
        } else if matches!(active.roots[k], Root::Sample(_)) {
            let factor = &at.factors[k];
            MomentsOfAll::Products { factor, inverse: factor.single_inverse() }
        } else if active.variables.len() == d {
            MomentsOfAll::Known(moments.full())
        } else {
            let image = self.beside_covariance(term, active, entries, &moments.full());
            MomentsOfAll::BesideCovariance { variables: &active.variables, image }
        }
    }

    /// The sample of a variable in one term, but for the scale.
    fn sample_of(&self, term: &Term, u: usize) -> &[f64] {
        &self.products.column(1, u)[term.rows.clone()]
    }

    /// The sample of all variables in one term, in single precision.
    fn single_sample<'a>(&self, term: &'a Term) -> &'a Panels<SINGLE_ROWS, f32> {
        term.sample.get_or_init(|| {
            let (d, n) = (self.products.variables(), term.rows.len());
            single_panels(d, n, |u| self.sample_of(term, u), term.scale())
        })
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
    /// The inner products of what this factor is solved for with the sample.
    Products { factor: &'a Cholesky, inverse: SingleInverse },
    /// `C_J'` times this image of `C_J`, beside those of the sample.
    BesideCovariance { variables: &'a [usize], image: Vec<f64> },
}

impl MomentsOfAll<'_> {
    /// What is there as a matrix.
    fn plain<'b>(&'b self, term: &'b Term) -> Option<&'b [f64]> {
        match self {
            Self::Covariance | Self::BesideCovariance { .. } => Some(&term.covariance),
            Self::Known(matrix) => Some(matrix),
            Self::Products { .. } => None,
        }
    }

    fn is_beside_covariance(&self) -> bool {
        matches!(self, Self::Covariance | Self::BesideCovariance { .. })
    }

    /// How many products each of the other moments of a term is a sum of.
    fn depth(&self, term: &Term) -> usize {
        match self {
            Self::Products { .. } => term.rows.len(),
            Self::BesideCovariance { variables, .. } => variables.len(),
            Self::Covariance | Self::Known(_) => 0,
        }
    }

    /// By how much a side of these products may be off, beside the rounding of its values.
    fn rounding(&self, term: &Term, d: usize) -> f64 {
        match self {
            Self::Products { inverse, .. } => inverse.rounding * term.largest_norm(d),
            _ => 0.0,
        }
    }

    /// The left side of the products, for some variables.
    fn fill_left(&self, at: &Side<'_>, panel: &mut [f32]) {
        let Side { loss, term, first, width, .. } = *at;
        let d = loss.products.variables();
        match self {
            Self::Products { inverse, .. } => {
                let sample = loss.single_sample(term).panel(first / SINGLE_ROWS);
                inverse.times(sample, panel);
            }
            Self::BesideCovariance { variables, .. } => {
                for (u, slots) in variables.iter().zip(panel.chunks_exact_mut(SINGLE_ROWS)) {
                    let values = &term.covariance[u * d + first..][..width];
                    slots.iter_mut().zip(values).for_each(|(slot, x)| *slot = *x as f32);
                }
            }
            Self::Covariance | Self::Known(_) => {}
        }
    }

    /// Minus the sign times the right side of the products, for some variables of which the left one
    /// is known.
    fn fill_right(&self, at: &Side<'_>, left: &[f32], panel: &mut [f32]) {
        let Side { loss, term, first, width, .. } = *at;
        let (d, sign) = (loss.products.variables(), -term.sign);
        match self {
            Self::Products { .. } => {
                let rows = left[first % SINGLE_ROWS..].chunks(SINGLE_ROWS);
                for (slots, values) in panel.chunks_exact_mut(COLS).zip(rows) {
                    slots.iter_mut().zip(values).for_each(|(slot, x)| *slot = sign as f32 * x);
                }
            }
            Self::BesideCovariance { image, .. } => {
                for (slots, values) in panel.chunks_exact_mut(COLS).zip(image.chunks_exact(d)) {
                    let values = &values[first..][..width];
                    slots.iter_mut().zip(values).for_each(|(slot, x)| *slot = (sign * x) as f32);
                }
            }
            Self::Covariance | Self::Known(_) => {}
        }
    }

    /// Some of the moments.
    fn at(&self, loss: &GaussianLoss, term: &Term, pairs: &[(usize, usize)]) -> Vec<f64> {
        let d = loss.products.variables();
        let plain = |matrix: &[f64], u: usize, v: usize| matrix[u * d + v];
        match self {
            Self::Covariance => {
                pairs.iter().map(|(u, v)| plain(&term.covariance, *u, *v)).collect()
            }
            Self::Known(matrix) => pairs.iter().map(|(u, v)| plain(matrix, *u, *v)).collect(),
            Self::BesideCovariance { variables, image } => {
                let beside = |(u, v): &(usize, usize)| -> f64 {
                    let both = variables.iter().zip(image.chunks_exact(d));
                    both.map(|(j, row)| term.covariance[j * d + u] * row[*v]).sum()
                };
                pairs.iter().map(|at| plain(&term.covariance, at.0, at.1) + beside(at)).collect()
            }
            Self::Products { factor, .. } => {
                let mut variables: Vec<usize> = pairs.iter().flat_map(|(u, v)| [*u, *v]).collect();
                variables.sort();
                variables.dedup();
                let mut place = vec![0; d];
                variables.iter().enumerate().for_each(|(k, u)| place[*u] = k);
                let sample = |k: usize| loss.sample_of(term, variables[k]);
                let side = factor.solve_lower_panels(variables.len(), sample, term.scale());
                pairs.iter().map(|(u, v)| side.product_of(place[*u], place[*v])).collect()
            }
        }
    }
}

/// Some variables of a term, on one side of products.
#[derive(Clone, Copy)]
struct Side<'a> {
    loss: &'a GaussianLoss,
    term: &'a Term,
    /// Of the products of all terms, how many come before those of this one.
    before: usize,
    first: usize,
    width: usize,
}

/// Room for the products behind `xi` of all variables: of both sides.
#[derive(Debug, Default)]
pub struct Room {
    left: Vec<f32>,
    right: Vec<f32>,
}

/// `xi` of all variables: roughly, in single precision, by which nearly all factors can be told to stay
/// out, and exactly where it matters.
pub struct XiOfAll<'a> {
    loss: &'a GaussianLoss,
    parts: Vec<MomentsOfAll<'a>>,
    /// Both sides of the products of all terms, minus their signs on the right.
    sides: Option<(Panels<SINGLE_ROWS, f32>, Panels<COLS, f32>)>,
    /// By how much a rough value may be off, beside its own rounding.
    pub rounding: f64,
}

impl<'a> XiOfAll<'a> {
    fn new(loss: &'a GaussianLoss, parts: Vec<MomentsOfAll<'a>>, room: Room) -> Self {
        let d = loss.products.variables();
        let terms = || loss.terms.iter().zip(&parts);
        let depth: usize = terms().map(|(term, part)| part.depth(term)).sum();
        if depth == 0 {
            return Self { loss, parts, sides: None, rounding: 0.0 };
        }
        // What each part has of a panel.
        let each = |side: usize, first: usize, width: usize, panel: &mut [f32], fill: Fill<'_>| {
            let (mut before, mut rest) = (0, panel);
            for (term, part) in terms() {
                let depth = part.depth(term);
                let (own, later) = rest.split_at_mut(depth * side);
                fill(part, &Side { loss, term, before, first, width }, own);
                (before, rest) = (before + depth, later);
            }
        };
        let left = Panels::build_in(room.left, d, depth, |first, width, panel| {
            each(SINGLE_ROWS, first, width, panel, &|part, at, own| part.fill_left(at, own));
        });
        let right = Panels::build_in(room.right, d, depth, |first, width, panel| {
            let known = left.panel(first / SINGLE_ROWS);
            each(COLS, first, width, panel, &|part, at, own| {
                part.fill_right(at, &known[at.before * SINGLE_ROWS..], own);
            });
        });
        // Every product, every sum and both sides are rounded.
        let steps = (depth + 4) as f64 * 0.5 * f64::from(f32::EPSILON);
        let (l, r) = (largest_norm(&left), largest_norm(&right));
        // And sides that are solutions are off by no more than this.
        let off = terms().map(|(term, part)| part.rounding(term, d).powi(2)).sum::<f64>().sqrt();
        let rounding = steps * l * r + off * (l + r + off);
        Self { loss, parts, sides: Some((left, right)), rounding }
    }

    /// The room it took.
    pub fn into_room(self) -> Room {
        let sides = self.sides.map(|(left, right)| (left.into_room(), right.into_room()));
        let (left, right) = sides.unwrap_or_default();
        Room { left, right }
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
        let GaussianLoss { products, terms, at_zero, .. } = self.loss;
        let d = products.variables();
        let near_zero = self.parts.iter().all(MomentsOfAll::is_beside_covariance);
        // What there is already in single precision.
        let known = match &self.loss.linear {
            _ if near_zero => Some(at_zero),
            Linear::OfTerms { rough, .. } => {
                let all = || terms.iter().zip(&self.parts);
                all().all(|(term, part)| part.plain(term).is_none()).then_some(rough)
            }
            Linear::Matrix(_) => None,
        };
        let mut sums = vec![0.0; d];
        for (u, row) in (first..).zip(rows.chunks_exact_mut(d)) {
            if let Some(known) = known {
                row[..=u].copy_from_slice(&known[u * d..][..=u]);
                continue;
            }
            let sums = &mut sums[..=u];
            self.loss.linear_row(u, sums);
            for (term, part) in terms.iter().zip(&self.parts) {
                if let Some(matrix) = part.plain(term) {
                    subtract(term.sign, &matrix[u * d..], sums);
                }
            }
            row.iter_mut().zip(sums).for_each(|(value, sum)| *value = *sum as f32);
        }
    }

    /// Exactly those of some pairs of variables.
    pub fn exact(&self, pairs: &[(usize, usize)]) -> Vec<f64> {
        let mut xi: Vec<f64> = pairs.iter().map(|(u, v)| self.loss.linear(*u, *v)).collect();
        if pairs.is_empty() {
            return xi;
        }
        for (term, part) in self.loss.terms.iter().zip(&self.parts) {
            subtract(term.sign, &part.at(self.loss, term, pairs), &mut xi);
        }
        xi
    }
}

/// Fills what a part has of a panel.
type Fill<'a> = &'a dyn Fn(&MomentsOfAll<'_>, &Side<'_>, &mut [f32]);

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

/// Some of the sum of the covariances of all terms, each times its share.
fn sum_of_terms(shares: &[f64], terms: &[Term], start: usize, sums: &mut [f64]) {
    sums.fill(0.0);
    for (share, term) in shares.iter().zip(terms).filter(|(share, _)| **share != 0.0) {
        subtract(-share, &term.covariance[start..], sums);
    }
}

/// `G`: moments weighted by the linear term. Where all rows of a term weigh the same, these are its own.
fn linear_moments(products: &Products, terms: &[Term], loss: &Loss) -> Linear {
    let mut shares = vec![0.0; terms.len()];
    let mut others = Vec::new();
    for rows in loss.samples() {
        let weights = &loss.linear()[rows.clone()];
        let first = weights.first().copied().unwrap_or(0.0);
        let equal = weights.iter().all(|weight| *weight == first);
        let own = terms.iter().position(|term| equal && term.rows == rows);
        match own {
            Some(k) => shares[k] += first * rows.len() as f64,
            None if equal && first == 0.0 => {}
            None => others.push(second_moments(products, rows, weights)),
        }
    }
    let mut others = others.into_iter();
    let Some(mut linear) = others.next() else {
        let d = products.variables();
        let mut rough = vec![0.0; d * d];
        let rows = rough.par_chunks_mut(d.max(1)).enumerate();
        rows.for_each_init(Vec::new, |sums, (u, row)| {
            sums.resize(d, 0.0);
            sum_of_terms(&shares, terms, u * d, sums);
            row.iter_mut().zip(sums).for_each(|(value, sum)| *value = *sum as f32);
        });
        return Linear::OfTerms { shares, rough };
    };
    others.for_each(|moments| subtract(-1.0, &moments, &mut linear));
    for (share, term) in shares.iter().zip(terms).filter(|(share, _)| **share != 0.0) {
        subtract(-share, &term.covariance, &mut linear);
    }
    Linear::Matrix(linear)
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

/// `COLS` columns of `scale` times `E` times a matrix, of which these columns lie among `ROWS` side by
/// side.
struct TimesColumns<'a> {
    entries: &'a [Entry],
    scale: f64,
    columns: &'a [f64],
    panel: &'a mut [f64],
}

impl WithSimd for TimesColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { entries, scale, columns, panel } = self;
        for Entry { i, j, value } in entries {
            let value = scale * value;
            axpy(simd, value, &columns[j * ROWS..][..COLS], &mut panel[i * COLS..][..COLS]);
            if i != j {
                axpy(simd, value, &columns[i * ROWS..][..COLS], &mut panel[j * COLS..][..COLS]);
            }
        }
    }
}
