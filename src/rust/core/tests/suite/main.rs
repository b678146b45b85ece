//! Tests of the whole core, in one program: to link it once for each file takes longer than to run it.

mod cases;

mod agreement;
mod certificates;
mod cold_starts;
mod designs;
mod dtrace;
mod early_ends;
mod families;
mod flasso;
mod gaussian_normalizer;
mod gradient;
mod held_out;
mod importance;
mod inference;
mod interrupt;
mod negative_level;
mod properties;
mod refusals;
mod reweighted;
mod saturated;
mod screening;
mod smallest;
mod stages;
mod threads;
mod threshold;
mod ties;
