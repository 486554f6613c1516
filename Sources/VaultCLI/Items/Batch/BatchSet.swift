internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault set --batch`: stores many items from JSON lines. The items that the daemon takes in one call are
/// stored in one transaction.
///
/// All lines are checked before the first item is stored. Input of more than ``checked`` bytes is checked and stored in
/// parts of that size.
struct BatchSet {
  /// The most bytes that are held for checking.
  private static let checked = 64 << 20
  /// The most bytes in one call, well below the 2 MiB of a frame; a single large item may still fill a frame.
  private static let chunk = 1 << 20

  let globals: Globals
  let terms: BatchTerms

  func run() throws(Failure) {
    let session = try Session(globals)
    session.takesKind = true
    var (stored, isEmpty) = (0, false)
    var openTo: [Wire.Access] = []
    let progress = Progress()
    // The proofs that lines have required so far.
    var proofs: Set<String> = []
    do throws(Failure) {
      var reader = BatchReader(terms)
      while true {
        let calls = try calls(&reader, &proofs, session, progress)
        if calls.isEmpty { break }
        for call in calls {
          try call.send(session, counting: &stored)
          openTo += call.openTo
          progress.show("stored \(Counted.text(stored, "item")) so far")
        }
      }
      progress.clear()
      isEmpty = reader.count == 0
    } catch {
      progress.clear()
      throw Failure(error.exit, "\(error.message) (\(stored) stored before that)")
    }
    // The program that should have written the lines has probably failed.
    if isEmpty, !terms.allowsEmpty {
      throw Failure(
        .invalid, "standard input is empty, so nothing was stored", "give --allow-empty to allow that")
    }
    try report(stored, openTo)
  }

  /// Returns the calls for the lines that are checked next; empty at the end.
  private func calls(
    _ reader: inout BatchReader, _ proofs: inout Set<String>, _ session: Session, _ progress: Progress
  ) throws(Failure) -> [BatchCall] {
    var calls: [BatchCall] = []
    var size = 0
    while size < BatchSet.checked, let next = try reader.next() {
      size += next.size
      if let require = next.item.require, proofs.insert(require).inserted {
        try Proof.warn(require, line: next.number, session)
      }
      if let call = calls.last, call.byteCount + next.size <= BatchSet.chunk, call.hasRoom(for: next.item) {
        call.add(next)
      } else {
        let call = BatchCall()
        call.add(next)
        calls.append(call)
        progress.show("checked \(Counted.text(reader.count - 1, "item")) so far")
      }
    }
    return calls
  }

  private func report(_ stored: Int, _ openTo: [Wire.Access]) throws(Failure) {
    if globals.json {
      try Output.json { $0.add("stored", stored) }
    } else if Keyboard.isAttended {
      Output.note("stored \(Counted.text(stored, "item"))\(AccessChange.note(openTo))")
    }
  }
}
