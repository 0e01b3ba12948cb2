//! Cutting the range of y into slices of equal weight.
//!
//! Rows with equal y always share a slice, so the cut does not depend on the order of the
//! rows. A response with few distinct values is its own cut: one slice a value.

/// The rows of each slice, in increasing order of y; each slice in increasing order of rows.
pub(crate) fn slices(y: &[f64], count: usize, weights: Option<&[f64]>) -> Vec<Vec<usize>> {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let total: f64 = weights.map_or(y.len() as f64, |weights| weights.iter().sum());
    // Rows that do not count belong nowhere.
    let mut order: Vec<usize> = (0..y.len()).filter(|&row| weight(row) > 0.0).collect();
    order.sort_by(|&a, &b| y[a].total_cmp(&y[b]).then(a.cmp(&b)));
    // -0.0 and 0.0 are the same response.
    let groups: Vec<&[usize]> = order.chunk_by(|&a, &b| y[a] == y[b]).collect();
    if groups.len() <= count {
        return groups.into_iter().map(sorted).collect();
    }
    let mut cut: Vec<Vec<usize>> = Vec::new();
    let mut current: Vec<usize> = Vec::new();
    let mut done = 0.0;
    for group in groups {
        current.extend(group);
        done += group.iter().map(|&row| weight(row)).sum::<f64>();
        // The end of slice h lies at the first change of y past h / count of all rows.
        if done * count as f64 >= (cut.len() + 1) as f64 * total {
            cut.push(sorted(&std::mem::take(&mut current)));
        }
    }
    if !current.is_empty() {
        cut.push(sorted(&current));
    }
    cut
}

fn sorted(rows: &[usize]) -> Vec<usize> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuous_responses_are_cut_evenly() {
        let y: Vec<f64> = (0..100).map(|i| f64::from((i * 37) % 100)).collect();
        let cut = slices(&y, 10, None);
        assert_eq!(cut.iter().map(Vec::len).collect::<Vec<_>>(), [10; 10]);
        for (h, slice) in cut.iter().enumerate() {
            assert!(slice.iter().all(|&i| y[i] as usize / 10 == h));
        }
    }

    #[test]
    fn few_values_are_classes_and_ties_stay_together() {
        let cut = slices(&[2.0, 1.0, 2.0, 0.0, 1.0, -0.0], 10, None);
        assert_eq!(cut, [vec![3, 5], vec![1, 4], vec![0, 2]]);
        // Sixty rows of one value and forty others.
        let y: Vec<f64> = (0..100).map(|i| if i < 60 { 0.0 } else { f64::from(i) }).collect();
        let cut = slices(&y, 5, None);
        assert_eq!(cut.iter().map(Vec::len).sum::<usize>(), 100);
        assert_eq!(cut[0].len(), 60);
        assert!(cut.len() <= 5);
        // The same rows, repeated and counted.
        let counted = slices(&[3.0, 1.0, 2.0, 4.0, 5.0], 2, Some(&[1.0, 4.0, 1.0, 0.0, 2.0]));
        assert_eq!(counted, [vec![1], vec![0, 2, 4]]);
    }
}
