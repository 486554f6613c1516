public import VaultModel

extension ItemID {
  /// Makes a new random identity.
  public static func random() -> ItemID {
    var words: (UInt64, UInt64) = (0, 0)
    unsafe withUnsafeMutableBytes(of: &words) { bytes in
      // The span is unique for the call.
      var out = unsafe MutableRawSpan(_unsafeBytes: bytes)
      RandomBytes.fill(&out)
    }
    return ItemID(words: words)
  }
}
