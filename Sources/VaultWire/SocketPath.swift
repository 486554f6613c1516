/// The allowed paths of a daemon's sockets.
public enum SocketPath {
  /// The highest number of bytes of a socket's path: the size of `sun_path` without the zero at its end (unix(7)).
  public static let longest = 107
  /// The default names of the sockets in a daemon's directory.
  public static let names = ["socket", "credentials", "ssh.socket"]

  /// The reason that a daemon cannot have its sockets in `directory`; nil if it can.
  public static func problem(in directory: String) -> String? { problem(names.map { "\(directory)/\($0)" }) }

  /// The reason that a daemon cannot have sockets at all of these paths; nil if it can.
  public static func problem(_ paths: [String]) -> String? {
    guard let path = paths.max(by: { $0.utf8.count < $1.utf8.count }), path.utf8.count > longest else { return nil }
    return "\(path) has \(path.utf8.count) bytes, and the path of a socket at most \(longest)"
  }

  /// The advice for a directory that is unsuitable for sockets.
  public static let remedy = "set XDG_RUNTIME_DIR to another folder with a short absolute path, or give --socket"
}
