import VaultWire

@testable import VaultImport

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzExchange(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseExchange(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads any bytes as a credential exchange, and as the data of an export of 1Password that has a file. Returns true if
/// they are one of both.
func exerciseExchange(_ bytes: [UInt8]) -> Bool {
  let export = [
    Source.File("export.data", bytes), Source.File("export.attributes", Array(#"{"version":3}"#.utf8)),
    Source.File("files/d1__a", [0x61]),
  ]
  let isExport = readFitting(OnePasswordReader.self, export) != nil
  return readFitting(CXFReader.self, "a.json", bytes) != nil || isExport
}
