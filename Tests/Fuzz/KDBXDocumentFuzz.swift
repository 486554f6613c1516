import VaultWire

@testable import VaultImport

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzKDBXDocument(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseKDBXDocument(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads any bytes as the document in a database that has one attachment, and as a key file. Returns true if they are a
/// document of KeePass.
func exerciseKDBXDocument(_ bytes: [UInt8]) -> Bool {
  guard let key = try? KDBXKeyFile.key(bytes) else { return false }
  precondition(!key.isEmpty)
  let text = String(decoding: bytes, as: UTF8.self)
  guard let sealed = try? SealedDatabase.bytes(text, binaries: [[1, 2, 3]]), let header = try? KDBXHeader(sealed),
    let key = try? SealedDatabase.key(header)
  else { fatalError("a database cannot be made") }
  return SealedContent.read(sealed, key, isWhole: true)
}
