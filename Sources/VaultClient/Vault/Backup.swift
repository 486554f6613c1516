public import VaultBytes
internal import VaultModel
public import VaultWire

extension Vault {
  /// The longest time without any byte over the connection of a backup. A slow disk may be written to meanwhile.
  private static let transferTimeout = Duration.seconds(600)
  /// The time that the daemon may take to check the copied records after the copy.
  private static let checkTimeout = Duration.seconds(3600)
  private static let blockLimit = 1 << 20

  /// Copies the whole vault in its present state (vault-backup(5)), and returns the copy's size in bytes.
  ///
  /// If this throws, the copy is worthless. Only if this returns were all of the daemon's bytes received and written.
  /// - Parameters:
  ///   - salvaged: true to copy what ``salvage(_:)`` saved instead.
  ///   - cancellation: a descriptor that ends the call with ``Fault/cancelled`` once it is readable.
  ///   - begin: called with the size before the first byte.
  ///   - told: called with the parts that the daemon could not check for lack of keys.
  ///   - write: called with the bytes in their order, in parts of up to 1 MiB, which must not leave the closure.
  ///   - keep: called after the last byte of a copy that has come whole. If it throws, the daemon does not count the
  ///     backup as the last one. The copy may still turn out to be worthless: see above.
  @discardableResult
  public func backup(
    salvaged: Bool = false, cancellation: Int32? = nil, begin: (Int) throws -> Void = { _ in },
    told: ([String]) -> Void = { _ in }, write: (RawSpan) throws -> Void, keep: () throws -> Void = {}
  ) throws -> Int {
    var replies = try stream(
      .backup, timeout: keyTimeout, cancellation: cancellation,
      Wire.BackupParameters(salvaged: salvaged ? true : nil, confirms: true))
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
    if done == size {
      try keep()
      let confirmation: [UInt8] = [0, 0, 0, 0]
      // Bytes have no padding: all are initialized. If the daemon answers without waiting for these bytes, its answer
      // is read next.
      _ = try connection.send(raw: unsafe confirmation.span.bytes, until: Deadline(after: Self.transferTimeout))
    }
    try connection.beginFrames()
    // The daemon may still be checking the copy.
    let last = try Response(from: connection, until: Deadline(after: Self.checkTimeout)).decode(Wire.BackupReply.self)
    guard done == size else { throw ClientError.protocolViolation("\(done) bytes of \(size)") }
    told(last.unchecked ?? [])
    return size
  }

  /// Makes the vault from a backup, if there is no vault, and returns the slots that were left out because they need
  /// the machine that they were made on.
  ///
  /// With `checks` it changes nothing, whether there is a vault or not: it reads and authenticates the whole backup, as
  /// before a restore.
  ///
  /// - Parameters:
  ///   - header: the backup's header, whose size ``VaultModel/BackupPrefix`` tells.
  ///   - method: `password` or `recovery`; nil means the first of them that the backup has.
  ///   - checks: true to check the backup only.
  ///   - read: fills the front of its buffer with the bytes that follow the header, and returns their number; 0 at the
  ///     end.
  ///   - answer: called with each prompt. Nil from it cancels: ``Fault/cancelled`` is thrown.
  public func restore(
    header: [UInt8], method: String? = nil, checks: Bool = false, read: (inout MutableRawSpan) throws -> Int,
    answer: Answer
  ) throws -> [Wire.Slot] {
    var replies = try stream(
      .restore, timeout: keyTimeout,
      Wire.RestoreParameters(header: header.base64, method: method, check: checks ? true : nil))
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
    // The daemon replies once everything is on the disk.
    let response = try Response(from: connection, until: Deadline(after: Self.transferTimeout))
    return try response.decode(Wire.RestoreReply.self).leftOut ?? []
  }
}

extension Connection {
  /// Receives the length of the next block: four bytes, little-endian.
  fileprivate func blockCount(_ deadline: Deadline) throws(ClientError) -> Int {
    var length: [UInt8] = [0, 0, 0, 0]
    var span = length.mutableSpan
    var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    try receive(into: &bytes, until: deadline)
    return Int(UInt32(length[0]) | UInt32(length[1]) << 8 | UInt32(length[2]) << 16 | UInt32(length[3]) << 24)
  }
}
