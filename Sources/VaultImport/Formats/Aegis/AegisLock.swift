internal import VaultBytes
internal import VaultWire

/// The lock of an encrypted vault of Aegis: its content under a master key, and slots that hold this key under a key
/// from a password.
struct AegisLock {
  /// A slot of a password.
  private struct Slot {
    let key: [UInt8]
    let nonce: [UInt8]
    let tag: [UInt8]
    let salt: [UInt8]
    let cost: Int
    let lanes: Int

    /// The bytes of memory in which scrypt makes the key.
    var memory: UInt64 { UInt64(cost) * 1024 }
  }

  /// The most slots, and the most memory of scrypt for all passes of all slots together, which takes about a minute.
  private static let most = (slots: 16, work: UInt64(16) << 30)
  /// The highest cost N for which the memory is a number that can be compared.
  private static let highestCost = 1 << 30
  private static let password: Int64 = 1

  private var slots: [Slot] = []
  private let nonce: [UInt8]
  private let tag: [UInt8]
  private let sealed: [UInt8]

  /// Reads the lock.
  ///
  /// - Parameters:
  ///   - sealed: The content in base64.
  ///   - mostMemory: The most bytes of memory for the derivation of a key.
  init(_ header: JSONValue, _ sealed: String, mostMemory: UInt64) throws(ImportFailure) {
    guard let parameters = header["params"], let sealed = [UInt8](base64: sealed) else {
      throw ImportFailure(.damaged, "the encrypted content is not whole")
    }
    nonce = try Self.bytes(parameters, "nonce")
    tag = try Self.bytes(parameters, "tag")
    self.sealed = sealed
    let all = header["slots"]?.elements ?? []
    for slot in all.prefix(Self.most.slots) where slot["type"]?.integer == Self.password {
      slots.append(try Self.slot(slot))
    }
    guard !slots.isEmpty else {
      throw ImportFailure(
        .unsupported, "only the phone opens this vault of Aegis; export it with a password")
    }
    for slot in slots { try DerivationMemory.check(slot.memory, of: "the vault of Aegis", most: mostMemory) }
    let work = slots.reduce(UInt64(0)) { $0 + $1.memory * UInt64($1.lanes) }
    guard work <= Self.most.work else {
      throw ImportFailure(
        .tooLarge,
        "the vault of Aegis asks for \(KDBXWords.size(work)) in all passes of scrypt, and the limit is "
          + KDBXWords.size(Self.most.work))
    }
  }

  /// The way in which a password makes a key, in words.
  var detail: String { "scrypt with \(KDBXWords.size(slots[0].memory))" }

  /// The content; nil if the password is wrong.
  func open(_ password: [UInt8]) throws(ImportFailure) -> [UInt8]? {
    for slot in slots {
      let key = try AuthenticatorCrypto.scrypt(password, salt: slot.salt, cost: slot.cost, lanes: slot.lanes)
      guard let master = try AuthenticatorCrypto.open(slot.key, tag: slot.tag, key: key, vector: slot.nonce) else {
        continue
      }
      guard let text = try AuthenticatorCrypto.open(sealed, tag: tag, key: master, vector: nonce) else {
        throw ImportFailure(.damaged, "the password is right, but the content was changed")
      }
      return text
    }
    return nil
  }

  private static func slot(_ slot: JSONValue) throws(ImportFailure) -> Slot {
    guard let parameters = slot["key_params"] else { throw wrong("key_params") }
    func number(_ name: StaticString, _ range: ClosedRange<Int>) throws(ImportFailure) -> Int {
      guard let number = slot[name]?.integer.flatMap({ Int(exactly: $0) }), range.contains(number) else {
        throw wrong("\(name)")
      }
      return number
    }
    let cost = try number("n", 2...highestCost)
    guard cost & (cost - 1) == 0 else { throw wrong("n") }
    guard try number("r", 1...Int(UInt16.max)) == 8 else {
      throw ImportFailure(.unsupported, "the vault uses another block size of scrypt than Aegis writes (r = 8)")
    }
    let found = Slot(
      key: try bytes(slot, "key"), nonce: try bytes(parameters, "nonce"), tag: try bytes(parameters, "tag"),
      salt: try bytes(slot, "salt"), cost: cost, lanes: try number("p", 1...1024))
    guard found.key.count == 32 else { throw wrong("key") }
    return found
  }

  /// The bytes of a member in hexadecimal digits, of which there are some.
  private static func bytes(_ value: JSONValue, _ name: StaticString) throws(ImportFailure) -> [UInt8] {
    guard let text = value[name]?.string, text.utf8.count <= 4096, let bytes = [UInt8](hex: text), !bytes.isEmpty else {
      throw wrong("\(name)")
    }
    return bytes
  }

  private static func wrong(_ name: String) -> ImportFailure {
    ImportFailure(.damaged, "the header has no '\(name)', or a wrong one")
  }
}
