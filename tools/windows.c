/* Programs of tools/windows.sh, for wine. One loads the package's DLL beside a
 * stand-in for R.dll, made of the names that the DLL imports, and runs its
 * registration routine: prints the name of each routine that it registers. */

#include <stdio.h>
#include <windows.h>

#ifdef RANDOM

/* Windows has this since version 7 and wine since 8.13; Rust seeds its hash
 * tables by it. */
BOOLEAN NTAPI SystemFunction036(void *bytes, ULONG count);

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *bytes, SIZE_T count) {
    return SystemFunction036(bytes, (ULONG) count);
}

#elif defined STAND_IN

#include <R_ext/Rdynload.h>

__declspec(dllexport) int R_registerRoutines(
    DllInfo *info, const R_CMethodDef *const c, const R_CallMethodDef *const call,
    const R_FortranMethodDef *const fortran,
    const R_ExternalMethodDef *const external) {
    (void) info, (void) c, (void) fortran, (void) external;
    for (const R_CallMethodDef *routine = call; routine->name; routine++) {
        printf("%s\n", routine->name);
    }
    return 1;
}

#else

int main(int count, char **names) {
    if (count != 2) {
        return 2;
    }
    HMODULE library = LoadLibraryA(names[1]);
    if (library == NULL) {
        fprintf(stderr, "%s does not load: error %lu\n", names[1], GetLastError());
        return 1;
    }
    void (*start)(void *) = (void (*)(void *)) GetProcAddress(library, "R_init_kliepnet");
    if (start == NULL) {
        fprintf(stderr, "%s has no R_init_kliepnet\n", names[1]);
        return 1;
    }
    start(NULL);
    fflush(stdout);
    return 0;
}

#endif
