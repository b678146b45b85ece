//! Which features R asks for.

use crate::convert::{self, unknown, Fields};
use crate::guard::{Failure, Result};
use extendr_api::prelude::*;
use kliepnet_core::error;
use kliepnet_core::features::factors::factor_variables_near;
use kliepnet_core::features::{Basis, Features, Polynomials, Products, Rbf, Table};
use kliepnet_core::samples::Samples;
use std::sync::Arc;

/// A family of features and its settings.
#[derive(Clone)]
pub enum Family {
    /// Products of column powers.
    Products(Basis),
    /// Products of orthonormal polynomials with these weights, which samples have to settle.
    Open(Basis, Vec<f64>),
    /// Products of orthonormal polynomials that are known.
    Polynomials(Basis, Polynomials),
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
            "products" => products(&fields),
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

    /// The family with everything settled that depends on the samples: polynomials are orthonormal
    /// over these.
    pub fn settle(&self, samples: &Samples) -> error::Result<Self> {
        match self {
            Self::Open(basis, weights) => {
                let polynomials = Polynomials::measure(samples, weights.clone())?;
                Ok(Self::Polynomials(basis.clone(), polynomials))
            }
            _ => Ok(self.clone()),
        }
    }

    /// What has been settled, for `rust_features()` in R; nothing for most families.
    pub fn settled(&self) -> Option<(&'static str, Robj)> {
        match self {
            Self::Polynomials(_, polynomials) => {
                Some(("recurrence", Robj::from(polynomials.recurrence())))
            }
            _ => None,
        }
    }

    /// Its features of a pair of samples; those of a table are already made.
    pub fn features(&self, samples: Samples) -> error::Result<Features> {
        Ok(match self {
            Self::Products(basis) => Products::new(samples, basis.clone())?.into(),
            Self::Open(..) => self.settle(&samples)?.features(samples)?,
            Self::Polynomials(basis, polynomials) => {
                Products::of_polynomials(&samples, basis.clone(), polynomials)?.into()
            }
            Self::Rbf(sigma) => Rbf::new(samples, *sigma)?.into(),
            Self::Table(values, sizes) => Table::new(samples.rows(), values.clone(), sizes)?.into(),
        })
    }

    /// Refuse families that cannot compute their features of new data by themselves.
    pub fn check_new_data(&self) -> Result<()> {
        match self {
            Self::Table(..) => Err(Failure::argument("a table has no features of new data")),
            Self::Open(..) => Err(Failure::argument("polynomials of new data need a recurrence")),
            _ => Ok(()),
        }
    }

    /// The variables of a factor, of which the first is likely to be `u`; a factor of a table is known
    /// by its number only.
    pub fn variables(&self, factor: usize, u: usize) -> (usize, usize) {
        match self {
            Self::Table(..) => (factor, factor),
            _ => factor_variables_near(factor, u),
        }
    }
}

fn whole(value: i32) -> Result<usize> {
    usize::try_from(value).map_err(|_| Failure::argument("exponents and sizes must be 0 or more"))
}

fn products(fields: &Fields) -> Result<Family> {
    let basis = basis(fields)?;
    let weights = match fields.optional("weights")? {
        Some(weights) => convert::doubles(&weights, "weights")?.to_vec(),
        None => return Ok(Family::Products(basis)),
    };
    let known = match fields.optional("recurrence")? {
        Some(known) => Polynomials::known(weights, convert::doubles(&known, "recurrence")?),
        None => return Ok(Family::Open(basis, weights)),
    };
    let known = known.map_err(|error| Failure::argument(error.to_string()))?;
    Ok(Family::Polynomials(basis, known))
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
