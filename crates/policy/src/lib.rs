//! stub
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss { Ncp, Precision, Discernibility, AverageClass, Granularity }
