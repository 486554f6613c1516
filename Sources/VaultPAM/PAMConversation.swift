internal import CPAM
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// Relays the messages and questions of PAM modules to the daemon, and the answers back to the modules.
///
/// A module may talk for as long as it likes, so a conversation is limited to ``maximumMessages`` messages, each of
/// PAM's own maximum size.
final class PAMConversation {
  static let maximumMessages = 64

  private var socket: FrameSocket
  private var messages = 0
  /// The reason why the conversation was broken off. PAM itself knows only that it was.
  private(set) var problem: PresenceOutcome?

  init(over socket: consuming FrameSocket) { self.socket = socket }

  /// Receives the daemon's request, which comes first; nil when the daemon sends something else.
  func receiveRequest() -> PresenceWire.Request? {
    guard let frame = try? socket.receive() else { return nil }
    return try? PresenceWire.Request(frame, frame.root)
  }

  /// Sends the outcome, which is the last message to the daemon.
  func send(_ outcome: PresenceOutcome) { try? socket.send(PresenceWire.Message.outcome(outcome)) }

  /// The conversation function of pam_conv(3). Its last argument is the unretained ``PAMConversation``, which outlives
  /// the transaction.
  static let relay:
    @convention(c) (
      Int32, UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
      UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?, UnsafeMutableRawPointer?
    ) -> Int32 = { count, messages, responses, data in
      guard let messages = unsafe messages, let responses = unsafe responses, let data = unsafe data else {
        return PAM_CONV_ERR
      }
      let conversation = unsafe Unmanaged<PAMConversation>.fromOpaque(data).takeUnretainedValue()
      return unsafe conversation.relay(Int(count), messages, responses)
    }

  private func relay(
    _ count: Int, _ messages: UnsafeMutablePointer<UnsafePointer<pam_message>?>,
    _ responses: UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>
  ) -> Int32 {
    guard (1...Int(PAM_MAX_NUM_MSG)).contains(count) else { return PAM_CONV_ERR }
    // The array and the answers in it come from malloc, because the module frees them (pam_conv(3)).
    guard let memory = unsafe calloc(count, MemoryLayout<pam_response>.stride) else { return PAM_BUF_ERR }
    let replies = unsafe memory.bindMemory(to: pam_response.self, capacity: count)
    for index in 0..<count {
      // Linux-PAM passes an array of pointers to messages.
      guard let message = unsafe messages[index]?.pointee, unsafe pass(message, &replies[index]) else {
        unsafe PAMConversation.discard(replies, count)
        return PAM_CONV_ERR
      }
    }
    unsafe responses.pointee = replies
    return PAM_SUCCESS
  }

  /// Sends one message and, if it is a question, waits for the answer. False breaks the conversation off.
  private func pass(_ message: pam_message, _ reply: inout pam_response) -> Bool {
    guard problem == nil, let style = PresenceWire.Style(pam: unsafe message.msg_style) else { return false }
    messages += 1
    guard messages <= PAMConversation.maximumMessages else {
      problem = .broken("the PAM modules asked more than \(PAMConversation.maximumMessages) times")
      return false
    }
    let text = unsafe PAMConversation.text(message.msg, isQuestion: style.wantsAnswer)
    do throws(FrameSocket.Ended) {
      try socket.send(PresenceWire.Message.prompt(PresenceWire.Prompt(style: style, text: text)))
      return style.wantsAnswer ? try unsafe takeAnswer(into: &reply) : true
    } catch {
      problem = .cancelled
      return false
    }
  }

  /// Puts the next answer into memory from malloc, which the module owns from then on. Linux-PAM's modules overwrite a
  /// password before they free it, and `pam_end` overwrites the copies that the library keeps.
  private func takeAnswer(into reply: inout pam_response) throws(FrameSocket.Ended) -> Bool {
    let frame = try socket.receive()
    guard let answer = try? PresenceWire.answer(frame) else {
      problem = .broken("the answer is not valid")
      return false
    }
    let copy: UnsafeMutablePointer<CChar>? = unsafe answer.withBytes { bytes in
      // A NUL would end the answer early, and PAM's limit (PAM_MAX_RESP_SIZE) includes the terminating NUL.
      let text = Span<UInt8>(_bytes: bytes)
      guard text.count < Int(PAM_MAX_RESP_SIZE), text.indices.allSatisfy({ text[$0] != 0 }),
        let memory = unsafe calloc(text.count + 1, 1)
      else { return nil }
      unsafe bytes.withUnsafeBytes { bytes in
        if let start = bytes.baseAddress { unsafe memory.copyMemory(from: start, byteCount: bytes.count) }
      }
      return unsafe memory.assumingMemoryBound(to: CChar.self)
    }
    // No account's password can contain a NUL or be that long.
    if unsafe copy == nil { problem = .failed }
    unsafe reply.resp = copy
    return unsafe copy != nil
  }

  /// Returns a message's text, cut at PAM's limit. A question loses the colon and the blanks at its end.
  private static func text(_ message: UnsafePointer<CChar>?, isQuestion: Bool) -> String {
    guard let message = unsafe message else { return "" }
    let bytes = unsafe UnsafeRawBufferPointer(start: message, count: strnlen(message, Int(PAM_MAX_MSG_SIZE)))
    var text = Substring(unsafe String(decoding: bytes, as: UTF8.self))
    while let last = text.last, last.isWhitespace { text.removeLast() }
    if isQuestion, text.last == ":" { text.removeLast() }
    return String(text)
  }

  /// Wipes and frees answers that no module will see.
  private static func discard(_ replies: UnsafeMutablePointer<pam_response>, _ count: Int) {
    for index in 0..<count {
      guard let answer = unsafe replies[index].resp else { continue }
      unsafe explicit_bzero(answer, strlen(answer))
      unsafe free(answer)
    }
    unsafe free(replies)
  }
}

extension PresenceWire.Style {
  /// Nil for the styles that are not text: PAM_RADIO_TYPE, PAM_BINARY_PROMPT.
  fileprivate init?(pam style: Int32) {
    switch style {
    case PAM_PROMPT_ECHO_OFF: self = .secret
    case PAM_PROMPT_ECHO_ON: self = .visible
    case PAM_TEXT_INFO: self = .info
    case PAM_ERROR_MSG: self = .error
    default: return nil
    }
  }
}
