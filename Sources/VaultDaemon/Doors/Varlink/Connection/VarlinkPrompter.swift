internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

/// Prompts a person over the caller's own connection: prompts go out as replies to the call, and answers come in over
/// another connection (Respond).
final class VarlinkPrompter: Prompter {
  /// 128 random bits in hex, known to the client that began the conversation.
  private let id = RandomBytes.array(count: 16).hex
  private let connection: VarlinkConnection
  private unowned let door: VarlinkDoor
  private let finished: (ConversationResult) -> Void

  /// Makes a prompter that asks the person at the other end of `connection`.
  ///
  /// - Parameter finished: sends the last reply.
  init(_ connection: VarlinkConnection, _ door: VarlinkDoor, _ finished: @escaping (ConversationResult) -> Void) {
    self.connection = connection
    self.door = door
    self.finished = finished
  }

  var caller: Caller { connection.caller }

  var isPresent: Bool { connection.checkPeer() }

  func begin(_ conversation: Conversation) {
    door.conversations[id] = conversation
    connection.hold(withName: false) { [weak conversation] in conversation?.leave() }
  }

  func show(_ prompt: Prompt) {
    let question = Wire.Question(
      conversation: id,
      prompt: Wire.Prompt(
        style: prompt.style.rawValue, method: prompt.method, text: prompt.text, number: prompt.number))
    guard let code = prompt.code else { return connection.reply(question, continues: true) }
    code.withSecret { code in
      code.withBytes { code in
        connection.reply(continues: true, content: .whenUnlocked) { question.write(to: &$0, secret: code) }
      }
    }
  }

  func end() { door.conversations[id] = nil }

  func finish(_ result: ConversationResult) { finished(result) }

  /// Refuses the call at the end of this turn of the loop. A lock, a rekey, a change of slots and the time may end many
  /// conversations at once, whose entries are recorded by then and so are written together.
  func refuse(_ refusal: Refusal) { door.vault.hooks.afterwards { [connection] in connection.fail(refusal) } }
}
