# Works of users_once.R on tall data, many refits and small calls: each
# prepares, and returns a function that returns a number.

tall_path <- function(direction) {
    set.seed(7)
    x <- matrix(rnorm(45000), 5000)
    y <- matrix(rnorm(45000), 5000)
    function() {
        path <- kliep_path(x, y, feat_polynomial(4), direction = direction,
                           control = control, progress = FALSE)
        sum(path$diagnostics$objective)
    }
}

refit_pair <- function() {
    set.seed(1)
    sim_gaussian(d = 50, n = 100)
}

shuffled_test <- function(n_perm) {
    pair <- refit_pair()
    function() {
        set.seed(1)
        test <- kliep_test(pair$x, pair$y, n_perm = n_perm, control = control,
                           progress = FALSE)
        sum(test$shuffles$enters)
    }
}

# Cross-validation of the same shape: five folds of 100 values of lambda, both
# samples together, a column for each pair of variables.
glmnet_folds <- function() {
    pair <- refit_pair()
    both <- scale(rbind(pair$x, pair$y))
    pairs <- utils::combn(ncol(both), 2L)
    columns <- both[, pairs[1L, ]] * both[, pairs[2L, ]]
    label <- rep(0:1, c(nrow(pair$x), nrow(pair$y)))
    function() {
        set.seed(1)
        # As many as one test makes: the data, and every shuffle.
        for (shuffle in 1:101) {
            fit <- glmnet::cv.glmnet(columns, sample(label), nfolds = 5,
                                     family = "binomial")
        }
        length(fit$lambda)
    }
}

stable_edges <- function(n_subsamples) {
    pair <- refit_pair()
    function() {
        set.seed(1)
        stable <- kliep_stability(pair$x, pair$y, n_subsamples = n_subsamples,
                                  control = control, progress = FALSE)
        sum(stable$edges$probability^2)
    }
}

few_variables <- function() {
    set.seed(1)
    sim_gaussian(d = 11, n = 850, n_changed = 4)
}

small_auto <- function() {
    pair <- few_variables()
    function() {
        set.seed(1)
        nrow(edges(kliep_auto(pair$x, pair$y, control = control,
                              progress = FALSE)))
    }
}

polynomial_choice <- function() {
    pair <- few_variables()
    function() {
        set.seed(1)
        chosen <- kliep_select(
            pair$x, pair$y, control = control, progress = FALSE,
            features = list(feat_gaussian(), feat_polynomial(2),
                            feat_polynomial(4))
        )
        max(chosen$scores$score)
    }
}

small_calls <- function(times) {
    set.seed(1)
    pair <- sim_gaussian(d = 10, n = 100, n_changed = 4)
    function() {
        for (call in seq_len(times)) {
            path <- kliep_path(pair$x, pair$y, nlambda = 10,
                               control = control, progress = FALSE)
        }
        sum(path$diagnostics$objective)
    }
}

refit_works <- list(
    "tall" = function() tall_path("p/q"),
    "tall-symmetric" = function() tall_path("symmetric"),
    "test-50" = function() shuffled_test(100),
    "glmnet-50" = function() glmnet_folds(),
    "stability-50" = function() stable_edges(100),
    "auto-11" = function() small_auto(),
    "select-11" = function() polynomial_choice(),
    "small" = function() small_calls(100)
)
