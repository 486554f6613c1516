/// Seals a store that was changed according to an input, changes the backup, and restores it; see ``RestoreTrial``.
#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzRestore(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    let input = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count))
    _ = Stage.shared.restore(input)
    return 0
  }
#endif
