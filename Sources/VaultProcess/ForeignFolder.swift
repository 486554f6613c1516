internal import CLinux
internal import Glibc

/// A folder that the environment names but that belongs to another user, as for root after `sudo -E`.
///
/// A program that made a socket or a store there would shut the folder's owner out: the owner can neither use nor
/// remove what belongs to another user.
public struct ForeignFolder: Hashable, Sendable {
  /// The files for which the environment names a folder.
  public enum Purpose: CaseIterable, Sendable {
    case sockets, store, settings, log

    /// The variable that names the folder.
    var variable: String {
      switch self {
      case .sockets: "XDG_RUNTIME_DIR"
      case .store: "XDG_DATA_HOME"
      case .settings: "XDG_CONFIG_HOME"
      case .log: "XDG_STATE_HOME"
      }
    }

    /// The default folder below `HOME`, used if the variable is not set; nil if there is no default.
    var belowHome: String? {
      switch self {
      case .sockets: nil
      case .store: "/.local/share"
      case .settings: "/.config"
      case .log: "/.local/state"
      }
    }
  }

  /// The variable that names the folder.
  public let variable: String
  public let path: String
  /// The user to whom it belongs.
  public let owner: UInt32
  /// The user to whom the folder is foreign.
  public let user: UInt32

  public init(variable: String, path: String, owner: UInt32, user: UInt32) {
    (self.variable, self.path, self.owner, self.user) = (variable, path, owner, user)
  }

  /// Returns the first folder for `purposes` that belongs neither to `user` nor to root. A folder that does not exist
  /// belongs to the owner of the folder in which it would be made. A store or a log that is there already and is the
  /// user's own stays usable, wherever it is.
  ///
  /// - Parameters:
  ///   - user: the user of this process by default.
  ///   - environment: returns the value of a variable.
  public static func first(
    for purposes: [Purpose], user: UInt32? = nil, environment: (String) -> String?
  ) -> ForeignFolder? {
    let user = user ?? geteuid()
    for purpose in purposes {
      guard let (variable, path, folder) = place(of: purpose, environment) else { continue }
      let own = purpose == .sockets ? nil : owner(of: folder + "/vault")
      if own == user { continue }
      // Settings are only read, so a folder without any is harmless.
      guard let owner = purpose == .settings ? own : nearestOwner(of: path), owner != user, owner != 0 else { continue }
      return ForeignFolder(variable: variable, path: path, owner: owner, user: user)
    }
    return nil
  }

  /// The variable that counts, its value, and the folder that it names.
  private static func place(
    of purpose: Purpose, _ environment: (String) -> String?
  ) -> (variable: String, path: String, folder: String)? {
    // A relative path does not count (XDG Base Directory Specification 0.8).
    if let path = environment(purpose.variable), path.hasPrefix("/") { return (purpose.variable, path, path) }
    guard let below = purpose.belowHome, let home = environment("HOME"), home.hasPrefix("/") else { return nil }
    return ("HOME", home, home + below)
  }

  private static func owner(of path: String) -> uid_t? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_uid : nil
  }

  private static func nearestOwner(of path: String) -> uid_t? {
    var path = path
    while true {
      if let owner = owner(of: path) { return owner }
      guard errno == ENOENT, let slash = path.lastIndex(of: "/"), path != "/" else { return nil }
      path = slash == path.startIndex ? "/" : String(path[..<slash])
    }
  }

  /// Describes the folder and its owner.
  ///
  /// - Parameter name: the owner's name; nil if it is not known.
  public func event(_ name: String?) -> String {
    let whose = name.map { "\($0) (uid \(owner))" } ?? "uid \(owner)"
    return "\(variable) (\(path)) belongs to \(whose), and you are \(user == 0 ? "root" : "uid \(user)")"
  }

  /// The advice for a person.
  public func remedy(_ name: String?) -> String {
    let other = user == 0 ? "with --system" : "set \(variable) to a folder of your own"
    return "run this as \(name ?? "that user"), or \(other)"
  }
}
