internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The writing of a file through `vault-import --write`: the entries go there, and the file comes back.
struct ExportWriter {
  private let program: ImportProgram

  private init() throws(Failure) { program = try ImportProgram(["--write"]) }

  /// Writes a file, and returns its size.
  ///
  /// - Parameters:
  ///   - password: the password of the file; nil for a file without one.
  ///   - take: takes the next bytes of the file.
  static func write(
    _ entries: [SourceEntry], _ order: ExportOrder, password: borrowing SecretBuffer?,
    to take: (borrowing SecretBuffer) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    let writer = try ExportWriter()
    switch password {
    case .some(let password):
      try writer.program.send(frame: password.withBytes { ExportCall.write(order).frame(value: $0) })
    case .none: try writer.program.send(frame: ExportCall.write(order).frame())
    }
    let progress = Progress()
    defer { progress.clear() }
    for (number, entry) in entries.enumerated() {
      progress.show(ProgressBar.text("writing", number, of: entries.count, ""))
      try writer.send(entry)
    }
    try writer.program.send(frame: ExportCall.finish.frame())
    return try writer.receive(take)
  }

  private func send(_ entry: SourceEntry) throws(Failure) {
    try program.send(frame: ExportCall.entry(entry.facts).frame())
    for field in entry.fields {
      try program.send(frame: field.value.withBytes { ExportCall.field(field.facts).frame(value: $0) })
    }
  }

  private func receive(_ take: (borrowing SecretBuffer) throws(Failure) -> Void) throws(Failure) -> Int {
    var count = 0
    while true {
      let frame = try program.receiveFrame()
      guard let reply = ExportReply(frame) else { throw ImportProgram.wrong }
      switch consume reply {
      case .part(let bytes):
        guard bytes.count <= ExportReply.longestFile - count else { throw ImportProgram.wrong }
        count += bytes.count
        try take(bytes)
      case .done(let total):
        guard total == count, count > 0 else { throw ImportProgram.wrong }
        return count
      case .failed(let failure): throw ImportProgram.failure(failure)
      }
    }
  }
}
