//! Who is near whom in the projected space, and with what weight.

pub mod index;
pub mod kdtree;
pub mod kernel;
pub mod neighborhoods;
pub mod products;
pub mod scan;
pub mod size;
mod sweep;

pub use index::{Neighbor, NeighborIndex, build_index};
pub use neighborhoods::{Neighborhoods, Weighting};
pub use size::neighborhood_size;
