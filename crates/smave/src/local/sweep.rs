//! Squared distances from some points to all rows, in the order of rows.
//!
//! What a kernel needs, whose weights reach a good part of all rows. In few dimensions, differences along
//! columns, in blocks; in many, matrix products ([`Products`]), whose rounding changes a weight by some
//! 1e-13. Cost per query: n p.

use pulp::{Arch, Simd, WithSimd};

use crate::linalg::Points;
use crate::local::products::Products;
use crate::local::scan::{BLOCK, Columns};

/// All rows, ready to be measured from anywhere.
pub(crate) enum Sweep<'a> {
    Columns(Columns),
    Products(Products<'a>),
}

impl<'a> Sweep<'a> {
    pub fn new(points: &'a Points) -> Self {
        match points.dim() {
            9.. if let Some(products) = Products::new(points) => Self::Products(products),
            _ => Self::Columns(Columns::new(points, &(0..points.len() as u32).collect::<Vec<_>>())),
        }
    }

    /// Calls `visit` with the squared distances of each query in turn.
    pub fn each(&self, queries: &[&[f64]], visit: &mut dyn FnMut(&[f64])) {
        match self {
            Self::Products(products) => {
                products.approximate(queries, |_, distances2, _| {
                    // Rounding may leave less than nothing.
                    distances2.iter_mut().for_each(|v| *v = v.max(0.0));
                    visit(distances2);
                });
            }
            Self::Columns(columns) => {
                let mut distances2 = Vec::new();
                for query in queries {
                    Arch::new().dispatch(Along { columns, query, distances2: &mut distances2 });
                    visit(&distances2);
                }
            }
        }
    }
}

/// One query along columns, compiled for the vector instructions of the machine.
struct Along<'a> {
    columns: &'a Columns,
    query: &'a [f64],
    distances2: &'a mut Vec<f64>,
}

impl WithSimd for Along<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { columns, query, distances2 } = self;
        distances2.clear();
        for first in (0..columns.len()).step_by(BLOCK) {
            distances2.extend_from_slice(&columns.distances2(query, first));
        }
        distances2.truncate(columns.len());
    }
}
