internal import VaultBytes
internal import VaultWire

/// Removes values from a text that arrives in parts. Each run of bytes that belong to one or more values becomes one
/// mark, which does not tell how long they are.
///
/// All occurrences count, overlapping ones included: of two values that share bytes, nothing remains of either. Bytes
/// that may be the beginning of a value are held back until the next bytes or the end decide; there is no time limit.
struct Masker: ~Copyable {
  static let mark: StaticString = "<concealed>"

  private let values: MaskedValues
  /// For each value, the length in bytes of its longest beginning with which the text ends.
  private var matched: [Int]
  /// The text that is not decided yet.
  private var pending = SecretBuffer()
  /// The parts of the pending text that are values, in their order; none touches the next.
  private var found: [Range<Int>] = []
  /// True if the last written byte belonged to a value.
  private var isInValue = false

  init(_ values: MaskedValues) {
    self.values = values
    matched = Array(repeating: 0, count: values.places.count)
  }

  /// Takes the next part of the text, and adds the bytes that are decided now to `output`.
  mutating func add(_ part: RawSpan, into output: inout SecretBuffer) {
    let start = pending.count
    pending.append(part)
    search(from: start)
    write(pending.count - (matched.max() ?? 0), into: &output)
  }

  /// Takes the end of the text.
  mutating func finish(into output: inout SecretBuffer) {
    write(pending.count, into: &output)
    for index in matched.indices { matched[index] = 0 }
  }

  private mutating func search(from start: Int) {
    values.withTables { bytes, failure in
      pending.withBytes { text in
        let text = Span<UInt8>(_bytes: text)
        for at in start..<text.count {
          for (index, place) in values.places.enumerated() {
            var count = matched[index]
            while count > 0, bytes[place.lowerBound + count] != text[at] {
              count = failure(place.lowerBound + count - 1)
            }
            if bytes[place.lowerBound + count] == text[at] { count += 1 }
            if count == place.count {
              Self.add(at + 1 - count..<at + 1, to: &found)
              count = failure(place.upperBound - 1)
            }
            matched[index] = count
          }
        }
      }
    }
  }

  /// Adds a range that ends no earlier than the others.
  private static func add(_ range: Range<Int>, to found: inout [Range<Int>]) {
    var range = range
    while let last = found.last, last.upperBound >= range.lowerBound {
      range = min(last.lowerBound, range.lowerBound)..<max(last.upperBound, range.upperBound)
      found.removeLast()
    }
    found.append(range)
  }

  /// Writes the first `count` bytes, which are decided.
  private mutating func write(_ count: Int, into output: inout SecretBuffer) {
    var at = 0
    var next = 0
    while at < count {
      let value = next < found.count ? found[next] : count..<count
      if value.lowerBound > at {
        let end = min(value.lowerBound, count)
        pending.withBytes { output.append($0.extracting(at..<end)) }
        isInValue = false
        at = end
      } else {
        if !isInValue { output.append(Self.mark) }
        isInValue = true
        at = min(value.upperBound, count)
        if at == value.upperBound { next += 1 }
      }
    }
    pending.removeFirst(count)
    found = found[next...].map { max(0, $0.lowerBound - count)..<($0.upperBound - count) }
  }
}
