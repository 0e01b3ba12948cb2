//! From a table to a regression: what each column is for, categories as indicators, missing values.

use smave::data::SourceColumn;

use crate::error::{Error, Result};
use crate::table::{Column, Table, Wanted};

/// What is done about missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They are an error.
    #[default]
    Error,
    /// Rows with any are left out.
    Drop,
    /// The mean of the column stands in for them; rows without a response or weight are left out.
    Mean,
}

/// What columns are for.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    /// Responses.
    pub targets: Vec<String>,
    /// Covariates; all columns without another role if `None`.
    pub features: Option<Vec<String>>,
    /// Not used at all.
    pub drop: Vec<String>,
    /// How often rows count.
    pub weights: Option<String>,
    /// Categories, even if they look like numbers.
    pub categorical: Vec<String>,
    /// What is done about missing values.
    pub missing: Missing,
}

/// Covariates and responses, all of them finite numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// Of the covariates.
    pub names: Vec<String>,
    /// Covariates, row after row.
    pub values: Vec<f64>,
    /// The values of each response.
    pub responses: Vec<Vec<f64>>,
    /// How often rows count.
    pub weights: Option<Vec<f64>>,
    /// What was made of each column.
    pub encoding: Vec<SourceColumn>,
    /// Values that were missing, and rows left out for it.
    pub n_missing: usize,
    /// Rows left out.
    pub n_dropped: usize,
}

impl Roles {
    /// What has to be read.
    pub fn wanted(&self) -> Wanted {
        let others = || self.targets.iter().chain(&self.weights);
        let only = self.features.as_ref().map(|features| {
            let mut only: Vec<String> = features.clone();
            only.extend(others().filter(|name| !features.contains(name)).cloned());
            only
        });
        Wanted {
            only,
            optional: Vec::new(),
            except: self.drop.clone(),
            text: self.categorical.clone(),
            numbers: others().cloned().collect(),
        }
    }
}

/// Gives the columns of a table their roles.
///
/// # Errors
/// When a column is missing or has two roles, nothing is left, or values are missing and should not be.
pub fn prepare(mut table: Table, roles: &Roles) -> Result<Prepared> {
    let own: Vec<usize> = roles.targets.iter().map(|name| table.position(name)).collect::<Result<_>>()?;
    let weight = roles.weights.as_ref().map(|name| table.position(name)).transpose()?;
    let others: Vec<usize> = own.iter().copied().chain(weight).collect();
    if let Some(twice) = (1..others.len()).find(|&i| others[..i].contains(&others[i])) {
        let name = table.columns[others[twice]].name.clone();
        return Err(Error::Column { file: table.file, name, problem: "it is asked for in two roles".into() });
    }
    let n_missing: usize = table.count_missing().iter().sum();
    let before = table.n_rows();
    if n_missing > 0 {
        match roles.missing {
            Missing::Error => {
                let places = table.missing_places();
                return Err(Error::Missing { file: table.file, count: n_missing, places });
            }
            Missing::Drop => table.retain_rows(|_, row| row.iter().all(|v| !v.is_nan())),
            Missing::Mean => table.retain_rows(|_, row| others.iter().all(|&c| !row[c].is_nan())),
        }
    }
    let n_dropped = before - table.n_rows();
    if table.n_rows() == 0 {
        let problem = format!("no row is left: each of {before} has a missing value");
        return Err(Error::File { file: table.file, problem });
    }
    let take = |c: usize| table.column(c).collect::<Vec<f64>>();
    let (responses, weights) = (own.iter().map(|&c| take(c)).collect(), weight.map(take));
    let keep: Vec<bool> = (0..table.columns.len()).map(|c| !others.contains(&c)).collect();
    if !keep.contains(&true) {
        let problem = format!("it has no columns besides {}", listed(&table.columns));
        return Err(Error::File { file: table.file, problem });
    }
    table.retain_columns(&keep);
    let encoding = encoding(&table, n_missing > 0 && roles.missing == Missing::Mean)?;
    let names: Vec<String> = encoding.iter().flat_map(SourceColumn::covariates).collect();
    if names.is_empty() {
        let problem = "no covariate is left: each column holds one text only".into();
        return Err(Error::File { file: table.file, problem });
    }
    let values = encode(table, &encoding)?;
    Ok(Prepared { names, values, responses, weights, encoding, n_missing, n_dropped })
}

/// Covariates for other rows, as they were made before; `table` holds the columns of `encoding` in their order.
///
/// # Errors
/// When a text is none of those known, or a value is missing that was not missing before.
pub fn apply(table: Table, encoding: &[SourceColumn]) -> Result<Vec<f64>> {
    let missing = table.count_missing();
    let refused: usize = missing
        .iter()
        .zip(encoding)
        .filter(|(_, column)| column.fill.is_none())
        .map(|(count, _)| count)
        .sum();
    if refused > 0 {
        let problem = format!(
            "values missing: {refused}, the first at {}; the model was fitted without --missing mean and cannot fill \
             them in",
            table.missing_places()
        );
        return Err(Error::File { file: table.file, problem });
    }
    encode(table, encoding)
}

