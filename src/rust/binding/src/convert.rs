//! R objects in, R objects out. R has checked what a user can get wrong; what arrives here in the
//! wrong shape is our own mistake, and becomes a failure that names it.

use crate::guard::{Failure, Result};
use crate::rapi;
use extendr_api::prelude::*;
use ndarray::{ArrayView2, ShapeBuilder};

/// The largest whole number up to which every whole number is a double.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

fn expected(name: &str, what: &str) -> Failure {
    Failure::argument(format!("`{name}` must be {what}"))
}

/// A word that is none of those allowed.
pub fn unknown(name: &str, value: &str) -> Failure {
    Failure::argument(format!("`{name}` cannot be \"{value}\""))
}

/// A double vector, borrowed.
pub fn doubles<'a>(value: &'a Robj, name: &str) -> Result<&'a [f64]> {
    value.as_real_slice().ok_or_else(|| expected(name, "a double vector"))
}

/// An integer vector, borrowed.
pub fn integers<'a>(value: &'a Robj, name: &str) -> Result<&'a [i32]> {
    value.as_integer_slice().ok_or_else(|| expected(name, "an integer vector"))
}

/// A double matrix, borrowed in R's column-major order.
pub fn matrix<'a>(value: &'a Robj, name: &str) -> Result<ArrayView2<'a, f64>> {
    let wrong = || expected(name, "a double matrix");
    let data = value.as_real_slice().ok_or_else(wrong)?;
    ArrayView2::from_shape(dimensions(value).ok_or_else(wrong)?.f(), data).map_err(|_| wrong())
}

/// An integer matrix, borrowed in R's column-major order.
pub fn integer_matrix<'a>(value: &'a Robj, name: &str) -> Result<ArrayView2<'a, i32>> {
    let wrong = || expected(name, "an integer matrix");
    let data = value.as_integer_slice().ok_or_else(wrong)?;
    ArrayView2::from_shape(dimensions(value).ok_or_else(wrong)?.f(), data).map_err(|_| wrong())
}

fn dimensions(value: &Robj) -> Option<(usize, usize)> {
    let dim = value.dim()?;
    match dim.as_robj().as_integer_slice()? {
        [rows, columns] => Some((usize::try_from(*rows).ok()?, usize::try_from(*columns).ok()?)),
        _ => None,
    }
}

/// One double that is a number (infinite is one, NA is not).
pub fn double(value: &Robj, name: &str) -> Result<f64> {
    match value.as_real_slice() {
        Some([number]) if !number.is_nan() => Ok(*number),
        _ => Err(expected(name, "one number")),
    }
}

/// The value if it may be; what it must be if not.
pub fn in_range(good: bool, value: f64, name: &str, what: &str) -> Result<f64> {
    if good {
        Ok(value)
    } else {
        Err(expected(name, what))
    }
}

/// One whole number from 0 to 2^53, integer or double.
pub fn whole(value: &Robj, name: &str) -> Result<u64> {
    let number = match value.as_integer() {
        Some(integer) => f64::from(integer),
        None => double(value, name)?,
    };
    if (0.0..=LARGEST_WHOLE).contains(&number) && number.fract() == 0.0 {
        Ok(number as u64)
    } else {
        Err(expected(name, "a whole number, 0 or more"))
    }
}

/// One count, integer or double.
pub fn count(value: &Robj, name: &str) -> Result<usize> {
    usize::try_from(whole(value, name)?).map_err(|_| expected(name, "a smaller number"))
}

/// TRUE or FALSE.
pub fn flag(value: &Robj, name: &str) -> Result<bool> {
    value.as_bool().ok_or_else(|| expected(name, "TRUE or FALSE"))
}

/// One string that is not NA.
pub fn string<'a>(value: &'a Robj, name: &str) -> Result<&'a str> {
    match value.as_str() {
        Some(text) if value.is_string() && !value.is_na() => Ok(text),
        _ => Err(expected(name, "one string")),
    }
}

