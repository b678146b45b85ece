//! The loops everything else stands on, written once for every instruction set.
//!
//! `pulp` picks AVX-512, AVX2, NEON or plain code when the program runs, so one binary is fast
//! everywhere. An operation that loops over many short vectors dispatches once, outside its loop.
//! Inside, write loops, not closures: a closure is compiled without the instruction set around it.

use pulp::{as_arrays, Arch, Simd, WithSimd};
use std::ops::{AddAssign, Mul};

/// Run an operation with the best instruction set of this machine.
pub fn dispatch<Op: WithSimd>(op: Op) -> Op::Output {
    Arch::new().dispatch(op)
}

/// Numbers in double and in single precision, so that a loop is written once for both.
pub trait Number: Copy + Default {
    /// A register of them.
    type Vector<S: Simd>: Copy;

    /// Whole registers, and the rest.
    fn vectors<S: Simd>(values: &[Self]) -> (&[Self::Vector<S>], &[Self]);

    /// The same, to be written.
    fn vectors_mut<S: Simd>(values: &mut [Self]) -> (&mut [Self::Vector<S>], &mut [Self]);

    /// A register full of one number.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;

    /// `a + b`.
    fn add<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;

    /// `a * b + c`.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;

    /// The sum over a register.
    fn sum<S: Simd>(simd: S, vector: Self::Vector<S>) -> Self;

    /// The larger of `a` and `|b|`, lane by lane.
    fn max_size<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;

    /// The largest of a register.
    fn largest<S: Simd>(simd: S, vector: Self::Vector<S>) -> Self;

    /// In double precision.
    fn double(self) -> f64;

    /// `a * b + c` rounded as the registers of `S` do it, so that no value depends on where it stands:
    /// once, where registers of four doubles and more come with it.
    fn scalar_mul_add<S: Simd>(a: Self, b: Self, c: Self) -> Self;
}

macro_rules! number {
    ($number:ty, $vector:ident, $as:ident, $as_mut:ident, $splat:ident, $add:ident, $mul_add:ident,
     $sum:ident, $max:ident, $abs:ident, $largest:ident) => {
        impl Number for $number {
            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            fn vectors<S: Simd>(values: &[Self]) -> (&[S::$vector], &[Self]) {
                S::$as(values)
            }

            #[inline(always)]
            fn vectors_mut<S: Simd>(values: &mut [Self]) -> (&mut [S::$vector], &mut [Self]) {
                S::$as_mut(values)
            }

            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$vector {
                simd.$splat(value)
            }

            #[inline(always)]
            fn add<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$add(a, b)
            }

            #[inline(always)]
            fn mul_add<S: Simd>(
                simd: S,
                a: S::$vector,
                b: S::$vector,
                c: S::$vector,
            ) -> S::$vector {
                simd.$mul_add(a, b, c)
            }

            #[inline(always)]
            fn sum<S: Simd>(simd: S, vector: S::$vector) -> Self {
                simd.$sum(vector)
            }

            #[inline(always)]
            fn max_size<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$max(a, simd.$abs(b))
            }

            #[inline(always)]
            fn largest<S: Simd>(simd: S, vector: S::$vector) -> Self {
                simd.$largest(vector)
            }

            #[inline(always)]
            fn double(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn scalar_mul_add<S: Simd>(a: Self, b: Self, c: Self) -> Self {
                if S::F64_LANES >= 4 {
                    a.mul_add(b, c)
                } else {
                    a * b + c
                }
            }
        }
    };
}

number!(
    f64,
    f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    splat_f64s,
    add_f64s,
    mul_add_e_f64s,
    reduce_sum_f64s,
    max_f64s,
    abs_f64s,
    reduce_max_f64s
);
number!(
    f32,
    f32s,
    as_simd_f32s,
    as_mut_simd_f32s,
    splat_f32s,
    add_f32s,
    mul_add_e_f32s,
    reduce_sum_f32s,
    max_f32s,
    abs_f32s,
    reduce_max_f32s
);

/// `a'b`, four running sums wide so that the additions overlap.
#[inline(always)]
pub fn dot<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    dot_of(simd, a, b)
}

/// The same in either precision.
#[inline(always)]
pub fn dot_of<S: Simd, T: Number + AddAssign + Mul<Output = T>>(simd: S, a: &[T], b: &[T]) -> T {
    let (a, a_tail) = T::vectors::<S>(a);
    let (b, b_tail) = T::vectors::<S>(b);
    let mut sums = [T::splat(simd, T::default()); 4];
    let (a_quads, a_rest) = as_arrays::<4, _>(a);
    let (b_quads, b_rest) = as_arrays::<4, _>(b);
    for (x, y) in a_quads.iter().zip(b_quads) {
        for lane in 0..4 {
            sums[lane] = T::mul_add(simd, x[lane], y[lane], sums[lane]);
        }
    }
    for (x, y) in a_rest.iter().zip(b_rest) {
        sums[0] = T::mul_add(simd, *x, *y, sums[0]);
    }
    let pairs = [T::add(simd, sums[0], sums[1]), T::add(simd, sums[2], sums[3])];
    let mut total = T::sum(simd, T::add(simd, pairs[0], pairs[1]));
    for (x, y) in a_tail.iter().zip(b_tail) {
        total += *x * *y;
    }
    total
}

