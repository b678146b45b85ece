//! The loops everything else stands on, written once for every instruction set.
//!
//! `pulp` picks AVX-512, AVX2, NEON or plain code when the program runs, so one binary is fast
//! everywhere. An operation that loops over many short vectors dispatches once, outside its loop.
//! Inside, write loops, not closures: a closure is compiled without the instruction set around it.

use pulp::{as_arrays, Arch, Simd, WithSimd};

/// Run an operation with the best instruction set of this machine.
pub fn dispatch<Op: WithSimd>(op: Op) -> Op::Output {
    Arch::new().dispatch(op)
}

/// `a'b`, four running sums wide so that the additions overlap.
#[inline(always)]
pub fn dot<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    let (a, a_tail) = S::as_simd_f64s(a);
    let (b, b_tail) = S::as_simd_f64s(b);
    let mut sums = [simd.splat_f64s(0.0); 4];
    let (a_quads, a_rest) = as_arrays::<4, _>(a);
    let (b_quads, b_rest) = as_arrays::<4, _>(b);
    for (x, y) in a_quads.iter().zip(b_quads) {
        for lane in 0..4 {
            sums[lane] = simd.mul_add_e_f64s(x[lane], y[lane], sums[lane]);
        }
    }
    for (x, y) in a_rest.iter().zip(b_rest) {
        sums[0] = simd.mul_add_e_f64s(*x, *y, sums[0]);
    }
    let pairs = [simd.add_f64s(sums[0], sums[1]), simd.add_f64s(sums[2], sums[3])];
    let mut total = simd.reduce_sum_f64s(simd.add_f64s(pairs[0], pairs[1]));
    for (x, y) in a_tail.iter().zip(b_tail) {
        total += x * y;
    }
    total
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

/// `a * b + c` rounded as the registers of `S` do it, so that no value depends on where it stands:
/// once, where registers of four and more come with it.
#[inline(always)]
fn scalar_mul_add<S: Simd>(a: f64, b: f64, c: f64) -> f64 {
    if S::F64_LANES >= 4 {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}

/// `y += scale * x`.
#[inline(always)]
pub fn axpy<S: Simd>(simd: S, scale: f64, x: &[f64], y: &mut [f64]) {
    let (x, x_tail) = S::as_simd_f64s(x);
    let (y, y_tail) = S::as_mut_simd_f64s(y);
    let factor = simd.splat_f64s(scale);
    for (source, target) in x.iter().zip(y) {
        *target = simd.mul_add_e_f64s(factor, *source, *target);
    }
    for (source, target) in x_tail.iter().zip(y_tail) {
        *target = scalar_mul_add::<S>(scale, *source, *target);
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
        *target = scalar_mul_add::<S>(scale * a, *b, *target);
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
pub fn largest_size<S: Simd>(simd: S, values: &[f64]) -> f64 {
    let (vectors, tail) = S::as_simd_f64s(values);
    let mut tops = simd.splat_f64s(0.0);
    for vector in vectors {
        tops = simd.max_f64s(tops, simd.abs_f64s(*vector));
    }
    let mut top = simd.reduce_max_f64s(tops);
    for value in tail {
        top = top.max(value.abs());
    }
    top
}
