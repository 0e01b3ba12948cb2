//! One suite for all methods, what each must find, and where each must fail.

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::linalg::{Mat, orthonormalize, symmetric_eigen};
use smave::local::{Neighborhoods, Weighting};
use smave::objective::MaveObjective;
use smave::{
    Ade, Dataset, Dense, Estimator, InverseRegression, Opg, OpgAdaptive, OpgWalk, Pca, Reduction, Rmave,
    Smave, squared_distance,
};

/// Methods that draw no random numbers.
fn deterministic(d: usize) -> Vec<Box<dyn Estimator>> {
    vec![
        Box::new(Pca::new(d)),
        Box::new(Opg::knn(d)),
        Box::new(InverseRegression::sir(d)),
        Box::new(InverseRegression::save(d)),
        Box::new(InverseRegression::dr(d)),
        Box::new(InverseRegression::phd(d)),
        Box::new(InverseRegression::phd_residual(d)),
    ]
}

fn all(d: usize) -> Vec<Box<dyn Estimator>> {
    let mut methods = deterministic(d);
    methods.push(Box::new(Opg::kernel(d)));
    methods.push(Box::new(OpgAdaptive::new(d)));
    methods.push(Box::new(OpgWalk::new(d)));
    methods.push(Box::new(Smave::new(d)));
    methods.push(Box::new(Smave::published(d)));
    methods.push(Box::new(Rmave::mave(d)));
    methods.push(Box::new(Rmave::kernel(d).max_iter(3)));
    methods.push(Box::new(Rmave::knn(d).max_iter(3)));
    methods
}

const N: usize = 600;
const P: usize = 6;

fn drawn() -> (Vec<f64>, Vec<f64>) {
    let made = Simulation::new(Link::Interaction, Covariance::Ar1, N, P).seed(4).draw().unwrap();
    (made.x.values().to_vec(), made.y)
}

fn fit(method: &dyn Estimator, values: &[f64], y: &[f64]) -> Reduction {
    let p = values.len() / y.len();
    method.fit(&Dataset::new(Dense::new(values, y.len(), p).unwrap(), y).unwrap()).unwrap()
}

fn apart(a: &Reduction, b: &Mat<f64>) -> f64 {
    squared_distance(a.directions().as_ref(), b.as_ref()).unwrap()
}

#[test]
fn rotating_x_rotates_the_directions() {
    let (values, y) = drawn();
    let q = orthonormalize(Mat::from_fn(P, P, |i, j| ((i * i * 3 + j * 5 + i * j) as f64).sin()).as_ref())
        .unwrap();
    let turned: Vec<f64> = values
        .chunks_exact(P)
        .flat_map(|row| (0..P).map(|j| (0..P).map(|l| row[l] * q[(l, j)]).sum::<f64>()).collect::<Vec<_>>())
        .collect();
    let mut methods = deterministic(2);
    methods.push(Box::new(OpgAdaptive::new(2)));
    methods.push(Box::new(OpgWalk::new(2)));
    for method in methods {
        let (before, after) = (fit(&*method, &values, &y), fit(&*method, &turned, &y));
        let expected = q.transpose() * before.directions();
        assert!(apart(&after, &expected) < 1e-16, "{}: {}", method.name(), apart(&after, &expected));
    }
}

#[test]
fn order_of_rows_and_scale_of_y_change_nothing() {
    let (values, y) = drawn();
    let order: Vec<usize> = (0..N).map(|i| (i * 7 + 3) % N).collect();
    let shuffled: Vec<f64> = order.iter().flat_map(|&i| values[i * P..(i + 1) * P].to_vec()).collect();
    let shuffled_y: Vec<f64> = order.iter().map(|&i| y[i]).collect();
    let scaled: Vec<f64> = y.iter().map(|v| 2.0 + 300.0 * v).collect();
    let mut methods = deterministic(2);
    methods.push(Box::new(Opg::kernel(2)));
    for method in methods {
        let before = fit(&*method, &values, &y);
        for (values, y) in [(&shuffled, &shuffled_y), (&values, &scaled)] {
            let after = fit(&*method, values, y);
            assert!(apart(&after, &before.directions()) < 1e-18, "{}", method.name());
            for j in 0..2 {
                for i in 0..P {
                    // Not only the span: each direction and its sign.
                    let (a, b) = (after.basis()[(i, j)], before.basis()[(i, j)]);
                    assert!((a - b).abs() < 1e-8, "{}", method.name());
                }
            }
        }
    }
}