/// The inner products of four vectors with the same one, two running sums wide each: together they
/// read it once, and no sum waits for another.
#[inline(always)]
pub fn dot_four<S: Simd, T: Number + AddAssign + Mul<Output = T>>(
    simd: S,
    a: [&[T]; 4],
    b: &[T],
) -> [T; 4] {
    let mut totals = [T::default(); 4];
    let mut even = [T::splat(simd, T::default()); 4];
    let mut odd = even;
    let (vectors, tail) = T::vectors::<S>(b);
    let [a0, a1, a2, a3] = a;
    let (a0, a1) = (T::vectors::<S>(&a0[..b.len()]).0, T::vectors::<S>(&a1[..b.len()]).0);
    let (a2, a3) = (T::vectors::<S>(&a2[..b.len()]).0, T::vectors::<S>(&a3[..b.len()]).0);
    let (pairs, rest) = as_arrays::<2, _>(vectors);
    let (p0, p1) = (as_arrays::<2, _>(a0).0, as_arrays::<2, _>(a1).0);
    let (p2, p3) = (as_arrays::<2, _>(a2).0, as_arrays::<2, _>(a3).0);
    for ((((y, x0), x1), x2), x3) in pairs.iter().zip(p0).zip(p1).zip(p2).zip(p3) {
        even[0] = T::mul_add(simd, x0[0], y[0], even[0]);
        even[1] = T::mul_add(simd, x1[0], y[0], even[1]);
        even[2] = T::mul_add(simd, x2[0], y[0], even[2]);
        even[3] = T::mul_add(simd, x3[0], y[0], even[3]);
        odd[0] = T::mul_add(simd, x0[1], y[1], odd[0]);
        odd[1] = T::mul_add(simd, x1[1], y[1], odd[1]);
        odd[2] = T::mul_add(simd, x2[1], y[1], odd[2]);
        odd[3] = T::mul_add(simd, x3[1], y[1], odd[3]);
    }
    if let [y] = rest {
        let last = vectors.len() - 1;
        even[0] = T::mul_add(simd, a0[last], *y, even[0]);
        even[1] = T::mul_add(simd, a1[last], *y, even[1]);
        even[2] = T::mul_add(simd, a2[last], *y, even[2]);
        even[3] = T::mul_add(simd, a3[last], *y, even[3]);
    }
    for (((total, even), odd), row) in totals.iter_mut().zip(even).zip(odd).zip(a) {
        *total = T::sum(simd, T::add(simd, even, odd));
        for (x, y) in row[b.len() - tail.len()..b.len()].iter().zip(tail) {
            *total += *x * *y;
        }
    }
    totals
}

/// `sum_i w_i a_i b_i`.
#[inline(always)]
pub fn dot3<S: Simd>(simd: S, w: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let (w, w_tail) = S::as_simd_f64s(w);
    let (a, a_tail) = S::as_simd_f64s(a);
    let (b, b_tail) = S::as_simd_f64s(b);
    let mut even = simd.splat_f64s(0.0);
    let mut odd = even;
    let (w_pairs, w_rest) = as_arrays::<2, _>(w);
    let (a_pairs, a_rest) = as_arrays::<2, _>(a);
    let (b_pairs, b_rest) = as_arrays::<2, _>(b);
    for ((z, x), y) in w_pairs.iter().zip(a_pairs).zip(b_pairs) {
        even = simd.mul_add_e_f64s(simd.mul_f64s(z[0], x[0]), y[0], even);
        odd = simd.mul_add_e_f64s(simd.mul_f64s(z[1], x[1]), y[1], odd);
    }
    for ((z, x), y) in w_rest.iter().zip(a_rest).zip(b_rest) {
        even = simd.mul_add_e_f64s(simd.mul_f64s(*z, *x), *y, even);
    }
    let mut total = simd.reduce_sum_f64s(simd.add_f64s(even, odd));
    for ((z, x), y) in w_tail.iter().zip(a_tail).zip(b_tail) {
        total += z * x * y;
    }
    total
}

/// `y += scale * x`.
#[inline(always)]
pub fn axpy<S: Simd, T: Number>(simd: S, scale: T, x: &[T], y: &mut [T]) {
    let (x, x_tail) = T::vectors::<S>(x);
    let (y, y_tail) = T::vectors_mut::<S>(y);
    let factor = T::splat(simd, scale);
    for (source, target) in x.iter().zip(y) {
        *target = T::mul_add(simd, factor, *source, *target);
    }
    for (source, target) in x_tail.iter().zip(y_tail) {
        *target = T::scalar_mul_add::<S>(scale, *source, *target);
    }
}

