/// Changes the files of a store according to an input, and runs a trial on the result; see ``Edit`` and ``Trial``.
#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzStore(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    let input = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count))
    _ = Stage.shared.run(input)
    return 0
  }
#endif
