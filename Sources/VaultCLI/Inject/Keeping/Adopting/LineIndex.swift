/// The lines of a text, counted once for many places.
struct LineIndex {
  private var breaks: [Int] = []

  init(_ text: RawSpan) {
    let bytes = Span<UInt8>(_bytes: text)
    for index in bytes.indices where bytes[index] == 0x0A { breaks.append(index) }
  }

  /// Returns the line of an offset, counted from 1.
  func line(_ place: Int) -> Int {
    var steps = 0
    return line(place, &steps)
  }

  /// - Parameter steps: a counter, increased by the number of comparisons with line breaks.
  func line(_ place: Int, _ steps: inout Int) -> Int {
    var (low, high) = (0, breaks.count)
    while low < high {
      steps += 1
      let middle = (low + high) / 2
      if breaks[middle] < place { low = middle + 1 } else { high = middle }
    }
    return low + 1
  }
}
