//! Non-negative least squares for up to three columns.

/// Below this part of its length a column depends on those before it.
const DEPENDENT: f64 = 1e-9;

/// Coefficients ≥ 0 that bring Σ coefficient · column nearest to `target`: every subset of the
/// columns is tried, which for three is the exact answer. Also the sum of squares left.
pub(super) fn nonnegative(columns: &[Vec<f64>], target: &[f64]) -> (Vec<f64>, f64) {
    let nothing = target.iter().map(|y| y * y).sum();
    let mut best = (vec![0.0; columns.len()], nothing);
    for subset in 1..1_usize << columns.len() {
        let members: Vec<usize> = (0..columns.len()).filter(|i| subset >> i & 1 == 1).collect();
        let chosen: Vec<&[f64]> = members.iter().map(|&i| &*columns[i]).collect();
        let Some(found) = least_squares(&chosen, target) else { continue };
        if found.iter().any(|coefficient| *coefficient <= 0.0) {
            continue;
        }
        let left = residual(&chosen, &found, target);
        if left < best.1 {
            let mut coefficients = vec![0.0; columns.len()];
            members.iter().zip(&found).for_each(|(&i, value)| coefficients[i] = *value);
            best = (coefficients, left);
        }
    }
    best
}

fn residual(columns: &[&[f64]], coefficients: &[f64], target: &[f64]) -> f64 {
    let at = |row: usize| {
        let sum: f64 = columns.iter().zip(coefficients).map(|(column, c)| column[row] * c).sum();
        (sum - target[row]).powi(2)
    };
    (0..target.len()).map(at).sum()
}

/// Least squares by modified Gram–Schmidt; `None` where the columns depend on each other.
fn least_squares(columns: &[&[f64]], target: &[f64]) -> Option<Vec<f64>> {
    let mut orthogonal: Vec<Vec<f64>> = Vec::new();
    let mut upper: Vec<Vec<f64>> = Vec::new();
    let mut rest = target.to_vec();
    let mut right = Vec::new();
    for column in columns {
        let mut own = column.to_vec();
        let length = dot(&own, &own).sqrt();
        let above: Vec<f64> = orthogonal.iter().map(|q| project_out(&mut own, q)).collect();
        let left = dot(&own, &own).sqrt();
        if left <= DEPENDENT * length {
            return None;
        }
        own.iter_mut().for_each(|x| *x /= left);
        right.push(project_out(&mut rest, &own));
        upper.push(above.into_iter().chain([left]).collect());
        orthogonal.push(own);
    }
    let mut solution = vec![0.0; columns.len()];
    for row in (0..columns.len()).rev() {
        let known: f64 = (row + 1..columns.len()).map(|k| upper[k][row] * solution[k]).sum();
        solution[row] = (right[row] - known) / upper[row][row];
    }
    Some(solution)
}

/// Removes from `x` what points in the direction of the unit vector `q`; how much that was.
fn project_out(x: &mut [f64], q: &[f64]) -> f64 {
    let amount = dot(x, q);
    x.iter_mut().zip(q).for_each(|(x, q)| *x -= amount * q);
    amount
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: the line through (0,1), (1,3), (2,5) is 1 + 2x; a falling one has no slope left,
    /// and the mean remains.
    #[test]
    fn agrees_with_sums_by_hand() {
        let columns = [vec![1.0; 3], vec![0.0, 1.0, 2.0]];
        let (found, left) = nonnegative(&columns, &[1.0, 3.0, 5.0]);
        assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] - 2.0).abs() < 1e-12, "{found:?}");
        assert!(left < 1e-20);
        let (found, left) = nonnegative(&columns, &[3.0, 2.0, 1.0]);
        assert!((found[0] - 2.0).abs() < 1e-12 && found[1] == 0.0 && (left - 2.0).abs() < 1e-12);
        assert_eq!(nonnegative(&columns, &[-1.0, -1.0, -1.0]), (vec![0.0, 0.0], 3.0));
    }

    #[test]
    fn columns_that_depend_on_each_other_are_harmless() {
        let columns = [vec![1.0; 3], vec![2.0; 3], vec![0.0; 3]];
        let (found, left) = nonnegative(&columns, &[4.0; 3]);
        assert!((found[0] + 2.0 * found[1] - 4.0).abs() < 1e-12 && left < 1e-20, "{found:?}");
    }
}
