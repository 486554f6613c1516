internal import VaultService

/// The paths of a call of Unlock.
struct AskedPaths: Equatable {
  struct Path: Equatable {
    let target: KeyringTarget
    /// The path as the client wrote it.
    let text: String
    /// The sealed path of a shared item, for which its collection stands until that path can be opened.
    var sealed: [UInt8]?
  }

  /// The most paths of one kind, and of one prompt.
  static let most = 1024

  /// The paths of what the client lacks.
  var lacking: [Path] = []
  /// The paths of what is not there, which may come.
  var absent: [Path] = []
  /// The paths of what was served when the client asked. The end of the prompt lists them, too: libsecret reads only
  /// one of both lists.
  var served: [Path] = []

  /// True if some of the paths are sealed. Only the next daemon has such paths, and takes all that it has for lacking.
  var isSealed: Bool { lacking.contains { $0.sealed != nil } }

  var count: Int { lacking.count + absent.count + served.count }
  /// The objects that the prompt is to unlock.
  var targets: [KeyringTarget] {
    var known: Set<KeyringTarget> = []
    return (lacking + absent).map(\.target).filter { known.insert($0).inserted }
  }

  mutating func add(
    _ target: KeyringTarget, _ text: String, sealed: [UInt8]? = nil, to kind: WritableKeyPath<Self, [Path]>
  ) {
    guard self[keyPath: kind].count < Self.most else { return }
    self[keyPath: kind].append(Path(target: target, text: text, sealed: sealed))
  }

  /// Drops what is more than a number of paths, last what is lacking.
  mutating func shorten(to most: Int) {
    lacking = Array(lacking.prefix(most))
    absent = Array(absent.prefix(most - lacking.count))
    served = Array(served.prefix(most - lacking.count - absent.count))
  }
}
