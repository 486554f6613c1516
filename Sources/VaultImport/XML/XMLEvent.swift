/// A part of an XML document, in the order of the text.
enum XMLEvent {
  case start(name: String, attributes: [(name: String, value: String)])
  case end
  /// Characters between tags, in UTF-8. A text may come in several pieces.
  case text(ArraySlice<UInt8>)
}
