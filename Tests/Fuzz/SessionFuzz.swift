import VaultBytes
import VaultCore
import VaultModel

@testable import VaultSigning

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzSession(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = exerciseSession(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads any bytes as a peer's public key, parameters and a value, the first two with their size in a byte before
/// them. The key must be refused, or a session opens; in it, and in a plain session, the secret must be refused, or be
/// encoded to the same value again. Returns all that was read.
func exerciseSession(_ input: RawSpan) -> [String] {
  guard let first = part(input, from: 0), let second = part(input, from: first.upperBound) else { return [] }
  let peerKey = input.extracting(first)
  let parameters = input.extracting(second)
  let value = input.extracting(droppingFirst: second.upperBound)
  var read: [String] = []
  let plain = SecretSession.plain()
  if check(plain, parameters, value) { read.append("plain") }
  do throws(SecretSessionError) {
    // An exponent of the program's own would make each run another.
    let exponent = SecureBytes(count: 32) { $0.set(7, at: 31) }
    let session = try SecretSession.agree(with: peerKey, exponent: exponent)
    precondition(session.publicKey.count == 128 && session.publicKey.last == 128)
    read.append("session")
    if check(session, parameters, value) { read.append("secret") }
  } catch { precondition(error == .publicKey) }
  return read
}

/// The place of a part, whose size is in the byte before it.
private func part(_ bytes: RawSpan, from place: Int) -> Range<Int>? {
  guard place < bytes.byteCount, bytes.byteCount - place > Int(bytes.byte(place)) else { return nil }
  return place + 1..<place + 1 + Int(bytes.byte(place))
}

private func check(_ session: borrowing SecretSession, _ parameters: RawSpan, _ value: RawSpan) -> Bool {
  do throws(SecretSessionError) {
    let secret = try session.decode(parameters: parameters, value: value)
    precondition(session.encodedCount(secret.count) == value.byteCount)
    var again = SecureBytes(count: value.byteCount)
    try again.withMutableBytes { (room: inout MutableRawSpan) throws(SecretSessionError) in
      try secret.withBytes { (secret: RawSpan) throws(SecretSessionError) in
        try session.encode(secret, parameters: parameters.array, into: &room)
      }
    }
    precondition(again.withBytes { ConstantTime.isEqual($0, value) }, "a secret has two encodings")
    return true
  } catch {
    precondition(error == .secret || error == .tooLong && value.byteCount > ValueLimits.bytes)
    return false
  }
}
