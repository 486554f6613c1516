/* What the sanitizers are told in every program of `make sanitize`: the programs that a daemon starts have no variables that
 * could tell them. A report ends its program, and goes into a file: nobody reads all that the programs of tests say. */

const char *__asan_default_options(void) {
    /* What is not given back at the end goes with the program. Limits on core files are the program's own. */
    return "log_path=" REPORTS "/address:exitcode=99:detect_leaks=0:disable_coredump=0";
}

const char *__tsan_default_options(void) { return "log_path=" REPORTS "/thread:exitcode=99:halt_on_error=1:disable_coredump=0"; }
