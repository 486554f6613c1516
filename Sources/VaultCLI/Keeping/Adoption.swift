internal import VaultModel
internal import VaultWire

/// A template that gives what another program has written: its text with the actions in the places of their values.
struct Adoption: ~Copyable {
  /// The reason why a text is not taken into a template.
  struct Refusal: Error, Equatable {
    let reason: String
  }

  /// The most bytes of the text behind two braces by which they are known again, up to two that close or the end of the line.
  private static let known = 64

  /// The new template.
  let source: SecretBuffer

  /// - Parameter earlier: values that must not come into it either.
  /// - Throws: ``Refusal`` where a value would come into the template in the clear, or anything is not known for sure.
  init(
    of rewriting: Rewriting, _ rendering: borrowing Rendering, _ template: borrowing Template, as present: RawSpan,
    earlier: EarlierValues = EarlierValues()
  ) throws(Refusal) {
    guard !rewriting.fates.contains(.empty) else {
      throw Refusal(reason: "a value is empty, so nobody can tell where it stands")
    }
    guard let places = rewriting.places else { throw Refusal(reason: "not every value stands where it did") }
    let actions = template.actions
    for (index, others) in rewriting.others.enumerated() where actions[index].item.isSecret {
      guard let line = others.first else { continue }
      throw Refusal(reason: "\(actions[index].item.text) also stands at line \(line), in the clear")
    }
    try Self.requireNoValue(outside: places, actions, rendering, present, earlier)
    try Self.requireNoNewBraces(outside: places, rendering, present)
    let source = Self.source(template, actions, places, present)
    try Self.check(source, gives: present, rendering)
    self.source = source
  }

  private static func source(
    _ template: borrowing Template, _ actions: [Template.Action], _ places: [Range<Int>], _ present: RawSpan
  ) -> SecretBuffer {
    var source = SecretBuffer(capacity: present.byteCount + template.source.count)
    var at = 0
    for index in places.indices.sorted(by: { places[$0].lowerBound < places[$1].lowerBound }) {
      Template.quote(present.extracting(at..<places[index].lowerBound), isBeforeAction: true, into: &source)
      template.source.withBytes { source.append($0.extracting(actions[index].place)) }
      at = places[index].upperBound
    }
    Template.quote(present.extracting(at..<present.byteCount), isBeforeAction: false, into: &source)
    return source
  }

  // MARK: What must not be

  /// Looks for each value in all its ``ValueForms``, in the text as it is and with its escapes undone.
  private static func requireNoValue(
    outside places: [Range<Int>], _ actions: [Template.Action], _ rendering: borrowing Rendering, _ present: RawSpan,
    _ earlier: EarlierValues
  ) throws(Refusal) {
    let unescaped = UnescapedText(present)
    for item in Set(actions.map(\.item)) where item.isSecret {
      let found = rendering.fetched.withBytes(of: item) { value in
        firstPlace(of: value, outside: places, present, unescaped)
      }
      guard let found else { continue }
      throw Refusal(reason: "\(item.text) also stands at line \(Rewriting.line(found, in: present)), in the clear")
    }
    for item in earlier.items where item.isSecret {
      try earlier.forEach(of: item) { value throws(Refusal) in
        guard let found = firstPlace(of: value, outside: places, present, unescaped) else { return }
        let line = Rewriting.line(found, in: present)
        throw Refusal(reason: "an earlier value of \(item.text) stands at line \(line), in the clear")
      }
    }
  }

  /// The first place of a value in any form that is not within `places`.
  private static func firstPlace(
    of value: RawSpan, outside places: [Range<Int>], _ present: RawSpan, _ unescaped: borrowing UnescapedText
  ) -> Int? {
    var first: Int?
    ValueForms.forEach(of: value) { form in
      if first == nil { first = firstPlace(of: form, outside: places, in: present) { $0 } }
      if first == nil {
        first = unescaped.bytes.withBytes { text in
          firstPlace(of: form, outside: places, in: text) { unescaped.origin(of: $0) }
        }
      }
    }
    return first
  }

  /// - Parameter origin: gives the place in the text itself.
  private static func firstPlace(
    of form: RawSpan, outside places: [Range<Int>], in text: RawSpan, _ origin: (Range<Int>) -> Range<Int>
  ) -> Int? {
    var at = 0
    while let start = text.firstPlace(of: form, from: at) {
      let found = origin(start..<start + form.byteCount)
      if !places.contains(where: { $0.lowerBound <= found.lowerBound && found.upperBound <= $0.upperBound }) {
        return found.lowerBound
      }
      at = start + 1
    }
    return nil
  }

  /// Two braces that were there before are known by what follows them; they are data in the template, too.
  private static func requireNoNewBraces(
    outside places: [Range<Int>], _ rendering: borrowing Rendering, _ present: RawSpan
  ) throws(Refusal) {
    let text = Span<UInt8>(_bytes: present)
    var left: [Int] = []
    rendering.bytes.withBytes { left = braces(in: Span<UInt8>(_bytes: $0), outside: rendering.places) }
    for start in braces(in: text, outside: places) {
      let old = left.firstIndex { old in
        rendering.bytes.withBytes { isSame(Span<UInt8>(_bytes: $0), old, text, start) }
      }
      guard let old else {
        throw Refusal(
          reason: "there is a new {{ at line \(Rewriting.line(start, in: present)), which a template would act on")
      }
      left.remove(at: old)
    }
  }

  private static func isSame(_ one: Span<UInt8>, _ place: Int, _ other: Span<UInt8>, _ otherPlace: Int) -> Bool {
    for offset in 1..<known {
      let ends = (place + offset >= one.count, otherPlace + offset >= other.count)
      if ends.0 || ends.1 { return ends.0 == ends.1 }
      if one[place + offset] != other[otherPlace + offset] { return false }
      let isClosed = one[place + offset] == UInt8(ascii: "}") && one[place + offset - 1] == UInt8(ascii: "}")
      if isClosed || one[place + offset] == 0x0A { return true }
    }
    return true
  }

  private static func braces(in text: Span<UInt8>, outside places: [Range<Int>]) -> [Int] {
    let places = places.sorted { $0.lowerBound < $1.lowerBound }
    var (found, next, at): ([Int], Int, Int) = ([], 0, 0)
    while at + 1 < text.count {
      if next < places.count, at >= places[next].lowerBound {
        at = max(at, places[next].upperBound)
        next += 1
      } else if text[at] == UInt8(ascii: "{"), text[at + 1] == UInt8(ascii: "{") {
        found.append(at)
        at += 2
      } else {
        at += 1
      }
    }
    return found
  }

  /// The proof: the new template gives just what the program has written.
  private static func check(
    _ source: borrowing SecretBuffer, gives present: RawSpan, _ rendering: borrowing Rendering
  ) throws(Refusal) {
    let copy = source.withBytes { SecretBuffer(copying: $0) }
    do {
      guard copy.count <= Template.limit else {
        throw Refusal(reason: "it would be more than \(Sizes.text(Template.limit))")
      }
      let template = try Template(copy)
      let again = try Rendering(template, rendering.fetched.copy(), name: "")
      if again.bytes.withBytes({ $0.hasSameBytes(as: present) }) { return }
    } catch let refusal as Refusal {
      throw refusal
    } catch {}
    throw Refusal(reason: "it has no form as a template")
  }
}
