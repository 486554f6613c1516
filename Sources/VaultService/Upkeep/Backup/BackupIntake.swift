internal import VaultCore
internal import VaultStore

/// The reading of a backup's bytes as a client sends them.
enum BackupIntake {
  /// Reads all pieces of the backup into `taker`.
  ///
  /// - Parameters:
  ///   - receive: fills the given buffer with the next bytes.
  ///   - isAtEnd: tells whether there are no more bytes.
  /// - Throws: a ``VaultError``, or the errors of the closures.
  static func read<Taker: BackupTaking & ~Copyable>(
    into taker: inout Taker, receive: (inout MutableRawSpan) throws -> Void, isAtEnd: () throws -> Bool
  ) throws {
    var buffer = [UInt8](repeating: 0, count: BackupHeader.pieceCount + StreamSealer.overhead)
    while let expected = taker.expected {
      var span = buffer.mutableSpan
      var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
      var piece = bytes._mutatingExtracting(first: expected)
      try receive(&piece)
      try taker.take(piece.bytes)
    }
    guard try isAtEnd() else { throw VaultError.corrupt("there is data after its end") }
  }

  /// Turns an error of the store about a backup into a ``Refusal`` that names the backup; other errors are passed on.
  static func turningErrors<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch VaultError.corrupt(let reason) {
      throw Refusal.invalidBackup(reason)
    } catch VaultError.distrusted(let reason, _) {
      throw Refusal.invalidBackup(reason)
    } catch let error as VaultError {
      throw Refusal(error)
    }
  }
}
