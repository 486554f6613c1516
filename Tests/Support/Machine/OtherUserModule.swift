/// A PAM module that replaces the user in question with another one, as other modules of a login may, and as sudo(8)
/// itself does: the user who is asked and the user whose session begins are then different.
public enum OtherUserModule {
  /// Builds the module at `path`. A PAM service names that path followed by the user.
  public static func build(at path: String, in sandbox: Sandbox) throws {
    try sandbox.compileLibrary(source, to: path, ["-lpam"])
  }

  private static let source = """
    #include <security/pam_modules.h>

    static int change(pam_handle_t *pamh, int argc, const char **argv) {
      return argc == 1 ? pam_set_item(pamh, PAM_USER, argv[0]) : PAM_SERVICE_ERR;
    }
    int pam_sm_authenticate(pam_handle_t *pamh, int flags, int argc, const char **argv) {
      return change(pamh, argc, argv);
    }
    int pam_sm_open_session(pam_handle_t *pamh, int flags, int argc, const char **argv) {
      return change(pamh, argc, argv);
    }
    int pam_sm_setcred(pam_handle_t *pamh, int flags, int argc, const char **argv) { return PAM_SUCCESS; }
    int pam_sm_close_session(pam_handle_t *pamh, int flags, int argc, const char **argv) { return PAM_SUCCESS; }

    """
}