/// The elements of a list.
pub fn list(value: &Robj, name: &str) -> Result<Vec<Robj>> {
    let list = value.as_list().ok_or_else(|| expected(name, "a list"))?;
    Ok(list.values().collect())
}

/// A named list of arguments, each looked up by its name.
pub struct Fields {
    list: List,
    name: &'static str,
}

impl Fields {
    /// The fields of `value`, known to messages as `name`.
    pub fn new(value: &Robj, name: &'static str) -> Result<Self> {
        let list = value.as_list().ok_or_else(|| expected(name, "a list"))?;
        Ok(Self { list, name })
    }

    /// A field as it is; an error when there is none of this name.
    pub fn get(&self, field: &str) -> Result<Robj> {
        self.list
            .iter()
            .find(|(name, _)| *name == field)
            .map(|(_, value)| value)
            .ok_or_else(|| Failure::argument(format!("`{}` has no `{field}`", self.name)))
    }

    /// A field that may be NULL.
    pub fn optional(&self, field: &str) -> Result<Option<Robj>> {
        self.get(field).map(|value| (!value.is_null()).then_some(value))
    }

    /// One double.
    pub fn double(&self, field: &str) -> Result<f64> {
        double(&self.get(field)?, field)
    }

    /// One finite double, 0 or more.
    pub fn level(&self, field: &str) -> Result<f64> {
        let value = self.double(field)?;
        in_range(value >= 0.0 && value.is_finite(), value, field, "finite and 0 or more")
    }

    /// One finite double above 0.
    pub fn positive(&self, field: &str) -> Result<f64> {
        let value = self.double(field)?;
        in_range(value > 0.0 && value.is_finite(), value, field, "finite and above 0")
    }

    /// One double between 0 and 1, both excluded.
    pub fn share(&self, field: &str) -> Result<f64> {
        let value = self.double(field)?;
        in_range(value > 0.0 && value < 1.0, value, field, "between 0 and 1")
    }

    /// One count.
    pub fn count(&self, field: &str) -> Result<usize> {
        count(&self.get(field)?, field)
    }

    /// One string.
    pub fn string(&self, field: &str) -> Result<String> {
        string(&self.get(field)?, field).map(str::to_string)
    }

    /// A double vector, copied: for short ones.
    pub fn doubles(&self, field: &str) -> Result<Vec<f64>> {
        doubles(&self.get(field)?, field).map(<[f64]>::to_vec)
    }

    /// An integer vector, copied: for short ones.
    pub fn integers(&self, field: &str) -> Result<Vec<i32>> {
        integers(&self.get(field)?, field).map(<[i32]>::to_vec)
    }
}

/// A named list for R.
pub fn named_list<'a>(fields: impl IntoIterator<Item = (&'a str, Robj)>) -> Result<Robj> {
    let (names, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    List::from_names_and_values(names, values)
        .map(Robj::from)
        .map_err(|error| Failure::argument(error.to_string()))
}

/// A copy of a double matrix for R, in its column-major order.
pub fn matrix_for_r(values: ArrayView2<'_, f64>) -> Result<Robj> {
    let (rows, columns) = values.dim();
    let mut matrix = rapi::allocate_doubles(rows, columns)?;
    let target = matrix.as_real_slice_mut().ok_or_else(|| expected("matrix", "of doubles"))?;
    for (cell, value) in target.iter_mut().zip(values.t().iter()) {
        *cell = *value;
    }
    Ok(matrix)
}

/// An integer vector for R; a count that R's integers cannot hold is a failure.
pub fn counts(values: impl ExactSizeIterator<Item = usize>) -> Result<Robj> {
    // Collecting results would not know how many there are, and grow step by step.
    let mut out = Vec::with_capacity(values.len());
    for value in values {
        out.push(integer(value)?);
    }
    Ok(Robj::from(out))
}

/// One integer for R.
pub fn integer(value: usize) -> Result<i32> {
    i32::try_from(value).map_err(|_| Failure::argument("a count does not fit an R integer"))
}
