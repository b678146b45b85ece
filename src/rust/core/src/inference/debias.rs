//! Debiased estimates of chosen edges with their standard errors, and the largest error over all of
//! them (Kim, Liu and Kolar, 2021).

use super::bootstrap::{self, Maxima, Multipliers, BLOCK};
use super::first_stage::{self, FirstStage};
use super::hessian::{FactorScan, Hessian};
use super::influence::influence;
use super::inverse_row::{inverse_row, InverseRow, RowStatus};
use super::refit::refit;
use super::sample::Sample;
use crate::error::{Error, Result};
use crate::features::Coefficients;
use crate::monitor::Monitor;
use crate::objective::certificate::Status;
use crate::objective::problem::Problem;
use rayon::prelude::*;

/// How an estimate is freed of the bias of the penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// One Newton step from the first estimate: SparKLIE+1.
    OneStep,
    /// A fit without penalty on the supports of both stages: SparKLIE+2.
    DoubleSelection,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct DebiasSettings {
    /// Times the loadings: the penalty of the first stage.
    pub lambda: f64,
    /// The penalty of the rows of the inverse Hessian, in units of their scale.
    pub row_lambda: f64,
    /// Which estimator.
    pub estimator: Estimator,
    /// Whether to fit both stages once more on their supports, without penalty: the first on its
    /// support and the edge in question, the row of the inverse Hessian on its own.
    pub refit: bool,
    /// Whether each sample was divided by its own standard deviations.
    pub within: bool,
    /// Tolerance of both stages.
    pub tol: f64,
    /// Iterations of the first stage.
    pub max_iter: usize,
    /// Bootstrap draws.
    pub n_boot: usize,
    /// The seed of the bootstrap.
    pub seed: u64,
}

/// How one estimate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeStatus {
    /// It can be used.
    Estimated,
    /// It can be used, and is one step from the penalised estimate: without a penalty there is no fit
    /// on its support.
    OneStep,
    /// Its feature does not vary over `y`.
    Constant,
    /// Its row of the inverse Hessian was not found.
    NoRow,
    /// There is no fit without penalty on its support.
    NoRefit,
}

impl EdgeStatus {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Estimated => "estimated",
            Self::OneStep => "one_step",
            Self::Constant => "constant",
            Self::NoRow => "no_row",
            Self::NoRefit => "no_refit",
        }
    }
}

/// One edge. Numbers are NaN where there is no estimate.
#[derive(Debug, Clone)]
pub struct Edge {
    /// Its factor.
    pub factor: usize,
    /// How it ended.
    pub status: EdgeStatus,
    /// The debiased estimate.
    pub estimate: f64,
    /// Its standard error.
    pub error: f64,
    /// How many coefficients the estimate takes account of: the size of its support.
    pub support: usize,
    /// The worst violation of the optimality conditions of its row, as a share of the penalty.
    pub kkt: f64,
    /// How many rows of `y` its weights are worth.
    pub effective_size: f64,
}

/// The estimates of all edges.
#[derive(Debug, Clone)]
pub struct Inference {
    /// How the first stage ended; without an end there are no edges.
    pub status: Status,
    /// Its worst violation of the optimality conditions, in units of its penalty.
    pub kkt: f64,
    /// The multiple of its penalty from which on it detects nothing.
    pub largest: f64,
    /// Its estimate.
    pub theta: Coefficients,
    /// In the order asked for.
    pub edges: Vec<Edge>,
    /// The largest errors of all edges that were estimated.
    pub maxima: Maxima,
}

/// Estimate the coefficients of some factors of a problem; its penalty factors are replaced.
pub fn infer(
    mut problem: Problem,
    factors: &[usize],
    settings: &DebiasSettings,
    monitor: &Monitor,
) -> Result<Inference> {
    let limits = (settings.tol, settings.max_iter);
    let first = first_stage::fit(&mut problem, settings.lambda, limits, monitor)?;
    let sample = Sample::new(&problem)?;
    if let Some(factor) =
        factors.iter().find(|f| **f >= sample.products.factors() || !sample.has(**f))
    {
        return Err(Error::Argument(format!("factor {factor} has no feature")));
    }
    let (edges, maxima) = if first.status == Status::Unbounded {
        (Vec::new(), Maxima::none(0))
    } else {
        let alpha = sample.weights(&first.theta).alpha;
        let scan = FactorScan::new(&sample);
        // Refits have a Hessian for each edge.
        let hessian = if !settings.refit && Hessian::worth_storing(&sample, factors.len()) {
            Hessian::stored(&sample, &alpha, monitor)?
        } else {
            Hessian::streamed(&sample, &alpha, &scan)
        };
        let task = Task { sample: &sample, first: &first, scan: &scan, hessian, settings };
        task.run(factors, monitor)?
    };
    let FirstStage { status, kkt, largest, theta } = first;
    Ok(Inference { status, kkt, largest, theta, edges, maxima })
}

