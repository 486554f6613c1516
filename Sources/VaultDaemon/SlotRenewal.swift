internal import Logging
internal import VaultAPI
internal import VaultCore
internal import VaultKeystore
internal import VaultModel
internal import VaultStore

/// Has PAM slots count for the fingers that are enrolled now, after an unlock with a secret.
///
/// It goes on after the unlock, since fprintd and keystores take their time, and holds the vault key for it: the next
/// lock calls it off.
final class SlotRenewal {
  private unowned let service: Service
  private let keychain: Keychain
  private let uid: UInt32
  private let vaultKey: Handover
  /// The slot that gave the key.
  private let proof: SlotRecord
  private var giveUp: (() -> Void)?

  init(
    _ service: Service, _ keychain: Keychain, uid: UInt32, vaultKey: consuming SecureBytes, provenBy proof: SlotRecord
  ) {
    self.proof = proof
    self.service = service
    self.keychain = keychain
    self.uid = uid
    self.vaultKey = Handover(vaultKey)
  }

  func start() {
    service.askFingers(uid) { [self] fingers in
      guard fingers.isKnown else { return finish() }
      renew(keychain.slots[...], fingers.names)
    }
  }

  /// Wipes the vault key and ends what is under way.
  func callOff() {
    _ = vaultKey.take()
    giveUp?()
    finish()
  }

  private func finish() {
    _ = vaultKey.take()
    giveUp = nil
    if service.slotRenewal === self { service.slotRenewal = nil }
  }

  /// Takes one slot after the other.
  private func renew(_ slots: ArraySlice<SlotRecord>, _ names: [String]) {
    guard service.slotRenewal === self, let slot = slots.first else { return finish() }
    guard let terms = slot.terms, terms.users.contains(uid), terms.fingers(of: uid) != names else {
      return renew(slots.dropFirst(), names)
    }
    var isFetched = false
    let giveUp = service.fetchPresenceKey(of: slot) { [self] found in
      isFetched = true
      self.giveUp = nil
      switch consume found {
      case .success(let key):
        // The record comes from the disk, where others may have written. A new one must not vouch for what they wrote.
        if (try? slot.openVaultKey(secret: key, vaultID: keychain.vaultID)) != nil {
          return replace(slot, terms, names) { [self] in renew(slots.dropFirst(), names) }
        }
        service.log.error("slot \(slot.id) was changed by another program and stays void; remove it")
      case .failure(let error): service.log.warning("slot \(slot.id) stays void: \(error.reason)")
      }
      renew(slots.dropFirst(), names)
    }
    if !isFetched { self.giveUp = giveUp }
  }

  /// Puts a slot with these fingers, and another key, in place of `slot`.
  private func replace(
    _ slot: SlotRecord, _ terms: PresenceTerms, _ names: [String], then: @escaping () -> Void
  ) {
    guard let keystore = KeystoreKind(rawValue: terms.keystore) else { return then() }
    var isMade = false
    let giveUp = service.makePresenceSlot(
      id: slot.id, label: slot.label, created: slot.created, keystore, users: terms.users,
      fingers: terms.fingers(with: names, of: uid), vaultKey: vaultKey, vaultID: keychain.vaultID
    ) { [self] made in
      isMade = true
      self.giveUp = nil
      do throws(Fault) {
        try put(try made.get(), in: slot)
        service.log.info("slot \(slot.id) now counts for the fingers that are enrolled")
      } catch {
        service.log.warning("slot \(slot.id) stays void: \(error.sentence)")
      }
      then()
    }
    if !isMade { self.giveUp = giveUp }
  }

  private func put(_ new: SlotRecord, in old: SlotRecord) throws(Fault) {
    do throws(VaultError) {
      // Either slot may have been removed meanwhile, or the vault locked.
      let replaced: Void? = try vaultKey.withSecret { (key: borrowing SecureBytes) throws(VaultError) in
        try keychain.replaceSlot(new, given: [proof, old], vaultKey: key)
      }
      guard replaced != nil else { throw .locked }
    } catch {
      service.dropPresenceKey(of: new, vaultID: keychain.vaultID)
      throw Fault(error)
    }
    service.slotsChanged(without: [old])
    service.dropPresenceKey(of: old, vaultID: keychain.vaultID)
  }
}

extension Service {
  /// After an unlock with a secret: keeps the keys of `memory` slots, and has the slots of `uid` count again for the
  /// fingers that are enrolled now.
  func takeUpPresenceKeys(
    _ vaultKey: borrowing SecureBytes, _ keychain: Keychain, uid: UInt32, provenBy proof: SlotRecord
  ) {
    let slots = keychain.slots.filter { $0.kind == .pam }
    guard !slots.isEmpty else { return }
    retainKeys(of: slots, vaultKey, vaultID: keychain.vaultID)
    slotRenewal?.callOff()
    // Slots stay as they are while the vault is being given a new key.
    guard !keychain.isRekeying else { return }
    let key = vaultKey.withBytes { SecureBytes(copying: $0) }
    let renewal = SlotRenewal(self, keychain, uid: uid, vaultKey: key, provenBy: proof)
    slotRenewal = renewal
    renewal.start()
  }
}
