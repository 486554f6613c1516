internal import VaultModel
internal import VaultService

/// The door for service managers: hands a unit the values that grants make its credentials.
///
/// It has no rules of its own. It never lets a unit start without the credential that the unit asked for: see
/// ``Overflow``.
final class CredentialDoor {
  /// The terms of a call for a credential.
  static let terms = CallTerms("credential", needs: .log, entry: .withValue)

  let items: Items
  let vault: Vault
  let asking: Asking
  let upkeep: Upkeep
  let clients: Clients
  /// The connections that are answered or that wait while the vault is locked, plus refused connections, up to twice
  /// the limit together.
  let entrance: Entrance<CredentialConnection>
  /// All open connections of the service manager, even those that were turned away and are still sent the reply with
  /// which no unit starts.
  private var open: [ObjectIdentifier: CredentialConnection] = [:]
  let plaintext: Plaintext
  let timer: Timer
  let store: DescriptorStore
  /// The uid of the service manager whose units the vault knows.
  let manager: UInt32

  init(_ rooms: Rooms, _ clients: Clients, _ plaintext: Plaintext, timer: Timer, _ store: DescriptorStore, most: Int) {
    (items, vault, asking, upkeep) = (rooms.items, rooms.vault, rooms.asking, rooms.upkeep)
    (self.clients, self.plaintext, self.timer, self.store) = (clients, plaintext, timer, store)
    entrance = Entrance(clients, .newcomerIsRefused) { most }
    manager = rooms.access.terms.isSystem ? 0 : rooms.access.terms.owner
  }

  /// Admits a connection of the service manager.
  func admit(_ connection: CredentialConnection) -> Entrance<CredentialConnection>.Admission {
    open[ObjectIdentifier(connection)] = connection
    return entrance.admit(connection)
  }

  /// Forgets a connection that has ended.
  func leave(_ connection: CredentialConnection) {
    open[ObjectIdentifier(connection)] = nil
    entrance.leave(connection)
  }

  /// Keeps the units that still wait from starting when the daemon ends.
  func end() {
    var words = LastWords(to: open.values.compactMap { $0.owed()?.withDescriptor { $0 } })
    words.send(within: Timeouts.lastWords, now: vault.clock.monotonic)
    if !words.isDone, !words.handOn() { words.send(within: Timeouts.lastWordsBeyond, now: vault.clock.monotonic) }
  }
}
