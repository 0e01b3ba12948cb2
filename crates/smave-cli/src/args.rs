//! The command line, nothing else.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Parser, Subcommand, ValueEnum};

/// Sufficient dimension reduction: the few linear combinations of many covariates that carry a regression.
#[derive(Parser)]
#[command(name = "smave", version, about, propagate_version = true)]
pub struct Args {
    /// Threads to use [default: one per core]. The result does not depend on it.
    #[arg(long, global = true, value_name = "COUNT")]
    pub threads: Option<NonZero<usize>>,

    /// Print nothing but warnings and errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// Write the results here, as JSON; - is standard output, in place of the text.
    #[arg(long, global = true, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Watch SMAVE recover a subspace from built-in data.
    ///
    /// Example: smave demo --figure demo.svg
    #[command(verbatim_doc_comment)]
    Demo(DemoArgs),
    /// Draw a data set from the paper's synthetic design.
    ///
    /// Example: smave simulate --link sinusoidal --cov ar1 --n 2000 --p 50 --seed 1 --out data.csv --truth b.csv
    #[command(verbatim_doc_comment)]
    Simulate(SimulateArgs),
    /// Find the directions of X that matter for y, and save them.
    ///
    /// Example: smave fit data.csv --target y --dim 2 --out model.json
    #[command(verbatim_doc_comment)]
    Fit(FitArgs),
    /// Compute the coordinates of rows along fitted directions.
    ///
    /// Example: smave transform model.json data.csv --out z.csv
    #[command(verbatim_doc_comment)]
    Transform(TransformArgs),
    /// Choose the number of directions by cross-validated prediction error.
    ///
    /// Example: smave dim data.csv --target y --max-dim 6
    #[command(verbatim_doc_comment)]
    Dim(DimArgs),
    /// Predict the response of new rows, with intervals.
    ///
    /// Example: smave predict model.json new.csv --level 0.9 --out predictions.csv
    #[command(verbatim_doc_comment)]
    Predict(PredictArgs),
    /// Say which covariates matter, how much, and how surely.
    ///
    /// Example: smave explain model.json data.csv --replicates 200
    #[command(verbatim_doc_comment)]
    Explain(ExplainArgs),
    /// Write one page that shows what a model found.
    ///
    /// Example: smave report model.json data.csv --out report.html --figures figures
    #[command(verbatim_doc_comment)]
    Report(ReportArgs),
    /// Say what a model file holds.
    ///
    /// Example: smave info model.json
    #[command(verbatim_doc_comment)]
    Info(InfoArgs),
    /// Compare methods by how well their directions predict, in cross-validation.
    ///
    /// Example: smave compare data.csv --target y --dims 2,4,8 --methods pca,opg,smave
    #[command(verbatim_doc_comment)]
    Compare(CompareArgs),
    /// Measure accuracy and time of methods on the paper's ten scenarios.
    ///
    /// Example: smave bench --methods smave,smave-published --n 1000,2000 --p 50 --reps 3 --json out.json
    #[command(verbatim_doc_comment)]
    Bench(BenchArgs),
    /// Print what a shell needs to complete commands and flags.
    ///
    /// Example: smave completions bash > ~/.local/share/bash-completion/completions/smave
    #[command(verbatim_doc_comment)]
    Completions(CompletionsArgs),
    /// Print the manual page, of the program or of one command.
    ///
    /// Example: smave man fit | man -l -
    #[command(verbatim_doc_comment)]
    Man(ManArgs),
}

impl Command {
    /// The files that a command writes.
    pub fn outputs(&self) -> Vec<&Path> {
        let paths: [Option<&PathBuf>; 2] = match self {
            Self::Demo(args) => [Some(&args.out), args.figure.as_ref()],
            Self::Simulate(args) => [Some(&args.out), args.truth.as_ref()],
            Self::Fit(args) => [args.out.as_ref(), args.figure.as_ref()],
            Self::Transform(args) => [Some(&args.out), None],
            Self::Predict(args) => [Some(&args.out), None],
            Self::Report(args) => [Some(&args.out), None],
            _ => [None, None],
        };
        paths.into_iter().flatten().map(PathBuf::as_path).collect()
    }
}

/// Flags of `completions`.
#[derive(clap::Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: Shell,
}

/// A shell that completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash.
    Bash,
    /// Elvish.
    Elvish,
    /// Fish.
    Fish,
    /// PowerShell.
    Powershell,
    /// Zsh.
    Zsh,
}

/// Flags of `man`.
#[derive(clap::Args)]
pub struct ManArgs {
    /// The command [default: the program itself].
    pub command: Option<String>,
}