#[test]
fn permuting_columns_permutes_the_directions() {
    let (values, y) = drawn();
    let order = [3, 0, 5, 1, 4, 2];
    let permuted: Vec<f64> = values.chunks_exact(P).flat_map(|row| order.map(|j| row[j])).collect();
    let mut methods = deterministic(2);
    methods.push(Box::new(Opg::kernel(2)));
    methods.push(Box::new(OpgAdaptive::new(2)));
    methods.push(Box::new(OpgWalk::new(2)));
    methods.push(Box::new(Ade::new(1)));
    for method in methods {
        let before = fit(&*method, &values, &y).directions();
        let expected = Mat::from_fn(P, before.ncols(), |i, j| before[(order[i], j)]);
        assert!(apart(&fit(&*method, &permuted, &y), &expected) < 1e-18, "{}", method.name());
    }
}

#[test]
fn threads_leave_no_trace_in_any_method() {
    let made = Simulation::new(Link::Polynomial, Covariance::Ar1, 1200, 20).seed(1).draw().unwrap();
    let data = Dataset::new(made.x, made.y).unwrap();
    for method in all(3) {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| method.fit(&data).unwrap())
        };
        let (one, four) = (on(1), on(4));
        assert_eq!(one.basis(), four.basis(), "{}", method.name());
        assert_eq!(one.eigenvalues(), four.eigenvalues(), "{}", method.name());
    }
}

#[test]
fn results_are_orthonormal_and_impossible_dimensions_refused() {
    let (values, y) = drawn();
    let data = Dataset::new(Dense::new(&values[..], N, P).unwrap(), &y[..]).unwrap();
    for d in [1, 3, P] {
        for method in all(d) {
            let fit = method.fit(&data).unwrap();
            assert_eq!((fit.method(), fit.n_components()), (method.name(), d));
            let gram = fit.basis().transpose() * fit.basis() - Mat::<f64>::identity(d, d);
            assert!(gram.norm_l2() < 1e-12, "{}", method.name());
        }
    }
    for d in [0, P + 1] {
        for method in all(d) {
            let error = method.fit(&data).unwrap_err().to_string();
            assert!(error.contains(&format!("to {d} dimensions")), "{}: {error}", method.name());
        }
    }
}

#[test]
fn few_rows_constant_columns_and_classes_are_survived() {
    for (n, p) in [(40, 60), (30, 8)] {
        let made = Simulation::new(Link::Interaction, Covariance::Identity, n, p).seed(2).draw().unwrap();
        let mut values = made.x.values().to_vec();
        values.chunks_exact_mut(p).for_each(|row| row[1] = 7.0);
        let classes: Vec<f64> =
            made.y.iter().map(|v| f64::from(u8::from(*v > 0.5) + u8::from(*v > 1.5))).collect();
        for y in [&made.y, &classes] {
            for method in all(2) {
                let found = fit(&*method, &values, y);
                assert!(found.directions().norm_l2().is_finite(), "{} {n} {p}", method.name());
            }
        }
        // As many directions as covariates, one of which is constant.
        for method in all(p).iter().filter(|method| n > p && method.name() != "sir") {
            assert_eq!(fit(&**method, &values, &made.y).n_components(), p, "{}", method.name());
        }
    }
    let (values, y) = drawn();
    let two: Vec<f64> = y.iter().map(|v| f64::from(u8::from(*v > 0.7))).collect();
    let data = Dataset::new(Dense::new(&values[..], N, P).unwrap(), two).unwrap();
    let error = InverseRegression::sir(2).fit(&data).unwrap_err().to_string();
    assert!(error.contains("number of slices or classes of y, here 2: SIR finds no more"), "{error}");
}

/// y = link(x'β) + noise, X normal with unit covariance.
fn single_index(link: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<f64>, Mat<f64>) {
    let made = Simulation::new(Link::Polynomial, Covariance::Identity, 3000, P).seed(8).draw().unwrap();
    let beta =
        orthonormalize(Mat::from_fn(P, 1, |i, _| [1.0, -1.0, 0.0, 2.0, 0.0, 0.5][i]).as_ref()).unwrap();
    // The noise of the simulation: what its own link leaves of y.
    let noise = |i: usize, row: &[f64]| {
        let z = |c: usize| row.iter().enumerate().map(|(l, x)| x * made.basis[(l, c)]).sum::<f64>();
        made.y[i] - Link::Polynomial.evaluate(z(0), z(1))
    };
    let y = made
        .x
        .values()
        .chunks_exact(P)
        .enumerate()
        .map(|(i, row)| link(row.iter().enumerate().map(|(l, x)| x * beta[(l, 0)]).sum()) + noise(i, row))
        .collect();
    (made.x.values().to_vec(), y, beta)
}

