internal import NIOCore
internal import VaultAPI
internal import VaultCore

/// A call that asks its client for secrets: prompts go out on the call's own connection, answers come in on another.
///
/// It ends with its last reply, with an error, when its connection closes, or when a prompt is left unanswered.
final class Conversation {
  /// 128 random bits in hex, known to the one who began it.
  let id: String
  let connection: Connection
  private unowned let service: Service
  private var onAnswer: ((consuming SecureBytes) -> Void)?
  private var timeout: Scheduled<Void>?
  private(set) var isOver = false

  init(connection: Connection, service: Service) {
    self.connection = connection
    self.service = service
    let digits = Array("0123456789abcdef")
    id = String(RandomBytes.array(count: 16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    service.conversations[id] = self
    connection.hold { [weak self] in self?.end() }
  }

  /// Puts a question; `then` gets the answer.
  func ask(
    _ style: PromptStyle, method: String, text: String, code: Handover? = nil,
    then: @escaping (consuming SecureBytes) -> Void
  ) {
    guard !isOver else { return }
    onAnswer = then
    timeout = connection.after(Timeouts.prompt) { [weak self] in self?.fail(.cancelled) }
    let reply = Wire.ConversationReply(
      conversation: id, prompt: Wire.Prompt(style: style.rawValue, method: method, text: text))
    guard let code else { return connection.reply(reply, continues: true) }
    code.withSecret { code in
      code.withBytes { code in
        connection.reply(continues: true) { writer in reply.write(to: &writer, code: code) }
      }
    }
  }

  /// Takes the answer to the open question; false when there is none.
  func answer(_ secret: consuming SecureBytes) -> Bool {
    guard let then = onAnswer, !isOver else { return false }
    onAnswer = nil
    timeout?.cancel()
    then(secret)
    return true
  }

  /// The last reply; `slot` is what AddSlot made.
  func finish(slot: UInt32? = nil) {
    guard !isOver else { return }
    end()
    connection.reply(Wire.AddSlotReply(slot: slot.map(Int.init)))
  }

  func fail(_ fault: Fault) {
    guard !isOver else { return }
    end()
    connection.fail(fault)
  }

  /// Forgets the conversation without a word.
  func end() {
    isOver = true
    onAnswer = nil
    timeout?.cancel()
    service.conversations[id] = nil
  }
}

/// How a prompt is to be put: the words of the interface.
enum PromptStyle: String {
  case secret
  case newSecret = "new-secret"
  case confirm
}

extension Wire.ConversationReply {
  /// Writes it with the prompt's code, which is a secret and so no part of the value.
  fileprivate func write(to writer: inout JSONWriter, code: RawSpan) {
    writer.beginObject()
    if let conversation {
      writer.key("conversation")
      writer.string(conversation)
    }
    if let prompt {
      writer.key("prompt")
      prompt.write(to: &writer, code: code)
    }
    writer.endObject()
  }
}
