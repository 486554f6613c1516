import Glibc
import VaultBytes

@testable import VaultTPM2
@testable import VaultWire

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerInitialize)
  public func startSealedBlob(_: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?) -> CInt {
    // libtss2 would write a line or two about each error.
    unsafe setenv("TSS2_LOG", "all+NONE", 1)
  }

  @c(LLVMFuzzerTestOneInput)
  public func fuzzSealedBlob(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = exerciseSealedBlob(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads any bytes as a key that a TPM sealed, as far as possible without a TPM, and as a request to the program that
/// talks to a TPM. A blob must be refused, or written as the very same bytes, and likewise a request. Returns true if
/// it was a blob.
func exerciseSealedBlob(_ bytes: [UInt8]) -> Bool {
  // Bytes have no padding: all are initialized.
  if let request = readRequest(unsafe bytes.span.bytes) {
    if request.locator.count > KeystoreRequest.locatorLimit { fatalError("a locator beyond the limit") }
    if request.operation != .store {
      let again = request.frame().withBytes { bytes in
        // The NUL at the end is not part of the frame.
        readRequest(bytes.extracting(droppingLast: 1))
      }
      if again != request { fatalError("written and read, a request is another") }
    }
  }
  guard let sealed = try? SealedKey(locator: bytes) else { return false }
  guard bytes.count <= KeystoreRequest.locatorLimit, let again = try? sealed.locator(), again == bytes else {
    fatalError("a sealed key has two encodings")
  }
  return true
}

private func readRequest(_ bytes: RawSpan) -> KeystoreRequest? {
  guard let frame = try? Frame(parsing: bytes) else { return nil }
  _ = KeystoreRequest.key(frame)
  return KeystoreRequest(frame)
}
