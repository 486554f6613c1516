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
  let plaintext: Plaintext
  let timer: Timer
  let store: DescriptorStore
  /// The uid of the service manager whose units the vault knows.
  let manager: UInt32
  /// The most connections that are answered, or wait while the vault is locked. As many again may be open after a
  /// refusal.
  private let most: Int
  private var connections: [ObjectIdentifier: CredentialConnection] = [:]

  init(_ rooms: Rooms, _ clients: Clients, _ plaintext: Plaintext, timer: Timer, _ store: DescriptorStore, most: Int) {
    (items, vault, asking, upkeep) = (rooms.items, rooms.vault, rooms.asking, rooms.upkeep)
    (self.clients, self.plaintext, self.timer, self.store, self.most) = (clients, plaintext, timer, store, most)
    manager = rooms.access.terms.isSystem ? 0 : rooms.access.terms.owner
  }

  enum Admission {
    case admitted
    /// The connection is refused, because too many wait.
    case full
    /// The connection is refused and not even counted, because as many refused ones are open.
    case closed
  }

  func admit(_ connection: CredentialConnection) -> Admission {
    guard connections.count < 2 * most else { return .closed }
    let isFull = connections.values.count { !$0.isRefused } >= most
    connections[ObjectIdentifier(connection)] = connection
    return isFull ? .full : .admitted
  }

  func leave(_ connection: CredentialConnection) { connections[ObjectIdentifier(connection)] = nil }

  /// Keeps the units that still wait from starting when the daemon ends.
  func end() {
    var words = LastWords(to: connections.values.compactMap { $0.owed() })
    words.send(within: Timeouts.lastCredentials, now: vault.clock.monotonic)
  }
}
