internal import VaultWire

/// The values with the same rendered bytes that were not found yet, each with the text around it.
struct AwaitedValues {
  /// Values with the same text around them, in their order.
  private struct Queue {
    var values: [Int] = []
    /// The number of values that were found.
    var found = 0
    /// The index of the last value whose kind differs from that of the value before it; 0 if all values are of one
    /// kind.
    var lastChange = 0

    /// The first value that was not found.
    var first: Int? { found < values.count ? values[found] : nil }
    /// True if the values that were not found are of different kinds.
    var isMixed: Bool { found < lastChange }

    mutating func append(_ value: Int, _ kinds: [Int]) {
      if let last = values.last, kinds[last] != kinds[value] { lastChange = values.count }
      values.append(value)
    }
  }

  private struct Around: Hashable {
    let entry: Int
    let byteAfter: UInt8
  }

  private let kinds: [Int]
  private var queues: [Around: Queue] = [:]

  /// - Parameters:
  ///   - values: the numbers of the values.
  ///   - kinds: the kind of each value, by its number. Actions that insert the same text have the same kind.
  init(
    _ values: [Int], kinds: [Int], _ contexts: borrowing ContextIndex, _ places: [Range<Int>], in rendered: RawSpan
  ) {
    self.kinds = kinds
    for value in values {
      let byte = Context.byte(after: places[value].upperBound, in: rendered)
      queues[Around(entry: contexts.numbers[value], byteAfter: byte), default: Queue()].append(value, kinds)
    }
  }

  /// Takes the first value that belongs to a place; nil if no value does, or if values of different kinds do.
  ///
  /// - Parameter steps: a counter, increased by the number of texts that stand before the place.
  mutating func take(
    _ place: Range<Int>, in text: RawSpan, _ contexts: borrowing ContextIndex, _ steps: inout Int
  ) -> Int? {
    let byte = Context.byte(after: place.upperBound, in: text)
    var (first, isSure): ((value: Int, around: Around)?, Bool) = (nil, true)
    contexts.forEach(before: place.lowerBound, in: text) { entry in
      steps += 1
      let around = Around(entry: entry, byteAfter: byte)
      guard let queue = queues[around], let value = queue.first else { return }
      if queue.isMixed || first.map({ kinds[$0.value] != kinds[value] }) ?? false { isSure = false }
      if first.map({ value < $0.value }) ?? true { first = (value, around) }
    }
    guard isSure, let first else { return nil }
    queues[first.around]?.found += 1
    return first.value
  }
}
