internal import VaultService

/// The paths of a call of Unlock.
struct AskedPaths: Equatable {
  struct Path: Equatable {
    let target: KeyringTarget
    /// The path as the client wrote it.
    let text: String
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

  var count: Int { lacking.count + absent.count + served.count }
  /// The objects that the prompt is to unlock.
  var targets: [KeyringTarget] {
    var known: Set<KeyringTarget> = []
    return (lacking + absent).map(\.target).filter { known.insert($0).inserted }
  }

  mutating func add(_ target: KeyringTarget, _ text: String, to kind: WritableKeyPath<Self, [Path]>) {
    if self[keyPath: kind].count < Self.most { self[keyPath: kind].append(Path(target: target, text: text)) }
  }

  /// Drops what is more than a number of paths, last what is lacking.
  mutating func shorten(to most: Int) {
    lacking = Array(lacking.prefix(most))
    absent = Array(absent.prefix(most - lacking.count))
    served = Array(served.prefix(most - lacking.count - absent.count))
  }
}
