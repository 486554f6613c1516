internal import CSodium
internal import Glibc

/// Argon2id (RFC 9106) with one lane, from libsodium: the slow derivation of a key from a password.
public struct Argon2id {
  /// The size of a salt in bytes.
  public static let saltCount = 16

  /// The memory and time that one derivation takes.
  public struct Parameters: Hashable, Sendable {
    /// The memory in bytes, a multiple of 1024.
    public var memory: Int
    /// The number of passes over that memory.
    public var passes: Int

    public init(memory: Int, passes: Int) {
      self.memory = memory
      self.passes = passes
    }

    /// 19 MiB and 2 passes, OWASP's minimum for Argon2id. Nothing weaker is ever accepted.
    public static let floor = Parameters(memory: 19 << 20, passes: 2)
    /// 64 MiB and 3 passes, the minimum for a new slot (RFC 9106, section 4, second recommendation, but with one lane).
    public static let `default` = Parameters(memory: 64 << 20, passes: 3)
    /// 1 GiB and 20 passes. A record that asks for more is an attack on the reader's memory and patience.
    public static let ceiling = Parameters(memory: 1 << 30, passes: 20)

    /// Returns parameters with at least the memory and at least the passes of `other`; the same parameters if `other`
    /// is nil.
    public func raised(to other: Parameters?) -> Parameters {
      guard let other else { return self }
      return Parameters(memory: max(memory, other.memory), passes: max(passes, other.passes))
    }

    /// Checks the parameters.
    ///
    /// - Throws: ``CryptoError/limits(_:)`` for parameters outside ``floor`` to ``ceiling``.
    public func validate() throws(CryptoError) {
      guard memory >= Self.floor.memory else { throw .limits("Argon2id memory is below 19 MiB") }
      guard memory <= Self.ceiling.memory else { throw .limits("Argon2id memory is above 1 GiB") }
      guard memory % 1024 == 0 else { throw .limits("Argon2id memory is not a multiple of 1024 bytes") }
      guard passes >= Self.floor.passes else { throw .limits("Argon2id makes fewer than 2 passes") }
      guard passes <= Self.ceiling.passes else { throw .limits("Argon2id makes more than 20 passes") }
    }

    /// Returns parameters that take about `seconds` on this machine, never below ``default``.
    ///
    /// The function runs one derivation with ``default`` and scales the result: first the memory, up to 256 MiB or an
    /// eighth of the machine's RAM, whichever is less, and then the passes. Blocks the calling thread meanwhile.
    public static func calibrated(target seconds: Double = 0.5) -> Parameters {
      let password = SecureBytes(count: 16)
      let start = monotonicSeconds()
      guard (try? Argon2id.derive(password, salt: [UInt8](repeating: 0, count: saltCount), parameters: .default)) != nil
      else { return .default }
      return scaled(measured: monotonicSeconds() - start, target: seconds, physicalMemory: physicalMemory())
    }

    /// The parameters that ``calibrated(target:)`` chooses after a measurement, which is in seconds for
    /// one derivation with ``default``.
    static func scaled(measured: Double, target: Double, physicalMemory: Int) -> Parameters {
      guard measured > 0, target > measured else { return .default }
      let ratio = min(target / measured, 1000)
      let most = max(min(256 << 20, physicalMemory / 8), Self.default.memory)
      let wanted = Double(Self.default.memory) * ratio
      guard wanted > Double(most) else {
        return Parameters(memory: (Int(wanted) >> 20) << 20, passes: Self.default.passes)
      }
      let memory = (most >> 20) << 20
      let passes = Double(Self.default.passes) * wanted / Double(memory)
      return Parameters(memory: memory, passes: min(Int(passes), Self.ceiling.passes))
    }
  }

  /// Derives the 32-byte key of `password`.
  ///
  /// The derivation takes as much time and memory as `parameters` say, on the calling thread; safe from any thread.
  /// - Throws: ``CryptoError/limits(_:)``, before any memory is allocated; ``CryptoError/malformed(_:)`` if the salt
  ///   does not have ``saltCount`` bytes; ``CryptoError/outOfMemory``.
  public static func derive(
    _ password: borrowing SecureBytes, salt: [UInt8], parameters: Parameters
  ) throws(CryptoError) -> SecureBytes {
    try parameters.validate()
    guard salt.count == saltCount else { throw .malformed("salt size") }
    let key = SecureBytes(count: 32)
    // The password's bytes are only read, and C's char is signed; `key` has the size that is passed.
    let status = unsafe key.lend(stack: Stack.job) { key in
      unsafe password.lend { secret in
        unsafe secret.withMemoryRebound(to: CChar.self, capacity: password.count) { text in
          unsafe crypto_pwhash(
            key, 32, text, UInt64(password.count), salt, UInt64(parameters.passes), parameters.memory,
            crypto_pwhash_alg_argon2id13())
        }
      }
    }
    guard status == 0 else { throw .outOfMemory }
    return key
  }
}

private func monotonicSeconds() -> Double {
  var time = timespec()
  _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

private func physicalMemory() -> Int {
  sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
}
