//! A fit far down the path must not depend on having walked there.

use crate::cases::{gaussian_problem, settings};
use kliepnet_core::monitor::Monitor;
use kliepnet_core::objective::certificate::Status;
use kliepnet_core::path::{fit, Grid, SolverChoice};

#[test]
fn one_small_lambda2_from_zero_converges() {
    for (d, n) in [(8, 30), (40, 30), (80, 60)] {
        let problem = gaussian_problem(d, n, 5);
        for lambda1 in [1e-3, 0.1, 10.0] {
            for lambda2 in [1e-1, 1e-2, 1e-4] {
                let settings = settings(lambda1, Grid::Given(vec![lambda2]), SolverChoice::Auto);
                let path = fit(&problem, &settings, &Monitor::new()).unwrap();
                assert_eq!(
                    path.steps[0].status,
                    Status::Converged,
                    "d {d} n {n} {lambda1} {lambda2}"
                );
            }
        }
    }
}
