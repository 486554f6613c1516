import VaultCore
import VaultModel
import VaultStore

/// A trial of a store after its files were changed: the store is opened, read, written, checked and saved, as a person
/// would do it.
///
/// Each answer must be an error or true, whatever the files contain. A value must be one that was stored under its name
/// and, if the files contain no data of an earlier moment, the last one. If the check finds no fault, the store as a
/// whole must be what it was at one moment, and must accept writes.
struct Trial {
  let story: Story
  let folder: Folder
  /// The directory of the store, and that of another store that can be made.
  let directory, spare: String
  let isOld: Bool
  /// Every value that may be served under a name.
  var stored: [String: Set<[UInt8]>]
  /// The values that are present if everything is as last stored.
  var latest: [String: [UInt8]]
  /// True if an item was served with the value that it had before the trial stored another one. That never happens in
  /// an intact store: a broken index did not lead to the item, and the new item of the same name lies beside it or has
  /// changed the order of the index.
  private var servesEarlier = false
  private static let written = "new/item"

  /// The outcome of a trial.
  enum End: String { case refused, damaged, whole }

  init(_ draft: Draft, _ folder: Folder, in directory: String, beside spare: String) {
    (story, self.folder, self.directory, self.spare) = (draft.story, folder, directory, spare)
    (isOld, stored, latest) = (draft.isOld, draft.story.stored, draft.story.last.values)
  }

  /// Changes the store of a story according to an input, and runs the trial.
  static func run(_ input: RawSpan, _ stories: [Story], in folder: Folder) -> End {
    guard input.byteCount > 0 else { return .refused }
    // Every bit pattern is a UInt8.
    let flags = unsafe input.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    // One input in four uses the store with many items, which takes longer.
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

  /// Runs the trial.
  ///
  /// - Parameter goesOn: True to write to an intact store and to save a damaged one, which takes three times as
  ///   long as everything before.
  mutating func run(readsFirst: Bool, writesFirst: Bool, goesOn: Bool) throws(VaultError) -> End {
    guard let values = try look(readsFirst: readsFirst, writesFirst: writesFirst, goesOn: goesOn) else {
      return .damaged
    }
    // The keychain in look() has ended with its scope, so the store is closed by now.
    if goesOn { try lookAgain(values) }
    return .whole
  }

  /// The values of an intact store; nil for a damaged one.
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

  /// Reads all values; an item that cannot be read has none.
  private mutating func read(_ keychain: Keychain) -> [String: [UInt8]] {
    var values: [String: [UInt8]] = [:]
    // Always read in the same order, because the store remembers what is read first.
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

  /// Requires that a search finds exactly the items that are served.
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

  /// Requires that the whole store is what it was at one moment: the last one, unless the files may contain data of an
  /// earlier moment. If such a store was written to before the check, its earlier content is not known.
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
      // A damaged head may have reached the end of its numbers.
      if case .storage = error {} else { Self.expectDamage(error) }
      return false
    } catch {
      fatalError("\(error)")
    }
  }

  private static let value = Array("new value".utf8)

  /// Stores a value before anything is known about the store.
  private mutating func write(_ keychain: Keychain) {
    for name in [Self.written, stored.keys.min() ?? ""] where tryToWrite(keychain, name) {
      stored[name, default: []].insert(Self.value)
      latest[name] = Self.value
      do {
        let value = try keychain.value(name)
        if value != Self.value { servesEarlier = true }
        require(stored[name]?.contains(value) == true, "another value than was ever stored")
      } catch VaultError.noSuchItem {
        // In a broken tree, the inserted row may not be found again.
      } catch let error as VaultError {
        Self.expectDamage(error)
      } catch {
        fatalError("\(error)")
      }
    }
  }

  /// Opens again an intact store that has taken a value: it must have that value and all others, and be intact.
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

  /// Checks all records. The check must end: there is room for a few thousand records.
  private func verify(_ keychain: Keychain) throws(VaultError) -> Verification {
    keychain.beginVerification()
    for _ in 0..<200 { if let result = try keychain.continueVerification(records: 4096) { return result } }
    fatalError("a check has no end")
  }

  /// Saves the intact items. Each saved value must be one that was stored, and the new store must be intact.
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
  /// Applies all changes that an input encodes.
  mutating func apply(_ input: RawSpan) {
    var rest = input
    while rest.byteCount >= Edit.size {
      Edit(rest.extracting(..<Edit.size)).apply(to: &self)
      rest = rest.extracting(Edit.size...)
    }
  }
}