fn together(factors: &[usize], values: &[f64]) -> Coefficients {
    let mut coefficients = Coefficients::default();
    factors.iter().zip(values).for_each(|(factor, value)| coefficients.push(*factor, &[*value]));
    coefficients
}

/// What all edges share.
struct Task<'a> {
    sample: &'a Sample<'a>,
    first: &'a FirstStage,
    scan: &'a FactorScan,
    /// At the penalised estimate.
    hessian: Hessian<'a>,
    settings: &'a DebiasSettings,
}

/// Where an edge starts from: a theta and its weights of `y`.
struct Base {
    theta: Coefficients,
    alpha: Vec<f64>,
}

/// An estimate and the influence of every row on it.
struct Debiased {
    status: EdgeStatus,
    estimate: f64,
    support: usize,
    effective_size: f64,
    influence: Vec<f64>,
}

/// An estimate, or why there is none.
type Outcome = std::result::Result<Debiased, EdgeStatus>;

impl Task<'_> {
    fn run(&self, factors: &[usize], monitor: &Monitor) -> Result<(Vec<Edge>, Maxima)> {
        let rows = self.sample.products.rows();
        let (draws, seed) = (self.settings.n_boot, self.settings.seed);
        let multipliers = Multipliers::draw(draws, rows, seed, monitor)?;
        monitor.start(factors.len());
        // Merged as they come: to keep the maxima of every block would take the most memory of all.
        let none = || (Vec::new(), Maxima::none(draws));
        let merge = |(mut edges, mut maxima): (Vec<Edge>, Maxima), (part, largest): (_, _)| {
            edges.extend(part);
            maxima.merge(&largest);
            Ok((edges, maxima))
        };
        factors
            .par_chunks(BLOCK)
            .map(|block| self.block(block, &multipliers, monitor))
            .try_fold(none, |all, block| merge(all, block?))
            .try_reduce(none, merge)
    }

    fn block(
        &self,
        factors: &[usize],
        multipliers: &Multipliers,
        monitor: &Monitor,
    ) -> Result<(Vec<Edge>, Maxima)> {
        let (mut edges, mut influences) = (Vec::new(), Vec::new());
        for factor in factors {
            let (edge, influence) = self.edge(*factor, monitor)?;
            edges.push(edge);
            influences.extend(influence);
            monitor.advance();
        }
        let influences: Vec<&[f64]> = influences.iter().map(|values| &values[..]).collect();
        Ok((edges, multipliers.maxima(&influences)))
    }

    fn edge(&self, factor: usize, monitor: &Monitor) -> Result<(Edge, Option<Vec<f64>>)> {
        let (outcome, kkt) = self.debias(factor, monitor)?;
        Ok(match outcome {
            Ok(Debiased { status, estimate, support, effective_size, influence }) => {
                let error = bootstrap::error(&influence);
                let edge = Edge { factor, status, estimate, error, support, kkt, effective_size };
                (edge, Some(influence))
            }
            Err(status) => {
                let (estimate, error, support, effective_size) = (f64::NAN, f64::NAN, 0, f64::NAN);
                (Edge { factor, status, estimate, error, support, kkt, effective_size }, None)
            }
        })
    }

    /// As asked for. Where the support is too large for that, which one support of the first stage is
    /// for all edges, one step from the penalised estimate is left, unless the edge has no fit even by
    /// itself.
    fn debias(&self, factor: usize, monitor: &Monitor) -> Result<(Outcome, f64)> {
        let (outcome, kkt) = self.debias_as_asked(factor, monitor)?;
        let bounded = || refit(self.sample, &[factor], &Coefficients::default()).is_some();
        match outcome {
            Err(EdgeStatus::NoRefit | EdgeStatus::NoRow) if bounded() => {
                self.penalised_step(factor, monitor)
            }
            _ => Ok((outcome, kkt)),
        }
    }

    fn penalised_step(&self, factor: usize, monitor: &Monitor) -> Result<(Outcome, f64)> {
        let DebiasSettings { row_lambda, tol, .. } = *self.settings;
        let row = inverse_row(&self.hessian, factor, row_lambda, tol, monitor)?;
        let outcome = match row.status {
            RowStatus::Constant => Err(EdgeStatus::Constant),
            RowStatus::Failed => Err(EdgeStatus::NoRow),
            RowStatus::Converged => {
                let step = self.step(&row, &row.penalised, &self.first.theta, self.hessian.alpha);
                Ok(Debiased { status: EdgeStatus::OneStep, ..step })
            }
        };
        Ok((outcome, row.kkt))
    }

    /// From wherever this edge starts.
    fn debias_as_asked(&self, factor: usize, monitor: &Monitor) -> Result<(Outcome, f64)> {
        if !self.settings.refit {
            return self.debias_from(&self.first.theta, &self.hessian, factor, monitor);
        }
        let Some(Base { theta, alpha }) = self.base(factor) else {
            return Ok((Err(EdgeStatus::NoRefit), f64::NAN));
        };
        let hessian = Hessian::streamed(self.sample, &alpha, self.scan);
        self.debias_from(&theta, &hessian, factor, monitor)
    }

    /// From a theta and the Hessian there; also the violation of the row's conditions.
    fn debias_from(
        &self,
        theta: &Coefficients,
        hessian: &Hessian<'_>,
        factor: usize,
        monitor: &Monitor,
    ) -> Result<(Outcome, f64)> {
        let DebiasSettings { row_lambda, tol, estimator, .. } = *self.settings;
        let row = inverse_row(hessian, factor, row_lambda, tol, monitor)?;
        let outcome = match (row.status, estimator) {
            (RowStatus::Constant, _) => Err(EdgeStatus::Constant),
            (RowStatus::Failed, _) => Err(EdgeStatus::NoRow),
            (RowStatus::Converged, Estimator::OneStep) => {
                self.one_step(&row, theta, hessian.alpha).ok_or(EdgeStatus::NoRow)
            }
            (RowStatus::Converged, Estimator::DoubleSelection) => {
                self.double_selection(&row, theta).ok_or(EdgeStatus::NoRefit)
            }
        };
        Ok((outcome, row.kkt))
    }

    /// The fit without penalty on the support of the first stage and the edge itself.
    fn base(&self, factor: usize) -> Option<Base> {
        let support = with_support(&[factor], &self.first.theta);
        let refit = refit(self.sample, &support, &self.first.theta)?;
        Some(Base { theta: together(&support, &refit.theta), alpha: refit.alpha })
    }

    fn one_step(&self, row: &InverseRow, theta: &Coefficients, alpha: &[f64]) -> Option<Debiased> {
        let omega = if self.settings.refit { row.values.as_ref()? } else { &row.penalised };
        Some(self.step(row, omega, theta, alpha))
    }

    /// `theta_k + omega'(g - mu)`.
    fn step(
        &self,
        row: &InverseRow,
        omega: &[f64],
        theta: &Coefficients,
        alpha: &[f64],
    ) -> Debiased {
        let own = theta.iter().find(|(factor, _)| *factor == row.factors[0]);
        let mut estimate = own.map_or(0.0, |(_, theta)| theta[0]);
        for (factor, value) in row.factors.iter().zip(omega) {
            let moment = self.sample.moment(*factor, self.sample.y.clone(), alpha);
            estimate += value * (self.sample.mean_over_x(*factor) - moment);
        }
        let omega = together(&row.factors, omega);
        let influence = self.influence(&omega, theta, alpha);
        let (support, effective_size) = (row.factors.len(), self.sample.loss.effective_size(alpha));
        Debiased { status: EdgeStatus::Estimated, estimate, support, effective_size, influence }
    }

    /// The fit without penalty on the supports of both stages.
    fn double_selection(&self, row: &InverseRow, start: &Coefficients) -> Option<Debiased> {
        let support = with_support(&row.factors, &self.first.theta);
        let refit = refit(self.sample, &support, start)?;
        let omega = together(&support, &refit.first_row()?);
        let theta = together(&support, &refit.theta);
        let influence = self.influence(&omega, &theta, &refit.alpha);
        let effective_size = self.sample.loss.effective_size(&refit.alpha);
        Some(Debiased {
            status: EdgeStatus::Estimated,
            estimate: refit.theta[0],
            support: support.len(),
            effective_size,
            influence,
        })
    }

    fn influence(&self, omega: &Coefficients, theta: &Coefficients, alpha: &[f64]) -> Vec<f64> {
        influence(self.sample, omega, theta, alpha, self.settings.within)
    }
}

/// Some factors, in their order, and then those of a theta that are not among them.
fn with_support(factors: &[usize], theta: &Coefficients) -> Vec<usize> {
    let mut support = factors.to_vec();
    support.extend(theta.iter().map(|(factor, _)| factor).filter(|f| !factors.contains(f)));
    support
}
