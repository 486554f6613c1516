internal import VaultService

/// An answer with secrets, which may be written in several turns. A lock wipes what is written of it.
///
/// Beyond ``Plaintext/small`` it waits until there is room for it among the large values of all doors, before the next
/// secret is read. It counts there until the bus has taken it. An answer that takes long to be written gives its room
/// to others that wait: what is written is wiped, and written anew once there is room again.
final class SecretAnswer: SecretHolder {
  private(set) var writer: BusWriter?
  /// The number of paths that were looked at, the paths that were written, and the number of bytes of their secrets.
  var index = 0
  var written: Set<String> = []
  var count = 0
  /// True if nothing more can be read before the answer has its room.
  private var needsRoom = false
  /// The number of times that the answer has given its room to others. After each loss, the answer may keep its next
  /// room for longer, so that it comes to an end.
  private var losses = 0
  private static let mostLosses = 6
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

  /// Releases the message, which was sent.
  func end() {
    writer = nil
    guard let room = room.take() else { return }
    bus.whenTaken { [plaintext] in plaintext.release(room) }
  }

  /// The most bytes that the next secret may have.
  var longest: Int { room == nil ? max(0, Plaintext.small - count) : .max }

  /// Notes that the next secret is longer than ``longest``.
  func needRoom() { needsRoom = true }

  /// Reserves the room that the answer needs, if it needs any. Returns true if there is no room now; `goOn` then runs
  /// once there is.
  func wait(for client: Plaintext.Client, _ goOn: @escaping () -> Void) -> Bool {
    guard needsRoom else { return false }
    guard plaintext.mustWait(client) else {
      hold(client)
      return false
    }
    _ = plaintext.wait(client) { [weak self] in
      self?.hold(client)
      goOn()
    }
    return true
  }

  /// Counts the answer as the whole share of a process, because nobody knows the final size of the answer yet.
  private func hold(_ client: Plaintext.Client) {
    needsRoom = false
    room = plaintext.hold(
      Plaintext.share, for: client, times: 1 << Int64(losses), taken: { [weak self] in self?.count ?? 0 },
      drop: { [weak self] in self?.giveWay() })
  }

  private func giveWay() {
    // The room of a finished answer is released once the bus has taken it.
    guard room.take() != nil else { return }
    (writer, needsRoom) = (nil, true)
    losses = min(losses + 1, Self.mostLosses)
  }

  override func letGo(for lock: Lock) { writer = nil }
  override func outlives(_ lock: Lock) -> Bool { writer != nil }
}
