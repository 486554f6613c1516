internal import VaultBytes
internal import VaultWire

/// The reading of many values that are asked for before the replies to the earlier questions have come, over a
/// connection of its own.
///
/// The daemon answers the calls of a connection in their order, so a program that reads many values need not wait for
/// one before it asks for the next. It asks until ``ask(_:version:expired:describe:size:)`` has no room, sends the
/// questions with ``send()``, and takes each reply with ``next()``. Between the two it may do other work, such as
/// another call to the daemon.
///
/// Nothing is repeated here: what has no reply after an error must be asked for again, best with
/// ``Vault/read(_:version:wait:expired:ask:describe:)``.
public final class ReadingAhead {
  /// The size in bytes of the largest value that is asked for ahead. The daemon keeps only few larger ones in hand, for
  /// all programs together, and such a value must not wait until this program comes to it.
  public static let largest = 16 << 10
  /// The most calls that are on their way, their most bytes, and the most bytes of the values that they ask for. The
  /// calls fit into the socket, so sending them waits for nobody, even if no reply is read meanwhile.
  static let most = (calls: 384, bytes: 64 << 10, values: 64 << 10)

  private let vault: Vault
  private var connection: Connection?
  private var calls = JSONWriter()
  /// The bytes of the calls and of the values, since a time when every call had its reply.
  private var (bytes, values) = (0, 0)
  /// The number of questions without a reply, and that of those among them that were sent.
  private var (count, sent) = (0, 0)

  /// Makes a reader of the same vault, without connecting yet.
  public init(_ vault: Vault) { self.vault = vault }

  /// Asks for a value, as ``Vault/read(_:version:wait:expired:ask:describe:)`` does. ``send()`` sends the question.
  ///
  /// - Parameter size: the size of the value in bytes, as far as it is known.
  /// - Returns: false when there is no room for the question before every earlier one has its reply. For a value above
  ///   ``largest`` there is never room.
  public func ask(
    _ name: String, version: Int? = nil, expired: Bool = false, describe: Bool = false, size: Int
  ) -> Bool {
    guard size <= Self.largest, count < Self.most.calls, bytes < Self.most.bytes, values + size <= Self.most.values
    else { return false }
    let before = calls.byteCount
    calls.call(.get) { writer in
      vault.question(name, version: version, expired: expired, describe: describe).write(to: &writer)
    }
    count += 1
    bytes += calls.byteCount - before
    values += size
    return true
  }

  /// Sends the questions that were not sent yet.
  public func send() throws(ClientError) {
    guard calls.byteCount > 0 else { return }
    var questions = JSONWriter()
    swap(&questions, &calls)
    do throws(ClientError) {
      let connection = try take()
      try connection.send(questions.take(), until: Deadline(after: vault.timeout))
      self.connection = connection
      sent = count
    } catch {
      end()
      throw error
    }
  }

  /// Takes the reply to the first question that has none.
  ///
  /// - Throws: ``ClientError/fault(_:)`` when the daemon refuses this question. After any other error no question is
  ///   left.
  public func next() throws(ClientError) -> Value {
    try send()
    do throws(ClientError) {
      guard count > 0, let connection else { throw .disconnected }
      let value = try Value(connection.receiveOnly(until: Deadline(after: vault.timeout)))
      answered()
      return value
    } catch {
      if case .fault = error { answered() } else { end() }
      throw error
    }
  }

  private func answered() {
    (count, sent) = (count - 1, sent - 1)
    if count == 0 { (bytes, values) = (0, 0) }
  }

  /// The connection, or a new one if there is none or the daemon has gone away since the last reply.
  private func take() throws(ClientError) -> Connection {
    defer { connection = nil }
    if let connection, sent > 0 || !connection.isStale { return connection }
    return try vault.connect()
  }

  /// Ends the connection. Replies that still come belong to no question.
  private func end() {
    connection = nil
    calls = JSONWriter()
    (count, sent, bytes, values) = (0, 0, 0, 0)
  }
}
