internal import VaultBytes
internal import VaultModel
internal import VaultWire

extension Variables {
  /// Takes the variables of the files, then the single ones. Of several definitions of a name, the last counts.
  init(_ files: [String], _ assignments: [Assignment]) throws(Failure) {
    self.init()
    for file in files { try read(file) }
    for assignment in assignments { set(assignment.name, to: assignment.item) }
  }

  private mutating func read(_ path: String) throws(Failure) {
    let text = try FileInput.readFile(path, limit: EnvironmentFile.limit)
    do throws(EnvironmentFile.Fault) {
      try text.withBytes { bytes throws(EnvironmentFile.Fault) in
        var file = EnvironmentFile(path: path)
        try file.read(Span<UInt8>(_bytes: bytes), into: &self)
      }
    } catch {
      let place = EnvironmentFile.place(path, line: error.line)
      throw Failure(.invalid, "\(place): \(error.reason)", "see `vault run` in vault(1)")
    }
  }

  /// Throws if a value cannot be in an environment, whose strings end with a NUL.
  borrowing func check(_ fetched: borrowing FetchedItems) throws(Failure) {
    for entry in entries {
      guard case .item(let item) = entry.source else { continue }
      try fetched.withBytes(of: item) { bytes throws(Failure) in
        if Span<UInt8>(_bytes: bytes).contains(0) {
          throw Failure(
            .invalid, "\(item.text) has a NUL byte, which no variable can hold",
            "pass it in a file, with \(Hint.vault("get")) or \(Hint.vault("inject"))")
        }
      }
    }
  }
}
