internal import CLinux
internal import Glibc

/// The user's directory for sockets when `$XDG_RUNTIME_DIR` is not set, as after su(1) or in a cron job.
public enum RuntimeDirectory {
  /// Returns the directory that pam_systemd(8) makes for a user who is logged in, `/run/user/UID`.
  ///
  /// Nil unless the path is a real directory (not a link), belongs to the effective user and has mode 0700. Under these
  /// conditions nobody else can have made the directory or put a socket into it.
  ///
  /// - Parameter parent: the directory that holds all users' directories.
  public static func found(in parent: String = "/run/user") -> String? {
    let path = "\(parent)/\(geteuid())"
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
      status.st_mode & 0o7777 == 0o700
    else { return nil }
    return path
  }
}