#[test]
fn each_method_finds_what_it_sees_and_misses_what_it_cannot() {
    let even = single_index(|t| t * t);
    let rising = single_index(|t| t + t.powi(3) / 4.0);
    let straight = single_index(|t| 2.0 * t);
    let error = |method: InverseRegression, (values, y, beta): &(Vec<f64>, Vec<f64>, Mat<f64>)| {
        apart(&fit(&method, values, y), beta)
    };
    let (found, missed) = (0.02, 0.3);
    assert!(error(InverseRegression::sir(1), &rising) < found);
    assert!(error(InverseRegression::sir(1), &even) > missed, "an even link defeats SIR");
    assert!(error(InverseRegression::save(1), &even) < found);
    assert!(error(InverseRegression::dr(1), &even) < found);
    assert!(error(InverseRegression::dr(1), &rising) < found);
    assert!(error(InverseRegression::phd(1), &even) < found);
    assert!(error(InverseRegression::phd_residual(1), &even) < found);
    assert!(error(InverseRegression::phd_residual(1), &straight) > missed, "a linear link defeats pHd");
}

#[test]
fn gradients_find_even_links_that_moments_miss_and_the_walk_survives_many_covariates() {
    let (values, y, beta) = single_index(|t| t * t);
    let methods = [&Opg::kernel(1) as &dyn Estimator, &Opg::knn(1), &OpgAdaptive::new(1), &OpgWalk::new(1)];
    for method in methods {
        let error = apart(&fit(method, &values, &y), &beta);
        assert!(error < 0.02, "{}: {error}", method.name());
    }
    let made = Simulation::new(Link::Interaction, Covariance::Identity, 1000, 40).seed(3).draw().unwrap();
    let error = |method: &dyn Estimator| apart(&fit(method, made.x.values(), &made.y), &made.basis);
    assert!(error(&OpgWalk::new(2)) < 0.15, "{}", error(&OpgWalk::new(2)));
    assert!(error(&Opg::kernel(2)) > 1.0, "in 40 dimensions no two rows are near each other");
}

/// With as many neighbors as covariates a local regression interpolates; the default ridge keeps it from that.
#[test]
fn as_many_neighbors_as_covariates_do_no_harm() {
    let made = Simulation::new(Link::Exponential, Covariance::Identity, 600, 50).seed(2).draw().unwrap();
    let error = |method: &Opg| apart(&fit(method, made.x.values(), &made.y), &made.basis);
    let published = Opg::knn(2).n_neighbors(50).ridge(1e-5);
    assert!(error(&published) > 1.5, "{}", error(&published));
    assert!(error(&Opg::knn(2)) < 1.2, "{}", error(&Opg::knn(2)));
}

/// Elliptic neighborhoods against spherical ones, where those still see something.
#[test]
fn adapting_neighborhoods_improves_on_spheres() {
    let made = Simulation::new(Link::Interaction, Covariance::Ar1, 1000, 8).seed(5).draw().unwrap();
    let error = |method: &dyn Estimator| apart(&fit(method, made.x.values(), &made.y), &made.basis);
    let (spheres, ellipses) = (error(&Opg::kernel(2)), error(&OpgAdaptive::new(2)));
    assert!(ellipses < 0.5 * spheres && ellipses < 0.02, "{ellipses} against {spheres}");
}

/// Clusters of the corners of a cube: whatever the anchor, kernel weights are a product over the coordinates, and every
/// local Gram matrix is a multiple of the identity. Then the maximum of MAVE is the solution of OPG
/// (paper, Prop. on isotropic local Gram matrices).
#[test]
fn mave_and_opg_coincide_where_neighborhoods_are_isotropic() {
    let (p, clusters) = (4usize, 30);
    let (mut values, mut y) = (Vec::new(), Vec::new());
    for cluster in 0..clusters {
        for corner in 0..1usize << p {
            let row: Vec<f64> = (0..p).map(|c| if corner >> c & 1 == 1 { 1.0 } else { -1.0 }).collect();
            let wave = |c: usize, factor: f64| (factor * (cluster * (c + 1)) as f64).sin();
            y.push(row.iter().enumerate().map(|(c, x)| wave(c, 0.7) * x).sum::<f64>() + wave(corner, 0.3));
            // Far apart along one coordinate, which leaves the median spread over coordinates alone.
            values.extend(
                row.iter().enumerate().map(|(c, x)| if c == 0 { x + 1e3 * cluster as f64 } else { *x }),
            );
        }
    }
    let between = |values: &[f64]| {
        apart(&fit(&Rmave::mave(2), values, &y), &fit(&Opg::kernel(2), values, &y).directions())
    };
    assert!(between(&values) < 1e-8, "{}", between(&values));
    // Not so once the cubes are sheared.
    let sheared: Vec<f64> =
        values.chunks_exact(p).flat_map(|x| [x[0], x[1] + 0.8 * x[2], x[2], x[3] - 0.5 * x[1]]).collect();
    assert!(between(&sheared) > 1e-4, "{}", between(&sheared));
}

