internal import VaultCore
internal import VaultStore

/// The bytes of a backup as a client sends them.
enum BackupIntake {
  /// Reads all of it into what takes its pieces.
  ///
  /// - Parameters:
  ///   - receive: fills what it gets with the next bytes.
  ///   - isAtEnd: tells whether nothing more comes.
  /// - Throws: a ``VaultError``, or what the closures throw.
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
    guard try isAtEnd() else { throw VaultError.corrupt("it goes on behind its end") }
  }

  /// Turns what the store says of a backup into a ``Refusal`` that names the backup; other errors pass.
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
