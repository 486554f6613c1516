internal import VaultWire

/// The size of what has come of an answer in parts that are kept together: whoever listens may send parts without end.
struct AnswerSize: ~Copyable {
  private let limit: Int
  private var count = 0

  /// - Parameter limit: the most bytes, as they come over the connection.
  init(limit: Int) { self.limit = limit }

  /// Counts one more part; throws ``ClientError/answerTooLarge(limit:)`` when it is one too many.
  mutating func add(_ part: borrowing Response) throws(ClientError) {
    count += part.frame.byteCount
    if count > limit { throw .answerTooLarge(limit: limit) }
  }
}
