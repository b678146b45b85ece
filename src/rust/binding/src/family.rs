//! Which features R asks for.

use crate::convert::{self, unknown, Fields};
use crate::guard::{Failure, Result};
use extendr_api::prelude::*;
use kliepnet_core::error;
use kliepnet_core::features::factors::factor_variables;
use kliepnet_core::features::{Basis, Features, Products, Rbf, Table};
use kliepnet_core::samples::Samples;
use std::sync::Arc;

/// A family of features and its settings.
pub enum Family {
    /// Products of column powers.
    Products(Basis),
    /// A radial function of width sigma.
    Rbf(f64),
    /// Values from R: one column for each feature, and how many features each factor has.
    Table(Arc<[f64]>, Vec<usize>),
}

impl Family {
    /// The part of a specification made by `rust_features()` in R.
    pub fn read(features: &Robj) -> Result<Self> {
        let fields = Fields::new(features, "features")?;
        match fields.string("kind")?.as_str() {
            "products" => basis(&fields).map(Self::Products),
            "rbf" => Ok(Self::Rbf(fields.positive("sigma")?)),
            "table" => {
                let sizes = fields.integers("sizes")?.into_iter().map(whole);
                let values = fields.get("values")?;
                let values = Arc::from(convert::doubles(&values, "values")?);
                Ok(Self::Table(values, sizes.collect::<Result<_>>()?))
            }
            kind => Err(unknown("kind", kind)),
        }
    }

    /// Its features of a pair of samples; those of a table are already made.
    pub fn features(&self, samples: Samples) -> error::Result<Features> {
        Ok(match self {
            Self::Products(basis) => Products::new(samples, basis.clone())?.into(),
            Self::Rbf(sigma) => Rbf::new(samples, *sigma)?.into(),
            Self::Table(values, sizes) => Table::new(samples.rows(), values.clone(), sizes)?.into(),
        })
    }

    /// The variables of a factor; a factor of a table is known by its number only.
    pub fn variables(&self, factor: usize) -> (usize, usize) {
        match self {
            Self::Table(..) => (factor, factor),
            _ => factor_variables(factor),
        }
    }
}

fn whole(value: i32) -> Result<usize> {
    usize::try_from(value).map_err(|_| Failure::argument("exponents and sizes must be 0 or more"))
}

fn basis(fields: &Fields) -> Result<Basis> {
    let pair = fields.get("pair")?;
    let pair = convert::integer_matrix(&pair, "pair")?;
    if pair.nrows() != 2 {
        return Err(Failure::argument("`pair` must have two rows"));
    }
    let pair = pair.columns().into_iter().map(|column| Ok((whole(column[0])?, whole(column[1])?)));
    Ok(Basis {
        power: fields.positive("power")?,
        pair: pair.collect::<Result<_>>()?,
        single: fields.integers("single")?.into_iter().map(whole).collect::<Result<_>>()?,
    })
}
