internal import CYAML
internal import VaultWire

/// A parser of YAML 1.1 in UTF-8 that comes with libyaml. It reads nothing outside of the text, and makes nothing of
/// tags.
@safe final class YAMLParser {
  /// The most bytes of a text.
  static let longest = 64 << 20

  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let text: UnsafeMutableBufferPointer<UInt8>
  private var places: YAMLPlaces
  /// True once the parser has said that the text ends; it must not be asked again then.
  private var isAtEnd = false

  /// - Throws: ``ImportFailure`` for a text that is too large.
  init(_ bytes: [UInt8]) throws(ImportFailure) {
    guard bytes.count <= Self.longest else {
      throw ImportFailure(.tooLarge, "a text of YAML has more than \(Self.longest >> 20) MiB")
    }
    // libyaml takes a byte order mark for an error once it knows the encoding.
    let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    places = YAMLPlaces(bytes, from: mark)
    unsafe text = .allocate(capacity: max(1, bytes.count - mark))
    unsafe parser = .allocate(capacity: 1)
    // All of the text is initialized that the parser is told of. It lives as long as the parser.
    _ = unsafe text.initialize(from: bytes.dropFirst(mark))
    guard unsafe yaml_parser_initialize(parser) == 1 else { throw ImportFailure(.failed, "there is no memory") }
    unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    unsafe yaml_parser_set_input_string(parser, text.baseAddress, bytes.count - mark)
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
    unsafe text.deallocate()
  }

  /// Reads the next part of the text; nil after its end.
  ///
  /// - Throws: ``ImportFailure`` with the line if the text is not well-formed.
  func next() throws(ImportFailure) -> YAMLEvent? {
    while !isAtEnd {
      var event = unsafe yaml_event_t()
      guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw failure() }
      let found = unsafe self.event(event)
      unsafe yaml_event_delete(&event)
      if let found { return found }
    }
    return nil
  }

  /// The event; nil for the start of the stream.
  ///
  /// The texts of an event end with a NUL, which libyaml lets no name or tag contain, and live until the event is
  /// deleted. A scalar has as many bytes as the event says. The type of an event tells which part of its union is set.
  @unsafe private func event(_ event: yaml_event_t) -> YAMLEvent? {
    let place = unsafe places.range(event.start_mark.index, event.end_mark.index)
    switch unsafe event.type {
    case YAML_DOCUMENT_START_EVENT: return YAMLEvent(kind: .startDocument, place: place)
    case YAML_DOCUMENT_END_EVENT: return YAMLEvent(kind: .endDocument, place: place)
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return YAMLEvent(kind: .end, place: place)
    case YAML_ALIAS_EVENT:
      return YAMLEvent(kind: .alias(unsafe Self.string(event.data.alias.anchor) ?? ""), place: place)
    case YAML_SEQUENCE_START_EVENT:
      let start = unsafe event.data.sequence_start
      return unsafe YAMLEvent(
        kind: .startSequence, anchor: Self.string(start.anchor), tag: Self.string(start.tag), place: place)
    case YAML_MAPPING_START_EVENT:
      let start = unsafe event.data.mapping_start
      return unsafe YAMLEvent(
        kind: .startMapping, anchor: Self.string(start.anchor), tag: Self.string(start.tag), place: place)
    case YAML_SCALAR_EVENT:
      let scalar = unsafe event.data.scalar
      let value = unsafe [UInt8](UnsafeBufferPointer(start: scalar.value, count: scalar.length))
      let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE
      return unsafe YAMLEvent(
        kind: .scalar(value, isPlain: isPlain), anchor: Self.string(scalar.anchor), tag: Self.string(scalar.tag),
        place: place)
    case YAML_STREAM_END_EVENT:
      isAtEnd = true
      return YAMLEvent(kind: .endStream, place: place)
    default: return nil
    }
  }

  @unsafe private static func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    unsafe text.map { unsafe String(cString: $0) }
  }

  private func failure() -> ImportFailure {
    // Messages of the library are constants, and quote nothing of the text.
    let reason = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "an unknown error"
    let line = unsafe parser.pointee.problem_mark.line
    isAtEnd = true
    return ImportFailure(.damaged, "line \(line &+ 1) of the YAML is wrong: \(reason)")
  }
}
