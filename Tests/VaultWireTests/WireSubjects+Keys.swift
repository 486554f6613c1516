import VaultBytes
import VaultWire

/// The types of the methods that use a key without reading it.
extension WireSubject {
  static let keys: [WireSubject] = [
    WireSubject(
      "Sign.in",
      Wire.SignParameters(
        name: "a", algorithm: "ES256", waitMilliseconds: 1, reason: "r", interactive: true, expired: false, ask: true)
    ) { value, writer, secret in
      value.write(to: &writer, secret: secret)
    } read: { value, frame throws(ParameterError) in
      try frame.content(value.value, value.data)
    },
    WireSubject(
      "Sign.out", Wire.SignReply(name: "a", version: 1, algorithm: "ES256", signature: "c2ln", der: "ZGVy")),
    WireSubject(
      "Mac.in",
      Wire.MacParameters(
        name: "a", algorithm: "HS512", mac: "bWFj", waitMilliseconds: 1, reason: "r", interactive: true,
        expired: false, ask: true)
    ) { value, writer, secret in
      value.write(to: &writer, secret: secret)
    } read: { value, frame throws(ParameterError) in
      try frame.content(value.value, value.data)
    },
    WireSubject(
      "Mac.out", Wire.MacReply(name: "a", version: 1, valid: true), [Array("bWFj".utf8)]
    ) { value, writer, mac in
      value.write(to: &writer, secret: mac)
    } read: { value, frame throws(ParameterError) in
      value.mac.flatMap { frame.secret($0) }
    },
    WireSubject(
      "IssueToken.in",
      Wire.IssueTokenParameters(
        name: "a", subject: "lamp", lifetime: 60, claims: "{}", waitMilliseconds: 1, reason: "r", interactive: true,
        expired: false, ask: true)),
    WireSubject(
      "IssueToken.out", Wire.IssueTokenReply(name: "a", version: 1, id: "i", expires: 2), [Array("e30.e30.c2ln".utf8)]
    ) { value, writer, token in
      value.write(to: &writer, secret: token)
    } read: { value, frame throws(ParameterError) in
      value.token.flatMap { frame.secret($0) }
    },
    WireSubject(
      "VerifyToken.in",
      Wire.VerifyTokenParameters(name: "a", waitMilliseconds: 1, reason: "r", interactive: true, ask: true),
      [Array("e30.e30.c2ln".utf8)]
    ) { value, writer, token in
      value.write(to: &writer, secret: token)
    } read: { value, frame throws(ParameterError) in
      value.token.flatMap { frame.secret($0) }
    },
    WireSubject(
      "VerifyToken.out",
      Wire.VerifyTokenReply(
        name: "a", valid: true, fault: "f", version: 1, id: "i", subject: "lamp", expires: 2, claims: "{}")),
    WireSubject(
      "RevokeToken.in", Wire.RevokeTokenParameters(name: "a", id: "i", subject: "lamp", interactive: true)),
    WireSubject("RevokeToken.out", Wire.RevokeTokenReply(list: "a.revoked", version: 2)),
    WireSubject("PublicKey.in", Wire.PublicKeyParameters(name: "a", format: "jwk", interactive: true)),
    WireSubject("PublicKey.out", Wire.PublicKeyReply(key: "k", fingerprint: "f")),
  ]
}
