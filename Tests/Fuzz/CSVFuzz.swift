import VaultWire

@testable import VaultImport

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzCSV(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseCSV(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads any bytes as comma-separated values. Returns true if they are entries.
func exerciseCSV(_ bytes: [UInt8]) -> Bool { readFitting(CSVReader.self, "a.csv", bytes) != nil }