/// Methods with random steps need not end at the same bits when y is scaled, but must reach the same
/// criterion: the share of the variance of y that local linear regressions explain.
#[test]
fn the_scale_of_y_does_not_change_the_criterion_reached() {
    let (values, y) = drawn();
    let scaled: Vec<f64> = y.iter().map(|v| 2.0 + 300.0 * v).collect();
    let methods: Vec<Box<dyn Estimator>> = vec![
        Box::new(OpgAdaptive::new(2)),
        Box::new(OpgWalk::new(2)),
        Box::new(Smave::new(2)),
        Box::new(Smave::published(2)),
        Box::new(Rmave::mave(2)),
        Box::new(Rmave::kernel(2)),
        Box::new(Rmave::knn(2)),
    ];
    let explained = |found: &Reduction| {
        let x = Dense::new(&values[..], N, P).unwrap();
        let z = found.transform(&x).unwrap();
        let index = smave::local::build_index(&z, 60);
        let anchors: Vec<usize> = (0..N).collect();
        let hoods = Neighborhoods::find(&*index, &z, &anchors, 60, Weighting::Uniform, None);
        let objective = MaveObjective::new(&x, &y, 1e-5).unwrap();
        let basis = orthonormalize(found.directions().as_ref()).unwrap();
        objective.evaluate(basis.as_ref(), &hoods, &anchors).unwrap().value
    };
    for method in methods {
        let (before, after) =
            (explained(&fit(&*method, &values, &y)), explained(&fit(&*method, &values, &scaled)));
        assert!((before / after - 1.0).abs() < 0.01, "{}: {before} and {after}", method.name());
    }
}

#[test]
fn refined_mave_improves_on_its_start() {
    let made = Simulation::new(Link::Rational, Covariance::Ar1, 1000, 8).seed(5).draw().unwrap();
    let error = |method: &dyn Estimator| apart(&fit(method, made.x.values(), &made.y), &made.basis);
    let start = error(&Opg::kernel(2));
    for method in [Rmave::kernel(2), Rmave::knn(2)] {
        let refined = error(&method);
        assert!(refined < 0.02 && refined < 0.7 * start, "{}: {refined} from {start}", method.name());
    }
    assert!(error(&Rmave::mave(2)) < 0.1, "{}", error(&Rmave::mave(2)));
}

#[test]
fn the_average_derivative_finds_a_rising_link_and_loses_an_even_one() {
    let (values, y, beta) = single_index(|t| t + t.powi(3) / 4.0);
    assert!(apart(&fit(&Ade::new(1), &values, &y), &beta) < 0.01);
    let (values, y, beta) = single_index(|t| t * t);
    assert!(apart(&fit(&Ade::new(1), &values, &y), &beta) > 0.2, "slopes of an even link cancel");
    let data = Dataset::new(Dense::new(values, y.len(), P).unwrap(), y).unwrap();
    let error = Ade::new(2).fit(&data).unwrap_err().to_string();
    assert!(error.contains("the average derivative is one direction"), "{error}");
}

#[test]
fn components_find_the_regression_only_where_the_variance_is() {
    let (values, y, beta) = single_index(|t| t);
    // Stretch X along the direction of the regression, then along another.
    let stretch = |direction: &Mat<f64>| -> Vec<f64> {
        values
            .chunks_exact(P)
            .flat_map(|row| {
                let t: f64 = row.iter().enumerate().map(|(l, x)| x * direction[(l, 0)]).sum();
                row.iter().enumerate().map(|(l, x)| x + 3.0 * t * direction[(l, 0)]).collect::<Vec<_>>()
            })
            .collect()
    };
    assert!(apart(&fit(&Pca::new(1), &stretch(&beta), &y), &beta) < 0.01);
    let other = Mat::from_fn(P, 1, |i, _| f64::from(i == 2));
    let pca = fit(&Pca::new(1), &stretch(&other), &y);
    assert!(apart(&pca, &beta) > 0.9, "PCA must follow the variance");
    assert!((pca.eigenvalues()[0] - 16.0).abs() < 1.5, "variance (1 + 3)^2, got {}", pca.eigenvalues()[0]);
}

