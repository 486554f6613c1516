extension Sequence {
  /// Returns the elements of the holder that has most of them, by number or by another weight. Where room is limited,
  /// that holder gives way first, so that no other holder loses room to it.
  package func ofHolderWithMost(
    _ holder: (Element) -> some Hashable, by weight: ([Element]) -> Int = { $0.count }
  ) -> [Element] {
    let held = Dictionary(grouping: self, by: holder).values.map { (elements: $0, weight: weight($0)) }
    return held.max { $0.weight < $1.weight }?.elements ?? []
  }
}
