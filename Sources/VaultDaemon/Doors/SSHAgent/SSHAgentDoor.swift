internal import VaultModel
internal import VaultService
internal import VaultSigning

/// The door for SSH programs: an ssh-agent (RFC 9987). Its keys are items, and keys that `ssh-add` adds until the next
/// lock.
///
/// `Access` decides who may use which item. The door itself enforces SSH's own rules: what may be signed at all, and
/// the hosts for which a key of this session may be used.
final class SSHAgentDoor {
  let items: Items
  let vault: Vault
  let access: Access
  let asking: Asking
  let upkeep: Upkeep
  let clients: Clients
  let turns: Turns
  let timer: Timer
  let keys: SSHKeys
  let sessionKeys: SessionKeys
  let lock: AgentLock
  /// The user whose vault it is; nobody else is answered.
  let owner: UInt32
  /// The names of hosts, as ssh knows them.
  let knownHosts: KnownHostsFile
  /// The path of the socket; nil when there is none.
  var socket: String?
  /// The most connections at once.
  private let most: Int
  /// False when the settings turn the ssh-agent off; then nobody is answered.
  var isOn: Bool {
    didSet {
      guard !isOn else { return }
      end()
      sessionKeys.removeAll()
    }
  }
  private var connections: [ObjectIdentifier: SSHAgentConnection] = [:]

  init(_ rooms: Rooms, _ clients: Clients, _ turns: Turns, timer: Timer, home: String?, most: Int, isOn: Bool) {
    (items, vault, access) = (rooms.items, rooms.vault, rooms.access)
    (asking, upkeep) = (rooms.asking, rooms.upkeep)
    (self.clients, self.turns, self.timer) = (clients, turns, timer)
    keys = SSHKeys(rooms.items)
    sessionKeys = SessionKeys(rooms.vault, timer)
    lock = AgentLock(timer)
    owner = rooms.access.terms.owner
    knownHosts = KnownHostsFile(home: home)
    (self.most, self.isOn) = (most, isOn)
    sessionKeys.someAreGone = { [unowned self] in
      for connection in Array(connections.values) { connection.checkAwaitedKey() }
    }
  }

  /// Admits a connection. At the limit, it replaces the connection that has been silent longest. False when none is
  /// silent, or when the agent is off.
  func admit(_ connection: SSHAgentConnection) -> Bool {
    guard isOn else { return false }
    if connections.count >= most {
      // A connection that waits for its answer is in use.
      guard let idle = connections.values.filter({ !$0.isAnswering }).min(by: { $0.heard < $1.heard }) else {
        return false
      }
      leave(idle)
      idle.close()
    }
    connection.heard = clients.heardNext()
    connections[ObjectIdentifier(connection)] = connection
    return true
  }

  func leave(_ connection: SSHAgentConnection) { connections[ObjectIdentifier(connection)] = nil }

  func end() { for connection in connections.values { connection.close() } }
}
