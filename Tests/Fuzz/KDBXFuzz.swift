import VaultWire

@testable import VaultImport

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzKDBX(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseKDBX(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads any bytes as a KDBX file, and as a file whose content is not encrypted yet: the header of one, and behind it
/// what the encryption contains. The latter is encrypted here, with a key that needs no derivation and with all its
/// checksums, and must then open; with a changed byte, it must be refused or read, and nothing else. Returns true if
/// the content was read.
func exerciseKDBX(_ bytes: [UInt8]) -> Bool {
  _ = readFitting(KDBXReader.self, "a.kdbx", bytes)
  guard let header = try? KDBXHeader(bytes) else { return false }
  _ = try? header.derivation(mostMemory: Source.usualKDFMemory).text
  guard let key = try? SealedContent.key(header), let sealed = try? SealedContent.seal(header, key) else {
    return false
  }
  if let place = bytes.last.map({ Int($0) * sealed.count / 256 }) {
    var damaged = sealed
    damaged[place] ^= 0x20
    _ = SealedContent.read(damaged, key)
  }
  return SealedContent.read(sealed, key, isWhole: true)
}
