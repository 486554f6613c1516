/// The limits on the value of an item, and on one that is drawn.
public enum ValueLimits {
  /// The most bytes of a value.
  public static let bytes = 1 << 20
  /// The lengths of a drawn password in characters.
  public static let passwordLengths = 8...1024
  /// The lengths of a drawn phrase in words.
  public static let phraseLengths = 4...64
}
