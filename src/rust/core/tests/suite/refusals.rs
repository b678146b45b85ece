//! What cannot be fitted is refused, and the refusal says what is wrong.

use crate::cases::{cubic, down, samples, settings, Case};
use kliepnet_core::error::{Error, Result};
use kliepnet_core::features::{Basis, Products};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::loss::{Direction, Loss};
use kliepnet_core::objective::penalty_factor::PenaltyFactors;
use kliepnet_core::objective::problem::Problem;
use kliepnet_core::path::{fit, Grid, SolverChoice};
use kliepnet_core::samples::{Samples, Standardize};
use ndarray::Array2;

fn standardise(x: &Array2<f64>, y: &Array2<f64>, standardize: Standardize) -> Result<Samples> {
    Samples::new(x.view(), y.view(), standardize)
}

/// Features of raw samples in which single values were replaced.
fn raw_features(basis: Basis, values: &[(usize, f64)]) -> Result<Products> {
    let (mut x, y) = samples(6, 10, 1);
    for (column, value) in values {
        x[(3, *column)] = *value;
    }
    Products::new(standardise(&x, &y, Standardize::None)?, basis)
}

fn argument<T>(result: Result<T>) -> String {
    match result {
        Err(Error::Argument(text)) => text,
        Err(other) => panic!("refused as {other:?}"),
        Ok(_) => panic!("not refused"),
    }
}

fn overflow<T>(result: Result<T>) -> (usize, usize) {
    match result {
        Err(Error::Overflow { first, second }) => (first, second),
        Err(other) => panic!("refused as {other:?}"),
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn a_square_that_overflows_names_its_column() {
    assert_eq!(overflow(raw_features(Basis::gaussian(), &[(4, 1e160)])), (4, 4));
}

#[test]
fn a_cube_that_overflows_names_its_column() {
    let basis = Basis { power: 1.0, pair: vec![(1, 1)], single: vec![3] };
    assert_eq!(overflow(raw_features(basis, &[(2, -1e80)])), (2, 2));
    let basis = Basis { power: 3.0, pair: vec![(1, 1)], single: vec![2] };
    assert_eq!(overflow(raw_features(basis, &[(1, 1e60)])), (1, 1));
}

#[test]
fn a_product_that_overflows_names_a_column_of_it() {
    let values = [(1, 1e120), (5, 1e100)];
    let (first, second) = overflow(raw_features(cubic(), &values));
    assert!([1, 5].contains(&first) && [1, 5].contains(&second), "{first} {second}");
}

#[test]
fn sums_of_squares_that_overflow_are_refused_too() {
    // The feature itself is finite: 1e154, and its square is not.
    assert_eq!(overflow(raw_features(Basis::gaussian(), &[(3, 1e77)])), (3, 3));
    assert!(raw_features(Basis::gaussian(), &[(3, 1e75)]).is_ok());
}

#[test]
fn values_that_are_no_numbers_are_refused() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(overflow(raw_features(Basis::gaussian(), &[(2, value)])), (2, 2));
        let (mut x, y) = samples(6, 10, 1);
        x[(3, 2)] = value;
        for standardize in [Standardize::Within, Standardize::Pooled] {
            let text = argument(standardise(&x, &y, standardize));
            assert!(text.contains("column 3"), "{text}");
        }
    }
}

#[test]
fn large_values_that_can_be_standardised_are_not_refused() {
    let (mut x, y) = samples(6, 10, 2);
    x.column_mut(2).mapv_inplace(|value| value * 1e200);
    let features = Products::new(standardise(&x, &y, Standardize::Within).unwrap(), cubic());
    assert!(features.is_ok());
}

#[test]
fn a_constant_column_cannot_be_scaled() {
    // Values that no double holds exactly: the mean must still be the value.
    for value in [0.0, 0.1, -3.7e-200, 1e300] {
        for rows in [2, 3, 7, 10] {
            let (mut x, y) = samples(5, rows, 3);
            x.column_mut(3).fill(value);
            let text = argument(standardise(&x, &y, Standardize::Within));
            assert!(text.contains("column 4"), "{text}");
            assert!(standardise(&x, &y, Standardize::Pooled).is_ok());
            assert!(standardise(&x, &y, Standardize::None).is_ok());
            let mut same = y.clone();
            same.column_mut(3).fill(value);
            let text = argument(standardise(&x, &same, Standardize::Pooled));
            assert!(text.contains("column 4"), "{text}");
        }
    }
}

#[test]
fn a_single_row_cannot_be_scaled() {
    let (x, y) = samples(4, 5, 4);
    let one = x.slice(ndarray::s![..1, ..]).to_owned();
    argument(standardise(&one, &y, Standardize::Within));
    argument(standardise(&y, &one, Standardize::Within));
}

#[test]
fn samples_of_different_shapes_are_refused() {
    let (x, _) = samples(4, 5, 5);
    let (_, y) = samples(3, 5, 5);
    argument(standardise(&x, &y, Standardize::None));
    let none = x.slice(ndarray::s![..0, ..]).to_owned();
    argument(standardise(&x, &none, Standardize::None));
    argument(standardise(&none, &x, Standardize::None));
}

fn with_penalty(penalty: PenaltyFactors) -> Result<Problem> {
    let (x, y) = samples(4, 10, 6);
    let features =
        Products::new(standardise(&x, &y, Standardize::Within).unwrap(), Basis::gaussian());
    Problem::new(features.unwrap(), Loss::density_ratio(Direction::Forward, 10, 10), penalty)
}

#[test]
fn penalty_factors_of_the_wrong_length_are_refused() {
    for length in [0, 1, 2, 9, 11] {
        let text = argument(with_penalty(PenaltyFactors::Each(vec![1.0; length])));
        assert!(text.contains("10"), "{text}");
    }
    assert!(with_penalty(PenaltyFactors::Each(vec![1.0; 10])).is_ok());
}

#[test]
fn penalty_factors_that_are_no_penalties_are_refused() {
    for bad in [-1.0, -1e-300, f64::NAN, f64::NEG_INFINITY] {
        let mut each = vec![1.0; 10];
        each[7] = bad;
        argument(with_penalty(PenaltyFactors::Each(each)));
        argument(with_penalty(PenaltyFactors::ByKind { single: bad, edge: 1.0 }));
        argument(with_penalty(PenaltyFactors::ByKind { single: 1.0, edge: bad }));
    }
}

#[test]
fn features_that_say_nothing_are_refused() {
    let constant = Basis { power: 1.0, pair: vec![(1, 1), (0, 0)], single: vec![2] };
    let no_pair = Basis { power: 1.0, pair: vec![], single: vec![2] };
    let constant_single = Basis { power: 1.0, pair: vec![(1, 1)], single: vec![0] };
    for basis in [constant, no_pair, constant_single] {
        argument(raw_features(basis, &[]));
    }
    for power in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        argument(raw_features(Basis { power, ..Basis::gaussian() }, &[]));
    }
}

#[test]
fn the_dual_needs_a_ridge() {
    let problem = Case::gaussian(4, 10, 7).problem();
    let text =
        argument(fit(&problem, &settings(0.0, down(2, 0.5), SolverChoice::Dual), &Monitor::new()));
    assert!(text.contains("lambda1"), "{text}");
}

#[test]
fn an_empty_grid_is_an_empty_path() {
    let path = Case::gaussian(4, 10, 8).fit(0.1, Grid::Given(vec![]), SolverChoice::Auto);
    assert!(path.steps.is_empty() && path.lambda_max > 0.0);
}
