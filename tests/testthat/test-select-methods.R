# kliep_select() along the methods that kliep_path() is compared with.

pair <- random_pair(4, 40, 36)
new <- random_pair(4, 30, 30, seed = 2)

# What each method is asked for besides a short grid.
asked <- list(
    moment = list(), glasso = list(), dtrace = list(),
    flasso = list(lambda1 = 0.05, symmetrize = "or"),
    is_glasso = list(points = 300, seed = 1),
    is_flasso = list(points = 300, seed = 1, scale = 1.2)
)

select_by <- function(method, ...) {
    set.seed(4)
    do.call(kliep_select, c(list(pair$x, pair$y, method = method, nlambda = 5),
                            asked[[method]], list(...)))
}

path_by <- function(method, x = pair$x, y = pair$y, ...) {
    fit <- baseline_methods()[[method]]$fit
    do.call(fit, c(list(x, y), asked[[method]], list(...)))
}

test_that("every method is known", {
    expect_setequal(names(asked), names(baseline_methods()))
})

test_that("cross-validation is the mean over folds that anyone can repeat", {
    for (method in names(asked)) {
        chosen <- select_by(method, folds = 3, repeats = 1)
        set.seed(4)
        parts <- draw_folds(40, 36, 3)
        full <- path_by(method, nlambda = 5)
        grid <- list(lambda2 = full$lambda2)
        by_hand <- vapply(1:3, function(fold) {
            path <- do.call(path_by, c(
                list(method, pair$x[parts$x != fold, ],
                     pair$y[parts$y != fold, ]), grid
            ))
            holdout_scores(path, pair$x[parts$x == fold, ],
                           pair$y[parts$y == fold, ])$score
        }, numeric(5))
        expect_s3_class(chosen, "kliep_select")
        expect_equal(chosen$scores$score, rowMeans(by_hand))
        expect_equal(chosen$scores$se, apply(by_hand, 1, sd) / sqrt(3))
        best <- which.max(rowMeans(by_hand))
        expect_identical(which(chosen$scores$selected), best)
        expect_equal(coef(chosen), coef(full, full$lambda2[best]))
        expect_equal(edges(chosen), edges(full, full$lambda2[best])[1:3])
        expect_identical(chosen$path$variables, full$variables)
        sparse <- select_by(method, folds = 3, repeats = 1, rule = "1se")
        near <- which(rowMeans(by_hand) >= rowMeans(by_hand)[best] -
                          chosen$scores$se[best])
        expect_identical(which(sparse$scores$selected), near[1])
    }
})

test_that("hold-out samples give the same as their scores", {
    for (method in names(asked)) {
        chosen <- select_by(method, newx = new$x, newy = new$y)
        scores <- holdout_scores(path_by(method, nlambda = 5), new$x, new$y)
        expect_identical(chosen$criterion, "holdout")
        expect_equal(chosen$scores[c("score", "se", "kl")], scores)
    }
})

test_that("what was chosen knows of its own step only", {
    for (method in names(asked)) {
        fit <- select_by(method, newx = new$x, newy = new$y)$fit
        expect_true(is_change(fit))
        expect_equal(holdout_scores(fit, new$x, new$y)$score, holdout_scores(
            path_by(method, nlambda = 5), new$x, new$y
        )$score[match(fit$lambda2, path_by(method, nlambda = 5)$lambda2)])
    }
})

test_that("candidates differ by what the method has", {
    chosen <- kliep_select(pair$x, pair$y, lambda1 = c(0.02, 0.2), folds = 2,
                           nlambda = 3, method = "flasso")
    expect_identical(unique(chosen$scores$candidate),
                     c("flasso, lambda1 = 0.02", "flasso, lambda1 = 0.2"))
    expect_identical(chosen$path$spec$lambda1,
                     chosen$scores$lambda1[chosen$scores$selected])
    chosen <- kliep_select(
        pair$x, pair$y, list(feat_gaussian(), feat_nonparanormal(power = 2)),
        lambda1 = c(0.1, 1), folds = 2, nlambda = 2, points = 200,
        method = "is_flasso"
    )
    expect_identical(length(unique(chosen$scores$candidate)), 4L)
    expect_match(chosen$scores$candidate[1],
                 "^is_flasso, gaussian, lambda1 = 0.1$")
    for (method in c("moment", "glasso", "dtrace")) {
        chosen <- select_by(method, folds = 2)
        expect_identical(unique(chosen$scores$candidate), method)
        expect_true(all(is.na(chosen$scores$lambda1)))
    }
})

