internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault set --batch`: many items from JSON lines, one transaction for as many as the daemon takes in one
/// call.
struct BatchSet {
  /// The most bytes in one call, well below the 2 MiB of a frame; a single large item may still fill one.
  private static let chunk = 1 << 20

  let globals: Globals
  /// True when lines that do not say so themselves update, too.
  let update: Bool

  func run() throws(Failure) {
    var lines = InputLines(limit: 2 << 20)
    let session = try Session(globals)
    var stored = 0
    let progress = Progress()
    do throws(Failure) {
      var pending = Pending()
      while let line = try lines.next() {
        if BatchSet.isBlank(line) { continue }
        let next = try parse(line, number: lines.number)
        if pending.batch.byteCount + line.count > BatchSet.chunk || !pending.hasRoom(for: next.item) {
          try pending.send(session, counting: &stored)
          pending = Pending()
          progress.show("stored \(stored) items so far")
        }
        pending.add(next, line: lines.number)
      }
      try pending.send(session, counting: &stored)
      progress.clear()
    } catch {
      progress.clear()
      throw Failure(error.exit, "\(error.message) (\(stored) stored before that)")
    }
    try report(stored)
  }

  private func report(_ stored: Int) throws(Failure) {
    if globals.json {
      try Output.json { writer in
        writer.beginObject()
        writer.key("stored")
        writer.integer(Int64(stored))
        writer.endObject()
      }
    } else if Keyboard.isAttended {
      Output.note("stored \(stored) items")
    }
  }

  /// One line: an item, and its value when it has one.
  private struct Parsed: ~Copyable {
    let item: Wire.NewItem
    let value: SecretBuffer?
  }

  private func parse(_ line: borrowing SecretBuffer, number: Int) throws(Failure) -> Parsed {
    do {
      let frame = try line.withBytes { bytes throws(FrameError) in try Frame(parsing: bytes) }
      var item = try Wire.NewItem(frame, frame.root)
      if update && item.update == nil { item.update = true }
      return Parsed(item: item, value: try frame.content(item.value, item.data))
    } catch let error as ParameterError {
      throw Failure(
        .invalid,
        "line \(number): \(Printable.quoted(error.parameter)) is missing, unknown or of the wrong type", "correct it")
    } catch let error as FrameError {
      throw Failure(.invalid, "line \(number) is not a valid item: \(error.reason)", "correct it")
    } catch {
      throw Failure(any: error)
    }
  }

  private static func isBlank(_ line: borrowing SecretBuffer) -> Bool {
    line.withBytes { bytes in
      let line = Span<UInt8>(_bytes: bytes)
      return line.indices.allSatisfy { line[$0] == 0x20 || line[$0] == 0x09 }
    }
  }

  /// Items that are stored together.
  private struct Pending: ~Copyable {
    var batch = Batch()
    /// The number of each one's line.
    var lines: [Int] = []
    /// The number of folders and attributes that they have, and may have had; and the bytes of those and of the names.
    var tags = 0
    var text = 0

    /// True when one call takes this item, too.
    borrowing func hasRoom(for item: Wire.NewItem) -> Bool {
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

    mutating func add(_ next: consuming Parsed, line: Int) {
      let (tags, text) = Self.weight(of: next.item)
      self.tags += tags
      self.text += text
      switch next.value {
      case .some(let value): batch.add(next.item, value: value)
      case .none: batch.add(next.item)
      }
      lines.append(line)
    }

    /// Stores them all, in one call or in as many as the daemon takes them in: it knows what it computes for a key.
    ///
    /// - Parameter stored: counts those that are stored.
    borrowing func send(_ session: Session, counting stored: inout Int) throws(Failure) {
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
    private borrowing func send(_ part: Range<Int>, _ session: Session) throws(Failure) -> Bool {
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

extension FrameError {
  /// The reason in words, to stand behind what the bytes should have been.
  var reason: String {
    switch self {
    case .tooLong(let limit): "it is longer than \(limit) bytes"
    case .invalidJSON(let offset, let reason): "\(reason) at byte \(offset)"
    case .tooDeep: "it nests too deeply"
    case .tooManyValues(let limit): "it has more than \(limit) values"
    case .tooManyMembers(let limit): "an object of it has more than \(limit) members"
    case .duplicateKey: "it has a key twice"
    case .notAnObject: "it is not a JSON object"
    }
  }
}
