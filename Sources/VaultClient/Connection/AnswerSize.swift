internal import VaultBytes
internal import VaultWire

/// The size so far of an answer whose parts are kept together. It is limited because a malicious server could send
/// parts without end.
struct AnswerSize: ~Copyable {
  private let limit: Int
  private var count = 0

  /// - Parameter limit: the most bytes, as they arrive over the connection.
  init(limit: Int) { self.limit = limit }

  /// Counts one more part.
  ///
  /// - Throws: ``ClientError/answerTooLarge(limit:)`` when the limit is passed.
  mutating func add(_ part: borrowing Response) throws(ClientError) {
    count += part.frame.byteCount
    if count > limit { throw .answerTooLarge(limit: limit) }
  }
}
