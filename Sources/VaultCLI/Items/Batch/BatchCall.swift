internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The items of `vault set --batch` that are stored together.
final class BatchCall {
  private var batch = Batch()
  /// The line number of each item.
  private var lines: [Int] = []
  /// The sums for the limits ``CallLimits/time`` and ``CallLimits/text`` over all items; see ``weight(of:)``.
  private var time = 0
  private var text = 0
  /// The other subjects that have rights to new items by grants.
  private(set) var openTo: [Wire.Access] = []

  /// The size of the call in bytes.
  var byteCount: Int { batch.byteCount }

  /// Returns true if the call can hold this item as well.
  func hasRoom(for item: Wire.NewItem) -> Bool {
    let (time, text) = Self.weight(of: item)
    return lines.count < CallLimits.items && self.time + time <= CallLimits.time
      && self.text + text <= CallLimits.text
  }

  /// Returns the item's share of the sums. An update also removes the item's old attributes, of which there are usually
  /// as many.
  private static func weight(of item: Wire.NewItem) -> (time: Int, text: Int) {
    let (times, existing) = item.update == true ? (2, CallLimits.timeOfExisting) : (1, 0)
    return (
      CallLimits.timeOfItem + existing + CallLimits.time(name: item.name, item.attributes) * times,
      CallLimits.text(name: item.name, item.attributes) * times
    )
  }

  func add(_ next: consuming BatchLine) {
    let (time, text) = Self.weight(of: next.item)
    self.time += time
    self.text += text
    switch next.value {
    case .some(let value): batch.add(next.item, value: value)
    case .none: batch.add(next.item)
    }
    lines.append(next.number)
  }

  /// Stores all items, in one call or in as many as the daemon requires: only the daemon knows how much it computes for
  /// a key.
  ///
  /// - Parameter stored: is increased by the number of stored items.
  func send(_ session: Session, counting stored: inout Int) throws(Failure) {
    var (done, most) = (0, lines.count)
    while done < lines.count {
      let part = done..<min(done + most, lines.count)
      guard try send(part, session) else {
        most = part.count / 2
        continue
      }
      done = part.upperBound
      stored += part.count
    }
  }

  /// Stores some of the items; returns false if that is too much for one call.
  private func send(_ part: Range<Int>, _ session: Session) throws(Failure) -> Bool {
    var failed: Int?
    do throws(Failure) {
      return try session.unlocking { vault in
        do {
          _ = try vault.setMany(batch, part) { others in openTo += others }
          return true
        } catch ClientError.fault(.tooMuch) where part.count > 1 { return false } catch ClientError.fault(let fault) {
          failed = fault.failedIndex
          throw ClientError.fault(fault)
        }
      }
    } catch {
      guard let failed, part.indices.contains(part.lowerBound + failed) else {
        let (first, last) = (lines[part.lowerBound], lines[part.upperBound - 1])
        throw Failure(error.exit, "lines \(first) to \(last): \(error.message)")
      }
      throw Failure(error.exit, "line \(lines[part.lowerBound + failed]): \(error.message)")
    }
  }
}

extension Fault {
  /// The index of the item that caused the fault in a `SetMany`; nil if the fault names none.
  fileprivate var failedIndex: Int? {
    switch self {
    case .alreadyExists(_, let failed), .invalidName(_, _, let failed), .invalidValue(_, _, let failed, _): failed
    default: nil
    }
  }
}
