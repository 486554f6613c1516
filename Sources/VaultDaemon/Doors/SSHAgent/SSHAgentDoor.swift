internal import VaultModel
internal import VaultSSH
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
  let entrance: Entrance<SSHAgentConnection>
  let turns: Turns
  let timer: Timer
  let keys: SSHKeys
  let sessionKeys: SessionKeys<KeyConstraints>
  let lock: AgentLock
  /// The user whose vault it is; nobody else is answered.
  let owner: UInt32
  /// The names of hosts, as ssh knows them.
  let knownHosts: KnownHostsFile
  /// The path of the socket; nil when there is none.
  var socket: String?
  /// False when the settings turn the ssh-agent off; then every request is refused. The socket stays, because the
  /// service manager may hold it. ssh-add reports a refusal, but SIGPIPE ends it if it writes to a closed connection.
  var isOn: Bool {
    didSet {
      guard oldValue, !isOn else { return }
      end()
      sessionKeys.removeAll()
    }
  }

  init(_ rooms: Rooms, _ clients: Clients, _ turns: Turns, timer: Timer, home: String?, most: Int, isOn: Bool) {
    (items, vault, access) = (rooms.items, rooms.vault, rooms.access)
    (asking, upkeep) = (rooms.asking, rooms.upkeep)
    (self.clients, self.turns, self.timer) = (clients, turns, timer)
    keys = SSHKeys(rooms.items)
    sessionKeys = SessionKeys(rooms.vault, timer)
    lock = AgentLock(timer)
    owner = rooms.access.terms.owner
    knownHosts = KnownHostsFile(home: home)
    entrance = Entrance(clients, .idleGivesWay) { most }
    self.isOn = isOn
    sessionKeys.someAreGone = { [unowned self] in
      for connection in entrance.connections { connection.checkAwaitedKey() }
    }
  }

  /// Admits a connection; false when every other connection is in use.
  func admits(_ connection: SSHAgentConnection) -> Bool {
    connection.heard = clients.heardNext()
    return entrance.admit(connection) == .admitted
  }

  func end() { entrance.close() }
}
