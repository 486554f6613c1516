internal import VaultWire

/// Finds the texts that stand before values in a whole text. The work grows only with the length of the searched text,
/// however similar the texts before values are, because another program decides what the searched text is.
///
/// It is the automaton of Aho and Corasick (Efficient String Matching, 1975). Blanks are no part of the texts.
struct ContextSearch {
  /// A prefix of one or more of the texts. Its bytes stay with the texts, in memory that wipes itself.
  private struct Node {
    let depth: Int32
    /// The texts that end here, as a range of ``order``. Even an empty range begins at a text that begins with this
    /// node's bytes.
    var ends: Range<Int32>
    /// The nodes with one more byte, ordered by that byte.
    var children: Range<Int32> = 0..<0
    /// The longest other node whose bytes are a suffix of this node's bytes.
    var shorter: Int32 = 0
    /// The first node at which texts end: this node, its shorter node, the shorter node of that, and so on; -1 if there
    /// is none.
    var ending: Int32 = -1
    /// The index in ``lengths`` of a node at which texts end; -1 for any other node.
    var number: Int32 = -1
  }

  /// The lengths of the texts that end at a node and at its shorter nodes, each as a bit.
  private struct Lengths {
    /// The texts that count everywhere. The lowest bit stands for one byte.
    var anywhere: UInt128 = 0
    /// The texts that count only where they stand apart. The lowest bit stands for no byte.
    var apart: UInt128 = 0
  }

  private let entries: [ContextIndex.Entry]
  /// The numbers of the entries, ordered by their bytes from the first to the last.
  private let order: [Int]
  private var nodes: [Node] = []
  private var lengths: [Lengths] = []

  /// - Parameter bytes: the bytes of the entries, each with its last byte first.
  init(_ bytes: RawSpan, _ entries: [ContextIndex.Entry]) {
    let span = Span<UInt8>(_bytes: bytes)
    self.entries = entries
    order = entries.indices.sorted { one, other in
      let (one, other) = (entries[one].bytes, entries[other].bytes)
      for offset in 0..<min(one.count, other.count) {
        let (left, right) = (span[one.upperBound - 1 - offset], span[other.upperBound - 1 - offset])
        if left != right { return left < right }
      }
      return one.count < other.count
    }
    makeNodes(span)
    linkNodes(span)
  }

  /// Returns a byte of a text, by the text's place in the order.
  private func byte(_ offset: Int, of text: Int32, _ bytes: Span<UInt8>) -> UInt8 {
    bytes[entries[order[Int(text)]].bytes.upperBound - 1 - offset]
  }

  /// Makes the nodes, those of each depth together.
  private mutating func makeNodes(_ bytes: Span<UInt8>) {
    nodes = [Node(depth: 0, ends: 0..<0)]
    // The texts that begin with each node's bytes.
    var texts = [0..<Int32(order.count)]
    var at = 0
    while at < nodes.count {
      let (all, depth) = (texts[at], Int(nodes[at].depth))
      var low = all.lowerBound
      // The shortest ones come first.
      while low < all.upperBound, entries[order[Int(low)]].bytes.count == depth { low += 1 }
      nodes[at].ends = all.lowerBound..<low
      let first = Int32(nodes.count)
      while low < all.upperBound {
        let byte = byte(depth, of: low, bytes)
        var next = low + 1
        while next < all.upperBound, self.byte(depth, of: next, bytes) == byte { next += 1 }
        nodes.append(Node(depth: Int32(depth + 1), ends: low..<low))
        texts.append(low..<next)
        low = next
      }
      nodes[at].children = first..<Int32(nodes.count)
      at += 1
    }
  }