fn listed(columns: &[Column]) -> String {
    columns.iter().map(|column| format!("'{}'", column.name)).collect::<Vec<_>>().join(", ")
}

/// What is made of each column.
fn encoding(table: &Table, fill: bool) -> Result<Vec<SourceColumn>> {
    (table.columns.iter().enumerate())
        .map(|(c, column)| {
            let mut counts = vec![0.0; column.levels.as_ref().map_or(1, Vec::len)];
            let (mut sum, mut known) = (0.0, 0.0);
            for value in table.column(c).filter(|v| !v.is_nan()) {
                if column.levels.is_some() {
                    counts[value as usize] += 1.0;
                }
                sum += value;
                known += 1.0;
            }
            if known == 0.0 {
                let problem = format!("all its values are missing; drop it with --drop {}", column.name);
                return Err(Error::Column { file: table.file.clone(), name: column.name.clone(), problem });
            }
            let Some(texts) = &column.levels else {
                // A sum may be beyond the largest number where the mean is not.
                let mean = || match sum / known {
                    mean if mean.is_finite() => mean,
                    _ => table.column(c).filter(|v| !v.is_nan()).map(|v| v / known).sum(),
                };
                let fill = fill.then(|| vec![mean()]);
                return Ok(SourceColumn { fill, ..SourceColumn::numeric(&column.name) });
            };
            // In the order of the alphabet, whatever the order of rows.
            let mut seen: Vec<usize> = (0..texts.len()).filter(|&code| counts[code] > 0.0).collect();
            seen.sort_by(|&a, &b| texts[a].cmp(&texts[b]));
            Ok(SourceColumn {
                name: column.name.clone(),
                fill: fill.then(|| seen.iter().skip(1).map(|&code| counts[code] / known).collect()),
                levels: Some(seen.into_iter().map(|code| texts[code].clone()).collect()),
            })
        })
        .collect()
}

