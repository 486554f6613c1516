internal import VaultModel
internal import VaultService

/// The door for service managers: hands a unit the values that grants make its credentials.
///
/// It has no rule of its own. It never lets a unit start without what it asked for: see ``Overflow``.
final class CredentialDoor {
  /// The most connections; they wait for as long as the vault is locked.
  private static let most = 256

  let items: Items
  let vault: Vault
  let attendance: Attendance
  let upkeep: Upkeep
  let clients: Clients
  let plaintext: Plaintext
  let timer: Timer
  /// The uid of the service manager whose units the vault knows.
  let manager: UInt32
  private var connections: [ObjectIdentifier: CredentialConnection] = [:]

  init(_ rooms: Rooms, _ clients: Clients, _ plaintext: Plaintext, timer: Timer) {
    (items, vault, attendance, upkeep) = (rooms.items, rooms.vault, rooms.attendance, rooms.upkeep)
    (self.clients, self.plaintext, self.timer) = (clients, plaintext, timer)
    manager = rooms.access.terms.isSystem ? 0 : rooms.access.terms.owner
  }

  /// False where there are as many as there may be.
  func admit(_ connection: CredentialConnection) -> Bool {
    guard connections.count < Self.most else { return false }
    connections[ObjectIdentifier(connection)] = connection
    return true
  }

  func leave(_ connection: CredentialConnection) { connections[ObjectIdentifier(connection)] = nil }

  /// Has no unit start that still waits, at the daemon's end.
  func end() {
    let end = vault.clock.monotonic() + Timeouts.lastCredentials
    for connection in connections.values where vault.clock.monotonic() < end { connection.end() }
  }
}
