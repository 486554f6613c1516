public import VaultWire

/// A new token that wipes itself, and what is known of it.
public struct IssuedToken: ~Copyable, Sendable {
  /// The item's name, and what is known of the token beside its text.
  public let reply: Wire.IssueTokenReply
  /// ASCII: three parts with a point between them.
  public let text: SecretBuffer
}

// Keys that are used without being read.
extension Vault {
  /// The way in which a call for a key's use waits.
  public struct KeyWait: Sendable {
    /// The longest time to wait for an unlock, or an approval; nil fails at once.
    public var wait: Duration?
    /// True where an item past its expiry will do.
    public var expired = false
    /// True to wait where an agent attends that can ask a person, for `wait` or else for two minutes.
    public var ask = false

    public init(wait: Duration? = nil, expired: Bool = false, ask: Bool = false) {
      (self.wait, self.expired, self.ask) = (wait, expired, ask)
    }

    fileprivate var longest: Duration? { wait ?? (ask ? Vault.usualAsking : nil) }
  }

  /// A signature of `message` by the key of the item `name`, which is for `sign`.
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

  /// The keyed hash of `message` under the key of the item `name`, which is for `mac`, or whether `mac` (base64) is it.
  ///
  /// - Parameter algorithm: `HS256`, which it is when left out, or `HS512`.
  public func mac(
    _ name: String, _ message: borrowing SecretBuffer, algorithm: String? = nil, comparing mac: String? = nil,
    _ wait: KeyWait = KeyWait()
  ) throws(ClientError) -> Wire.MacReply {
    try call(.mac, again: true, wait: wait.longest) { writer in
      message.withBytes { message in
        Wire.MacParameters(
          name: name, algorithm: algorithm, mac: mac, waitMilliseconds: wait.wait?.milliseconds, reason: reason,
          interactive: attended, expired: wait.expired ? true : nil, ask: wait.ask ? true : nil
        ).write(to: &writer, secret: message)
      }
    }.decode()
  }

  /// A new token by the item `name`, which is for `jwt`.
  ///
  /// - Parameters:
  ///   - lifetime: in seconds; nil for the longest that the item gives.
  ///   - claims: a JSON object, of those that the item allows.
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
    // It goes to terminals as it is.
    guard text.withBytes({ $0.isText(of: UInt8(ascii: "!")...UInt8(ascii: "~"), 5...65_536) }) else {
      throw .protocolViolation("a token that is no text")
    }
    return IssuedToken(reply: reply, text: text)
  }

  /// Checks a token by the item `name`, which is for `jwt`.
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

  /// Takes back the token that the item `name` made with that `id`, or all that it made for a `subject` so far.
  @discardableResult
  public func revokeToken(
    _ name: String, id: String? = nil, subject: String? = nil
  ) throws(ClientError) -> Wire.RevokeTokenReply {
    try call(
      .revokeToken, again: true,
      Wire.RevokeTokenParameters(name: name, id: id, subject: subject, interactive: attended)
    ).decode()
  }

  /// The public half of the key of the item `name`.
  ///
  /// - Parameter format: `spki`, `openssh`, `jwk` or `jwks`.
  public func publicKey(of name: String, format: String) throws(ClientError) -> Wire.PublicKeyReply {
    try call(
      .publicKey, again: true, Wire.PublicKeyParameters(name: name, format: format, interactive: attended)
    ).decode()
  }
}
