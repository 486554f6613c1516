public enum Seconds {
  public static func parse(_ text: String) -> Int64? { nil }
  public static func format(_ seconds: Int64) -> String { "" }
}
public enum Timestamp {
  public static func parse(_ text: String) -> Int64? { nil }
  public static func format(_ unix: Int64) -> String { "" }
}
public enum Base64 {
  public static func encodedCount(_ count: Int) -> Int { (count + 2) / 3 * 4 }
  public static func decodedCount(_ text: RawSpan) -> Int? { nil }
  public static func encode(_ bytes: RawSpan, into text: inout MutableRawSpan) {}
  public static func decode(_ text: RawSpan, into bytes: inout MutableRawSpan) -> Bool { false }
}
