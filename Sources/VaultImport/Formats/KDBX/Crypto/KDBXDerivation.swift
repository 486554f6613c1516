internal import CGcrypt
internal import VaultBytes
internal import VaultWire

/// The function that makes a key of a KDBX file from the passwords, which takes time and memory on purpose.
struct KDBXDerivation {
  /// The most memory of all passes together, which bounds the time: about a minute.
  static let mostWork: UInt64 = 64 << 30
  /// The most rounds of AES, which take about a minute.
  static let mostRounds: UInt64 = 1 << 31
  private static let mostLanes: UInt64 = 1 << 10

  private enum Function {
    case aes(rounds: UInt64)
    /// The number of the variant in libgcrypt; the memory in KiB.
    case argon2(variant: gcry_kdf_subalgo_argon2, memory: UInt64, passes: UInt64, lanes: UInt64)
  }

  private let function: Function
  private let salt: [UInt8]
  /// A secret and additional data of Argon2, which KeePass itself never writes.
  private var secret: [UInt8] = []
  private var associated: [UInt8] = []

  /// The derivation of KDBX 3.1, whose facts are fields of the header.
  init(rounds: UInt64, seed: [UInt8]) throws(ImportFailure) {
    guard rounds <= Self.mostRounds else {
      throw ImportFailure(
        .tooLarge, "the database asks for \(rounds) rounds of AES-KDF, and the limit is \(Self.mostRounds)")
    }
    guard seed.count == 32 else { throw ImportFailure(.damaged, "the seed of AES-KDF has \(seed.count) bytes, not 32") }
    (function, salt) = (.aes(rounds: rounds), seed)
  }

  /// The derivation of KDBX 4, whose facts are a dictionary (KeePass: AesKdf.cs, Argon2Kdf.cs).
  ///
  /// - Parameter mostMemory: The most bytes of memory for Argon2.
  init(_ parameters: KDBXVariants, mostMemory: UInt64) throws(ImportFailure) {
    let salt = try parameters.bytes("S")
    switch try parameters.bytes("$UUID").hex {
    case "c9d9f39a628a4460bf740d08c18a4fea", "7c02bb8279a74ac0927d114a00648238":
      try self.init(rounds: parameters.number("R"), seed: salt)
    case "ef636ddf8c29444b91f7a9a403e30a0c": try self.init(argon2: GCRY_KDF_ARGON2D, parameters, salt, mostMemory)
    case "9e298b1956db4773b23dfc3ec6f0a1e6": try self.init(argon2: GCRY_KDF_ARGON2ID, parameters, salt, mostMemory)
    case let id: throw ImportFailure(.unsupported, "the database makes its key by an unknown function (\(id))")
    }
  }

  private init(
    argon2 variant: gcry_kdf_subalgo_argon2, _ parameters: KDBXVariants, _ salt: [UInt8], _ mostMemory: UInt64
  ) throws(ImportFailure) {
    let memory = try parameters.number("M")
    let (passes, lanes) = (try parameters.number("I"), try parameters.number("P"))
    let version = try parameters.number("V")
    guard version == 0x13 else {
      throw ImportFailure(.unsupported, "the database uses version \(version) of Argon2, and only 19 can be read")
    }
    try DerivationMemory.check(memory, of: "the database", most: mostMemory)
    let (work, isBeyond) = memory.multipliedReportingOverflow(by: passes)
    guard !isBeyond, work <= Self.mostWork, lanes <= Self.mostLanes else {
      throw ImportFailure(
        .tooLarge,
        "the database asks for \(Self.costs(memory, passes, lanes)) to make its key, and the limit is "
          + "\(KDBXWords.size(Self.mostWork)) for all passes together, and \(Self.mostLanes) lanes")
    }
    guard passes > 0, lanes > 0, memory >= lanes << 13, (8...1024).contains(salt.count) else {
      throw ImportFailure(.damaged, "the parameters of Argon2 are wrong")
    }
    function = .argon2(variant: variant, memory: memory >> 10, passes: passes, lanes: lanes)
    self.salt = salt
    (secret, associated) = (parameters.optionalBytes("K") ?? [], parameters.optionalBytes("A") ?? [])
  }

  /// The function and its costs in words.
  var text: String {
    switch function {
    case .aes(let rounds): return "AES-KDF with \(KDBXWords.counted(rounds, "round"))"
    case .argon2(let variant, let memory, let passes, let lanes):
      let name = variant == GCRY_KDF_ARGON2D ? "Argon2d" : "Argon2id"
      return "\(name) with \(Self.costs(memory << 10, passes, lanes))"
    }
  }

  /// The costs of Argon2 in words.
  private static func costs(_ memory: UInt64, _ passes: UInt64, _ lanes: UInt64) -> String {
    let (passes, lanes) = (KDBXWords.counted(passes, "pass"), KDBXWords.counted(lanes, "lane"))
    return "\(KDBXWords.size(memory)), \(passes) and \(lanes)"
  }

  /// Makes 32 bytes from the 32 bytes of the composite key.
  func key(from composite: [UInt8]) throws(ImportFailure) -> [UInt8] {
    try ImportFailure.startGcrypt()
    switch function {
    case .aes(let rounds):
      let halves = (try aes(composite[..<16], rounds), try aes(composite[16...], rounds))
      return try KDBXDigest.sha256(halves.0[...], halves.1[...])
    case .argon2(let variant, let memory, let passes, let lanes):
      return try argon2(composite, variant, [32, UInt(passes), UInt(memory), UInt(lanes)])
    }
  }
}

extension KDBXDerivation {
  /// Encrypts a block again and again. CBC over zeros does just that: it encrypts each block of ciphertext once more.
  private func aes(_ block: ArraySlice<UInt8>, _ rounds: UInt64) throws(ImportFailure) -> [UInt8] {
    guard rounds > 0 else { return Array(block) }
    let cipher = try KDBXCipher(.aes256, key: salt, vector: block)
    let most: UInt64 = 4096
    var (left, room) = (rounds, Array(repeating: UInt8(0), count: 16 * Int(most)))
    let zeros = room
    while left > most {
      try cipher.encrypt(zeros, into: &room)
      left -= most
    }
    // At least one round is left, and at most as many as the room holds.
    var last = Array(repeating: UInt8(0), count: 16 * Int(left))
    try cipher.encrypt(Array(zeros.prefix(last.count)), into: &last)
    return last.suffix(16)
  }

  /// Runs Argon2 (RFC 9106) in one thread: without operations for threads, libgcrypt computes the lanes in turn.
  private func argon2(
    _ password: [UInt8], _ variant: gcry_kdf_subalgo_argon2, _ costs: [UInt]
  ) throws(ImportFailure) -> [UInt8] {
    var handle: gcry_kdf_hd_t?
    // Each array is passed with its own size, and lives during the call, which copies what it needs.
    try ImportFailure.check(
      unsafe gcry_kdf_open(
        &handle, Int32(GCRY_KDF_ARGON2.rawValue), Int32(variant.rawValue), costs, UInt32(costs.count), password,
        password.count, salt, salt.count, secret, secret.count, associated, associated.count))
    guard let handle = unsafe handle else { throw ImportFailure(.failed, "libgcrypt: no Argon2") }
    defer { unsafe gcry_kdf_close(handle) }
    try ImportFailure.check(unsafe gcry_kdf_compute(handle, nil))
    var key = Array(repeating: UInt8(0), count: 32)
    try ImportFailure.check(unsafe gcry_kdf_final(handle, key.count, &key))
    return key
  }
}
