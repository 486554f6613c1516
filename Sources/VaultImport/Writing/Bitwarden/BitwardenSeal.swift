internal import VaultBytes
internal import VaultWire

/// The lock of an export that has a password of its own, as it is written. This is the opposite of ``BitwardenLock``.
///
/// The costs of Argon2id are within those that Bitwarden offers (libs/key-management/src/models/kdf-config.ts).
struct BitwardenSeal {
  private static let (passes, lanes) = (6, 4)

  private let memory: Int
  /// The salt as text; Bitwarden does not decode it.
  private let salt: String
  private let keys: BitwardenText.Keys

  /// Makes the keys.
  ///
  /// - Parameter memory: The memory of Argon2id in MiB.
  init(password: [UInt8], memory: Int) throws(ImportFailure) {
    self.memory = memory
    salt = RandomBytes.make(16).base64
    let key = try BitwardenCrypto.argon2id(
      password, salt: BitwardenCrypto.sha256(Array(salt.utf8)), memory: memory << 10, passes: Self.passes,
      lanes: Self.lanes)
    keys = try BitwardenText.Keys(stretching: key)
  }

  /// Writes the export around another one.
  func write(_ text: [UInt8], to output: ExportOutput) throws(ImportFailure) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("encrypted", true)
    writer.field("passwordProtected", true)
    writer.field("salt", salt)
    writer.field("kdfType", 1)
    writer.field("kdfIterations", Self.passes)
    writer.field("kdfMemory", memory)
    writer.field("kdfParallelism", Self.lanes)
    let check = Array(StableIdentifier.uuid(RandomBytes.make(16)).utf8)
    writer.field("encKeyValidation_DO_NOT_EDIT", String(decoding: try sealed(check), as: UTF8.self))
    try output.take(writer.withBytes { $0.array }[...])
    try output.take(Array(#","data":""#.utf8)[...])
    try output.take(try sealed(text)[...])
    try output.take(Array(#""}"#.utf8)[...])
  }

  /// The text under the keys; see ``BitwardenText``.
  private func sealed(_ text: [UInt8]) throws(ImportFailure) -> [UInt8] {
    let vector = RandomBytes.make(16)
    let padding = 16 - text.count % 16
    let plain = text + Array(repeating: UInt8(padding), count: padding)
    var body = plain
    try KDBXCipher(.aes256, key: keys.encryption, vector: vector).encrypt(plain, into: &body)
    let mac = try BitwardenCrypto.hmac(key: keys.mac, vector, body)
    let parts = [vector.base64, body.base64, mac.base64]
    return Array("2.\(parts.joined(separator: "|"))".utf8)
  }
}