/// Flags of `info`.
#[derive(clap::Args)]
pub struct InfoArgs {
    /// Model file, as `fit` writes it.
    pub model: PathBuf,
}

/// Flags of `report`.
#[derive(clap::Args)]
pub struct ReportArgs {
    /// Model file, as `fit` writes it.
    pub model: PathBuf,
    /// Table with the rows the model was fitted to.
    pub data: PathBuf,
    /// Write the page here.
    #[arg(long, value_name = "FILE.html", default_value = "report.html")]
    pub out: PathBuf,
    /// Save every figure in this folder, as SVG and PNG.
    #[arg(long, value_name = "FOLDER")]
    pub figures: Option<PathBuf>,
    /// Column that was explained, or several separated by commas [default: the model's].
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub target: Vec<String>,
    /// Column of weights that count rows: 2 is the row twice, 0 leaves it out.
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,
    /// Bootstrap samples behind the intervals.
    #[arg(long, default_value_t = 100)]
    pub replicates: usize,
    /// Largest number of directions in the curve of prediction errors.
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    pub max_dim: usize,
    /// Leave out what takes time: intervals, p-values and the choice of the dimension.
    #[arg(long)]
    pub quick: bool,
    /// Seed of resampling and folds.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Keep what is done in this file, and go on from it if it is there; it is removed at the end.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
}

/// Flags of `demo`.
#[derive(clap::Args)]
pub struct DemoArgs {
    /// Seed of the data and of the fit.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write the report here.
    #[arg(long, value_name = "FILE.html", default_value = "report.html")]
    pub out: PathBuf,
    /// Save the sufficient summary plot here, as SVG or PNG.
    #[arg(long, value_name = "FILE.svg")]
    pub figure: Option<PathBuf>,
}

/// Flags of `simulate`.
#[derive(clap::Args)]
pub struct SimulateArgs {
    /// Regression function.
    #[arg(long, value_enum)]
    pub link: Link,
    /// Covariance of X.
    #[arg(long, value_enum, default_value_t = Covariance::Identity)]
    pub cov: Covariance,
    /// Number of rows.
    #[arg(long)]
    pub n: usize,
    /// Number of covariates, at least 2.
    #[arg(long)]
    pub p: usize,
    /// Standard deviation of the noise.
    #[arg(long, default_value_t = 0.5)]
    pub noise: f64,
    /// Share of the entries of the true basis that are not zero.
    #[arg(long, default_value_t = 0.2)]
    pub density: f64,
    /// Seed.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Write covariates x1..xp and response y here, as CSV; - is standard output.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Write the true basis here, as CSV.
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
}

/// Flags of commands that read a table.
#[derive(clap::Args)]
pub struct TableArgs {
    /// Table to read: CSV or TSV (also .gz or .zst), Parquet, NPY, NPZ; - is text from standard input.
    pub data: PathBuf,
    /// Column to explain, or several separated by commas.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', required = true)]
    pub target: Vec<String>,
    /// Columns to explain it with, separated by commas [default: all others].
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub features: Option<Vec<String>>,
    /// Columns to leave out, separated by commas.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub drop: Vec<String>,
    /// Columns of numbers that are categories, separated by commas; columns of text are without being told.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub categorical: Vec<String>,
    /// What to do about missing values.
    #[arg(long, value_enum, default_value_t = MissingValues::Error)]
    pub missing: MissingValues,
    /// Column of weights that count rows: 2 is the row twice, 0 leaves it out.
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,
}

/// What to do about missing values.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum MissingValues {
    /// Stop, and say where the first are.
    Error,
    /// Leave out rows with any.
    Drop,
    /// Fill in the mean of the column; leave out rows without a target.
    Mean,
}

impl MissingValues {
    /// What it is called on the command line and in model files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Drop => "drop",
            Self::Mean => "mean",
        }
    }
}

