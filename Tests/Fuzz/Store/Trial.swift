import VaultCore
import VaultModel
import VaultStore

/// A trial of a store after its files were changed: it is opened, read, written, checked and saved as a person would do
/// it.
///
/// Whatever the files say, each answer is an error or true. A value is one that was stored under its name; where
/// nothing of an earlier moment is in the files, it is the last one. Where the check finds all well, the store as a
/// whole is what it was at one moment, and can be written to.
struct Trial {
  let story: Story
  let folder: Folder
  /// The directories of the store, and of another one that can be made.
  let directory, spare: String
  let isOld: Bool
  /// Every value that may be served under a name.
  var stored: [String: Set<[UInt8]>]
  /// The values that are there if all is as it was stored last.
  var latest: [String: [UInt8]]
  /// True when an item was served with the value that it had before the trial stored another one, which no whole store
  /// does: a broken index did not lead to it, and the new one of its name lies beside it or has put the index into
  /// another order.
  private var servesEarlier = false
  private static let written = "new/item"

  /// The end that a trial came to.
  enum End: String { case refused, damaged, whole }

  init(_ draft: Draft, _ folder: Folder, in directory: String, beside spare: String) {
    (story, self.folder, self.directory, self.spare) = (draft.story, folder, directory, spare)
    (isOld, stored, latest) = (draft.isOld, draft.story.stored, draft.story.last.values)
  }

  /// Puts a story's store to the trial, after what an input does to it.
  static func run(_ input: RawSpan, _ stories: [Story], in folder: Folder) -> End {
    guard input.byteCount > 0 else { return .refused }
    // Every bit pattern is a UInt8.
    let flags = unsafe input.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    // One input in four gets the store with many items, which takes its time.
    let story = stories[flags & 0xC0 == 0xC0 ? 1 : 0]
    var draft = Draft(story, withLog: flags & 2 != 0)
    draft.apply(input.extracting(1...))
    folder.clear(folder.store)
    draft.write(to: folder.store)
    Randomness.restart()
    var trial = Trial(draft, folder, in: folder.store, beside: folder.saved)
    do throws(VaultError) {
      return try trial.run(readsFirst: flags & 4 != 0, writesFirst: flags & 8 != 0, goesOn: flags & 0x20 != 0)
    } catch {
      Self.expectDamage(error)
      return .refused
    }
  }

  /// - Parameter goesOn: true to write to a whole store and to save a damaged one, which takes three times as long as
  ///   all before.
  mutating func run(readsFirst: Bool, writesFirst: Bool, goesOn: Bool) throws(VaultError) -> End {
    guard let values = try look(readsFirst: readsFirst, writesFirst: writesFirst, goesOn: goesOn) else {
      return .damaged
    }
    // look() had the store in its own scope, so it is closed by now.
    if goesOn { try lookAgain(values) }
    return .whole
  }

  /// The values of a store of which all is well; nil for any other.
  private mutating func look(
    readsFirst: Bool, writesFirst: Bool, goesOn: Bool
  ) throws(VaultError) -> [String: [UInt8]]? {
    let keychain = try Story.open(directory)
    if readsFirst { _ = read(keychain) }
    if writesFirst { write(keychain) }
    let result = try verify(keychain)
    let values = read(keychain)
    guard result.isOK else {
      require(!tryToWrite(keychain, Self.written), "a store that failed its check is written to")
      if goesOn { save(keychain) }
      return nil
    }
    require(!servesEarlier, "all is well, and another value was served than was stored just before")
    expectOneMoment(values)
    try list(keychain)
    if goesOn { require(tryToWrite(keychain, Self.written), "all is well, and nothing can be written") }
    return values
  }

  /// Requires that an error is one that a damaged store may give.
  static func expectDamage(_ error: VaultError) {
    switch error {
    case .corrupt, .distrusted, .newer: break
    default: fatalError("\(error) of a damaged file")
    }
  }

  // MARK: Reading

  /// Reads all values; none for an item that cannot be read.
  private mutating func read(_ keychain: Keychain) -> [String: [UInt8]] {
    var values: [String: [UInt8]] = [:]
    // Always in the same order, because what is read first is remembered.
    for name in stored.keys.sorted() {
      do {
        let value = try keychain.value(name)
        require(stored[name]?.contains(value) == true, "a value that was never stored")
        require(isOld || [latest[name], story.last.values[name]].contains(value), "a value that is not the last one")
        if value != latest[name], latest[name] == Self.value { servesEarlier = true }
        values[name] = value
      } catch VaultError.noSuchItem {
      } catch let error as VaultError {
        Self.expectDamage(error)
      } catch {
        fatalError("\(error)")
      }
    }
    return values
  }

