internal import VaultWire

/// The lock of an export that has a password of its own: the parameters by which a key is made of the password, and the
/// texts under that key.
///
/// The program that writes it is buildPasswordExport in
/// libs/tools/export/vault-export/vault-export-core/src/services/base-vault-export.service.ts of bitwarden/clients. The
/// key is stretched by HKDF-Expand (RFC 5869, section 2.3), once for each function.
struct BitwardenLock {
  private enum Derivation {
    case pbkdf2(iterations: Int)
    /// The memory is in MiB.
    case argon2id(memory: Int, passes: Int, lanes: Int)
  }

  /// The largest parameters that are computed. Bitwarden itself offers up to 2,000,000 iterations of PBKDF2, and
  /// Argon2id with up to 1024 MiB, 10 passes and 16 lanes (libs/key-management/src/models/kdf-config.ts).
  private static let most = (iterations: 10_000_000, memory: 1024, memoryPasses: 64 << 10, lanes: 64)
  /// The longest salt and validation text in bytes; Bitwarden's have 24 and some 170.
  private static let longestText = 1024
  /// The number of passwords that are tried.
  private static let tries = 3

  private let derivation: Derivation
  /// The salt: the bytes of the text that the export has. It looks like base64, but Bitwarden does not decode it.
  private let salt: [UInt8]
  private let validation: BitwardenText
  private let data: JSONReader.Text
  private let bytes: [UInt8]

  /// Reads the lock of an export in the file `bytes`.
  init(_ members: BitwardenMembers, in bytes: [UInt8]) throws(ImportFailure) {
    func text(_ name: String, most: Int = Self.longestText) throws(ImportFailure) -> JSONReader.Text {
      guard let text = members.texts[name], text.range.count <= most else {
        throw ImportFailure(.damaged, "the export has no '\(name)', or a wrong one")
      }
      return text
    }
    salt = try text("salt").decoded(in: bytes)
    derivation = try Self.derivation(members)
    let name = "encKeyValidation_DO_NOT_EDIT"
    validation = try BitwardenText(text(name), in: bytes, name: name)
    data = try text("data", most: bytes.count)
    self.bytes = bytes
  }

  /// The parameters in words, such as `PBKDF2 with 600000 iterations`.
  var detail: String {
    switch derivation {
    case .pbkdf2(let iterations): "PBKDF2 with \(iterations) iteration\(iterations == 1 ? "" : "s")"
    case .argon2id(let memory, let passes, let lanes):
      "Argon2id with \(memory) MiB, \(passes) pass\(passes == 1 ? "" : "es") and \(lanes) lane\(lanes == 1 ? "" : "s")"
    }
  }

  /// Asks for the password, and returns the export that the file contains.
  func open(_ file: Source.File, of source: Source) throws(ImportFailure) -> [UInt8] {
    for attempt in 0..<Self.tries {
      guard let password = try source.secret(.password, of: file, isAgain: attempt > 0) else {
        if attempt > 0 { break }
        throw ImportFailure(.noSecret, "the export has a password")
      }
      // Bitwarden takes no empty password, and libgcrypt none for Argon2.
      guard !password.isEmpty, let text = try open(password) else { continue }
      return text
    }
    throw ImportFailure(.wrongSecret, "the password is wrong")
  }

  /// The export; nil if the password is wrong.
  private func open(_ password: [UInt8]) throws(ImportFailure) -> [UInt8]? {
    let keys = try keys(password)
    guard try validation.decrypted(keys) != nil else { return nil }
    guard let text = try BitwardenText(data, in: bytes, name: "data").decrypted(keys) else {
      throw ImportFailure(.damaged, "the password is right, but the data were changed")
    }
    return text
  }

  private func keys(_ password: [UInt8]) throws(ImportFailure) -> BitwardenText.Keys {
    let key: [UInt8]
    switch derivation {
    case .pbkdf2(let iterations): key = try BitwardenCrypto.pbkdf2(password, salt: salt, iterations: iterations)
    case .argon2id(let memory, let passes, let lanes):
      // Argon2 needs 8 bytes of salt or more, so Bitwarden hashes what may be shorter: derive_kdf_material in
      // crates/bitwarden-crypto/src/keys/kdf.rs of bitwarden/sdk-internal.
      let salt = try BitwardenCrypto.sha256(salt)
      key = try BitwardenCrypto.argon2id(password, salt: salt, memory: memory << 10, passes: passes, lanes: lanes)
    }
    return try BitwardenText.Keys(stretching: key)
  }

  private static func derivation(_ members: BitwardenMembers) throws(ImportFailure) -> Derivation {
    func number(_ name: String) throws(ImportFailure) -> Int {
      guard let number = members.numbers[name], let number = Int(exactly: number), number > 0 else {
        throw ImportFailure(.damaged, "the export has no '\(name)', or a wrong one")
      }
      return number
    }
    guard let type = members.numbers["kdfType"] else { throw ImportFailure(.damaged, "the export has no 'kdfType'") }
    let iterations = try number("kdfIterations")
    switch type {
    case 0:
      guard iterations <= most.iterations else {
        throw tooLarge("PBKDF2 with \(iterations) iterations", "\(most.iterations)")
      }
      return .pbkdf2(iterations: iterations)
    case 1:
      let (memory, lanes) = (try number("kdfMemory"), try number("kdfParallelism"))
      guard memory <= most.memory else { throw tooLarge("Argon2id with \(memory) MiB", "\(most.memory) MiB") }
      guard lanes <= most.lanes else { throw tooLarge("Argon2id with \(lanes) lanes", "\(most.lanes)") }
      guard iterations <= most.memoryPasses / memory else {
        throw tooLarge(
          "Argon2id with \(iterations) passes over \(memory) MiB", "\(most.memoryPasses / memory) passes over them")
      }
      return .argon2id(memory: memory, passes: iterations, lanes: lanes)
    default: throw ImportFailure(.unsupported, "the export makes its key in an unknown way (kdfType \(type))")
    }
  }

  private static func tooLarge(_ asked: String, _ most: String) -> ImportFailure {
    ImportFailure(.tooLarge, "the export asks for \(asked), and at most \(most) are computed")
  }
}

extension BitwardenText.Keys {
  /// Stretches a key by HKDF-Expand, once for each function.
  init(stretching key: [UInt8]) throws(ImportFailure) {
    self.init(
      encryption: try BitwardenCrypto.hmac(key: key, Array("enc".utf8), [1]),
      mac: try BitwardenCrypto.hmac(key: key, Array("mac".utf8), [1]))
  }
}
