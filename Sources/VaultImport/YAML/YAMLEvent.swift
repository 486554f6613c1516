/// A part of a YAML text, in the order of the text.
struct YAMLEvent {
  enum Kind {
    case startDocument
    case alias(String)
    case scalar([UInt8], isPlain: Bool)
    case startSequence
    case startMapping
    /// The end of the last sequence or mapping that has begun.
    case end
    case endDocument
    case endStream
  }

  let kind: Kind
  /// The name that the text gives to the value; nil if it gives none.
  var anchor: String?
  /// The tag as the text has it, such as `!secret`; nil if there is none.
  var tag: String?
  /// The place in the text in bytes. That of a value includes its anchor and its tag.
  let place: Range<Int>
}
