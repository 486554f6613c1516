/// A PAM module that records what it finds in its process: open files, variables, and whether other
/// processes may inspect it.
public enum WitnessModule {
  /// Builds the module at `path`. A PAM service names that path followed by the file to write.
  public static func build(at path: String, in sandbox: Sandbox) throws {
    try sandbox.compileLibrary(source, to: path, ["-lpam"])
  }

  private static let source = """
    #include <security/pam_modules.h>
    #include <stdio.h>
    #include <sys/prctl.h>
    #include <sys/stat.h>
    #include <unistd.h>
    extern char **environ;

    int pam_sm_authenticate(pam_handle_t *pamh, int flags, int argc, const char **argv) {
      FILE *file = argc == 1 ? fopen(argv[0], "w") : NULL;
      if (!file) return PAM_SERVICE_ERR;
      fprintf(file, "dumpable %d\\n", prctl(PR_GET_DUMPABLE));
      for (char **line = environ; line && *line; line++) fprintf(file, "variable %s\\n", *line);
      for (int number = 0; number < 64; number++) {
        char link[64], target[256];
        snprintf(link, sizeof link, "/proc/self/fd/%d", number);
        ssize_t count = number == fileno(file) ? -1 : readlink(link, target, sizeof target - 1);
        if (count >= 0) fprintf(file, "descriptor %d %.*s\\n", number, (int)count, target);
      }
      return fclose(file) ? PAM_SERVICE_ERR : PAM_SUCCESS;
    }
    int pam_sm_setcred(pam_handle_t *pamh, int flags, int argc, const char **argv) { return PAM_SUCCESS; }

    """
}
