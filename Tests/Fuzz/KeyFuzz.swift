import VaultCore

@testable import VaultSigning

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzKey(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseKey(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads any bytes as a PEM text of a private key, as the content of each of its forms, and as a public key. Each
/// reading must give an error, or a key that is the same after it was written and read again; anything else traps.
/// Returns true if it was a key.
func exerciseKey(_ input: RawSpan) -> Bool {
  var isKey = false
  if let key = try? PublicKey(spki: input) {
    isKey = true
    precondition((try? PublicKey(spki: unsafe key.spki.span.bytes)) == key, "a public key is another when read again")
  }
  if let key = try? PublicKey(sshBlob: input) {
    isKey = true
    precondition(input.isEqual(0..<input.byteCount, key.sshBlob), "a blob has two encodings")
  }
  if let key = try? PrivateKey(input) {
    isKey = true
    check(key)
  }
  for form in PrivateKeyForm.allCases {
    guard let key = try? PrivateKey.read(form, input) else { continue }
    isKey = true
    check(key)
  }
  return isKey
}

/// Requires that both written forms are read as the same key.
private func check(_ key: borrowing PrivateKey) {
  let publicKey = key.publicKey
  for text in 0..<2 {
    let written = text == 0 ? key.pkcs8() : key.openSSHPrivate()
    let again = written.withBytes { try? PrivateKey($0) }
    guard let again else { preconditionFailure("a key is not read again") }
    precondition(again.publicKey == publicKey, "a key is another when read again")
  }
}
