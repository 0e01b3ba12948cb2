//! Facts of the paper about $F$, $F_\varepsilon$, $D_n$ and the gradient, each against a literal
//! transcription with p x p Gram matrices.

use rand::RngExt;
use rand_distr::StandardNormal;

use crate::data::dense::Dense;
use crate::data::responses::Responses;
use crate::linalg::{Mat, MatRef, inner, norm, orthonormalize, symmetric_eigen};
use crate::local::index::build_index;
use crate::local::neighborhoods::{Neighborhoods, Weighting};
use crate::manifold::check::{gradient_order, random_matrix};
use crate::manifold::stiefel::random_frame;
use crate::manifold::subspace::squared_distance;
use crate::objective::mave::{Evaluation, MaveObjective};
use crate::rng::{Purpose, Rng, stream};

/// A small problem with neighborhoods frozen at a random basis.
struct Problem {
    x: Mat<f64>,
    dense: Dense<'static, f64>,
    y: Vec<f64>,
    hoods: Neighborhoods,
    b: Mat<f64>,
}

impl Problem {
    fn new(n: usize, p: usize, d: usize, weighting: Weighting, seed: u64) -> Self {
        let mut rng = rng(seed);
        let x = random_matrix(n, p, &mut rng);
        let y: Vec<f64> = (0..n).map(|i| x[(i, 0)] * x[(i, p - 1)] + x[(i, 0)] + noise(&mut rng)).collect();
        let b = random_frame(p, d, &mut rng);
        let dense = Dense::new((0..n * p).map(|e| x[(e / p, e % p)]).collect::<Vec<_>>(), n, p).unwrap();
        let z = crate::Points::from_values(row_major((&x * &b).as_ref()), d).unwrap();
        let k = (n / 2).max(d + 2);
        let anchors: Vec<usize> = (0..n).collect();
        let hoods = Neighborhoods::find(&*build_index(&z, k), &z, &anchors, k, weighting, None);
        Self { x, dense, y, hoods, b: random_frame(p, d, &mut rng) }
    }

    fn evaluate(&self, b: MatRef<'_, f64>, ridge: f64, anchors: &[usize]) -> Evaluation {
        MaveObjective::new(&self.dense, &self.y, ridge).unwrap().evaluate(b, &self.hoods, anchors).unwrap()
    }

    fn all(&self) -> Vec<usize> {
        (0..self.y.len()).collect()
    }

    /// G^(j) and μ^(j) of one anchor, by their definitions.
    fn gram(&self, j: usize) -> (Mat<f64>, Mat<f64>) {
        let hood = self.hoods.get(j);
        let p = self.x.ncols();
        let weight = |q: usize| hood.weights.map_or(1.0 / hood.rows.len() as f64, |w| w[q]);
        let rows = || hood.rows.iter().map(|&row| row as usize).enumerate();
        let mean_y: f64 = rows().map(|(q, i)| weight(q) * self.y[i]).sum();
        let mean_x: Vec<f64> =
            (0..p).map(|c| rows().map(|(q, i)| weight(q) * self.x[(i, c)]).sum()).collect();
        let centered = |i: usize, c: usize| self.x[(i, c)] - mean_x[c];
        let g =
            Mat::from_fn(p, p, |a, b| rows().map(|(q, i)| weight(q) * centered(i, a) * centered(i, b)).sum());
        let mu = Mat::from_fn(p, 1, |a, _| {
            rows().map(|(q, i)| weight(q) * centered(i, a) * (self.y[i] - mean_y)).sum()
        });
        (g, mu)
    }

    /// f_j and h_{j,ε} = 2 (μ - G_ε B u) u', the paper's formulas to the letter.
    fn literal(&self, b: &Mat<f64>, ridge: f64, j: usize) -> (f64, Mat<f64>) {
        let (mut g, mu) = self.gram(j);
        for a in 0..g.nrows() {
            g[(a, a)] += ridge;
        }
        let u = solve(&(b.transpose() * &g * b), &(b.transpose() * &mu));
        let f = inner((b.transpose() * &mu).as_ref(), u.as_ref());
        let mut h = (&mu - &g * (b * &u)) * u.transpose();
        h *= 2.0;
        (f, h)
    }