/// The covariates of each row.
fn encode(table: Table, encoding: &[SourceColumn]) -> Result<Vec<f64>> {
    // What each level of the table is among those of the encoding.
    let mut codes: Vec<Vec<usize>> = Vec::new();
    for (c, (column, source)) in table.columns.iter().zip(encoding).enumerate() {
        let Some(known) = &source.levels else {
            codes.push(Vec::new());
            continue;
        };
        let find = |(code, text): (usize, &String)| {
            let place = known.iter().position(|level| level == text);
            // A text that only rows had which are gone does not matter.
            if place.is_none() && table.column(c).any(|v| v == code as f64) {
                let row = table.column(c).position(|v| v == code as f64).unwrap_or(0) + 1;
                let problem =
                    format!("row {row}: '{text}' is none of the texts the model knows: {}", known.join(", "));
                let (file, name) = (table.file.clone(), column.name.clone());
                return Err(Error::Column { file, name, problem });
            }
            Ok(place.unwrap_or(0))
        };
        let texts = column.levels.as_deref().unwrap_or_default();
        codes.push(texts.iter().enumerate().map(find).collect::<Result<_>>()?);
    }
    if encoding.iter().all(SourceColumn::is_plain) {
        return Ok(table.values);
    }
    let (n, width) = (table.n_rows(), table.columns.len());
    let wide: usize = encoding.iter().map(|source| source.levels.as_ref().map_or(1, |l| l.len() - 1)).sum();
    let mut values = table.values;
    let mut row = vec![0.0; width];
    let mut expand = |from: &[f64], values: &mut Vec<f64>, at: usize| {
        row.copy_from_slice(from);
        let out = &mut values[at * wide..(at + 1) * wide];
        let mut next = 0;
        for ((value, source), codes) in row.iter().zip(encoding).zip(&codes) {
            let count = source.levels.as_ref().map_or(1, |levels| levels.len() - 1);
            let out = &mut out[next..next + count];
            next += count;
            match (value.is_nan(), &source.fill, &source.levels) {
                (true, Some(fill), _) => out.copy_from_slice(fill),
                (_, _, None) => out[0] = *value,
                (_, _, Some(_)) => {
                    let code = codes[*value as usize];
                    out.iter_mut().enumerate().for_each(|(i, out)| *out = f64::from(u8::from(i + 1 == code)));
                }
            }
        }
    };
    // In place: rows that grow are moved from the last to the first, rows that shrink the other way.
    let mut from = vec![0.0; width];
    if wide >= width {
        values.resize(n * wide, 0.0);
        for at in (0..n).rev() {
            from.copy_from_slice(&values[at * width..(at + 1) * width]);
            expand(&from, &mut values, at);
        }
    } else {
        for at in 0..n {
            from.copy_from_slice(&values[at * width..(at + 1) * width]);
            expand(&from, &mut values, at);
        }
        values.truncate(n * wide);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delimited;

    fn read(text: &str, roles: &Roles) -> Result<Table> {
        delimited::read(text.as_bytes(), "t.csv", &roles.wanted())
    }

    fn roles(missing: Missing) -> Roles {
        Roles { targets: vec!["y".into()], missing, ..Roles::default() }
    }

    const TEXT: &str = "a,kind,y\n1,dog,10\n,cat,20\n3,,30\n5,owl,\n6,cat,60\n";

    #[test]
    fn missing_values_are_refused_dropped_or_filled_in() {
        let all = |missing| prepare(read(TEXT, &roles(missing)).unwrap(), &roles(missing));
        let message = all(Missing::Error).unwrap_err().to_string();
        assert!(
            message.contains("values missing: 3, the first at line 3 ('a'), line 4 ('kind'), line 5 ('y')")
        );
        let dropped = all(Missing::Drop).unwrap();
        assert_eq!((dropped.n_missing, dropped.n_dropped), (3, 3));
        // The owl went with its row.
        assert_eq!(
            (&dropped.names[..], &dropped.values[..]),
            (&["a".into(), "kind=dog".into()][..], &[1.0, 1.0, 6.0, 0.0][..])
        );
        let filled = all(Missing::Mean).unwrap();
        assert_eq!(filled.responses, [[10.0, 20.0, 30.0, 60.0]]);
        assert_eq!(filled.values, [1.0, 1.0, 10.0 / 3.0, 0.0, 3.0, 1.0 / 3.0, 6.0, 0.0]);
        assert_eq!(filled.encoding[1].fill, Some(vec![1.0 / 3.0]));
    }

    #[test]
    fn the_mean_of_the_largest_numbers_is_a_number() {
        let text = "a,y\n1.5e308,1\n1.7e308,2\n,3\n";
        let prepared = prepare(read(text, &roles(Missing::Mean)).unwrap(), &roles(Missing::Mean)).unwrap();
        assert_eq!(prepared.values[2], 1.6e308);
    }

    #[test]
    fn other_rows_are_encoded_in_the_same_way() {
        let prepared = prepare(read(TEXT, &roles(Missing::Mean)).unwrap(), &roles(Missing::Mean)).unwrap();
        let wanted = Wanted {
            only: Some(vec!["a".into(), "kind".into()]),
            text: vec!["kind".into()],
            ..Wanted::default()
        };
        let again = |text: &str| {
            apply(delimited::read(text.as_bytes(), "new.csv", &wanted).unwrap(), &prepared.encoding)
        };
        assert_eq!(again("kind,other,a\ndog,9,1\n,9,\n").unwrap(), [1.0, 1.0, 10.0 / 3.0, 1.0 / 3.0]);
        let message = again("kind,a\ncat,1\nfox,2\n").unwrap_err().to_string();
        assert_eq!(
            message,
            "new.csv, column 'kind': row 2: 'fox' is none of the texts the model knows: cat, dog"
        );
        // Without means there is nothing to fill in.
        let strict: Vec<SourceColumn> =
            prepared.encoding.iter().map(|column| SourceColumn { fill: None, ..column.clone() }).collect();
        let table = delimited::read("kind,a\ncat,\n".as_bytes(), "new.csv", &wanted).unwrap();
        assert!(apply(table, &strict).unwrap_err().to_string().contains("values missing: 1,"));
    }

    #[test]
    fn columns_have_one_role_and_some_must_be_covariates() {
        let text = "a,y,w\n1,2,1\n3,4,2\n5,5,1\n";
        let with = |roles: Roles| prepare(read(text, &roles)?, &roles);
        let weighted = Roles { weights: Some("w".into()), ..roles(Missing::Error) };
        let prepared = with(weighted.clone()).unwrap();
        assert_eq!((prepared.weights, prepared.names.len()), (Some(vec![1.0, 2.0, 1.0]), 1));
        let message = with(Roles { weights: Some("y".into()), ..weighted.clone() }).unwrap_err().to_string();
        assert!(message.contains("two roles"), "{message}");
        let message = with(Roles { drop: vec!["a".into()], ..weighted.clone() }).unwrap_err().to_string();
        assert!(message.contains("no columns besides 'y', 'w'"), "{message}");
        let only = with(Roles { features: Some(vec!["w".into()]), weights: None, ..weighted }).unwrap();
        assert_eq!((&only.names[0][..], &only.values[..]), ("w", &[1.0, 2.0, 1.0][..]));
        let message =
            with(Roles { drop: vec!["q".into()], ..roles(Missing::Error) }).unwrap_err().to_string();
        assert!(message.contains("no column 'q'"), "{message}");
    }

    #[test]
    fn a_category_of_one_text_is_no_covariate() {
        let text = "a,kind,y\n1,dog,10\n2,dog,20\n";
        let prepared = prepare(read(text, &roles(Missing::Error)).unwrap(), &roles(Missing::Error)).unwrap();
        assert_eq!((&prepared.names[..], &prepared.values[..]), (&["a".to_string()][..], &[1.0, 2.0][..]));
    }
}