  /// Links each node with its shorter node, which comes before it.
  private mutating func linkNodes(_ bytes: Span<UInt8>) {
    for at in nodes.indices {
      // The root has no shorter node.
      let ending = at == 0 ? -1 : nodes[Int(nodes[at].shorter)].ending
      if nodes[at].ends.isEmpty {
        nodes[at].ending = ending
      } else {
        var known = ending < 0 ? Lengths() : lengths[Int(nodes[Int(ending)].number)]
        for text in nodes[at].ends {
          if entries[order[Int(text)]].isApart {
            known.apart |= 1 << UInt128(nodes[at].depth)
          } else {
            known.anywhere |= 1 << UInt128(nodes[at].depth - 1)
          }
        }
        (nodes[at].ending, nodes[at].number) = (Int32(at), Int32(lengths.count))
        lengths.append(known)
      }
      // The shorter node of the root's children is the root.
      for child in nodes[at].children where at > 0 {
        let byte = byte(Int(nodes[at].depth), of: nodes[Int(child)].ends.lowerBound, bytes)
        var steps = 0
        nodes[Int(child)].shorter = step(from: nodes[at].shorter, byte, bytes, &steps)
      }
    }
  }

  /// Returns the longest node whose bytes are a suffix of a node's bytes and one more byte.
  private func step(from first: Int32, _ byte: UInt8, _ bytes: Span<UInt8>, _ steps: inout Int) -> Int32 {
    var node = first
    while true {
      if let child = child(of: nodes[Int(node)], byte, bytes, &steps) { return child }
      if node == 0 { return 0 }
      node = nodes[Int(node)].shorter
    }
  }

  private func child(of node: Node, _ byte: UInt8, _ bytes: Span<UInt8>, _ steps: inout Int) -> Int32? {
    var (low, high) = (node.children.lowerBound, node.children.upperBound)
    steps += 1
    while low < high {
      steps += 1
      let middle = (low + high) / 2
      let found = self.byte(Int(node.depth), of: nodes[Int(middle)].ends.lowerBound, bytes)
      if found == byte { return middle }
      if found < byte { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// Returns the first place in `text` before which each entry's text stands; nil for an entry without one.
  ///
  /// - Parameters:
  ///   - bytes: the same bytes of the entries as in ``init(_:_:)``.
  ///   - steps: a counter, increased by the number of comparisons made.
  func firstPlaces(in text: RawSpan, _ bytes: RawSpan, steps: inout Int) -> [Int?] {
    let (text, bytes) = (Span<UInt8>(_bytes: text), Span<UInt8>(_bytes: bytes))
    var places = [Int?](repeating: nil, count: entries.count)
    var (missing, node) = (entries.count, Int32(0))
    // The lengths of the texts without a place.
    var left = lengths
    // The lengths, each as a bit, with which a text before the present place would stand apart.
    var apart: UInt128 = 0
    for at in text.indices where !Context.isBlank(text[at]) {
      if missing == 0 { break }
      var start = at
      apart = apart << 1 | (Context.isApart(text, &start) ? 1 : 0)
      let ending = nodes[Int(node)].ending
      if at > 0, ending >= 0 {
        let number = Int(nodes[Int(ending)].number)
        if left[number].anywhere | left[number].apart & apart != 0 {
          missing -= take(ending, at, apart, &places, &steps)
          (left[number].anywhere, left[number].apart) = (0, left[number].apart & ~apart)
        }
      }
      node = step(from: node, text[at], bytes, &steps)
    }
    return places
  }

  /// Records a place for the texts that end at a node and at its shorter nodes and have no place yet; returns the
  /// number of these texts.
  private func take(
    _ ending: Int32, _ place: Int, _ apart: UInt128, _ places: inout [Int?], _ steps: inout Int
  ) -> Int {
    var (count, next) = (0, ending)
    while next >= 0 {
      let node = nodes[Int(next)]
      steps += 1
      for text in node.ends {
        let number = order[Int(text)]
        if places[number] != nil || entries[number].isApart && apart >> UInt128(node.depth) & 1 == 0 { continue }
        (places[number], count) = (place, count + 1)
      }
      next = next == 0 ? -1 : nodes[Int(node.shorter)].ending
    }
    return count
  }
}
