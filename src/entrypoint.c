/* Where R loads the library, and where its long jumps end: a jump that
 * crossed a Rust frame would skip the destructors there. */

#include <limits.h>
#include <string.h>
#ifndef _WIN32
#include <pthread.h>
#include <signal.h>
#endif

#include <R.h>
#include <Rinternals.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

void R_init_kliepnet_extendr(DllInfo *dll);

attribute_visible void R_init_kliepnet(DllInfo *dll) {
    R_init_kliepnet_extendr(dll);
    R_forceSymbols(dll, TRUE);
}

/* ---- what R throws, as an answer --------------------------------------- */

/* What Rust is told; src/rust/binding/src/rapi.rs has the same numbers. */
enum answer { DONE = 0, INTERRUPTED = 1, FAILED = 2, NO_MEMORY = 3 };

struct task {
    SEXP (*body)(struct task *task);
    enum answer answer;
    SEXP value;
    int rows, columns;
    int allocating;
};

static char failure_text[512];

static void keep_message(SEXP condition) {
    failure_text[0] = '\0';
    if (TYPEOF(condition) != VECSXP || Rf_xlength(condition) == 0) {
        return;
    }
    SEXP message = VECTOR_ELT(condition, 0);
    if (TYPEOF(message) == STRSXP && Rf_xlength(message) > 0) {
        const char *text = Rf_translateCharUTF8(STRING_ELT(message, 0));
        strncpy(failure_text, text, sizeof failure_text - 1);
    }
}

static SEXP task_caught(SEXP condition, void *data) {
    struct task *task = data;
    if (task->allocating) {
        task->answer = NO_MEMORY;
    } else if (Rf_inherits(condition, "interrupt")) {
        task->answer = INTERRUPTED;
    } else {
        task->answer = FAILED;
        keep_message(condition);
    }
    return R_NilValue;
}

static SEXP task_body(void *data) {
    struct task *task = data;
    return task->body(task);
}

/* R_tryCatch tells an interrupt from an error and keeps both silent. */
static void task_quietly(void *data) {
    struct task *task = data;
    SEXP classes = PROTECT(Rf_allocVector(STRSXP, 2));
    SET_STRING_ELT(classes, 0, Rf_mkChar("interrupt"));
    SET_STRING_ELT(classes, 1, Rf_mkChar("error"));
    task->answer = INTERRUPTED;
    SEXP value = R_tryCatch(task_body, task, classes, task_caught, task, NULL,
                            NULL);
    if (task->answer == DONE) {
        task->value = value;
    }
    UNPROTECT(1);
}

/* R_ToplevelExec stops whatever else may jump: a restart invoked by an event
 * handler that R ran meanwhile, or an interrupt that R notices in the code of
 * R_tryCatch, which is R code, before or after what it guards. */
static enum answer run_task(struct task *task) {
    if (!R_ToplevelExec(task_quietly, task) && task->answer == DONE) {
        task->answer = INTERRUPTED;
    }
    return task->answer;
}

const char *kliepnet_failure_message(void) {
    return failure_text;
}

/* ---- is there an interrupt, or a time limit that has passed? ----------- */

static SEXP poll_body(struct task *task) {
    R_CheckUserInterrupt();
    task->answer = DONE;
    return R_NilValue;
}

int kliepnet_poll(void) {
    struct task task = {.body = poll_body, .value = R_NilValue};
    return (int) run_task(&task);
}

/* ---- memory that R may not have ---------------------------------------- */

/* An error while `allocating` is R's lack of memory; one before or after is a
 * time limit that R noticed on the way here. */
static SEXP allocate_body(struct task *task) {
    task->allocating = 1;
    SEXP matrix = Rf_allocMatrix(REALSXP, task->rows, task->columns);
    task->allocating = 0;
    task->answer = DONE;
    return matrix;
}

/* Leaves a new, unprotected matrix in `value` if it returns DONE. */
int kliepnet_allocate_doubles(double rows, double columns, SEXP *value) {
    struct task task = {.body = allocate_body, .value = R_NilValue};
    if (rows > INT_MAX || columns > INT_MAX) {
        return (int) NO_MEMORY;
    }
    task.rows = (int) rows;
    task.columns = (int) columns;
    enum answer answer = run_task(&task);
    *value = task.value;
    return (int) answer;
}

/* ---- worker threads ---------------------------------------------------- */

/* R's handlers belong on R's thread: some of them jump. What a thread brings
 * on itself by a fault is not blocked, and ends the process as it should.
 * Windows has a thread of its own for Ctrl-C, where R takes note of it for the
 * next poll, and stops no other. */
void kliepnet_leave_signals_to_r(void) {
#ifndef _WIN32
    sigset_t blocked;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    sigdelset(&blocked, SIGABRT);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
#endif
}
