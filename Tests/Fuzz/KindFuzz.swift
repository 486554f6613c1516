import VaultModel

/// Checks any bytes as a value of every kind, and, wrapped in PEM armour, as the inside of a certificate and of keys.
@c(LLVMFuzzerTestOneInput)
public func fuzzKind(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  // libFuzzer lends `size` bytes for the call.
  let value = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: data, count: size))
  for kind in ItemKind.allCases {
    let isAccepted = accepts(value, kind, [:])
    switch kind {
    case .blob: precondition(isAccepted)
    case .password: precondition(isAccepted == (size > 0))
    case .note:
      let bytes = unsafe UnsafeBufferPointer(start: data, count: size)
      precondition(unsafe isAccepted == (String(validating: bytes, as: UTF8.self) != nil))
    case .wifi: for attributes in networks { _ = accepts(value, kind, attributes) }
    case .pairingCode: _ = accepts(value, kind, ["pattern": "##-#"])
    default: break
    }
  }
  for (kind, label) in armours { checkArmoured(value, kind, label) }
  return 0
}

private let networks = [
  ["ssid": "home"], ["ssid": "home", "security": "SAE"], ["ssid": "home", "security": "WEP"],
  ["ssid": "home", "security": "nopass", "bssid": "00:11:22:aa:bb:cc"],
]

private let armours: [(ItemKind, String)] = [
  (.certificate, "CERTIFICATE"), (.tlsKey, "PRIVATE KEY"), (.sshKey, "OPENSSH PRIVATE KEY"),
]

private func accepts(_ value: RawSpan, _ kind: ItemKind, _ attributes: [String: String]) -> Bool {
  do throws(ValueError) {
    let facts = try kind.validate(value, attributes: attributes)
    if let expires = facts.expires { precondition(kind == .certificate && (0..<Timestamp.last).contains(expires)) }
    return true
  } catch {
    precondition(!error.reason.isEmpty)
    return false
  }
}

/// Base64 must bring back what it was given, and what is inside the armour must be looked at without a trap.
private func checkArmoured(_ bytes: RawSpan, _ kind: ItemKind, _ label: String) {
  let body = encoded(bytes)
  let text = Array("-----BEGIN \(label)-----\n".utf8) + body + Array("\n-----END \(label)-----\n".utf8)
  let value = unsafe text.span.bytes
  _ = accepts(value, kind, [:])
  let base64 = unsafe body.span.bytes
  precondition(Base64.decodedCount(base64) == bytes.byteCount)
  var decoded = [UInt8](repeating: 0, count: bytes.byteCount)
  var span = decoded.mutableSpan
  var target = unsafe span.mutableBytes
  precondition(Base64.decode(base64, into: &target))
  for offset in bytes.byteOffsets {
    // Within both, and every bit pattern is a UInt8.
    let (left, right) = unsafe (
      target.unsafeLoad(fromByteOffset: offset, as: UInt8.self),
      bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    )
    precondition(left == right)
  }
}

private func encoded(_ bytes: RawSpan) -> [UInt8] {
  var text = [UInt8](repeating: 0, count: Base64.encodedCount(bytes.byteCount))
  var span = text.mutableSpan
  var target = unsafe span.mutableBytes
  Base64.encode(bytes, into: &target)
  return text
}