/// The candidate matrices in naive loops, whitened by a Cholesky factor instead of a symmetric root.
fn literal(name: &str, values: &[f64], y: &[f64], d: usize, n_slices: usize) -> Mat<f64> {
    let (n, p) = (y.len(), values.len() / y.len());
    let mean: Vec<f64> = (0..p).map(|c| (0..n).map(|i| values[i * p + c]).sum::<f64>() / n as f64).collect();
    let x = Mat::from_fn(n, p, |i, c| values[i * p + c] - mean[c]);
    let sigma = x.transpose() * &x * faer::Scale(1.0 / n as f64);
    let l = sigma.llt(faer::Side::Lower).unwrap().L().to_owned();
    // Rows of z solve L z = x.
    let mut z = x.clone();
    for i in 0..n {
        for a in 0..p {
            let partial: f64 = (0..a).map(|b| l[(a, b)] * z[(i, b)]).sum();
            z[(i, a)] = (z[(i, a)] - partial) / l[(a, a)];
        }
    }
    let y_mean = y.iter().sum::<f64>() / n as f64;
    let average = |weight: &dyn Fn(usize) -> f64| {
        Mat::from_fn(p, p, |a, b| (0..n).map(|i| weight(i) * z[(i, a)] * z[(i, b)]).sum::<f64>() / n as f64)
    };
    let identity = Mat::<f64>::identity(p, p);
    let matrix = match name {
        "phd" => average(&|i| y[i] - y_mean),
        "phd-residual" => {
            let slope: Vec<f64> =
                (0..p).map(|a| (0..n).map(|i| y[i] * z[(i, a)]).sum::<f64>() / n as f64).collect();
            average(&|i| y[i] - y_mean - (0..p).map(|a| slope[a] * z[(i, a)]).sum::<f64>())
        }
        _ => {
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&a, &b| y[a].total_cmp(&y[b]));
            let mut between = Mat::<f64>::zeros(p, p);
            let mut save = Mat::<f64>::zeros(p, p);
            let mut dr = Mat::<f64>::zeros(p, p);
            for rows in order.chunks(n / n_slices) {
                let (size, share) = (rows.len() as f64, rows.len() as f64 / n as f64);
                let m = Mat::from_fn(p, 1, |a, _| rows.iter().map(|&i| z[(i, a)]).sum::<f64>() / size);
                let v = Mat::from_fn(p, p, |a, b| {
                    rows.iter().map(|&i| (z[(i, a)] - m[(a, 0)]) * (z[(i, b)] - m[(b, 0)])).sum::<f64>()
                        / size
                });
                let mm = &m * m.transpose();
                between += &mm * faer::Scale(share);
                let inside = &identity - &v;
                save += &inside * &inside * faer::Scale(share);
                let second = &v + &mm;
                dr += &second * &second * faer::Scale(share);
            }
            let trace: f64 = (0..p).map(|a| between[(a, a)]).sum();
            match name {
                "sir" => between,
                "save" => save,
                _ => {
                    (dr + &between * &between + &between * faer::Scale(trace) - &identity) * faer::Scale(2.0)
                }
            }
        }
    };
    let (eigenvalues, vectors) = symmetric_eigen(matrix.as_ref()).unwrap();
    let mut order: Vec<usize> = (0..p).collect();
    order.sort_by(|&a, &b| eigenvalues[b].abs().total_cmp(&eigenvalues[a].abs()));
    if !name.starts_with("phd") {
        order = (0..p).collect();
    }
    // Directions of x are those of z times the inverse of L, transposed.
    let mut beta = Mat::from_fn(p, d, |i, j| vectors[(i, order[j])]);
    for j in 0..d {
        for a in (0..p).rev() {
            let partial: f64 = (a + 1..p).map(|b| l[(b, a)] * beta[(b, j)]).sum();
            beta[(a, j)] = (beta[(a, j)] - partial) / l[(a, a)];
        }
    }
    beta
}

#[test]
fn inverse_methods_agree_with_a_literal_implementation() {
    let made = Simulation::new(Link::Rational, Covariance::Ar1, 120, 4).seed(6).draw().unwrap();
    for d in [1, 2] {
        for method in [
            InverseRegression::sir(d),
            InverseRegression::save(d),
            InverseRegression::dr(d),
            InverseRegression::phd(d),
            InverseRegression::phd_residual(d),
        ] {
            let method = method.n_slices(6);
            let expected = literal(method.name(), made.x.values(), &made.y, d, 6);
            let found = fit(&method, made.x.values(), &made.y);
            assert!(apart(&found, &expected).sqrt() < 1e-8, "{} {d}", method.name());
        }
    }
}
