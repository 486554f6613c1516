import VaultWire

@testable import VaultImport

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzInflate(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseInflate(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Decompresses any bytes, as DEFLATE and as a file of gzip. The outcome must not depend on the pieces in which they
/// come. Returns true if they are one of both.
func exerciseInflate(_ bytes: [UInt8]) -> Bool {
  let limit = ExpansionLimit(bytes: 1 << 20, ratio: 256, free: 256 << 10)
  let whole = outcome(Inflate(SliceStream(bytes[...]), limit: limit))
  let pieces = outcome(Inflate(Pieces(rest: bytes[...]), limit: limit))
  precondition(whole == pieces)
  let member = expanded(SliceStream(bytes[...]), limit)
  precondition(member == expanded(Pieces(rest: bytes[...]), limit))
  return whole != nil || member != nil
}

private func expanded(_ input: some ByteStream, _ limit: ExpansionLimit) -> [UInt8]? {
  (try? Gunzip(input, limit: limit)).flatMap { outcome($0) }
}

/// All bytes of a stream; nil if it ends with a failure.
private func outcome(_ stream: some ByteStream) -> [UInt8]? {
  var (stream, all) = (stream, [UInt8]())
  do throws(ImportFailure) {
    while let piece = try stream.next() {
      precondition(!piece.isEmpty && all.count + piece.count <= 1 << 20)
      all += piece
    }
    return all
  } catch {
    precondition(!error.reason.isEmpty)
    return nil
  }
}

/// Bytes in pieces of one to three.
private struct Pieces: ByteStream {
  var rest: ArraySlice<UInt8>

  mutating func next() -> ArraySlice<UInt8>? {
    guard !rest.isEmpty else { return nil }
    let count = rest.startIndex % 3 + 1
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}