    /// D_n(B): weighted residual sums of squares of the local regressions of y on B'(x_i - x_j).
    fn residual_variance(&self, b: &Mat<f64>) -> f64 {
        let z = &self.x * b;
        (0..self.y.len())
            .map(|j| {
                let hood = self.hoods.get(j);
                let (k, d) = (hood.rows.len(), b.ncols());
                let root = |q: usize| hood.weights.map_or(1.0 / k as f64, |w| w[q]).sqrt();
                let row = |q: usize| hood.rows[q] as usize;
                // Ordinary least squares on the design (1, z_i - z_j) scaled by root weights.
                let design = Mat::from_fn(k, d + 1, |q, c| {
                    root(q) * if c == 0 { 1.0 } else { z[(row(q), c - 1)] - z[(j, c - 1)] }
                });
                let response = Mat::from_fn(k, 1, |q, _| root(q) * self.y[row(q)]);
                let q = orthonormalize(design.as_ref()).unwrap();
                let residual = &response - &q * (q.transpose() * &response);
                residual.squared_norm_l2()
            })
            .sum()
    }
}

fn rng(seed: u64) -> Rng {
    stream(seed, Purpose::Start, 0)
}

fn noise(rng: &mut Rng) -> f64 {
    rng.sample(StandardNormal)
}

fn row_major(a: MatRef<'_, f64>) -> Vec<f64> {
    (0..a.nrows()).flat_map(|i| (0..a.ncols()).map(move |j| a[(i, j)])).collect()
}

fn solve(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    use faer::linalg::solvers::Solve;
    a.partial_piv_lu().solve(b)
}

const BOTH: [Weighting; 2] = [Weighting::Uniform, Weighting::Epanechnikov];

#[test]
fn value_and_gradient_equal_the_gram_formulas() {
    for weighting in BOTH {
        for (n, p, d) in [(40, 6, 1), (40, 6, 2), (50, 8, 3), (60, 9, 5), (30, 4, 4)] {
            let problem = Problem::new(n, p, d, weighting, 1);
            for ridge in [0.0, 1e-5, 0.3] {
                let found = problem.evaluate(problem.b.as_ref(), ridge, &problem.all());
                let terms: Vec<_> = (0..n).map(|j| problem.literal(&problem.b, ridge, j)).collect();
                let value: f64 = terms.iter().map(|(f, _)| f).sum();
                let gradient = terms.iter().fold(Mat::zeros(p, d), |sum, (_, h)| sum + h);
                assert!((found.value - value).abs() < 1e-10 * value, "{n} {p} {d} {ridge}");
                let error = norm((&found.gradient - &gradient).as_ref());
                // For d = p and no ridge F is constant: compare with the size of its terms.
                let size =
                    terms.iter().map(|(_, h)| norm(h.as_ref())).fold(norm(gradient.as_ref()), f64::max);
                assert!(error < 1e-10 * size.max(1e-3), "{n} {p} {d} {ridge}: {error} of {size}");
            }
        }
    }
}

#[test]
fn gradient_passes_the_taylor_test_and_a_wrong_one_does_not() {
    let problem = Problem::new(50, 7, 2, Weighting::Epanechnikov, 2);
    let f = |b: MatRef<'_, f64>| problem.evaluate(b, 1e-3, &problem.all()).value;
    let gradient = problem.evaluate(problem.b.as_ref(), 1e-3, &problem.all()).gradient;
    let xi = crate::manifold::stiefel::project_to_tangent(
        problem.b.as_ref(),
        random_matrix(7, 2, &mut rng(3)).as_ref(),
    );
    let order = gradient_order(f, problem.b.as_ref(), gradient.as_ref(), xi.as_ref());
    assert!((order - 2.0).abs() < 0.1, "order {order}");
    let wrong = &gradient * faer::Scale(1.5);
    let order = gradient_order(f, problem.b.as_ref(), wrong.as_ref(), xi.as_ref());
    assert!(order < 1.5, "order {order}");
}

