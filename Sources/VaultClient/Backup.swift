internal import VaultModel
public import VaultWire

extension Vault {
  /// The time that the other side of a backup may let nothing go over the connection. A slow disk is written to
  /// meanwhile.
  private static let transferTimeout = Duration.seconds(600)
  /// The time that the check of what was copied may take after it.
  private static let checkTimeout = Duration.seconds(3600)
  private static let blockLimit = 1 << 20

  /// Copies the whole vault as it is now (vault-backup(5)), and gives the copy's size in bytes.
  ///
  /// Whatever fails, the copy is worth nothing: only when this returns, all of it was written, and all that the daemon had.
  /// - Parameters:
  ///   - salvaged: whether to copy what ``salvage(_:)`` saved instead.
  ///   - cancellation: a descriptor that ends the call with ``Fault/cancelled`` once it can be read.
  ///   - begin: gets the size before the first byte.
  ///   - told: gets what the daemon could not check of it, for want of keys.
  ///   - write: gets the bytes in their order, in parts of up to 1 MiB; they must not leave it.
  @discardableResult
  public func backup(
    salvaged: Bool = false, cancellation: Int32? = nil, begin: (Int) throws -> Void = { _ in },
    told: ([String]) -> Void = { _ in }, write: (RawSpan) throws -> Void
  ) throws -> Int {
    var replies = try stream(
      .backup, timeout: keyTimeout, cancellation: cancellation,
      Wire.BackupParameters(salvaged: salvaged ? true : nil))
    guard let response = try replies.next(timeout: nil) else { throw ClientError.disconnected }
    guard let size = try response.decode(Wire.BackupReply.self).size else {
      throw ClientError.protocolViolation("Backup told no size")
    }
    let connection = replies.connection
    connection.endFrames()
    try begin(size)
    var buffer = SecretBuffer()
    var done = 0
    while true {
      let count = try connection.blockCount(Deadline(after: Self.transferTimeout))
      if count == 0 { break }
      guard count <= Self.blockLimit else { throw ClientError.protocolViolation("a block of \(count) bytes") }
      if buffer.count < count { buffer.append(count: count - buffer.count) { _ in } }
      try buffer.withMutableBytes { bytes throws(ClientError) in
        var part = bytes._mutatingExtracting(first: count)
        try connection.receive(into: &part, until: Deadline(after: Self.transferTimeout))
      }
      try buffer.withBytes { try write($0.extracting(first: count)) }
      done += count
    }
    try connection.beginFrames()
    // A check that has begun is waited for.
    let last = try Response(from: connection, until: Deadline(after: Self.checkTimeout)).decode(Wire.BackupReply.self)
    guard done == size else { throw ClientError.protocolViolation("\(done) bytes of \(size)") }
    told(last.unchecked ?? [])
    return size
  }

  /// Makes the vault from a backup, where there is none, and gives the slots that did not come along: they need the machine
  /// that they were made on.
  ///
  /// With `checks` it makes nothing of it, whether there is a vault or not: all of it is read and authenticated, as before a
  /// restore.
  ///
  /// - Parameters:
  ///   - header: the backup's header, as ``VaultModel/BackupPrefix`` tells its size.
  ///   - method: `password` or `recovery`; nil means the first of them that the backup has.
  ///   - read: fills the front of what it gets with the bytes behind the header, and says how many; 0 at the end.
  ///   - answer: gets the prompts. Nil from it cancels: ``Fault/cancelled`` is thrown.
  public func restore(
    header: [UInt8], method: String? = nil, checks: Bool = false, read: (inout MutableRawSpan) throws -> Int,
    answer: Answer
  ) throws -> [Wire.Slot] {
    var replies = try stream(
      .restore, timeout: keyTimeout,
      Wire.RestoreParameters(header: Self.base64(header), method: method, check: checks ? true : nil))
    var rules = PromptRules(makesCode: false)
    let ready = try converse(&replies, as: Wire.RestoreReply.self, &rules, answer)
    guard ready?.continues == false else { throw ClientError.protocolViolation("a restore that never begins") }
    let connection = replies.connection
    var buffer = SecretBuffer()
    buffer.append(count: 256 << 10) { _ in }
    var isWanted = true
    while isWanted {
      let count = try buffer.withMutableBytes { bytes in try read(&bytes) }
      if count == 0 { break }
      isWanted = try buffer.withBytes { bytes throws(ClientError) in
        try connection.send(raw: bytes.extracting(first: count), until: Deadline(after: Self.transferTimeout))
      }
    }
    connection.finishSending()
    // The daemon waits until all of it is on the disk.
    let response = try Response(from: connection, until: Deadline(after: Self.transferTimeout))
    return try response.decode(Wire.RestoreReply.self).leftOut ?? []
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    var text = [UInt8](repeating: 0, count: Base64.encodedCount(bytes.count))
    var span = text.mutableSpan
    var room = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    Base64.encode(unsafe bytes.span.bytes, into: &room)
    return String(decoding: text, as: UTF8.self)
  }
}

extension Connection {
  /// The length of the next block.
  fileprivate func blockCount(_ deadline: Deadline) throws(ClientError) -> Int {
    var length: [UInt8] = [0, 0, 0, 0]
    var span = length.mutableSpan
    var bytes = unsafe span.mutableBytes  // The same.
    try receive(into: &bytes, until: deadline)
    return Int(UInt32(length[0]) | UInt32(length[1]) << 8 | UInt32(length[2]) << 16 | UInt32(length[3]) << 24)
  }
}
