import Glibc
import VaultBytes
import VaultModel

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzKind(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    unsafe exerciseKind(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Checks any bytes as a value of every kind and, in PEM armor, as the content of a certificate and of keys.
func exerciseKind(_ value: RawSpan) {
  let size = value.byteCount
  for kind in ItemKind.allCases {
    // The attributes must depend only on the length of the value.
    let attributes: [String: String] = kind == .wifi ? networks[size % networks.count] : [:]
    let isAccepted = accepts(value, kind, attributes)
    switch kind {
    case .blob: precondition(isAccepted)
    case .password: precondition(isAccepted == (size > 0))
    case .note:
      let isText = unsafe value.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) != nil }
      precondition(isAccepted == isText)
    case .totp: precondition(isAccepted == hasKey(value))
    case .pairingCode: _ = accepts(value, kind, pattern)
    default: break
    }
  }
  unsafe armour.check(value)
}

/// True if the value is a secret of one-time codes. Then its key must have the stated size, and the value written with
/// the next counter must have that counter.
private func hasKey(_ value: RawSpan) -> Bool {
  guard let secret = try? OneTimeSecret(value) else { return false }
  var count = 0
  secret.writeKey(from: value) { _ in count += 1 }
  precondition(
    count == secret.keyCount && count > 0 && (secret.alphabet == .steam ? 5...5 : 6...8).contains(secret.digits))
  _ = secret.names(in: value)
  var uri: [UInt8] = []
  try? OneTimeURI.write(name: "x", attributes: [:], value: value) { uri.append($0) }
  precondition((try? OneTimeSecret(unsafe uri.span.bytes))?.keyCount == count)
  guard case .counter(let counter) = secret.factor else { return true }
  var next: [UInt8] = []
  let other = counter ^ 1
  secret.write(value, counter: other) { next.append($0) }
  precondition((try? OneTimeSecret(unsafe next.span.bytes))?.factor == .counter(other))
  return true
}

private let pattern = ["pattern": "##-#"]
private let networks = [
  [:], ["ssid": "home"], ["ssid": "home", "security": "SAE"], ["ssid": "home", "security": "WEP"],
  ["ssid": "home", "security": "nopass", "bssid": "00:11:22:aa:bb:cc"],
]

private func accepts(_ value: RawSpan, _ kind: ItemKind, _ attributes: [String: String]) -> Bool {
  do throws(ValueError) {
    let facts = try kind.validate(value, attributes: attributes)
    if let expires = facts.expires {
      precondition([.certificate, .tlsKey].contains(kind) && (0..<Timestamp.last).contains(expires))
    }
    return true
  } catch {
    precondition(!error.reason.isEmpty)
    return false
  }
}

// Only one thread uses the armor. It is made once, because memory is otherwise most of the cost of an input.
nonisolated(unsafe) private var armour = Armour()

/// A buffer that places bytes between the lines of a PEM text, for one kind after another.
private struct Armour {
  private static let labels: [(kind: ItemKind, begin: [UInt8], end: [UInt8])] = [
    (.certificate, "CERTIFICATE"), (.tlsKey, "PRIVATE KEY"), (.sshKey, "OPENSSH PRIVATE KEY"),
  ].map { ($0, Array("-----BEGIN \($1)-----\n".utf8), Array("\n-----END \($1)-----\n".utf8)) }
  /// The place of the body, after the longest line.
  private static let start = 64

  private var text: [UInt8] = []
  private var decoded: [UInt8] = []

  /// Requires that Base64 restores the bytes that it encoded, and that reading the content of the armor
  /// ends without a trap.
  mutating func check(_ bytes: RawSpan) {
    let end = Self.start + Base64.encodedCount(bytes.byteCount)
    if text.count < end + Self.start { text = [UInt8](repeating: 0, count: 2 * (end + Self.start)) }
    if decoded.count < bytes.byteCount { decoded = [UInt8](repeating: 0, count: 2 * bytes.byteCount) }
    encode(bytes, to: end)
    for (kind, begin, last) in Self.labels {
      text.replaceSubrange(Self.start - begin.count..<Self.start, with: begin)
      text.replaceSubrange(end..<end + last.count, with: last)
      _ = accepts((unsafe text.span.bytes).extracting(Self.start - begin.count..<end + last.count), kind, [:])
    }
  }

  private mutating func encode(_ bytes: RawSpan, to end: Int) {
    do {
      var span = text.mutableSpan
      var all = unsafe span.mutableBytes  // Bytes have no padding.
      var body = all._mutatingExtracting(Self.start..<end)
      Base64.encode(bytes, into: &body)
    }
    // The buffer is taken out, because the text is lent at the same time.
    var back: [UInt8] = []
    swap(&back, &decoded)
    do {
      let body = (unsafe text.span.bytes).extracting(Self.start..<end)
      precondition(Base64.decodedCount(body) == bytes.byteCount)
      var span = back.mutableSpan
      var all = unsafe span.mutableBytes  // Bytes have no padding.
      var target = all._mutatingExtracting(first: bytes.byteCount)
      precondition(Base64.decode(body, into: &target))
    }
    let isSame = unsafe bytes.withUnsafeBytes { left in
      // Both have at least as many bytes as are compared.
      unsafe back.withUnsafeBytes { right in
        unsafe left.isEmpty || memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0
      }
    }
    precondition(isSame)
    swap(&back, &decoded)
  }
}
