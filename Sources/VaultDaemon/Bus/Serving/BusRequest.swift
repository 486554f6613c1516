internal import CSystemd
internal import Glibc
internal import VaultService

/// A call that came over a bus. It is answered exactly once, at once or later.
///
/// A call that is dropped without an answer is answered with the error `org.freedesktop.DBus.Error.Failed`, so that no
/// caller waits in vain. The memory of the call and of its answer is wiped when both are done with.
@safe final class BusRequest {
  /// The message with the values of the call; for ``BusInterface/Property/set``, the next one is the new value.
  let message: BusMessage
  let path: String
  /// The unique name of the caller.
  let sender: String
  /// The types of the answer's values.
  let answer: String
  /// The approximate number of bytes in the values of the call.
  let size: Int
  /// The error that answers a call of a form that is not served; nil for other calls. The error is recorded like
  /// others.
  let fault: BusError?
  /// True if the call keeps open the descriptors that came with it.
  let hasDescriptors: Bool
  private(set) weak var bus: Bus?
  /// The connection that makes the call, and the caller of the call; nil until the call is begun.
  private var maker: (peer: BusPeer, caller: Caller)?
  private(set) var isAnswered = false
  /// True if the answer was an error.
  private(set) var hasFailed = false
  /// Called right before the answer is sent, with the error if the answer is one; returns an error to send instead, or
  /// nil.
  var pass: (BusError?) -> BusError? = { _ in nil }
  /// Called once, when the call was answered or given up.
  var answered: () -> Void = {}

  /// - Parameter answer: the types of the values that the answer must have.
  init(
    _ message: BusMessage, at path: String, from sender: String, size: Int, hasDescriptors: Bool = false,
    answer: String, on bus: Bus?, fault: BusError? = nil
  ) {
    (self.message, self.path, self.sender, self.size) = (message, path, sender, size)
    (self.hasDescriptors, self.answer, self.bus, self.fault) = (hasDescriptors, answer, bus, fault)
  }

  deinit { if !isAnswered { fail(.failed) } }

  /// Begins the call as a call of `peer`.
  func begin(for peer: BusPeer) {
    let caller = peer.callerOfCall()
    maker = (peer, caller)
    peer.begin(caller)
  }

  /// Runs a part of the call with the call's own caller. All work for a call is done in such parts, in one turn or in
  /// several.
  func part<E: Error>(_ body: () throws(E) -> Void) throws(E) {
    guard let maker else { return try body() }
    try maker.peer.part(of: maker.caller, body)
  }

  /// Lets the call go at once, so that nothing of it stays in memory, and returns it without its values, to be answered
  /// with an error.
  ///
  /// - Returns: nil if the call was answered with `error` instead, because there is no memory.
  func emptied(for error: BusError) -> BusRequest? {
    guard !isAnswered else { return nil }
    guard let empty = try? message.detached(atMost: 0, withValues: false).copy else {
      fail(error)
      return nil
    }
    let rest = BusRequest(empty, at: path, from: sender, size: 0, answer: answer, on: bus, fault: fault)
    rest.pass = pass
    giveUp()
    return rest
  }

  /// Answers with the values that `write` writes, or with the error that it throws.
  func reply(_ write: (BusWriter) throws(BusError) -> Void = { _ in }) {
    guard !isAnswered else { return }
    guard let writer = beginReply() else { return fail(.failed) }
    do throws(BusError) { try write(writer) } catch { return fail(error) }
    finish(writer)
  }

  /// Begins an answer that is written in several turns; nil if there is no memory for it. It is wiped when it is let
  /// go.
  func beginReply() -> BusWriter? {
    var made: OpaquePointer?
    guard unsafe sd_bus_message_new_method_return(message.message, &made) >= 0, let reply = unsafe made else {
      return nil
    }
    defer { unsafe sd_bus_message_unref(reply) }
    unsafe sd_bus_message_sensitive(reply)
    return unsafe BusWriter(reply)
  }

  /// Sends an answer that is written.
  func finish(_ writer: BusWriter) {
    guard !isAnswered else { return }
    guard writer.failure == 0, unsafe BusMessage(writer.message).signature == answer else { return fail(.failed) }
    if let refusal = pass(nil) { return send(refusal) }
    unsafe bus?.send(writer.message)
    end()
  }

  /// Answers with an error.
  func fail(_ error: BusError) { if !isAnswered { send(pass(error) ?? error) } }

  private func end() {
    guard !isAnswered else { return }
    isAnswered = true
    maker?.peer.endCall()
    let answered = self.answered
    (pass, self.answered) = ({ _ in nil }, {})
    answered()
  }

  private func send(_ error: BusError) {
    hasFailed = true
    defer { end() }
    var made: OpaquePointer?
    let call = unsafe message.message
    unsafe error.name.withCString { name in
      unsafe error.text.withCString { text in
        var told = unsafe sd_bus_error(name: name, message: text, _need_free: 0)
        _ = unsafe sd_bus_message_new_method_error(call, &made, &told)
      }
    }
    guard let reply = unsafe made else { return }
    defer { unsafe sd_bus_message_unref(reply) }
    unsafe sd_bus_message_sensitive(reply)
    unsafe bus?.send(reply)
  }

  /// Gives the call up, because its caller is gone or somebody else answers it.
  func giveUp() { end() }
}