#[test]
fn gradient_is_horizontal() {
    let problem = Problem::new(60, 8, 3, Weighting::Uniform, 4);
    for ridge in [0.0, 0.1] {
        let gradient = problem.evaluate(problem.b.as_ref(), ridge, &[3, 14, 15, 9, 26]).gradient;
        let vertical = norm((problem.b.transpose() * &gradient).as_ref());
        assert!(vertical < 1e-12 * norm(gradient.as_ref()));
    }
}

#[test]
fn value_ignores_rotation_of_the_basis() {
    let problem = Problem::new(60, 8, 3, Weighting::Uniform, 5);
    let q = random_frame(3, 3, &mut rng(6));
    let turned = &problem.b * &q;
    let before = problem.evaluate(problem.b.as_ref(), 1e-5, &problem.all());
    let after = problem.evaluate(turned.as_ref(), 1e-5, &problem.all());
    assert!((before.value - after.value).abs() < 1e-11 * before.value);
    // The gradient turns with the basis.
    assert!(norm((&before.gradient * &q - &after.gradient).as_ref()) < 1e-10 * norm(after.gradient.as_ref()));
}

#[test]
fn residual_variance_plus_value_is_constant() {
    for weighting in BOTH {
        let problem = Problem::new(50, 7, 2, weighting, 7);
        let total = |b: &Mat<f64>| {
            problem.residual_variance(b) + problem.evaluate(b.as_ref(), 0.0, &problem.all()).value
        };
        let first = total(&problem.b);
        let value = problem.evaluate(problem.b.as_ref(), 0.0, &problem.all()).value;
        for seed in 0..4 {
            let other = random_frame(7, 2, &mut rng(100 + seed));
            assert!((total(&other) - first).abs() < 1e-10 * first);
            let moved = problem.evaluate(other.as_ref(), 0.0, &problem.all()).value - value;
            assert!(moved.abs() > 1e-3 * value, "F itself must vary for this to say anything");
        }
    }
}

/// Every batch of m = 3 out of n = 9, exactly.
#[test]
fn batch_gradient_is_unbiased_with_the_without_replacement_variance() {
    let (n, m) = (9usize, 3usize);
    let problem = Problem::new(n, 4, 2, Weighting::Uniform, 8);
    let full = problem.evaluate(problem.b.as_ref(), 1e-3, &problem.all()).gradient;
    let (mut batches, mut mean, mut variance) = (0, Mat::zeros(4, 2), 0.0);
    for i in 0..n {
        for j in i + 1..n {
            for l in j + 1..n {
                let mut g = problem.evaluate(problem.b.as_ref(), 1e-3, &[i, j, l]).gradient;
                g *= n as f64 / m as f64;
                variance += (&g - &full).squared_norm_l2();
                mean += g;
                batches += 1;
            }
        }
    }
    assert_eq!(batches, 84);
    mean *= 1.0 / 84.0;
    variance /= 84.0;
    assert!(norm((&mean - &full).as_ref()) < 1e-11 * norm(full.as_ref()));
    // n (n - m) / (m (n - 1)) times the sum of squared deviations of the h_j.
    let average = &full * faer::Scale(1.0 / n as f64);
    let spread: f64 = (0..n)
        .map(|j| (problem.evaluate(problem.b.as_ref(), 1e-3, &[j]).gradient - &average).squared_norm_l2())
        .sum();
    let identity = (n * (n - m)) as f64 / (m * (n - 1)) as f64 * spread;
    assert!((variance - identity).abs() < 1e-11 * identity, "{variance} against {identity}");
}

