package import VaultCore
package import VaultModel
internal import VaultSigning
internal import VaultStore

/// A one-time code, and the time for which it counts.
package struct MadeCode: ~Copyable {
  /// The characters of the code: ASCII digits, or the characters of Steam's codes.
  package let digits: SecureBytes
  package let accessible: AccessClass
  /// The time at which the next code replaces this one, in Unix seconds, and the seconds from one code to the next; nil
  /// for a code by a counter.
  package let until: Int64?
  package let period: Int?
  /// The counter from which the code was made; nil for a code by time.
  package let counter: Int64?
}

extension Items {
  /// Lends the one-time code of an item to `answer`. A caller who may have the code need not have the right to get the
  /// secret behind it.
  ///
  /// Before a code by a counter is lent, the next counter is on the disk (RFC 4226 section 7.2). So no such code is
  /// lent twice, however the daemon ends. The counter is a part of the item's value, and advances within the item's
  /// version.
  ///
  /// - Returns: nil if the code was lent; otherwise what the caller may wait for.
  /// - Throws: the reason why there is no code.
  package func code(
    _ reading: Reading, _ answer: (borrowing MadeCode) -> Void
  ) throws(Refusal) -> Wait? {
    let (name, now) = (reading.name, vault.clock.wall())
    return try use(reading, for: .totp, "code") { (keychain, decide) throws(VaultError) in
      func make() throws(VaultError) -> Making {
        try keychain.withValue(of: name, now: now, evenExpired: reading.evenExpired, if: decide) { item, _, value in
          Making(item, value, now)
        }
      }
      var made = try make()
      if made.next != nil {
        // The code is made again within a transaction, so that the code is made and its counter is used, or neither.
        try keychain.transaction { () throws(VaultError) in
          made = try make()
          try made.storeNext(name, keychain, now)
        }
        vault.hooks.announce(.item(name, .updated))
      }
      return made.taken()
    } _: { code in
      answer(code)
    }
  }
}

/// The terms of an item's one-time codes, which the value contains beside the secret.
package struct CodeTerms {
  /// The names of the service and of the account there, in an `otpauth://` URI.
  package let issuer: String?
  package let account: String?
  /// The number of characters in a code.
  package let digits: Int
  /// The hash function of the codes, by its name in the URI.
  package let algorithm: String
  /// True for codes of Steam's letters and digits.
  package let isSteam: Bool
  /// The seconds from one code to the next; nil for codes by a counter.
  package let period: Int?
  /// The counter that the next code is made from; nil for codes by time.
  package let counter: Int64?

  /// The most characters of a name that are kept; more would be of no use.
  private static let longest = 300

  fileprivate init(_ secret: OneTimeSecret, _ value: RawSpan) {
    let (issuer, account) = secret.isURI ? secret.names(in: value) : (nil, nil)
    self.issuer = issuer.map { String($0.prefix(Self.longest)) }
    self.account = account.map { String($0.prefix(Self.longest)) }
    (digits, algorithm, isSteam) = (secret.digits, secret.algorithm.rawValue, secret.alphabet == .steam)
    (period, counter) =
      switch secret.factor {
      case .time(let period): (period, nil)
      case .counter(let counter): (nil, counter)
      }
  }
}

extension Items {
  /// The terms of the codes of an item, read from its value. Nil for an item of another kind, and if the caller could
  /// have no code now because of its rights, an expiry, a lock, or presence that was not shown.
  package func codeTerms(of item: ItemInfo, for caller: Caller) -> CodeTerms? {
    guard item.kind == .totp, let keychain = vault.openKeychain else { return nil }
    let permit = access.permit(caller, on: item.name)
    return try? keychain.withValue(of: item.name, now: vault.clock.wall()) { item in
      access.decide(.use, permit, item.policy, for: caller)
    } _: { item, _, value in
      (try? OneTimeSecret(value, issuer: item.attributes["issuer"])).map { CodeTerms($0, value) }
    }
  }
}

/// A code that was made from an item's value, or the reason why there is none.
private struct Making: ~Copyable {
  var refusal: Refusal?
  var code: MadeCode?
  /// The value with the next counter; nil for a code by time.
  var next: SecureBytes?

  init(_ item: ItemInfo, _ value: RawSpan, _ now: Int64) {
    do throws(ValueError) {
      let secret = try OneTimeSecret(value, issuer: item.attributes["issuer"])
      try make(secret, item, value, now)
    } catch {
      refusal = .invalidValue(kind: item.kind.rawValue, reason: error.reason)
    }
  }

  private mutating func make(
    _ secret: OneTimeSecret, _ item: ItemInfo, _ value: RawSpan, _ now: Int64
  ) throws(ValueError) {
    let number: UInt64
    var until: Int64?
    var period: Int?
    var counter: Int64?
    switch secret.factor {
    case .time(let seconds):
      number = OneTimeCode.counter(at: now, period: seconds)
      (period, until) = (seconds, Int64(number + 1) * Int64(seconds))
    case .counter(let count):
      guard count < .max else { throw ValueError(reason: "the counter is at its end") }
      (number, counter) = (UInt64(count), count)
      next = Self.copy(count: value.byteCount + 1) { sink in secret.write(value, counter: count + 1, to: sink) }
    }
    let key = Self.copy(count: secret.keyCount) { sink in secret.writeKey(from: value, to: sink) }
    do throws(SigningError) {
      let hash = HMAC.Hash(secret.algorithm)
      let digits =
        switch secret.alphabet {
        case .digits: try OneTimeCode.code(number, digits: secret.digits, key: key, hash)
        case .steam: try OneTimeCode.steamCode(number, key: key, hash)
        }
      code = MadeCode(
        digits: digits, accessible: item.policy.accessible, until: until, period: period, counter: counter)
    } catch {
      refusal = .misconfigured(error.reason)
    }
  }

  consuming func taken() -> Made<MadeCode> {
    switch consume code {
    case .some(let code): .success(code)
    case .none: .failure(refusal ?? .misconfigured("no code was made"))
    }
  }

  borrowing func storeNext(_ name: ItemName, _ keychain: Keychain, _ now: Int64) throws(VaultError) {
    switch next {
    case .some(let next): try keychain.amend(name, value: next, now: now)
    case .none: break
    }
  }

  /// The bytes that `body` writes, at most `count`, in memory of their own.
  private static func copy(count: Int, _ body: ((UInt8) -> Void) -> Void) -> SecureBytes {
    var bytes = SecureBytes(count: count)
    var used = 0
    bytes.withMutableBytes { bytes in
      body { byte in
        bytes.storeBytes(of: byte, toByteOffset: used, as: UInt8.self)
        used += 1
      }
    }
    return used == count ? bytes : bytes.withBytes { SecureBytes(copying: $0.extracting(first: used)) }
  }
}

extension HMAC.Hash {
  fileprivate init(_ algorithm: OneTimeSecret.Algorithm) {
    switch algorithm {
    case .sha1: self = .sha1
    case .sha256: self = .sha256
    case .sha512: self = .sha512
    }
  }
}