/// `y += sum_k scale_k x_k`, rounded as four times `axpy`.
#[inline(always)]
pub fn axpy_four<S: Simd, T: Number>(simd: S, scale: [T; 4], x: [&[T]; 4], y: &mut [T]) {
    let [x0, x1, x2, x3] = x;
    let (x0, x1) = (T::vectors::<S>(&x0[..y.len()]).0, T::vectors::<S>(&x1[..y.len()]).0);
    let (x2, x3) = (T::vectors::<S>(&x2[..y.len()]).0, T::vectors::<S>(&x3[..y.len()]).0);
    let count = y.len();
    let (y, y_tail) = T::vectors_mut::<S>(y);
    let [s0, s1, s2, s3] = scale;
    let (s0, s1) = (T::splat(simd, s0), T::splat(simd, s1));
    let (s2, s3) = (T::splat(simd, s2), T::splat(simd, s3));
    for ((((target, x0), x1), x2), x3) in y.iter_mut().zip(x0).zip(x1).zip(x2).zip(x3) {
        let half = T::mul_add(simd, s1, *x1, T::mul_add(simd, s0, *x0, *target));
        *target = T::mul_add(simd, s3, *x3, T::mul_add(simd, s2, *x2, half));
    }
    let whole = count - y_tail.len();
    for (k, target) in y_tail.iter_mut().enumerate() {
        for (scale, row) in scale.iter().zip(&x) {
            *target = T::scalar_mul_add::<S>(*scale, row[whole + k], *target);
        }
    }
}

/// `y += scale a b`, value by value.
#[inline(always)]
pub fn axpy_product<S: Simd>(simd: S, scale: f64, a: &[f64], b: &[f64], y: &mut [f64]) {
    let (a, a_tail) = S::as_simd_f64s(a);
    let (b, b_tail) = S::as_simd_f64s(b);
    let (y, y_tail) = S::as_mut_simd_f64s(y);
    let factor = simd.splat_f64s(scale);
    for ((target, a), b) in y.iter_mut().zip(a).zip(b) {
        *target = simd.mul_add_e_f64s(simd.mul_f64s(factor, *a), *b, *target);
    }
    for ((target, a), b) in y_tail.iter_mut().zip(a_tail).zip(b_tail) {
        *target = f64::scalar_mul_add::<S>(scale * a, *b, *target);
    }
}

/// The largest of non-negative values.
#[inline(always)]
pub fn largest<S: Simd>(simd: S, values: &[f64]) -> f64 {
    let (vectors, tail) = S::as_simd_f64s(values);
    let mut tops = simd.splat_f64s(0.0);
    for vector in vectors {
        tops = simd.max_f64s(tops, *vector);
    }
    let mut top = simd.reduce_max_f64s(tops);
    for value in tail {
        top = top.max(*value);
    }
    top
}

/// The largest size of any value.
#[inline(always)]
pub fn largest_size<S: Simd, T: Number>(simd: S, values: &[T]) -> f64 {
    let (vectors, tail) = T::vectors::<S>(values);
    let mut tops = T::splat(simd, T::default());
    for vector in vectors {
        tops = T::max_size(simd, tops, *vector);
    }
    let mut top = T::largest(simd, tops).double();
    for value in tail {
        top = top.max(value.double().abs());
    }
    top
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fours<'a>(&'a [Vec<f64>; 5]);

    impl WithSimd for Fours<'_> {
        type Output = ();

        /// Against plain sums and four single steps.
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let [a, b, c, d, y] = self.0;
            for (product, x) in dot_four(simd, [a, b, c, d], y).iter().zip(self.0) {
                let plain: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
                assert!((product - plain).abs() < 1e-13);
            }
            let scale = [0.5, -1.5, 0.25, 2.1];
            let (mut once, mut each) = (y.clone(), y.clone());
            axpy_four(simd, scale, [a, b, c, d], &mut once);
            scale.iter().zip(self.0).for_each(|(scale, x)| axpy(simd, *scale, x, &mut each));
            assert_eq!(once, each);
        }
    }

    /// Of every length up to some whole registers and a rest.
    #[test]
    fn four_at_a_time_are_as_one_by_one() {
        for length in 0..70 {
            let value = |k: usize, x: usize| ((k * 31 + x * 7919) % 97) as f64 / 97.0 - 0.4;
            let x = |x: usize| (0..length).map(|k| value(k, x)).collect::<Vec<f64>>();
            dispatch(Fours(&[x(1), x(2), x(3), x(4), x(5)]));
        }
    }
}
