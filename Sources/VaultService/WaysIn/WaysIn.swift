package import VaultCore
package import VaultModel
internal import VaultStore

/// The ways into the vault: its slots, the proofs of the right to unlock it, and the keys that open it without a
/// person.
///
/// Every method that needs that right uses this class, so that every attempt is counted.
package final class WaysIn {
  let vault: Vault
  let access: Access
  let presence: Presence
  let attempts: Attempts
  let conversations: Conversations
  let worker: any Worker
  let timer: Timer
  /// The turns for long work.
  let runner: Runner
  let keystores: any Keystores
  /// The directory of the service's credentials; nil if the service manager gave none.
  let credentials: String?
  /// True for the machine's vault.
  let isSystem: Bool
  /// The presence keys of `memory` slots.
  let retained: RetainedKeys
  /// The locators of the `file` keys that were beside the store when it was opened, until it is known which of them are
  /// used.
  var earlierKeys: Set<[UInt8]> = []
  /// The renewal of PAM slots for other fingers, which holds the vault key; nil if none is under way.
  var renewal: SlotRenewal?
  /// True while the boot key's file is looked at again.
  var isLookingAtBootKey = false
  /// The reactions of ``Upkeep`` to events here.
  var hooks = Hooks()

  /// The reactions of ``Upkeep`` to changes of slots and keys; set once, when it is made.
  struct Hooks {
    /// Ends other work that was begun for the old place of the boot key, when the settings name a new one.
    var bootKeyMoves: (Refusal) -> Void = { _ in }
    /// Uses the vault key while it is known, before it is wiped: a rekey that was begun continues.
    var keyIsKnown: (borrowing SecureBytes, Keychain) -> Void = { _, _ in }
    /// Ends a pause of a rekey early, because somebody asked for what the rekey delays.
    var rekeyDelays: () -> Void = {}
    /// Ends other work that relied on the old slots, when they change.
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

  /// Begins a conversation, the end of which is recorded, with the person that `prompter` asks.
  ///
  /// - Parameter item: the subject matter of the conversation in words for the audit log; nil for none.
  func converse(
    _ prompter: any Prompter, _ action: AuditAction, _ item: String? = nil, _ said: Said? = nil
  ) -> Conversation {
    let conversation = Conversation(prompter, conversations, vault.holders, timer)
    conversation.record = { [unowned vault, caller = prompter.caller] outcome, done in
      // The words for a completed operation name its object themselves. For a refused one, they are added to the
      // object.
      let (about, more) = outcome == .ok || item == nil ? (done ?? item, nil) : (item, done)
      vault.audit.record(action, outcome, caller, item: about, detail: more, said)
    }
    prompter.begin(conversation)
    return conversation
  }

  /// Refuses a call before anybody is asked, and records that.
  func refuse(_ prompter: any Prompter, _ refusal: Refusal, _ action: AuditAction, _ item: String? = nil) {
    vault.audit.record(action, refusal.outcome, prompter.caller, item: item)
    prompter.refuse(refusal)
  }

  /// Runs `work`, which derives keys from secrets, on the worker, with one derivation at a time for each uid. When its
  /// conversation has ended, the work is told so by its ``Cancellation``.
  ///
  /// - Returns: whether the work was begun.
  @discardableResult
  func derive<T: Sendable>(
    _ derivation: Attempts.Derivation, for conversation: Conversation,
    _ work: @escaping @Sendable (Cancellation) -> T, then: @escaping (T) -> Void
  ) -> Bool {
    let uid = conversation.caller.uid
    guard attempts.begin(derivation, for: uid) else { return false }
    let cancellation = conversation.cancellation
    worker.run {
      work(cancellation)
    } then: { [attempts] result in
      attempts.endDeriving(for: uid)
      then(result)
      attempts.goOn(for: uid)
    }
    return true
  }
}

/// The keystores outside this process for presence keys. (The daemon itself keeps the keys of the `memory` keystore.)
///
/// None of the calls blocks the loop, on which their results arrive. ``store(_:in:vault:then:)`` and
/// ``fetch(_:from:vault:then:)`` return a closure that cancels the call when the vault is locked meanwhile, because a
/// helper program at work may hold the key. `then` may be called all the same.
package protocol Keystores {
  /// Stores `key`, of 32 bytes, in the keystore. `then` receives the locator by which the key is found again: at most 1
  /// KiB, and no secret. If the call is cancelled when the keystore has the key already, the keystore keeps a key
  /// that opens nothing.
  func store(
    _ key: borrowing SecureBytes, in kind: KeystoreKind, vault: [UInt8],
    then: @escaping (Result<[UInt8], KeystoreError>) -> Void
  ) -> () -> Void

  /// Reads a copy of a key from the keystore.
  func fetch(
    _ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8],
    then: @escaping (consuming Result<SecureBytes, KeystoreError>) -> Void
  ) -> () -> Void

  /// Removes a key; `then` receives nil when it is gone, even if it was gone before.
  func remove(_ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8], then: @escaping (KeystoreError?) -> Void)
}
