import VaultModel
import VaultWire

@testable import VaultCLI

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzEnvironmentFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count))
    _ = exerciseEnvironmentFile(bytes)
    return 0
  }
#endif

/// Reads any bytes as a file of variables. Either they are refused at a line that exists, with a printable reason, or
/// they give variables with valid names and no NUL in their values. Returns true if they were read.
func exerciseEnvironmentFile(_ bytes: RawSpan) -> Bool {
  var variables = Variables()
  do throws(EnvironmentFile.Fault) {
    var file = EnvironmentFile(path: "file")
    try file.read(Span<UInt8>(_bytes: bytes), into: &variables)
  } catch {
    let lines = Span<UInt8>(_bytes: bytes).position(of: bytes.byteCount).line
    guard (1...lines).contains(error.line), !error.reason.isEmpty, Printable.isPlain(error.reason) else {
      fatalError("\(error)")
    }
    return false
  }
  let none = FetchedItems()
  for entry in variables.entries {
    guard VariableName.isValid(entry.name.utf8) else { fatalError("a bad name") }
    guard case .text = entry.source else { continue }
    let hasNUL = variables.withValue(of: entry, none) { Span<UInt8>(_bytes: $0).contains(0) }
    if hasNUL { fatalError("a NUL in a value") }
  }
  return true
}
