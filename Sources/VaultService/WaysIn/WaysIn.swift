package import VaultCore
package import VaultModel
internal import VaultStore

/// The ways into the vault: its slots, who proves the right by them, and the keys that open it without a person.
///
/// Every method that needs the right to the vault goes through here, so that every attempt is counted.
package final class WaysIn {
  let vault: Vault
  let access: Access
  let presence: Presence
  let attempts: Attempts
  let conversations: Conversations
  let worker: any Worker
  let timer: Timer
  /// The turns of what takes long.
  let runner: Runner
  let keystores: any Keystores
  /// The directory of the service's credentials; nil where the service manager gave none.
  let credentials: String?
  /// True for the machine's vault.
  let isSystem: Bool
  /// The presence keys of `memory` slots.
  let retained: RetainedKeys
  /// The `file` keys that lay beside the store when it was opened, by their locators, until it is known which are of use.
  var earlierKeys: Set<[UInt8]> = []
  /// The renewal that has PAM slots count for other fingers, and holds the vault key for it.
  var renewal: SlotRenewal?
  /// The reactions of ``Upkeep`` to what happens here.
  var hooks = Hooks()

  /// The reactions of ``Upkeep`` to what happens to the ways in; set once, when it is made.
  struct Hooks {
    /// Ends what else was begun for the old place of the boot key, when it is to lie elsewhere.
    var bootKeyMoves: (Refusal) -> Void = { _ in }
    /// Uses the vault key when it is known, before it is wiped: a rekey that was begun goes on.
    var keyIsKnown: (borrowing SecureBytes, Keychain) -> Void = { _, _ in }
    /// Ends what else went by the old slots, when they change.
    var slotsChange: (Refusal) -> Void = { _ in }
  }

  package init(
    _ vault: Vault, _ access: Access, _ presence: Presence, _ attempts: Attempts, _ conversations: Conversations,
    worker: any Worker, timer: Timer, runner: Runner, keystores: any Keystores, credentials: String?, isSystem: Bool
  ) {
    self.vault = vault
    self.access = access
    self.presence = presence
    self.attempts = attempts
    self.conversations = conversations
    self.worker = worker
    self.timer = timer
    self.runner = runner
    self.keystores = keystores
    self.credentials = credentials
    self.isSystem = isSystem
    retained = RetainedKeys(in: vault.holders)
  }

  /// Begins a conversation with whoever `prompter` shows it to, whose end is recorded.
  ///
  /// - Parameter item: what it is about.
  func converse(
    _ prompter: any Prompter, _ action: AuditAction, _ item: String? = nil, _ said: Said? = nil
  ) -> Conversation {
    let conversation = Conversation(prompter, conversations, vault.holders, timer)
    conversation.record = { [unowned vault, caller = prompter.caller] outcome, done in
      // What was done says itself what it was done to; what was refused is told beside that.
      let (about, more) = outcome == .ok || item == nil ? (done ?? item, nil) : (item, done)
      vault.audit.record(action, outcome, caller, item: about, detail: more, said)
    }
    prompter.begin(conversation)
    return conversation
  }

  /// Refuses a call before anybody is asked, which is recorded as well.
  func refuse(_ prompter: any Prompter, _ refusal: Refusal, _ action: AuditAction, _ item: String? = nil) {
    vault.audit.record(action, refusal.outcome, prompter.caller, item: item)
    prompter.refuse(refusal)
  }

  /// Runs `work`, which derives keys from secrets, on the worker. There is one at a time for each uid: the answer is whether
  /// it was begun. It is told when the conversation that wants it has ended.
  @discardableResult
  func derive<T: Sendable>(
    for conversation: Conversation, _ work: @escaping @Sendable (Cancellation) -> T, then: @escaping (T) -> Void
  ) -> Bool {
    let uid = conversation.caller.uid
    guard attempts.beginDeriving(for: uid) else { return false }
    let cancellation = conversation.cancellation
    worker.run {
      work(cancellation)
    } then: { [attempts] result in
      attempts.endDeriving(for: uid)
      then(result)
    }
    return true
  }
}

/// The places where a presence key can be kept outside this process. (A `memory` key is the daemon's own.)
///
/// Nothing here blocks the loop. Results arrive on it, and what a call gives back calls it off: for when the vault is locked
/// meanwhile, because a helper that is at work may hold the key. `then` may come all the same.
package protocol Keystores {
  /// Puts `key`, of 32 bytes, into the keystore. `then` gets what finds it there again: at most 1 KiB, and no secret. A
  /// keystore may have the key by the time that this is called off, and keep one that opens nothing.
  func store(
    _ key: borrowing SecureBytes, in kind: KeystoreKind, vault: [UInt8],
    then: @escaping (Result<[UInt8], KeystoreError>) -> Void
  ) -> () -> Void

  /// Takes a copy of a key out of the keystore.
  func fetch(
    _ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8],
    then: @escaping (consuming Result<SecureBytes, KeystoreError>) -> Void
  ) -> () -> Void

  /// Removes a key; `then` gets nil when it is gone, also when it was gone before.
  func remove(_ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8], then: @escaping (KeystoreError?) -> Void)
}
