//! How the columns of a table became covariates, so that the same can be done to other rows.

use serde::{Deserialize, Serialize};

/// A column of a table, and what was made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceColumn {
    /// Its name.
    pub name: String,
    /// For a column of texts: all of them. Each but the first, with which they are compared, is a covariate that is 1 where
    /// the column holds it and 0 elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<String>>,
    /// What stands in for a missing value, for each covariate made of the column; `None` if missing values are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Vec<f64>>,
}

impl SourceColumn {
    /// A column of numbers, none of them missing.
    pub fn numeric(name: impl Into<String>) -> Self {
        Self { name: name.into(), levels: None, fill: None }
    }

    /// The names of the covariates made of it: its own, or `column=level`.
    pub fn covariates(&self) -> Vec<String> {
        match &self.levels {
            None => vec![self.name.clone()],
            Some(levels) => levels.iter().skip(1).map(|level| format!("{}={level}", self.name)).collect(),
        }
    }

    /// Whether it is a covariate as it stands.
    pub fn is_plain(&self) -> bool {
        self.levels.is_none() && self.fill.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_but_the_first_are_covariates() {
        let levels = Some(["a", "b", "c"].map(String::from).to_vec());
        let column = SourceColumn { levels, ..SourceColumn::numeric("kind") };
        assert_eq!(column.covariates(), ["kind=b", "kind=c"]);
        assert_eq!(SourceColumn::numeric("size").covariates(), ["size"]);
        assert!(!column.is_plain() && SourceColumn::numeric("size").is_plain());
    }
}
