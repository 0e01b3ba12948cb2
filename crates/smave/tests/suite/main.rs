//! What the library promises, seen from outside. One program, because linking a dozen takes longer than running them.

mod checkpoint;
mod errors;
mod family;
mod invariance;
mod model_file;
mod model_seeds;
mod multivariate;
mod neighbors;
mod recovery;
mod reproducibility;
mod select;
mod uncertainty;
mod weights;
