/// The paths that the sockets of a daemon can have.
public enum SocketPath {
  /// The most bytes of a path that a socket can be bound to: those of `sun_path` but the zero at its end (unix(7)).
  public static let longest = 107
  /// The names of the sockets in a daemon's directory, unless it was told another one.
  public static let names = ["socket", "credentials", "ssh.socket"]

  /// The reason why no daemon can have its sockets in `directory`; nil where one can.
  public static func problem(in directory: String) -> String? { problem(names.map { "\(directory)/\($0)" }) }

  /// The reason why no daemon can have sockets at all of these paths; nil where one can.
  public static func problem(_ paths: [String]) -> String? {
    guard let path = paths.max(by: { $0.utf8.count < $1.utf8.count }), path.utf8.count > longest else { return nil }
    return "\(path) has \(path.utf8.count) bytes, and the path of a socket at most \(longest)"
  }

  /// The remedy for a directory for sockets that will not do.
  public static let remedy = "set XDG_RUNTIME_DIR to another folder with a short absolute path, or give --socket"
}
