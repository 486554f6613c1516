/// The limits on the value of an item, and on a generated value.
public enum ValueLimits {
  /// The highest number of bytes of a value.
  public static let bytes = 1 << 20
  /// The allowed lengths of a generated password in characters.
  public static let passwordLengths = 8...1024
  /// The allowed lengths of a generated phrase in words.
  public static let phraseLengths = 4...64
}
