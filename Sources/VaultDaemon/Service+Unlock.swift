internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Unlock, Respond and Lock.
extension Service {
  func unlock(_ call: Wire.UnlockParameters, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    if let seconds = call.lockAfter, seconds <= 0 { return connection.fail(.invalid("for")) }
    if state.kind == .unlocked && call.lockAfter == nil {
      personAsked(call.interactive, connection)
      return connection.reply(Wire.ConversationReply())
    }
    let conversation = Conversation(connection: connection, service: self)
    conversation.endsWhenUnlocked = call.lockAfter == nil
    authenticate(conversation, method: call.method, purpose: Self.purpose("to unlock the vault", call.reason)) {
      [unowned self] vaultKey, slot in
      do throws(VaultError) {
        guard let key = vaultKey.take() else { return conversation.fail(.cancelled) }
        try keychain.unlock(vaultKey: key)
        remember(slot, connection)
        takeUpRekey(key, keychain)
        if slot.kind != .pam { takeUpPresenceKeys(key, keychain, uid: connection.peer.uid, provenBy: slot) }
        // Before anybody hears of it.
        _ = consume key
        unlocked(by: .method(slot.kind.unlockedBy), for: call.lockAfter.map(Int64.init))
        conversation.finish()
      } catch {
        conversation.fail(Fault(error))
      }
    }
  }

  func respond(_ call: Wire.RespondParameters, _ frame: borrowing Frame, _ connection: Connection) {
    guard let conversation = conversations[call.conversation],
      conversation.connection.peer.uid == connection.peer.uid
    else { return connection.fail(.noSuchConversation) }
    let field = SecretField(call.answer, call.data, frame)
    if case .absent = field { return connection.fail(.invalid("answer")) }
    guard let answer = field.bytes(frame) else { return connection.fail(.invalid("data")) }
    if conversation.answer(answer) {
      connection.reply(Wire.Empty())
    } else {
      connection.fail(.noSuchConversation)
    }
  }

  func lockNow(_: Wire.Empty, _ connection: Connection) {
    // Also without a vault: one that is being made has its key already.
    lock(because: .asked)
    guard case .open = vault.content else { return connection.fail(storeFault) }
    connection.reply(Wire.Empty())
  }

  /// The purpose of a prompt, with what the client says of why. The client's words are shown as its own and kept short.
  static func purpose(_ what: String, _ reason: String?) -> String {
    guard let reason, !reason.isEmpty else { return what }
    // Cut before it is looked at: it may be as long as a frame.
    return "\(what) (asked by: \(Printable.line(String(reason.unicodeScalars.prefix(200))).prefix(200)))"
  }
}

extension SlotKind {
  /// The method, as the state says it was unlocked by.
  fileprivate var unlockedBy: String {
    switch self {
    case .password: "password"
    case .recovery: "recovery code"
    case .pam: "fingerprint or login password"
    case .login: "login password"
    }
  }
}
