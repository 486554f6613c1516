import VaultWire

@testable import VaultImport

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzPass(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exercisePass(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads any bytes as a file of a password store, of which each is an entry. Returns true if the file has a password.
func exercisePass(_ bytes: [UInt8]) -> Bool {
  let path = "mail/\(String(decoding: bytes.prefix(8), as: UTF8.self)).gpg"
  precondition(readFitting(PassReader.self, path, bytes) == 1)
  var entry = Entry(.login, title: "a")
  PassText(bytes).add(to: &entry)
  return entry.fields.contains { $0.role == .password }
}
