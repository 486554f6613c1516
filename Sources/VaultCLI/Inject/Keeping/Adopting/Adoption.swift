internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A new template, made from the text that another program wrote to the output: the present template's actions replace
/// their values in that text. The new template renders to exactly that text.
struct Adoption: ~Copyable {
  /// The reason why a text is not adopted into a template.
  struct Refusal: Error, Equatable {
    let reason: String
  }

  /// The most bytes after a `{{` that identify this `{{`; fewer if `}}` or the end of the line comes first.
  private static let mostCompared = 64

  /// The text of the new template.
  let source: SecretBuffer

  /// Makes the template.
  ///
  /// - Parameter earlier: earlier values, which must not come into the template either.
  /// - Throws: ``Refusal`` if a value would come into the template in the clear, or if anything is uncertain.
  init(
    of rewriting: Rewriting, _ rendering: borrowing Rendering, _ template: borrowing Template, as present: RawSpan,
    earlier: EarlierValues = EarlierValues()
  ) throws(Refusal) {
    guard !rewriting.fates.contains(.empty) else {
      throw Refusal(reason: "a value is empty, so its place cannot be found")
    }
    guard let places = rewriting.places else { throw Refusal(reason: "not every value is in its place") }
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

  // MARK: Refusals

  private static func requireNoValue(
    outside places: [Range<Int>], _ actions: [Template.Action], _ rendering: borrowing Rendering, _ present: RawSpan,
    _ earlier: EarlierValues
  ) throws(Refusal) {
    let search = rendering.bytes.withBytes { ValueSearch(present, outside: places, before: $0, rendering.places) }
    func refusal(_ found: ValueSearch.Found, _ name: String) -> Refusal {
      let line = LineIndex(present).line(found.place)
      return Refusal(
        reason: found.isWhole
          ? "\(name) stands at line \(line), in the clear" : "a part of \(name) stands at line \(line), in the clear")
    }
    for item in Set(actions.map(\.item)) where item.isSecret {
      let found = rendering.fetched.withBytes(of: item) { search.first($0, in: present) }
      guard let found else { continue }
      throw refusal(found, found.isWhole ? "\(item.text) also" : item.text)
    }
    for item in earlier.items where item.isSecret {
      try earlier.forEach(of: item) { value throws(Refusal) in
        guard let found = search.first(value, in: present) else { return }
        throw refusal(found, "an earlier value of \(item.text)")
      }
    }
  }

  /// Throws if the text holds a `{{` that the rendering did not hold. A `{{` that the rendering held was data in the
  /// template as well; the text after it identifies it.
  private static func requireNoNewBraces(
    outside places: [Range<Int>], _ rendering: borrowing Rendering, _ present: RawSpan
  ) throws(Refusal) {
    var left: [Int: Int] = [:]
    rendering.bytes.withBytes { rendered in
      let text = Span<UInt8>(_bytes: rendered)
      for start in braces(in: text, outside: rendering.places) { left[occurrence(in: text, start), default: 0] += 1 }
    }
    let text = Span<UInt8>(_bytes: present)
    for start in braces(in: text, outside: places) {
      let occurrence = occurrence(in: text, start)
      guard let count = left[occurrence], count > 0 else {
        throw Refusal(
          reason: "there is a new {{ at line \(LineIndex(present).line(start)), which a template would act on")
      }
      left[occurrence] = count - 1
    }
  }

  /// Returns a number that identifies the text after a brace. Its hash key is random in each process, so nobody can
  /// write two texts with the same number.
  private static func occurrence(in text: Span<UInt8>, _ place: Int) -> Int {
    var hasher = Hasher()
    for at in place + 1..<place + mostCompared where at < text.count {
      hasher.combine(text[at])
      let isClosed = text[at] == UInt8(ascii: "}") && text[at - 1] == UInt8(ascii: "}")
      if isClosed || text[at] == 0x0A { break }
    }
    return hasher.finalize()
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

  /// Proves that the new template renders to exactly the text that the program has written.
  private static func check(
    _ source: borrowing SecretBuffer, gives present: RawSpan, _ rendering: borrowing Rendering
  ) throws(Refusal) {
    let copy = source.withBytes { SecretBuffer(copying: $0) }
    do {
      guard copy.count <= Template.limit else {
        throw Refusal(reason: "it would be longer than \(Counted.size(Template.limit))")
      }
      let template = try Template(copy)
      let again = try Rendering(template, rendering.fetched.copy(), name: "")
      if again.bytes.withBytes({ $0.hasSameBytes(as: present) }) { return }
    } catch let refusal as Refusal {
      throw refusal
    } catch {}
    throw Refusal(reason: "it cannot be written as a template")
  }
}
