@testable import VaultSSH

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzKnownHosts(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count))
    _ = exerciseKnownHosts(bytes)
    exerciseHostKey(bytes)
    return 0
  }
#endif

/// The key to look for: `AAAAC3NzaC1lZDI1NTE5AAAAAA==`, as short as its type allows, so that a fuzzer can find it.
private let key = [0, 0, 0, 11] + Array("ssh-ed25519".utf8) + [0, 0, 0, 0]

/// Takes any bytes for a host's key. What its authority has signed is a certificate, and has a plain key in it.
func exerciseHostKey(_ bytes: RawSpan) {
  let blob = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
  let key = HostKey(blob)
  guard key.certificate == nil || key.isCertificate && KeyBlob.isPlain(key.plain) else {
    fatalError("a certificate without a key")
  }
}

/// Looks for a key in any bytes. The names must be bounded, printable and distinct; more candidates must not remove
/// any; and the same text twice must give the same names. Returns true if anything was found.
func exerciseKnownHosts(_ text: RawSpan) -> Bool {
  let plain = KnownHosts(of: key, in: text)
  let found = KnownHosts(of: key, in: text, candidates: ["a", "[a]:22", "*", "\u{1B}"])
  for name in found.names {
    let isShown = name.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
    guard isShown, (1...KnownHosts.maximumName).contains(name.utf8.count) else { fatalError("a name that is none") }
  }
  guard found.names.count <= KnownHosts.maximumNames, Set(found.names).count == found.names.count,
    found.names.count == KnownHosts.maximumNames || Set(plain.names).isSubset(of: found.names),
    plain.isRevoked == found.isRevoked, plain.isAuthority == found.isAuthority
  else { fatalError("other names") }
  let once = unsafe text.withUnsafeBytes { unsafe [UInt8]($0) }
  let twice = once + [UInt8(ascii: "\n")] + once
  guard KnownHosts(of: key, in: unsafe twice.span.bytes).names == plain.names else { fatalError("other names, twice") }
  return found != KnownHosts(of: key, in: RawSpan())
}
