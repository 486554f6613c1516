internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Items of `vault set --batch` that are stored together.
final class BatchCall {
  private var batch = Batch()
  /// The number of each one's line.
  private var lines: [Int] = []
  /// The number of folders and attributes that they have, and may have had; and the bytes of those and of the names.
  private var tags = 0
  private var text = 0

  /// The size of the call in bytes.
  var byteCount: Int { batch.byteCount }

  /// True when one call takes this item, too.
  func hasRoom(for item: Wire.NewItem) -> Bool {
    let (tags, text) = Self.weight(of: item)
    return lines.count < CallLimits.items && self.tags + tags <= CallLimits.tags
      && self.text + text <= CallLimits.text
  }

  /// An update takes away what the item had, too, which is as much as a rule.
  private static func weight(of item: Wire.NewItem) -> (tags: Int, text: Int) {
    let times = item.update == true ? 2 : 1
    return (
      CallLimits.tags(name: item.name, item.attributes) * times,
      CallLimits.text(name: item.name, item.attributes) * times
    )
  }

  func add(_ next: consuming BatchLine) {
    let (tags, text) = Self.weight(of: next.item)
    self.tags += tags
    self.text += text
    switch next.value {
    case .some(let value): batch.add(next.item, value: value)
    case .none: batch.add(next.item)
    }
    lines.append(next.number)
  }

  /// Stores them all, in one call or in as many as the daemon takes them in: it knows what it computes for a key.
  ///
  /// - Parameter stored: counts those that are stored.
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

  /// Stores some of them; false where one call may not do so much.
  private func send(_ part: Range<Int>, _ session: Session) throws(Failure) -> Bool {
    var failed: Int?
    do throws(Failure) {
      return try session.unlocking { vault in
        do {
          _ = try vault.setMany(batch, part)
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
  /// The item of a `SetMany` that was at fault.
  fileprivate var failedIndex: Int? {
    switch self {
    case .alreadyExists(_, let failed), .invalidName(_, _, let failed), .invalidValue(_, _, let failed): failed
    default: nil
    }
  }
}
