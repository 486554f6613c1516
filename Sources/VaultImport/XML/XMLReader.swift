internal import CExpat
internal import VaultWire

/// A reader of XML documents in UTF-8 (XML 1.0) that comes with expat.
///
/// Documents with a type declaration are refused, so there are no entities but the five predefined ones, and nothing
/// outside of the document is read.
@safe final class XMLReader {
  /// The deepest nesting of elements.
  static let deepest = 256
  /// The most bytes of one tag, because the parser holds a tag until it is complete.
  static let longestTag = 1 << 20

  private let parser: XML_Parser
  private let recorder = Recorder()
  /// The number of bytes that were read.
  private var count = 0

  init() throws(ImportFailure) {
    guard let parser = unsafe XML_ParserCreate("UTF-8") else { throw ImportFailure(.failed, "there is no memory") }
    unsafe self.parser = parser
    // The recorder belongs to this object, and the parser calls it only within `read`.
    unsafe XML_SetUserData(parser, Unmanaged.passUnretained(recorder).toOpaque())
    unsafe XML_SetElementHandler(
      parser, { user, name, attributes in unsafe Recorder.of(user)?.start(name, attributes) },
      { user, _ in unsafe Recorder.of(user)?.end() })
    unsafe XML_SetCharacterDataHandler(parser, { user, text, count in unsafe Recorder.of(user)?.text(text, count) })
    unsafe XML_SetStartDoctypeDeclHandler(
      parser, { user, _, _, _, _ in unsafe Recorder.of(user)?.refuse("it has a document type declaration") })
  }

  deinit { unsafe XML_ParserFree(parser) }

  /// Reads the next piece of the document, and returns what it contains.
  ///
  /// - Parameter isLast: True for the end of the document; the piece may be empty then.
  /// - Throws: ``ImportFailure`` for a text that is not well-formed, and for one beyond the limits.
  func read(_ piece: ArraySlice<UInt8>, isLast: Bool = false) throws(ImportFailure) -> [XMLEvent] {
    recorder.events.removeAll(keepingCapacity: true)
    guard let size = Int32(exactly: piece.count) else { throw ImportFailure(.failed, "a piece is too large") }
    let parser = unsafe parser
    unsafe recorder.parser = parser
    // The parser copies what it keeps of the piece.
    let status = unsafe piece.withUnsafeBytes { bytes in
      unsafe XML_Parse(parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), size, isLast ? 1 : 0)
    }
    count += piece.count
    if let refusal = recorder.refusal { throw failure(refusal) }
    guard status == XML_STATUS_OK else {
      // The text of an error is a constant of the library.
      let text = unsafe XML_ErrorString(XML_GetErrorCode(parser)).map { unsafe String(cString: $0) }
      throw failure(text ?? "an unknown error")
    }
    // The place is that of the tag that is not complete yet.
    let place = Int(exactly: unsafe XML_GetCurrentByteIndex(parser)) ?? 0
    guard isLast || place < 0 || count - place <= Self.longestTag else { throw failure("a tag is too long") }
    return recorder.events
  }

  private func failure(_ fault: String) -> ImportFailure {
    ImportFailure(.damaged, "line \(unsafe XML_GetCurrentLineNumber(parser)) of the XML is wrong: \(fault)")
  }
}

/// The events of one piece, as the parser reports them.
@safe private final class Recorder {
  var events: [XMLEvent] = []
  /// The reason why the parser was stopped.
  private(set) var refusal: String?
  var parser: XML_Parser?
  private var depth = 0

  /// The recorder behind the pointer that was given to the parser.
  static func of(_ user: UnsafeMutableRawPointer?) -> Recorder? {
    // The parser hands back the pointer of an object that lives longer than it.
    unsafe user.map { unsafe Unmanaged<Recorder>.fromOpaque($0).takeUnretainedValue() }
  }

  func refuse(_ reason: String) {
    if refusal == nil { refusal = reason }
    unsafe XML_StopParser(parser, 0)
  }

  @unsafe func start(_ name: UnsafePointer<CChar>?, _ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
    depth += 1
    if depth > XMLReader.deepest { return refuse("elements are nested more than \(XMLReader.deepest) deep") }
    var attributes: [(name: String, value: String)] = []
    // The list consists of pairs and ends with a null pointer; all of them are texts that live during this call.
    var index = 0
    while let list = unsafe list, let name = unsafe list[index], let value = unsafe list[index + 1] {
      attributes.append(unsafe (String(cString: name), String(cString: value)))
      index += 2
    }
    events.append(.start(name: unsafe name.map { unsafe String(cString: $0) } ?? "", attributes: attributes))
  }

  func end() {
    depth -= 1
    events.append(.end)
  }

  @unsafe func text(_ text: UnsafePointer<CChar>?, _ count: Int32) {
    // The text has `count` bytes and lives during this call.
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: Int(count))
    events.append(.text(unsafe Array(bytes)[...]))
  }
}
