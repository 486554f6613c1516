internal import VaultBytes
internal import VaultWire

extension FrameError {
  /// The reason in words, to follow a statement of the expected form.
  var reason: String {
    switch self {
    case .tooLong(let limit): "it is longer than \(limit) bytes"
    case .invalidJSON(let offset, let reason): "\(reason) at byte \(offset)"
    case .tooDeep: "it is nested too deeply"
    case .tooManyValues(let limit): "it has more than \(limit) values"
    case .tooManyMembers(let limit): "an object in it has more than \(limit) members"
    case .duplicateKey: "it has the same key twice"
    case .notAnObject: "it is not a JSON object"
    }
  }
}
