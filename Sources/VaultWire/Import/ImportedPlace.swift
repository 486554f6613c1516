internal import VaultBytes

/// The place of a value in the file that it comes from, with its quotes, where a template can have the value of an item
/// in its stead.
public struct ImportedPlace: Hashable, Sendable {
  /// The form of the text in which the place is.
  public enum Form: String, Sendable {
    case json, yaml
  }

  /// The place in bytes.
  public let range: Range<Int>
  public let form: Form

  public init(_ range: Range<Int>, _ form: Form) { (self.range, self.form) = (range, form) }

  func write(to writer: inout JSONWriter) {
    writer.field("at", range.lowerBound)
    writer.field("span", range.count)
    writer.field("form", form.rawValue)
  }

  init?(_ frame: borrowing Frame) {
    func number(_ key: StaticString) -> Int? {
      frame.member(key, of: frame.root).flatMap { frame.integer($0) }.flatMap { Int(exactly: $0) }
    }
    guard let start = number("at"), let count = number("span"), (0...ImportCall.most.bytes).contains(start),
      (0...ImportCall.most.bytes).contains(count),
      let form = frame.member("form", of: frame.root).flatMap({ frame.string($0) }).flatMap(Form.init)
    else { return nil }
    self.init(start..<start + count, form)
  }
}
