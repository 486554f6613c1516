internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The values of items that an import will probably compare, asked for ahead in that order.
///
/// As many are on their way as ``ReadingAhead`` has room for, and more are asked for only when one of them is needed.
/// So an import that compares other items than expected has read at most that many for nothing. Items that require a
/// person's proof are never asked for ahead.
final class ExpectedValues {
  private let items: [Wire.Item]
  /// The places of the items by their names.
  private let places: [ItemName: Int]
  /// The places of the items that were asked for and whose replies were not taken, in the order of the replies.
  private var asked = 0..<0

  private let ask: (Wire.Item) -> Bool
  private let next: () throws(ClientError) -> Value

  convenience init(_ items: [Wire.Item], _ reading: ReadingAhead) {
    self.init(
      items, ask: { reading.ask($0.name, expired: true, size: $0.size) },
      next: { () throws(ClientError) in try reading.next() })
  }

  /// - Parameters:
  ///   - ask: asks for a value, as ``ReadingAhead/ask(_:version:expired:describe:size:)`` does.
  ///   - next: takes the reply to the first question that has none.
  init(
    _ items: [Wire.Item], ask: @escaping (Wire.Item) -> Bool, next: @escaping () throws(ClientError) -> Value
  ) {
    self.items = items.filter { $0.isReadable && $0.size <= ReadingAhead.largest }
    places = Dictionary(
      self.items.enumerated().compactMap { place, item in (try? ItemName(item.name)).map { ($0, place) } },
      uniquingKeysWith: { first, _ in first })
    (self.ask, self.next) = (ask, next)
  }

  /// Takes the value of an item; nil if it was not expected, or does not come in this way.
  ///
  /// - Parameter passing: takes the values that come before it.
  func take(_ name: ItemName, passing: (ItemName, PresentValues.Kept) -> Void) -> PresentValues.Kept? {
    guard let place = places[name], place >= asked.lowerBound else { return nil }
    while !asked.isEmpty, asked.lowerBound < place { pass(passing) }
    if asked.isEmpty {
      asked = place..<place
      askOn()
    }
    return asked.lowerBound == place ? takeNext() : nil
  }

  private func askOn() {
    while asked.upperBound < items.count, ask(items[asked.upperBound]) {
      asked = asked.lowerBound..<(asked.upperBound + 1)
    }
  }

  private func pass(_ passing: (ItemName, PresentValues.Kept) -> Void) {
    let item = items[asked.lowerBound]
    if let value = takeNext(), let name = try? ItemName(item.name) { passing(name, value) }
  }

  /// Takes the next reply; nil if the daemon refuses the value or has gone away.
  private func takeNext() -> PresentValues.Kept? {
    guard !asked.isEmpty else { return nil }
    do throws(ClientError) {
      let value = PresentValues.Kept(try next())
      asked.removeFirst()
      return value
    } catch {
      if case .fault = error { asked.removeFirst() } else { asked = asked.upperBound..<asked.upperBound }
      return nil
    }
  }
}
