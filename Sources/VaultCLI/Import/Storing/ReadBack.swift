internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The reading back of what an import stores, and its comparison with the source.
///
/// While the daemon stores one part of the items, the part before it is read back: its values are asked for ahead, so
/// the import waits neither for each of them nor for all of them at the end. A value that cannot be read in this way,
/// because it is large, or because the daemon refuses it or has gone away, is read by a call of its own, which asks a
/// person if it must.
final class ReadBack {
  private let session: Session
  private let steps: [ImportStep]
  private let run: String
  private let reading: ReadingAhead

  /// The versions that were stored and not asked for yet.
  private var open: ArraySlice<ImportStoring.Stored> = []
  /// The versions that were asked for, in the order of the replies.
  private var asked: ArraySlice<ImportStoring.Stored> = []
  /// The versions that need a call of their own.
  private var left: [ImportStoring.Stored] = []
  /// The steps of which the vault has something else than the source.
  private var wrong: Set<Int> = []

  /// - Parameter run: the identification of the import.
  init(_ session: Session, _ steps: [ImportStep], run: String) {
    (self.session, self.steps, self.run) = (session, steps, run)
    reading = ReadingAhead(session.vault)
  }

  /// The names of the items that differ from the source.
  var differing: [String] { wrong.sorted().map { steps[$0].name.text } }

  /// Adds versions that were just stored, and asks for the first of them.
  func add(_ stored: [ImportStoring.Stored]) {
    for one in stored {
      if let present = steps[one.step].present, !present.isReadable { continue }
      if one.field.value.count > ReadingAhead.largest { left.append(one) } else { open.append(one) }
    }
    ask()
  }

  /// Compares what was added, as far as no call of its own is needed. The daemon may be busy with another call.
  func goOn() {
    while let one = asked.first {
      do throws(ClientError) {
        compare(try reading.next(), one)
        asked.removeFirst()
      } catch {
        guard case .fault = error else { return giveUp() }
        left.append(asked.removeFirst())
      }
      if asked.isEmpty { ask() }
    }
  }

  /// Compares everything that was added.
  func finish() throws(Failure) {
    goOn()
    for one in left {
      let value: Value = try session.unlocking { vault in
        try vault.read(one.name, version: one.version, expired: true, describe: one.isLast)
      }
      compare(value, one)
    }
    left = []
  }

  /// Asks for as many of the next versions as there is room for.
  private func ask() {
    while let one = open.first,
      reading.ask(
        one.name, version: one.version, expired: true, describe: one.isLast, size: one.field.value.count)
    {
      asked.append(open.removeFirst())
    }
    do throws(ClientError) { try reading.send() } catch { giveUp() }
  }

  /// Leaves everything that was added to calls of its own.
  private func giveUp() {
    left += asked + open
    (asked, open) = ([], [])
  }

  private func compare(_ value: borrowing Value, _ one: ImportStoring.Stored) {
    if !isAsStored(value, one) { wrong.insert(one.step) }
  }

  private func isAsStored(_ value: borrowing Value, _ one: ImportStoring.Stored) -> Bool {
    let step = steps[one.step]
    guard value.bytes.isSame(as: one.field.value) else { return false }
    guard one.isLast, let item = value.item else { return true }
    if let expiry = step.item.expires, item.expires != expiry { return false }
    return item.attributes == step.attributes(run: run) && (step.present != nil || item.kind == step.item.kind.rawValue)
  }
}