#[test]
fn ridge_bias_lies_within_its_bounds() {
    let problem = Problem::new(50, 6, 2, Weighting::Uniform, 9);
    let grams: Vec<_> = (0..50).map(|j| problem.gram(j)).collect();
    let m_mu = grams.iter().map(|(_, mu)| norm(mu.as_ref())).fold(0.0, f64::max);
    let c = (grams.iter())
        .map(|(g, _)| {
            let projected = problem.b.transpose() * g * &problem.b;
            *symmetric_eigen(projected.as_ref()).unwrap().0.last().unwrap()
        })
        .fold(f64::INFINITY, f64::min);
    assert!(c > 0.0);
    let exact = problem.evaluate(problem.b.as_ref(), 0.0, &problem.all()).value;
    for ridge in [1e-6, 1e-3, 1e-1] {
        let bias = exact - problem.evaluate(problem.b.as_ref(), ridge, &problem.all()).value;
        assert!(bias > 0.0, "{bias}");
        assert!(bias <= 50.0 * m_mu * m_mu * ridge / (c * c), "{bias}");
    }
}

/// Each neighborhood is a scaled orthoplex, whose Gram matrix is a multiple of the identity; then F
/// is c^-1 tr(B' M B) with M = sum μ μ', maximal at the top eigenvectors of M.
#[test]
fn isotropic_neighborhoods_are_solved_by_eigenvectors() {
    let (p, d, anchors) = (5, 2, 8);
    let mut rng = rng(10);
    let radius = 1.5;
    let mut values = Vec::new();
    let mut y = Vec::new();
    let mut lists = Vec::new();
    for _ in 0..anchors {
        let q = random_frame(p, p, &mut rng);
        let mut list = Vec::new();
        for axis in 0..p {
            for sign in [-radius, radius] {
                list.push((y.len() as u32, 1.0));
                values.extend(q.col(axis).iter().map(|v| sign * v));
                y.push(noise(&mut rng));
            }
        }
        lists.push(list);
    }
    let n = y.len();
    let x = Mat::from_fn(n, p, |i, j| values[i * p + j]);
    let hoods = Neighborhoods::from_lists(lists).unwrap();
    let problem =
        Problem { x, dense: Dense::new(values, n, p).unwrap(), y, hoods, b: random_frame(p, d, &mut rng) };
    let c = radius * radius / p as f64;
    let mut m = Mat::<f64>::zeros(p, p);
    for j in 0..anchors {
        let (g, mu) = problem.gram(j);
        assert!(norm((g - Mat::<f64>::identity(p, p) * faer::Scale(c)).as_ref()) < 1e-12);
        m += &mu * mu.transpose();
    }
    let everywhere: Vec<usize> = (0..anchors).collect();
    let value = |b: &Mat<f64>| problem.evaluate(b.as_ref(), 0.0, &everywhere).value;
    let trace = (problem.b.transpose() * &m * &problem.b).diagonal().column_vector().iter().sum::<f64>();
    assert!((value(&problem.b) - trace / c).abs() < 1e-11 * trace);

    let (eigenvalues, vectors) = symmetric_eigen(m.as_ref()).unwrap();
    let top = vectors.as_ref().subcols(0, d).to_owned();
    assert!((value(&top) - (eigenvalues[0] + eigenvalues[1]) / c).abs() < 1e-10);
    assert!(norm(problem.evaluate(top.as_ref(), 0.0, &everywhere).gradient.as_ref()) < 1e-10);
    for seed in 0..20 {
        let other = random_frame(p, d, &mut stream(seed, Purpose::Start, 1));
        assert!(value(&other) < value(&top));
    }
    // Plain ascent from a random start arrives there.
    let mut b = problem.b.clone();
    for _ in 0..2000 {
        let g = problem.evaluate(b.as_ref(), 0.0, &everywhere).gradient;
        let step = &g * faer::Scale(0.25 * c / eigenvalues[0]);
        b = crate::manifold::stiefel::retract(b.as_ref(), step.as_ref()).unwrap();
    }
    assert!(squared_distance(b.as_ref(), top.as_ref()).unwrap() < 1e-6);
}

