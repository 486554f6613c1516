internal import VaultService

/// The paths of a call of Unlock.
struct AskedPaths: Equatable {
  struct Path: Equatable {
    let target: KeyringTarget
    /// The path as the client wrote it.
    let text: String
    /// The sealed path of a shared item. Until it can be opened, `target` and `text` name the collection instead of the
    /// item.
    var sealed: [UInt8]?
  }

  /// The most paths of one kind, and of one prompt.
  static let most = 1024

  /// The paths of what the client lacks.
  var lacking: [Path] = []
  /// The paths of objects that do not exist, but may be made later.
  var absent: [Path] = []
  /// The paths of what was served when the client asked. The end of the prompt lists them, too: libsecret reads only
  /// one of the two lists.
  var served: [Path] = []

  /// True if some of the paths are sealed. Only a daemon that has taken up an earlier prompt has such paths, and it
  /// treats all paths of that prompt as lacking.
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

  /// Drops the paths beyond `most`: first served ones, then absent ones, and lacking ones last.
  mutating func shorten(to most: Int) {
    lacking = Array(lacking.prefix(most))
    absent = Array(absent.prefix(most - lacking.count))
    served = Array(served.prefix(most - lacking.count - absent.count))
  }
}
