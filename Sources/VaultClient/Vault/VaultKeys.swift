public import VaultBytes
public import VaultWire

/// A new token that wipes itself, and facts about it.
public struct IssuedToken: ~Copyable, Sendable {
  /// The item's name and everything about the token except its text.
  public let reply: Wire.IssueTokenReply
  /// The token in ASCII: three parts separated by points.
  public let text: SecretBuffer
}

/// A keyed hash that wipes itself, or the result of a comparison.
public struct KeyedHash: ~Copyable, Sendable {
  /// The item's name and everything about the hash except its bytes.
  public let reply: Wire.MacReply
  /// The 32 or 64 bytes of the hash; nil if the call compared one.
  public let bytes: SecretBuffer?
}

// Keys that are used without being read.
extension Vault {
  /// The wait of a call that uses a key.
  public struct KeyWait: Sendable {
    /// The longest time to wait for an unlock or an approval; nil fails at once.
    public var wait: Duration?
    /// True to accept an item past its expiry.
    public var expired = false
    /// True to wait, for `wait` or else for two minutes, if an attending agent can ask a person.
    public var ask = false

    public init(wait: Duration? = nil, expired: Bool = false, ask: Bool = false) {
      (self.wait, self.expired, self.ask) = (wait, expired, ask)
    }

    fileprivate var longest: Duration? { wait ?? (ask ? Vault.usualAsking : nil) }
  }

  /// Returns a signature of `message` by the key of the item `name`, whose use is `sign`.
  ///
  /// - Parameter algorithm: such as `EdDSA`, `ES256` or `PS256`; nil for the key's own.
  public func sign(
    _ name: String, _ message: borrowing SecretBuffer, algorithm: String? = nil, _ wait: KeyWait = KeyWait()
  ) throws(ClientError) -> Wire.SignReply {
    try call(.sign, again: true, wait: wait.longest) { writer in
      message.withBytes { message in
        Wire.SignParameters(
          name: name, algorithm: algorithm, waitMilliseconds: wait.wait?.milliseconds, reason: reason,
          interactive: attended, expired: wait.expired ? true : nil, ask: wait.ask ? true : nil
        ).write(to: &writer, secret: message)
      }
    }.decode()
  }

  /// Returns the keyed hash of `message` under the key of the item `name`, whose use is `mac`. With `mac` (base64), the
  /// daemon compares the hash with `mac` instead.
  ///
  /// - Parameter algorithm: `HS256`, which is the default, or `HS512`.
  public func mac(
    _ name: String, _ message: borrowing SecretBuffer, algorithm: String? = nil, comparing mac: String? = nil,
    _ wait: KeyWait = KeyWait()
  ) throws(ClientError) -> KeyedHash {
    let response = try call(.mac, again: true, wait: wait.longest) { writer in
      message.withBytes { message in
        Wire.MacParameters(
          name: name, algorithm: algorithm, mac: mac, waitMilliseconds: wait.wait?.milliseconds, reason: reason,
          interactive: attended, expired: wait.expired ? true : nil, ask: wait.ask ? true : nil
        ).write(to: &writer, secret: message)
      }
    }
    let reply: Wire.MacReply = try response.decode()
    do throws(ParameterError) {
      return KeyedHash(reply: reply, bytes: try response.frame.content(nil, reply.mac))
    } catch {
      throw .protocolViolation("parameter mac")
    }
  }

  /// Returns a new token from the item `name`, whose use is `jwt`.
  ///
  /// - Parameters:
  ///   - lifetime: in seconds; nil for the longest that the item allows.
  ///   - claims: a JSON object with claims that the item allows.
  public func issueToken(
    _ name: String, subject: String? = nil, lifetime: Int64? = nil, claims: String? = nil,
    _ wait: KeyWait = KeyWait()
  ) throws(ClientError) -> IssuedToken {
    let response = try call(
      .issueToken, again: false, wait: wait.longest,
      Wire.IssueTokenParameters(
        name: name, subject: subject, lifetime: lifetime.map(Int.init), claims: claims,
        waitMilliseconds: wait.wait?.milliseconds, reason: reason, interactive: attended,
        expired: wait.expired ? true : nil, ask: wait.ask ? true : nil))
    let reply: Wire.IssueTokenReply = try response.decode()
    guard let node = reply.token, let text = response.frame.secret(node) else {
      throw .protocolViolation("parameter token")
    }
    // The token goes to terminals unescaped.
    guard text.withBytes({ $0.isText(of: UInt8(ascii: "!")...UInt8(ascii: "~"), 5...65_536) }) else {
      throw .protocolViolation("a token that is not text")
    }
    return IssuedToken(reply: reply, text: text)
  }

  /// Checks a token with the item `name`, whose use is `jwt`.
  public func verifyToken(
    _ name: String, _ token: borrowing SecretBuffer, _ wait: KeyWait = KeyWait()
  ) throws(ClientError) -> Wire.VerifyTokenReply {
    try call(.verifyToken, again: true, wait: wait.longest) { writer in
      token.withBytes { token in
        Wire.VerifyTokenParameters(
          name: name, waitMilliseconds: wait.wait?.milliseconds, reason: reason, interactive: attended,
          ask: wait.ask ? true : nil
        ).write(to: &writer, secret: token)
      }
    }.decode()
  }

  /// Revokes the token that the item `name` made with this `id`, or all tokens that it has made so far for a `subject`.
  ///
  /// The `id` is sent in small letters, as it stands in the token: a daemon of an earlier build would put any other
  /// spelling on the list, where it revokes nothing.
  @discardableResult
  public func revokeToken(
    _ name: String, id: String? = nil, subject: String? = nil
  ) throws(ClientError) -> Wire.RevokeTokenReply {
    try call(
      .revokeToken, again: true,
      Wire.RevokeTokenParameters(name: name, id: id?.lowercased(), subject: subject, interactive: attended)
    ).decode()
  }

  /// Returns the public half of the key of the item `name`.
  ///
  /// - Parameter format: `spki`, `openssh`, `jwk` or `jwks`.
  public func publicKey(of name: String, format: String) throws(ClientError) -> Wire.PublicKeyReply {
    try call(
      .publicKey, again: true, Wire.PublicKeyParameters(name: name, format: format, interactive: attended)
    ).decode()
  }
}
