"""The path of the paper's estimator by SciPy's L-BFGS on its dual.

Usage: python3 bench/dual_scipy.py samples.csv rows lambda1 lambda2...

The first `rows` lines of the file are the sample in the numerator, the others
that in the denominator, both standardised. Prints the processor seconds, the
sum of the objectives, and the largest gap relative to its objective.

The unknowns are w with weights alpha = softmax(w) of the observations, from
the solution at the lambda2 before. The dual objective is
    sum alpha log(n alpha) + sum max(|xi| - lambda2, 0)^2 / (2 lambda1),
xi = mean features of the numerator minus their alpha-weighted mean, and
theta = sign(xi) max(|xi| - lambda2, 0) / lambda1. With scores s = H'theta the
gap is the divergence of softmax(s) from alpha.
"""

import sys
import time

import numpy
from scipy.optimize import minimize

TOLERANCE = 1e-6
FLOOR = 1e-3


class Reached(Exception):
    """The gap is small enough."""


class Dual:
    """The dual at one lambda2, and the certificate of its last point."""

    def __init__(self, features, target, lambda1, lambda2):
        self.features = features
        self.target = target
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.at = None

    def move_to(self, w):
        """The certificate at w, where it is not that of the last point."""
        if self.at is None or not numpy.array_equal(self.at, w):
            self.evaluate(w)

    def evaluate(self, w):
        """The objective and its gradient."""
        shifted = w - w.max()
        log_alpha = shifted - numpy.log(numpy.exp(shifted).sum())
        alpha = numpy.exp(log_alpha)
        xi = self.target - self.features @ alpha
        excess = numpy.maximum(numpy.abs(xi) - self.lambda2, 0.0)
        theta = numpy.sign(xi) * excess / self.lambda1
        scores = theta @ self.features
        value = alpha @ log_alpha + numpy.log(len(w))
        value += excess @ excess / (2.0 * self.lambda1)
        slope = log_alpha - scores
        self.certify(log_alpha, alpha, theta, scores)
        self.at = w.copy()
        return value, alpha * (slope - alpha @ slope)

    def certify(self, log_alpha, alpha, theta, scores):
        """The primal objective at theta, and the gap to this dual point."""
        top = scores.max()
        log_sum = top + numpy.log(numpy.exp(scores - top).sum())
        self.gap = alpha @ (log_alpha - scores + log_sum)
        size = numpy.abs(theta).sum()
        self.objective = log_sum - numpy.log(len(scores)) - theta @ self.target
        self.objective += self.lambda1 / 2 * theta @ theta + self.lambda2 * size

    def relative_gap(self):
        """The gap in units of the objective."""
        return self.gap / max(abs(self.objective), FLOOR)

    def look(self, w):
        """End where the gap of an accepted point is small enough."""
        self.move_to(w)
        if self.relative_gap() <= TOLERANCE:
            raise Reached

    def solve(self, start):
        """From w = start to the gap, or as far as L-BFGS gets."""
        try:
            self.look(start)
            found = minimize(
                self.evaluate, start, jac=True, method="L-BFGS-B",
                callback=self.look,
                options={"maxiter": 100000, "maxfun": 200000,
                         "ftol": 0.0, "gtol": 0.0})
            self.move_to(found.x)
        except Reached:
            pass
        return self.at


def all_products(sample):
    """One row for each pair of variables and each variable alone."""
    first, second = numpy.tril_indices(sample.shape[1])
    return numpy.ascontiguousarray((sample[:, first] * sample[:, second]).T)


def main():
    """Fit the path and print what it took."""
    values = numpy.loadtxt(sys.argv[1], delimiter=",")
    rows = int(sys.argv[2])
    lambda1, grid = float(sys.argv[3]), [float(v) for v in sys.argv[4:]]
    begun = time.process_time()
    target = all_products(values[:rows]).mean(axis=1)
    features = all_products(values[rows:])
    w, objective, worst = numpy.zeros(features.shape[1]), 0.0, 0.0
    for lambda2 in grid:
        dual = Dual(features, target, lambda1, lambda2)
        w = dual.solve(w)
        objective += dual.objective
        worst = max(worst, dual.relative_gap())
    print(f"seconds={time.process_time() - begun} objective={objective!r} "
          f"worst={worst}")


main()
