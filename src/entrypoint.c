/* Where R loads the library, and where its long jumps end: a jump that
 * crossed a Rust frame would skip the destructors there. */

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include <R.h>
#include <Rinternals.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

void R_init_kliepnet_extendr(DllInfo *dll);

attribute_visible void R_init_kliepnet(DllInfo *dll) {
    R_init_kliepnet_extendr(dll);
    R_forceSymbols(dll, TRUE);
}

/* ---- is there an interrupt, or a time limit that has passed? ----------- */

enum poll_answer { GO_ON = 0, INTERRUPTED = 1, FAILED = 2 };

static char poll_text[512];

static SEXP poll_body(void *data) {
    (void) data;
    R_CheckUserInterrupt();
    return R_NilValue;
}

static SEXP poll_caught(SEXP condition, void *data) {
    enum poll_answer *answer = data;
    if (Rf_inherits(condition, "interrupt")) {
        *answer = INTERRUPTED;
        return R_NilValue;
    }
    *answer = FAILED;
    if (TYPEOF(condition) == VECSXP && Rf_xlength(condition) > 0) {
        SEXP message = VECTOR_ELT(condition, 0);
        if (TYPEOF(message) == STRSXP && Rf_xlength(message) > 0) {
            const char *text = Rf_translateCharUTF8(STRING_ELT(message, 0));
            strncpy(poll_text, text, sizeof poll_text - 1);
        }
    }
    return R_NilValue;
}

/* R_tryCatch tells an interrupt from an error and keeps both silent. */
static void poll_quietly(void *data) {
    SEXP classes = PROTECT(Rf_allocVector(STRSXP, 2));
    SET_STRING_ELT(classes, 0, Rf_mkChar("interrupt"));
    SET_STRING_ELT(classes, 1, Rf_mkChar("error"));
    R_tryCatch(poll_body, NULL, classes, poll_caught, data, NULL, NULL);
    UNPROTECT(1);
}

/* R_ToplevelExec stops whatever else may jump, such as a restart invoked by
 * an event handler that R ran meanwhile. */
int kliepnet_poll(void) {
    enum poll_answer answer = GO_ON;
    if (!R_ToplevelExec(poll_quietly, &answer) && answer == GO_ON) {
        answer = INTERRUPTED;
    }
    return (int) answer;
}

const char *kliepnet_poll_message(void) {
    return poll_text;
}

/* ---- memory that R may not have ---------------------------------------- */

static SEXP allocate_body(void *data) {
    const double *size = data;
    return Rf_allocMatrix(REALSXP, (int) size[0], (int) size[1]);
}

static SEXP allocate_failed(SEXP condition, void *data) {
    (void) condition;
    (void) data;
    return R_NilValue;
}

SEXP kliepnet_allocate_doubles(double rows, double columns) {
    double size[2] = {rows, columns};
    if (rows > INT_MAX || columns > INT_MAX) {
        return R_NilValue;
    }
    return R_tryCatchError(allocate_body, size, allocate_failed, NULL);
}

/* ---- worker threads ---------------------------------------------------- */

/* R's handlers belong on R's thread: some of them jump. What a thread brings
 * on itself by a fault is not blocked, and ends the process as it should. */
void kliepnet_leave_signals_to_r(void) {
    sigset_t blocked;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    sigdelset(&blocked, SIGABRT);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
}
