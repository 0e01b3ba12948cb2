//! Estimators: each is one file, takes a [`Dataset`](crate::Dataset) and gives a [`Reduction`].

pub mod reduction;
pub mod smave;

pub use reduction::Reduction;
pub use smave::Smave;