test_that("an open seed is drawn once, from R's generator", {
    select <- function() {
        set.seed(7)
        kliep_select(pair$x, pair$y, lambda1 = c(0.1, 1), folds = 2,
                     nlambda = 3, points = 200, method = "is_glasso")
    }
    chosen <- select()
    expect_identical(select()$scores, chosen$scores)
    again <- kliep_select(pair$x, pair$y, lambda1 = c(0.1, 1), nlambda = 3,
                          points = 200, seed = chosen$path$arguments$seed,
                          newx = new$x, newy = new$y, method = "is_glasso")
    expect_identical(again$scores$lambda2, chosen$scores$lambda2)
})

test_that("every plan gives the same numbers", {
    skip_on_cran()
    methods <- c("flasso", "is_flasso")
    one <- lapply(methods, select_by, folds = 2)
    withr::defer(future::plan("sequential"))
    future::plan("multisession", workers = 2)
    two <- lapply(methods, select_by, folds = 2)
    for (k in seq_along(methods)) {
        expect_identical(two[[k]]$scores, one[[k]]$scores)
        expect_identical(coef(two[[k]]), coef(one[[k]]))
    }
})

test_that("a selection of another method prints and draws", {
    grDevices::pdf(NULL)
    withr::defer(grDevices::dev.off())
    for (method in names(asked)) {
        chosen <- select_by(method, folds = 2)
        expect_output(print(chosen), paste("chosen +", method))
        plot <- ggplot2::autoplot(chosen)
        expect_match(gsub("\n", " ", plot$labels$y),
                     baseline_methods()[[method]]$score, fixed = TRUE)
        expect_equal(nrow(ggplot2::layer_data(plot, 3)), 5)
        expect_error(predict(chosen, pair$x), class = "kliep_error_method")
    }
})

test_that("only how the choice ended is a warning", {
    few <- random_pair(8, 9, 9, seed = 3)
    set.seed(1)
    expect_silent(chosen <- kliep_select(few$x, few$y, folds = 3, nlambda = 12,
                                         method = "dtrace"))
    scored <- !is.na(chosen$scores$score)
    expect_true(any(scored))
    expect_false(all(scored))
    many <- random_pair(14, 50)
    expect_warning(
        kliep_select(many$x, many$y, folds = 2, lambda2 = 0.1, points = 2000,
                     scale = 3, seed = 1, method = "is_flasso"),
        class = "kliep_warning_importance"
    )
})

test_that("what a method does not know is refused", {
    refused <- function(class, ...) {
        expect_error(kliep_select(pair$x, pair$y, ...),
                     class = paste0("kliep_error_", class))
    }
    refused("argument", method = "lasso")
    refused("argument", method = c("glasso", "flasso"))
    refused("argument", method = "glasso", lambda1 = 0.1)
    refused("argument", method = "flasso", features = feat_gaussian())
    refused("dots", method = "glasso", direction = "q/p")
    refused("dots", method = "moment", control = kliep_control())
    refused("dots", method = "kliep", symmetrize = "or")
    refused("argument", method = "flasso", symmetrize = "xor")
    refused("control", method = "flasso", control = list())
    refused("lambda", method = "flasso", lambda1 = -1)
    refused("features", method = "is_glasso", features = feat_rbf())
    refused("argument", method = "is_glasso", seed = -1)
    expect_error(kliep_select(pair$x[1:4, ], pair$y, folds = 2,
                              method = "glasso"),
                 "Without fold", class = "kliep_error_size")
})

test_that("methods can be compared by their names", {
    set.seed(1)
    study <- compare_methods(
        function() sim_gaussian(d = 5, n = 60, n_changed = 2),
        c("kliep", thresholded = "moment"), runs = 1
    )
    expect_identical(study$method, c("kliep", "thresholded"))
    expect_true(all(is.na(study$error)))
    by_function <- withr::with_seed(1, compare_methods(
        function() sim_gaussian(d = 5, n = 60, n_changed = 2),
        list(kliep = kliep_path, thresholded = moment_path), runs = 1
    ))
    expect_identical(by_function$average_precision, study$average_precision)
    expect_error(compare_methods(function() NULL, "lasso"),
                 class = "kliep_error_argument")
})

test_that("samples are found in one table, whichever the method", {
    both <- rbind(pair$x, pair$y)
    group <- rep(c("case", "control"), c(40, 36))
    set.seed(4)
    chosen <- kliep_select(both, group = group, folds = 3, nlambda = 5,
                           contrast = c("case", "control"), method = "glasso")
    expect_equal(chosen$scores, select_by("glasso", folds = 3)$scores)
})
