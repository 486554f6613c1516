import VaultWire

@testable import VaultImport

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzBitwarden(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseBitwarden(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads any bytes as an export of Bitwarden, and as any JSON, which written and read again must be the same. Returns
/// true if they are an export.
func exerciseBitwarden(_ bytes: [UInt8]) -> Bool {
  var reader = JSONReader(bytes)
  if let value = try? reader.value() {
    var again = JSONReader(value.json)
    guard let same = try? again.value(), same.json == value.json, (try? again.finish()) != nil else {
      fatalError("written and read, a value is another")
    }
  }
  return readFitting(BitwardenReader.self, "a.json", bytes) != nil
}
