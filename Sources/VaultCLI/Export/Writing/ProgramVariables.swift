/// The variables that change how programs run: the code that they load, the programs and files that they find, and the
/// peers that they trust (ld.so(8), sh(1p), bash(1), environ(7) and the pages of the programs).
///
/// An export to variables takes none of them from an item of somebody else. No list is complete. What also holds is
/// that the variable begins with the folders of the item's name, which the maker's grants limit.
enum ProgramVariables {
  static func contains(_ variable: String) -> Bool {
    names.contains(variable) || prefixes.contains { variable.utf8.starts(with: $0.utf8) }
  }

  private static let prefixes = [
    "LD_", "DYLD_", "GLIBC_", "MALLOC_", "GCONV_", "BASH_", "LC_", "XDG_", "DBUS_", "SYSTEMD_", "LISTEN_", "SUDO_",
    "GIT_", "SSH_", "SSL_", "OPENSSL_", "CURL_", "GNUTLS_", "PYTHON", "PERL", "RUBY", "GEM_", "BUNDLE_", "NODE_",
    "NPM_", "PHP", "LUA", "TCL", "DOTNET_", "CORECLR_", "CARGO_", "RUSTC", "DOCKER_", "LESS", "AWK", "GTK_", "QT_",
  ]

  private static let names: Set<String> = [
    // Shells
    "PATH", "IFS", "ENV", "SHELLOPTS", "BASHOPTS", "PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT_COMMAND", "CDPATH",
    "FPATH", "MANPATH", "GLOBIGNORE", "EXECIGNORE", "ZDOTDIR", "INPUTRC", "OPTIND", "PWD", "OLDPWD",
    // The C library and the system
    "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP", "TZ", "TZDIR", "LANG", "LANGUAGE", "LOCPATH",
    "NLSPATH", "LOCALDOMAIN", "HOSTALIASES", "RES_OPTIONS", "RESOLV_HOST_CONF", "GETCONF_DIR", "NOTIFY_SOCKET",
    "MAINPID", "MANAGERPID", "CREDENTIALS_DIRECTORY", "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "CONFIGURATION_DIRECTORY",
    "TERM", "TERMINFO", "TERMINFO_DIRS", "TERMCAP", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
    // Programs that other programs run
    "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "CC", "CXX", "CPP", "LD", "AR", "MAKE", "MAKEFLAGS",
    "MAKEFILES", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CPATH", "LIBRARY_PATH", "PKG_CONFIG_PATH",
    "TAR_OPTIONS", "GREP_OPTIONS", "RSYNC_RSH", "CVS_RSH", "SVN_SSH", "POSIXLY_CORRECT",
    // Runtimes
    "CLASSPATH", "JAVA_HOME", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "GOFLAGS", "GOENV", "GOPATH",
    "GOROOT", "GOPROXY", "GOTOOLCHAIN", "R_HOME", "R_PROFILE", "R_PROFILE_USER", "R_ENVIRON", "R_ENVIRON_USER",
    "R_LIBS", "VIRTUAL_ENV", "KUBECONFIG", "GNUPGHOME", "VAULT_SOCKET",
    // The network
    "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY", "SSLKEYLOGFILE", "REQUESTS_CA_BUNDLE",
    "AWS_CA_BUNDLE",
  ]
}
