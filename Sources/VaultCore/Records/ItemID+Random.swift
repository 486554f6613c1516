public import VaultModel

extension ItemID {
  /// A new identity.
  public static func random() -> ItemID {
    var words: (UInt64, UInt64) = (0, 0)
    unsafe withUnsafeMutableBytes(of: &words) { bytes in
      // Unique for the call.
      var out = unsafe MutableRawSpan(_unsafeBytes: bytes)
      RandomBytes.fill(&out)
    }
    return ItemID(words: words)
  }
}
