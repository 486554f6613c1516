internal import VaultBytes
internal import VaultWire

/// The replies to a call that were received while a person answers a question of the call.
///
/// Any failure waits until the next reply is asked for, because the person is still at the question.
final class EarlyReplies {
  /// The most replies that are kept. A question may be told about a few other programs, and about fingers.
  private static let most = 32

  private final class Kept {
    var frame: Frame?

    init(_ frame: consuming Frame) { self.frame = consume frame }
  }

  private let connection: Connection
  private var kept: [Kept] = []
  private var failure: ClientError?
  /// True once the last reply was received.
  private var isOver = false

  init(_ connection: Connection) { self.connection = connection }

  /// The descriptor that is readable when replies may have arrived; nil if no more are taken in.
  var descriptor: Int32? {
    isOver || failure != nil || kept.count >= Self.most ? nil : connection.socket.number
  }

  /// True once the last reply, or a failure, was received.
  var areOver: Bool { isOver || failure != nil }

  /// Takes in the replies that have arrived; returns true once one of them asks a question.
  func takeIn() -> Bool {
    while descriptor != nil {
      do throws(ClientError) {
        guard let frame = try connection.receiveArrived() else { return false }
        let style = Self.style(of: frame)
        kept.append(Kept(frame))
        guard let style else { return stop() }
        if style.wantsAnswer { return true }
      } catch {
        failure = error
      }
    }
    return false
  }

  /// Returns the first reply that was taken in; nil if there is none.
  ///
  /// - Throws: the failure after the last of them.
  func take() throws(ClientError) -> Frame? {
    guard kept.isEmpty else { return kept.removeFirst().frame.take() }
    if let failure { throw failure }
    return nil
  }

  private func stop() -> Bool {
    isOver = true
    return false
  }

  /// The style of a prompt; nil for every other reply.
  private static func style(of frame: borrowing Frame) -> Prompt.Style? {
    guard let reply = try? Reply(frame), reply.error == nil, reply.continues else { return nil }
    return (try? Wire.Question(frame, reply.parameters)).flatMap { Prompt.Style(rawValue: $0.prompt.style) }
  }
}
