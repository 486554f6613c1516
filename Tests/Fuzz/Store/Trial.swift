import VaultCore
import VaultModel
import VaultStore

/// What a store is put to after its files were changed: it is opened, read, written, checked and saved as a person would.
///
/// Whatever the files say, each answer is an error or true. A value is one that was stored under its name; where nothing of an
/// earlier moment is in the files it is the last one; and where the check finds all well, the store as a whole is what it was
/// at one moment, and can be written to.
struct Trial {
  let story: Story
  let folder: Folder
  /// Where the store is, and where another one can be made.
  let directory, spare: String
  let isOld: Bool
  /// Every value that may be served under a name.
  var stored: [String: Set<[UInt8]>]
  /// The values that are there, if all is as it was stored last.
  var latest: [String: [UInt8]]
  /// Whether an item was served with what it had before the trial stored another value, which no whole store does: a broken
  /// index did not lead to it, and the new one of its name lies beside it or has put the index into another order.
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
    // One in four has many items, which take their time.
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

  /// - Parameter goesOn: whether a whole store is written to and a damaged one saved, which take three times as long as all
  ///   before.
  mutating func run(readsFirst: Bool, writesFirst: Bool, goesOn: Bool) throws(VaultError) -> End {
    guard let values = try look(readsFirst: readsFirst, writesFirst: writesFirst, goesOn: goesOn) else {
      return .damaged
    }
    // In its own scope: the store is closed by now.
    if goesOn { try lookAgain(values) }
    return .whole
  }

  /// The values of a store of which all is well; nil of another one.
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

  /// What a damaged store may say of itself.
  static func expectDamage(_ error: VaultError) {
    switch error {
    case .corrupt, .newer: break
    default: fatalError("\(error) of a damaged file")
    }
  }

  // MARK: Reading

  /// All values; nil where there is none.
  private mutating func read(_ keychain: Keychain) -> [String: [UInt8]] {
    var values: [String: [UInt8]] = [:]
    // In one order: what is read first is remembered.
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

  /// What is found is what is served.
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

  /// The store is what it was at one moment, whole: the last one, unless its files may have anything of an earlier one. Where
  /// such a store was written to before the check, what it held before is not known.
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
        // A tree that is none: what was put in is not met again.
      } catch let error as VaultError {
        Self.expectDamage(error)
      } catch {
        fatalError("\(error)")
      }
    }
  }

  /// Opens a store anew that was well and has taken a value: it has that and all others, and is well.
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

  /// Checks all, which ends: there is room for a few thousand records.
  private func verify(_ keychain: Keychain) throws(VaultError) -> Verification {
    keychain.beginVerification()
    for _ in 0..<200 { if let result = try keychain.continueVerification(records: 4096) { return result } }
    fatalError("a check has no end")
  }

  /// Saves what is whole. What is saved was stored, and is a store of which all is well.
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
  /// Does all that an input says.
  mutating func apply(_ input: RawSpan) {
    var rest = input
    while rest.byteCount >= Edit.size {
      Edit(rest.extracting(..<Edit.size)).apply(to: &self)
      rest = rest.extracting(Edit.size...)
    }
  }
}