#[test]
fn shapes_are_checked() {
    let problem = Problem::new(20, 4, 2, Weighting::Uniform, 11);
    let objective = MaveObjective::new(&problem.dense, &problem.y, 0.0).unwrap();
    assert!(objective.evaluate(Mat::<f64>::identity(5, 2).as_ref(), &problem.hoods, &[0]).is_err());
    assert!(objective.evaluate(problem.b.as_ref(), &problem.hoods, &[20]).is_err());
    let beyond = Neighborhoods::from_lists([vec![(20, 1.0)]]).unwrap();
    assert!(objective.evaluate(problem.b.as_ref(), &beyond, &[0]).is_err());
    assert!(MaveObjective::new(&problem.dense, &problem.y[1..], 0.0).is_err());
    let nothing = objective.evaluate(problem.b.as_ref(), &problem.hoods, &[]).unwrap();
    assert_eq!((nothing.value, norm(nothing.gradient.as_ref())), (0.0, 0.0));
}

/// The shortcut by leverages against fitting again without the row.
#[test]
fn leaving_one_out_equals_fitting_without_it() {
    let mut rng = rng(12);
    let (n, d) = (60, 2);
    let values: Vec<f64> = (0..n * d).map(|_| noise(&mut rng)).collect();
    let y: Vec<f64> = (0..n).map(|i| values[i * d].sin() + 0.2 * noise(&mut rng)).collect();
    let x = Dense::new(&values[..], n, d).unwrap();
    let z = crate::linalg::Points::from_values(values.clone(), d).unwrap();
    let objective = MaveObjective::new(&x, &y, 0.0).unwrap();
    let rows: Vec<usize> = (0..n).step_by(3).collect();
    for weighting in [Weighting::Uniform, Weighting::Epanechnikov] {
        let hoods = Neighborhoods::find(&*build_index(&z, 15), &z, &rows, 15, weighting, None);
        let mut expected = 0.0;
        for (a, &row) in rows.iter().enumerate() {
            let hood = hoods.get(a);
            let weight = |q: usize| hood.weights.map_or(1.0, |w| w[q]);
            let others: Vec<usize> = (0..15).filter(|&q| hood.rows[q] as usize != row).collect();
            assert_eq!(others.len(), 14);
            let mut gram = Mat::<f64>::zeros(d + 1, d + 1);
            let mut moment = Mat::<f64>::zeros(d + 1, 1);
            let lifted =
                |i: usize| Mat::from_fn(d + 1, 1, |c, _| if c == 0 { 1.0 } else { z.point(i)[c - 1] });
            for q in others {
                let v = lifted(hood.rows[q] as usize);
                gram += &v * v.transpose() * faer::Scale(weight(q));
                moment += &v * faer::Scale(weight(q) * y[hood.rows[q] as usize]);
            }
            let fit = faer::linalg::solvers::Solve::solve(&gram.partial_piv_lu(), &moment);
            let predicted = (fit.transpose() * lifted(row))[(0, 0)];
            expected += (y[row] - predicted).powi(2) / rows.len() as f64;
        }
        let found = objective.leave_one_out(&z, &hoods, &rows);
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }
}

#[test]
fn several_responses_add_up() {
    for d in [2, 4] {
        let problem = Problem::new(60, 6, d, Weighting::Epanechnikov, 8);
        let other: Vec<f64> = problem.y.iter().map(|y| (2.0 * y).sin()).collect();
        let pair = [&problem.y[..], &other].concat();
        let at = |y: Responses<'_>| {
            let objective = MaveObjective::new(&problem.dense, y, 1e-3).unwrap();
            objective.evaluate(problem.b.as_ref(), &problem.hoods, &problem.all()).unwrap()
        };
        let (a, b, both) = (at((&problem.y).into()), at((&other).into()), at(Responses::new(&pair, 60)));
        assert!((both.value - a.value - b.value).abs() < 1e-10 * both.value);
        let apart = norm((both.gradient.clone() - a.gradient - b.gradient).as_ref());
        assert!(apart < 1e-10 * norm(both.gradient.as_ref()), "{apart}");
        let apart = norm((both.slope_outer.clone() - a.slope_outer - b.slope_outer).as_ref());
        assert!(apart < 1e-10 * norm(both.slope_outer.as_ref()), "{apart}");
    }
}
