public import VaultBytes
public import VaultWire

/// The reply of `Code`: a one-time code that wipes itself, and the time for which it is valid.
public struct OneTimeCode: ~Copyable, Sendable {
  /// The item's name and everything about the code except its digits.
  public let reply: Wire.CodeReply
  /// The code in ASCII: 6 to 8 digits, or the five characters of Steam's codes.
  public let digits: SecretBuffer
}

extension Vault {
  /// Returns the one-time code of the item `name`. If the code comes from a counter, the counter advances.
  ///
  /// - Parameters:
  ///   - wait: the time to wait for an unlock; nil fails at once with ``Fault/locked(state:cause:)``.
  ///   - expired: true to accept an item past its expiry.
  ///   - ask: true to wait, for `wait` or else for two minutes, if an attending agent can ask a person.
  public func code(
    _ name: String, wait: Duration? = nil, expired: Bool = false, ask: Bool = false
  ) throws(ClientError) -> OneTimeCode {
    let response = try call(
      .code, again: true, wait: wait ?? (ask ? Self.usualAsking : nil),
      Wire.CodeParameters(
        name: name, waitMilliseconds: wait?.milliseconds, reason: reason, interactive: attended,
        expired: expired ? true : nil, ask: ask ? true : nil))
    let reply: Wire.CodeReply = try response.decode()
    guard let node = reply.code, let digits = response.frame.secret(node) else {
      throw .protocolViolation("parameter code")
    }
    // The code goes to terminals unescaped.
    guard digits.withBytes({ $0.isText(of: UInt8(ascii: "0")...UInt8(ascii: "9"), 6...8) || $0.isSteamCode }) else {
      throw .protocolViolation("a code that is neither 6 to 8 digits nor one of Steam's")
    }
    return OneTimeCode(reply: reply, digits: digits)
  }
}

extension RawSpan {
  /// True for five of the digits and letters that Steam's codes use.
  fileprivate var isSteamCode: Bool {
    let (text, alphabet) = (Span<UInt8>(_bytes: self), Array("23456789BCDFGHJKMNPQRTVWXY".utf8))
    return text.count == 5 && text.indices.allSatisfy { alphabet.contains(text[$0]) }
  }

  /// Returns true when the number of bytes is in `counts` and all of them are in `bytes`.
  func isText(of bytes: ClosedRange<UInt8>, _ counts: ClosedRange<Int>) -> Bool {
    let text = Span<UInt8>(_bytes: self)
    return counts.contains(text.count) && text.indices.allSatisfy { bytes.contains(text[$0]) }
  }
}
