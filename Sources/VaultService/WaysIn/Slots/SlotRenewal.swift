internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The renewal of PAM slots for the fingers that are enrolled now, after an unlock with a secret.
///
/// It continues after the unlock, because fprintd and keystores take their time, and holds the vault key meanwhile. The
/// next lock ends it.
package final class SlotRenewal: SecretHolder {
  private unowned let ways: WaysIn
  private let keychain: Keychain
  private let uid: UInt32
  private let vaultKey: Handover
  /// The slot that opened the vault.
  private let proof: SlotRecord
  private var giveUp: (() -> Void)?

  init(
    _ ways: WaysIn, _ keychain: Keychain, uid: UInt32, vaultKey: consuming SecureBytes, provenBy proof: SlotRecord
  ) {
    self.proof = proof
    self.ways = ways
    self.keychain = keychain
    self.uid = uid
    self.vaultKey = Handover(vaultKey)
    super.init(in: ways.vault.holders)
  }

  func start() {
    ways.presence.means.fingers(uid) { [self] fingers in
      guard fingers.isKnown else { return finish() }
      renew(keychain.slots[...], fingers.names)
    }
  }

  /// Wipes the vault key, and ends the work under way.
  func callOff() {
    _ = vaultKey.take()
    giveUp?()
    finish()
  }

  public override func letGo(for lock: Lock) { callOff() }

  public override func outlives(_ lock: Lock) -> Bool { vaultKey.withSecret { _ in true } ?? false }

  private func finish() {
    _ = vaultKey.take()
    giveUp = nil
    if ways.renewal === self { ways.renewal = nil }
  }

  /// Renews one slot after the other.
  private func renew(_ slots: ArraySlice<SlotRecord>, _ names: [String]) {
    guard ways.renewal === self, let slot = slots.first else { return finish() }
    guard let terms = slot.terms, terms.users.contains(uid), terms.fingers(of: uid) != names else {
      return renew(slots.dropFirst(), names)
    }
    var isFetched = false
    let giveUp = ways.fetchPresenceKey(of: slot) { [self] found in
      isFetched = true
      // A fetch from a file is not cancelled. After a lock its key is wiped unused.
      guard ways.renewal === self else { return finish() }
      self.giveUp = nil
      switch consume found {
      case .success(let key):
        // The record comes from the disk, where other programs may have written. A new record must not vouch for such
        // changes.
        if (try? slot.openVaultKey(secret: key, vaultID: keychain.vaultID)) != nil {
          return replace(slot, terms, names) { [self] in renew(slots.dropFirst(), names) }
        }
        ways.vault.log.error("slot \(slot.id) was changed by another program and stays unusable; remove it")
      case .failure(let error): ways.vault.log.warning("slot \(slot.id) stays unusable: \(error.reason)")
      }
      renew(slots.dropFirst(), names)
    }
    if !isFetched { self.giveUp = giveUp }
  }

  /// Replaces `slot` with a slot for these fingers and with a new key.
  private func replace(
    _ slot: SlotRecord, _ terms: PresenceTerms, _ names: [String], then: @escaping () -> Void
  ) {
    guard let keystore = KeystoreKind(rawValue: terms.keystore) else { return then() }
    var isMade = false
    let giveUp = ways.makePresenceSlot(
      id: slot.id, label: slot.label, created: slot.created, keystore, users: terms.users,
      fingers: terms.fingers(with: names, of: uid), vaultKey: vaultKey, vaultID: keychain.vaultID
    ) { [self] made in
      isMade = true
      self.giveUp = nil
      do throws(Refusal) {
        try put(try made.get(), in: slot)
        ways.vault.log.info("slot \(slot.id) now counts for the fingers that are enrolled")
      } catch {
        ways.vault.log.warning("slot \(slot.id) stays unusable: \(error.obstacle.sentence)")
      }
      then()
    }
    if !isMade { self.giveUp = giveUp }
  }

  private func put(_ new: SlotRecord, in old: SlotRecord) throws(Refusal) {
    let audit = ways.vault.audit
    do throws(VaultError) {
      // Either slot may have been removed meanwhile, or the vault locked.
      let replaced: Void? = try audit.making { () throws(VaultError) in
        try vaultKey.withSecret { (key: borrowing SecureBytes) throws(VaultError) in
          try keychain.replaceSlot(new, given: [proof, old], vaultKey: key)
        }
      } of: { _ in
        [audit.subjects.daemon]
      } entries: {
        let item = "slot \(old.id) now counts for the fingers that are enrolled"
        if $0 != nil { audit.record(.slot, .ok, nil, item: item) }
      }
      guard replaced != nil else { throw .locked }
    } catch {
      ways.dropPresenceKey(of: new, vaultID: keychain.vaultID)
      throw Refusal(error)
    }
    ways.slotsChanged(without: [old])
    ways.dropPresenceKey(of: old, vaultID: keychain.vaultID)
  }
}