/// Flags of `fit`.
#[derive(clap::Args)]
pub struct FitArgs {
    /// What to read, and what its columns are for.
    #[command(flatten)]
    pub table: TableArgs,
    /// Number of directions to find, or `auto` to choose it by cross-validation (among 1 to 6).
    #[arg(long, short = 'd', value_name = "COUNT|auto")]
    pub dim: Dim,
    /// How to find them.
    #[arg(long, value_enum, default_value_t = Method::Smave)]
    pub method: Method,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Iterations at the most [default: the method's].
    #[arg(long, value_name = "COUNT")]
    pub max_iter: Option<usize>,
    /// Neighbors in each local regression [default: chosen from n and the dimension].
    #[arg(long, value_name = "COUNT")]
    pub neighbors: Option<usize>,
    /// Stop once the subspace turns by less than this angle (radians) between two rebuilds of the neighborhoods.
    #[arg(long, value_name = "ANGLE")]
    pub tolerance: Option<f64>,
    /// Use the columns as they are instead of scaling each to unit variance.
    #[arg(long)]
    pub no_standardize: bool,
    /// How X is kept in memory.
    #[arg(long, value_enum, default_value_t = Precision::F64)]
    pub precision: Precision,
    /// Set this share of the rows aside, to calibrate prediction intervals with a guarantee.
    #[arg(long, value_name = "SHARE")]
    pub holdout: Option<f64>,
    /// Save the model here, as JSON.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Keep what is done in this file, and go on from it if it is there; it is removed at the end.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Compare with the true basis in this CSV file, as `simulate` writes it.
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
    /// Save the sufficient summary plot here, as SVG or PNG.
    #[arg(long, value_name = "FILE.svg")]
    pub figure: Option<PathBuf>,
}

/// Flags of `transform`.
#[derive(clap::Args)]
pub struct TransformArgs {
    /// Model file, as `fit` writes it.
    pub model: PathBuf,
    /// Table with the model's covariates among its columns.
    pub data: PathBuf,
    /// Write the coordinates z1..zd here, as CSV; - is standard output.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Flags of `dim`.
#[derive(clap::Args)]
pub struct DimArgs {
    /// What to read, and what its columns are for.
    #[command(flatten)]
    pub table: TableArgs,
    /// Largest number of directions to try; 0, no signal, is always tried.
    #[arg(long, value_name = "COUNT", default_value_t = 6)]
    pub max_dim: usize,
    /// Folds of the cross-validation.
    #[arg(long, default_value_t = 5)]
    pub folds: usize,
    /// Times the rows are shuffled into folds anew.
    #[arg(long, default_value_t = 2)]
    pub repeats: usize,
    /// Also estimate the error of choosing and fitting together, on rows that neither has seen.
    #[arg(long)]
    pub nested: bool,
    /// Skip the ladle and predictor augmentation.
    #[arg(long)]
    pub no_second_opinions: bool,
    /// Use the columns as they are instead of scaling each to unit variance.
    #[arg(long)]
    pub no_standardize: bool,
    /// How X is kept in memory.
    #[arg(long, value_enum, default_value_t = Precision::F64)]
    pub precision: Precision,
    /// Seed of folds and fits.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Keep what is done in this file, and go on from it if it is there; it is removed at the end.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
}

/// Flags of `predict`.
#[derive(clap::Args)]
pub struct PredictArgs {
    /// Model file, as `fit` writes it.
    pub model: PathBuf,
    /// Table with the model's covariates among its columns.
    pub data: PathBuf,
    /// Share of new responses that intervals should cover.
    #[arg(long, default_value_t = 0.9)]
    pub level: f64,
    /// Write prediction, low, high and outside here, as CSV; - is standard output.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Flags of `explain`.
#[derive(clap::Args)]
pub struct ExplainArgs {
    /// Model file, as `fit` writes it.
    pub model: PathBuf,
    /// Table with the rows the model was fitted to.
    pub data: PathBuf,
    /// Column that was explained, or several separated by commas [default: the model's].
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub target: Vec<String>,
    /// Column of weights that count rows: 2 is the row twice, 0 leaves it out.
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,
    /// Bootstrap samples behind the intervals.
    #[arg(long, default_value_t = 200)]
    pub replicates: usize,
    /// Permutations behind each p-value.
    #[arg(long, default_value_t = 499)]
    pub permutations: usize,
    /// Share of intervals that should cover the truth.
    #[arg(long, default_value_t = 0.9)]
    pub level: f64,
    /// Covariates to list.
    #[arg(long, default_value_t = 20)]
    pub top: usize,
    /// Seed of samples and permutations.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Keep what is done in this file, and go on from it if it is there; it is removed at the end.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
}

/// Flags of `compare`.
#[derive(clap::Args)]
pub struct CompareArgs {
    /// What to read, and what its columns are for.
    #[command(flatten)]
    pub table: TableArgs,
    /// Numbers of directions to try, separated by commas.
    #[arg(long, value_delimiter = ',', required = true)]
    pub dims: Vec<usize>,
    /// Methods to compare, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', required = true)]
    pub methods: Vec<Method>,
    /// Folds of the cross-validation.
    #[arg(long, default_value_t = 5)]
    pub folds: usize,
    /// Times the rows are shuffled into folds anew.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub repeats: u64,
    /// Seed of the folds and of the fits.
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
}

/// Flags of `bench`.
#[derive(clap::Args)]
pub struct BenchArgs {
    /// Methods to measure, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', required = true)]
    pub methods: Vec<Method>,
    /// Numbers of rows, separated by commas.
    #[arg(long, value_delimiter = ',', required = true)]
    pub n: Vec<usize>,
    /// Numbers of covariates, separated by commas.
    #[arg(long, value_delimiter = ',', required = true)]
    pub p: Vec<usize>,
    /// Data sets per scenario.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub reps: u64,
    /// Seed of data and fits.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Scenarios as link:covariance, separated by commas [default: all ten].
    #[arg(long, value_delimiter = ',')]
    pub scenarios: Vec<Scenario>,
    /// Share of the entries of the true basis that are not zero; 1 makes every covariate matter.
    #[arg(long, default_value_t = 0.2)]
    pub density: f64,
    /// After `smave`, also run it with each of its parts off in turn.
    #[arg(long)]
    pub ablate: bool,
    /// How X is kept in memory.
    #[arg(long, value_enum, default_value_t = Precision::F64)]
    pub precision: Precision,
}

/// An estimator, by the name it has everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Stochastic MAVE: many starts, a race, refinement to convergence.
    Smave,
    /// Stochastic MAVE exactly as published (Algorithm 1).
    SmavePublished,
    /// MAVE with kernel weights among all covariates.
    Mave,
    /// Refined MAVE: kernel weights in the projected space.
    Rmave,
    /// Refined MAVE with nearest neighbors in the projected space.
    RmaveKnn,
    /// Outer product of gradients, Gaussian kernel.
    Opg,
    /// Outer product of gradients, nearest neighbors.
    OpgKnn,
    /// Outer product of gradients, neighborhoods stretched along what matters least.
    OpgAdaptive,
    /// Outer product of gradients, walking from all dimensions down to those asked for.
    OpgWalk,
    /// Average derivative: one direction.
    Ade,
    /// Sliced inverse regression.
    Sir,
    /// Sliced average variance estimation.
    Save,
    /// Directional regression.
    Dr,
    /// Principal Hessian directions of the response.
    Phd,
    /// Principal Hessian directions of the residuals of a linear regression.
    PhdResidual,
    /// Principal components, which do not look at the target.
    Pca,
}

/// A number of directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    /// Chosen by cross-validation.
    Auto,
    /// This many.
    Count(usize),
}

impl FromStr for Dim {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Dim::Auto);
        }
        text.parse().map(Dim::Count).map_err(|_| "a number of directions, or auto".into())
    }
}

