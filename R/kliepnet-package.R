#' kliepnet: sparse changes between two Markov networks
#'
#' Learns where two Markov networks differ, from one sample of each, without
#' estimating either network: the ratio of the two densities is fitted
#' directly, with a group penalty that keeps only the factors that changed.
#'
#' * Bring your data: tables, formulas, Bioconductor objects: [two_samples()].
#'   [npn_transform()] makes samples Gaussian by their ranks.
#' * Find the edges that changed, in one call: [kliep_auto()].
#' * Test, with features of your choice: [kliep_infer()] tests every edge,
#'   [kliep_test()] shuffles the samples, [kliep_stability()] resamples them,
#'   [kliep_debias()] has the published confidence intervals. [kliep_sets()]
#'   tests sets of variables, [hubs()] single ones.
#' * Compare more than two samples: [kliep_groups()] several groups,
#'   [kliep_by()] two conditions within cell types, [kliep_interaction()] two
#'   groups at two times.
#' * Follow a series: [kliep_time()] says which edges change, when and how fast,
#'   [kliep_windows()] compares windows with a reference period.
#' * Fit: [kliep_path()] over a grid of penalties, [kliep_change()] at one.
#'   [kliep_select()] chooses features and penalties by data held out.
#'   [kliep_spec()] describes an estimator, [kliep_spec_paper()] that of the
#'   paper, [kliep_control()] the solver. [kl_divergence()] estimates how far
#'   apart the two distributions are.
#' * Choose what the factors look like: [feat_gaussian()],
#'   [feat_nonparanormal()], [feat_ising()] for binary data, [feat_mixed()] for
#'   columns of several types, [feat_polynomial()], [feat_rbf()],
#'   [feat_custom()] for functions of your own, [feat_cliques()] for sets of
#'   variables.
#' * Fit by other methods: [glasso_path()], [flasso_path()], [dtrace_path()],
#'   [is_glasso_path()], [is_flasso_path()], [moment_path()].
#' * Look: [edges()], [edge_cells()], [`coef()`][coef.change_path],
#'   [`plot()`][plot.change_path], [`predict()`][predict.change_path].
#' * Pass on: [kliep_report()] writes an interactive page, [write_graph_file()]
#'   files for Cytoscape and Gephi; [as_igraph()], [add_changes()],
#'   [`tidy()`][tidy.change_path], [`glance()`][glance.change_path].
#' * Try out, on pairs of samples with a known change: [sim_gaussian()],
#'   [sim_nonparanormal()], [sim_lattice()], [sim_diamond()], [sim_ising()],
#'   [sim_genes()], [sim_drift()] and [sim_keywords()]. Couplings for
#'   [sim_ising()] come from [ising_chain()], [ising_tree()], [ising_lattice()]
#'   and [ising_change()], networks for [sim_genes()] from [yeast13()],
#'   [read_sif()] and [subnetwork()].
#' * Evaluate: [pr_curve()] where the change is known, [pr_average()] over runs,
#'   [compare_methods()] on simulated pairs.
#'
#' `vignette("kliepnet")` is a short tour.
#'
#' @section Conditions:
#' Every error of the package has class `kliep_error` and one more that says
#' what it is about, `kliep_error_dimension` for instance; warnings have
#' `kliep_warning` and messages `kliep_message`. The message says what was
#' wrong, what was got, and what to do.
#'
#' @importFrom stats coef predict
#' @keywords internal
"_PACKAGE"
