internal import VaultService

/// An answer with secrets, which may be written in several turns. A lock wipes what is written of it.
///
/// Beyond ``Plaintext/small`` it waits until there is room for it among the large values of all doors, before anything
/// of the secret that is next is copied. It counts there until the bus has taken it.
final class SecretAnswer: SecretHolder {
  private(set) var writer: BusWriter?
  /// The number of paths that were looked at, those that were written, and the bytes of the secrets.
  var index = 0
  var written: Set<String> = []
  var count = 0
  /// True while there is no room for the next secret.
  private(set) var mustWait = false
  /// True if the answer was so slow that others got its room.
  private(set) var isDropped = false
  private let plaintext: Plaintext
  private let bus: Bus
  /// The number of the answer's room; nil until it has one.
  private var room: Int?

  init(in vault: Vault, _ plaintext: Plaintext, _ bus: Bus) {
    (self.plaintext, self.bus) = (plaintext, bus)
    super.init(in: vault.holders)
  }

  deinit { if let room { plaintext.release(room) } }

  func begin(_ writer: BusWriter) { (self.writer, index, written, count) = (writer, 0, [], 0) }

  /// Lets the message go, which was sent.
  func end() {
    writer = nil
    guard let room = room.take() else { return }
    bus.whenTaken { [plaintext] in plaintext.release(room) }
  }

  /// True if there is room for a secret of `more` bytes.
  func hasRoom(for more: Int, of client: Plaintext.Client) -> Bool {
    guard room == nil, count + more > Plaintext.small else { return true }
    guard !plaintext.mustWait(client) else {
      mustWait = true
      return false
    }
    hold(client)
    return true
  }

  /// Runs `goOn` once there is room, if there is none now; otherwise returns false.
  func wait(for client: Plaintext.Client, _ goOn: @escaping () -> Void) -> Bool {
    guard mustWait else { return false }
    _ = plaintext.wait(client) { [weak self] in
      self?.mustWait = false
      self?.hold(client)
      goOn()
    }
    return true
  }

  /// The answer counts with the share of a process, whatever comes in the end: nobody knows that before.
  private func hold(_ client: Plaintext.Client) {
    room = plaintext.hold(
      Plaintext.share, for: client, taken: { [weak self] in self?.count ?? 0 }, drop: { [weak self] in self?.drop() })
  }

  private func drop() {
    room = nil
    isDropped = true
    writer = nil
  }

  override func letGo(for lock: Lock) { writer = nil }
  override func outlives(_ lock: Lock) -> Bool { writer != nil }
}