/// How X is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Precision {
    /// 4 bytes a number.
    F32,
    /// 8 bytes a number.
    F64,
}

/// A regression function of the paper, of two indices z1 and z2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Link {
    /// z1 (z1 + z2 + 1).
    Polynomial,
    /// sin z1 + 0.5 cos(2 z2).
    Sinusoidal,
    /// exp(-z1^2) + 0.5 z2.
    Exponential,
    /// z1 z2 + sin z1 + exp(-z2^2 / 2).
    Interaction,
    /// z1 / (0.5 + (z2 + 1)^2).
    Rational,
}

/// How covariates are correlated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Covariance {
    /// Not at all.
    Identity,
    /// By 0.5^|i-j|, as in an autoregression.
    Ar1,
}

/// A link function and a covariance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Regression function.
    pub link: Link,
    /// Covariance of X.
    pub covariance: Covariance,
}

impl Scenario {
    /// All ten, in the paper's order.
    pub fn all() -> Vec<Self> {
        let with =
            |link| Covariance::value_variants().iter().map(move |&covariance| Scenario { link, covariance });
        Link::value_variants().iter().copied().flat_map(with).collect()
    }
}

impl FromStr for Scenario {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (link, covariance) =
            text.split_once(':').ok_or("a scenario is link:covariance, for example interaction:identity")?;
        Ok(Scenario { link: named("link", link)?, covariance: named("covariance", covariance)? })
    }
}

/// The value of that name; otherwise, what names there are.
fn named<T: ValueEnum>(what: &str, name: &str) -> Result<T, String> {
    T::from_str(name, false).map_err(|_| {
        let names = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|value| value.get_name().to_string()).collect();
        format!("'{name}' is no {what}: choose one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn missing_values_go_by_their_names() {
        for policy in MissingValues::value_variants() {
            assert_eq!(policy.to_possible_value().unwrap().get_name(), policy.name());
        }
    }

    #[test]
    fn there_are_ten_scenarios() {
        assert_eq!(Scenario::all().len(), 10);
        let one: Scenario = "rational:ar1".parse().unwrap();
        assert_eq!(one, Scenario { link: Link::Rational, covariance: Covariance::Ar1 });
        assert!("rational".parse::<Scenario>().is_err());
        assert!("rational:toeplitz".parse::<Scenario>().unwrap_err().contains("identity, ar1"));
    }
}
