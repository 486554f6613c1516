internal import VaultWire

extension FrameError {
  /// The reason in words, to stand behind what the bytes should have been.
  var reason: String {
    switch self {
    case .tooLong(let limit): "it is longer than \(limit) bytes"
    case .invalidJSON(let offset, let reason): "\(reason) at byte \(offset)"
    case .tooDeep: "it nests too deeply"
    case .tooManyValues(let limit): "it has more than \(limit) values"
    case .tooManyMembers(let limit): "an object of it has more than \(limit) members"
    case .duplicateKey: "it has a key twice"
    case .notAnObject: "it is not a JSON object"
    }
  }
}