  /// Requires that a search finds what is served.
  private mutating func list(_ keychain: Keychain) throws(VaultError) {
    guard let query = try? Query(parsing: "kind=note") else { fatalError("a query is not read") }
    var after: Int64?
    var names: Set<String> = []
    repeat {
      let page = try keychain.find(query, limit: 100, after: after, now: 2000)
      for item in page.items {
        let name = item.name.text
        require(names.insert(name).inserted, "an item is found twice")
        require(item.attributes == ["to": "be \(name)"], "an item has other attributes")
      }
      after = page.next
    } while after != nil
    let served = read(keychain)
    require(names == Set(served.keys), "other items are found than served")
  }

  /// Requires that the store is what it was at one moment, whole: the last one, unless its files may have anything of
  /// an earlier one. Where such a store was written to before the check, its content before is not known.
  private func expectOneMoment(_ values: [String: [UInt8]]) {
    if !isOld {
      require(values == latest, "all is well, and an item is another one")
    } else if latest == story.last.values {
      require(story.moments.contains { $0.values == values }, "all is well, and items are of several moments")
    }
  }

  // MARK: Writing

  private func tryToWrite(_ keychain: Keychain, _ name: String) -> Bool {
    do {
      try keychain.put(name, Self.value)
      return true
    } catch let error as VaultError {
      // A damaged head may have come to the end of its numbers.
      if case .storage = error {} else { Self.expectDamage(error) }
      return false
    } catch {
      fatalError("\(error)")
    }
  }

  private static let value = Array("new value".utf8)

  /// Stores a value before anything is known of the store.
  private mutating func write(_ keychain: Keychain) {
    for name in [Self.written, stored.keys.min() ?? ""] where tryToWrite(keychain, name) {
      stored[name, default: []].insert(Self.value)
      latest[name] = Self.value
      do {
        let value = try keychain.value(name)
        if value != Self.value { servesEarlier = true }
        require(stored[name]?.contains(value) == true, "another value than was ever stored")
      } catch VaultError.noSuchItem {
        // In a broken tree, what was put in is not met again.
      } catch let error as VaultError {
        Self.expectDamage(error)
      } catch {
        fatalError("\(error)")
      }
    }
  }

  /// Opens anew a store that was well and has taken a value: it has that and all others, and is well.
  private mutating func lookAgain(_ before: [String: [UInt8]]) throws(VaultError) {
    stored[Self.written, default: []].insert(Self.value)
    latest[Self.written] = Self.value
    let keychain = try Story.open(directory)
    let result = try verify(keychain)
    require(result.isOK, "a change has damaged a whole store: \(result.findings.map(\.text))")
    let values = read(keychain)
    require(values[Self.written] == Self.value, "a stored value is gone")
    let others = { (values: [String: [UInt8]]) in values.filter { $0.key != Self.written } }
    require(others(values) == others(before), "a stored value has changed others")
  }

  // MARK: Checking and saving

  /// Checks all records. That has to end: there is room for a few thousand of them.
  private func verify(_ keychain: Keychain) throws(VaultError) -> Verification {
    keychain.beginVerification()
    for _ in 0..<200 { if let result = try keychain.continueVerification(records: 4096) { return result } }
    fatalError("a check has no end")
  }

  /// Saves what is whole. Each saved value was stored, and the new store is one of which all is well.
  private mutating func save(_ keychain: Keychain) {
    defer { folder.clear(spare) }
    do throws(VaultError) {
      let salvage = try Salvage(keychain, in: spare, now: 2000)
      var steps = 0
      while try !salvage.step(items: 1000) {
        steps += 1
        require(steps < 1000, "a salvage has no end")
      }
      _ = read(salvage.target)
      let result = try salvage.target.verify()
      require(result.isOK, "what was saved is damaged: \(result.findings.map(\.text))")
    } catch {
      Self.expectDamage(error)
    }
  }
}

extension Draft {
  /// Makes all changes that an input asks for.
  mutating func apply(_ input: RawSpan) {
    var rest = input
    while rest.byteCount >= Edit.size {
      Edit(rest.extracting(..<Edit.size)).apply(to: &self)
      rest = rest.extracting(Edit.size...)
    }
  }
}
