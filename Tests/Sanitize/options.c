/* The sanitizers' options in every program of `make sanitize`: the programs that a daemon starts have no variables that
 * could set them. A report ends its program, and goes into a file: nobody reads all that the programs of tests say. */

const char *__asan_default_options(void) {
    /* Memory that is not given back at the end goes with the program. Limits on core files are the program's own. */
    return "log_path=" REPORTS "/address:exitcode=99:detect_leaks=0:disable_coredump=0";
}

/* Foundation copies whole entries of /proc/self/fd, also the last one of a full buffer, before each program that a test
 * starts with its `Process`: that fault is not ours. */
const char *__asan_default_suppressions(void) { return "interceptor_via_fun:*findMaximumOpenFromProcSelfFD*\n"; }

const char *__tsan_default_options(void) {
    return "log_path=" REPORTS "/thread:exitcode=99:halt_on_error=1:disable_coredump=0";
}

#if __has_feature(thread_sanitizer)
/* A `Mutex` that two threads want at once is locked and unlocked in Swift's own library, of which ThreadSanitizer sees
 * nothing: it would report what the mutex guards. The rest of Mutex is inlined, and seen. */
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#define SWIFT __attribute__((swiftcall, visibility("default")))
#define SELF __attribute__((swift_context)) void *self

SWIFT void $s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF(unsigned thread, SELF) {
    SWIFT void (*lock)(unsigned thread, SELF) = dlsym(RTLD_NEXT, __func__);
    lock(thread, self);
    __tsan_acquire(self);
}

SWIFT void $s15Synchronization12_MutexHandleV11_unlockSlowyyF(SELF) {
    SWIFT void (*unlock)(SELF) = dlsym(RTLD_NEXT, __func__);
    __tsan_release(self);
    unlock(self);
}
#endif
