import VaultBytes
import VaultModel
import VaultWire

@testable import VaultCLI

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzTemplate(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count))
    _ = exerciseTemplate(bytes)
    return 0
  }
#endif

/// Reads any bytes as a template. Either they are refused at a position that exists, with a printable reason, or their
/// pieces follow each other without a gap. The same bytes, quoted, must be a template that gives them back. Returns
/// true if they were read.
func exerciseTemplate(_ bytes: RawSpan) -> Bool {
  checkQuoting(bytes)
  do throws(Template.Fault) {
    let template = try Template(SecretBuffer(copying: bytes))
    check(template)
    return true
  } catch {
    let lines = Span<UInt8>(_bytes: bytes).position(of: bytes.byteCount).line
    guard (1...lines).contains(error.position.line), (1...bytes.byteCount + 1).contains(error.position.column),
      !error.reason.isEmpty, Printable.isPlain(error.reason)
    else { fatalError("\(error)") }
    return false
  }
}

private func check(_ template: borrowing Template) {
  var at = 0
  for piece in template.pieces {
    switch piece {
    case .text(let place):
      guard place.lowerBound >= at, !place.isEmpty else { fatalError("a text that goes back") }
      at = place.upperBound
    case .string: continue
    case .action(let action):
      guard action.place.lowerBound >= at, action.place.count >= 13 else { fatalError("an action that goes back") }
      at = action.place.upperBound
      // Parsed alone, the action must mean the same.
      let copy = template.source.withBytes { SecretBuffer(copying: $0.extracting(action.place)) }
      guard let alone = try? Template(copy), alone.actions.count == 1, alone.actions[0].item == action.item,
        alone.actions[0].escapes == action.escapes
      else { fatalError("an action that means something else alone") }
    }
  }
  guard at <= template.source.count else { fatalError("more than there is") }
}

private func checkQuoting(_ bytes: RawSpan) {
  var source = SecretBuffer()
  Template.quote(bytes, isBeforeAction: false, into: &source)
  guard let template = try? Template(source), template.actions.isEmpty else { fatalError("quoted text is no template") }
  var text = SecretBuffer()
  for piece in template.pieces {
    switch piece {
    case .text(let place): template.source.withBytes { text.append($0.extracting(place)) }
    case .string(let string): text.append(unsafe string.span.bytes)
    case .action: fatalError("quoted text acts")
    }
  }
  let same = text.withBytes { text in
    let (text, bytes) = (Span<UInt8>(_bytes: text), Span<UInt8>(_bytes: bytes))
    return text.count == bytes.count && text.indices.allSatisfy { text[$0] == bytes[$0] }
  }
  if !same { fatalError("quoted text is another") }
}
