internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The items of a helper's folder, as far as the user of the other program may access them.
///
/// If the vault is locked and somebody is there, a person at the terminal or else an agent is asked to unlock it.
/// Otherwise the call fails at once, or after the time given with `--wait`.
struct HelperItems {
  private let session: Session
  /// The purpose, shown to a person who is asked to unlock.
  private let purpose: String
  private let wait: Duration?

  /// - Parameters:
  ///   - mayAsk: false if the other program declared that nobody must be asked at the terminal.
  init(_ call: HelperCall, for purpose: String, mayAsk: Bool = true) throws(Failure) {
    session = try Session(socket: call.socket, system: call.system, startsDaemon: true)
    if !mayAsk { session.isAttended = false }
    self.purpose = purpose
    wait = call.waitSeconds.map { .seconds($0) }
  }

  // MARK: Reading

  /// Returns the value of an item; nil if the item is missing or has expired.
  func value(_ name: String) throws(Failure) -> Value? {
    let asks = wait == nil && !session.mayAsk
    return try present { vault in try vault.read(name, wait: wait, ask: asks) }
  }

  /// Returns the details of an item, without its value; nil if the item is missing.
  func item(_ name: String) throws(Failure) -> Wire.Item? { try present { vault in try vault.show(name) } }

  /// Returns an item and its value of the same version; nil if the item is missing or has expired.
  func entry(_ name: String) throws(Failure) -> Entry? {
    // Somebody may store another value between the two calls, but hardly three times in a row.
    for _ in 1...3 {
      guard let item = try item(name) else {
        // The item's name may be unreadable before an unlock, which reading the value asks for.
        guard try value(name) != nil else { return nil }
        continue
      }
      guard let value = try value(name) else { return nil }
      if value.version == item.version { return Entry(item: item, value: value) }
    }
    throw Failure(.retry, "\(Printable.quoted(name)) keeps changing", "try again")
  }

  /// Returns the first result among several names. A caller without access to one name may have access to another one.
  ///
  /// - Throws: any failure but a denial; if nothing is found, the denial of the first name.
  func first<R: ~Copyable>(
    of names: [String], _ read: (String) throws(Failure) -> R?
  ) throws(Failure) -> R? {
    var denial: Failure?
    for (index, name) in names.enumerated() {
      // Another spelling may be longer than the given one, and too long for an item's name.
      if index > 0, (try? ItemName(name)) == nil { continue }
      do throws(Failure) {
        if let found = try read(name) { return found }
      } catch {
        guard error.exit == .denied else { throw error }
        if index == 0 { denial = error }
      }
    }
    if let denial { throw denial }
    return nil
  }

  /// Returns the name of the item that is already stored for a place, under any spelling of it.
  ///
  /// - Parameter name: returns the item's name for a spelling.
  /// - Returns: nil if no item is stored; the name for the spelling as written if the caller may not find that item.
  func stored(_ spelling: URLSpelling, _ name: (String) -> String) throws(Failure) -> String? {
    let names = spelling.all.map(name)
    do throws(Failure) {
      return try first(of: names) { name throws(Failure) in try item(name) == nil ? nil : name }
    } catch {
      // A caller that may set the item may lack the right to find it.
      guard error.exit == .denied else { throw error }
      return names[0]
    }
  }

  /// Returns the value of an item that was found, together with its details; nil if the item is gone or has expired.
  func entry(of found: Wire.Item) throws(Failure) -> Entry? {
    guard let value = try value(found.name) else { return nil }
    return value.version == found.version ? Entry(item: found, value: value) : try entry(found.name)
  }

  /// Returns the items in a folder, expired ones included.
  func items(in folder: String) throws(Failure) -> [Wire.Item] {
    let query = "name~\(Predicates.quote(folder + "/**"))"
    let found = try session.unlocking(for: purpose) { vault in try vault.find(query) }
    guard found.isEmpty else { return found }
    // A search also finds nothing while names are unreadable. A read of any name reveals that, and waits or asks for
    // the unlock.
    _ = try value("\(folder)/\(NameSegment.encode(""))")
    return try session.call { vault in try vault.find(query) }
  }

  /// An item and its value.
  struct Entry: ~Copyable {
    let item: Wire.Item
    let value: Value
  }

  /// Returns the result of a call; nil if the item is missing or has expired.
  private func present<R: ~Copyable>(_ body: (Vault) throws -> R) throws(Failure) -> R? {
    try session.unlocking(for: purpose) { vault -> R? in
      do { return try body(vault) } catch ClientError.fault(.noSuchItem), ClientError.fault(.expired) { return nil }
    }
  }

  // MARK: Writing

  /// The details to store beside a value.
  struct About {
    /// The kind of a new item.
    var kind: ItemKind = .password
    /// The attributes that the helper sets; nil removes an attribute. Other attributes stay.
    var attributes: [String: String?] = [:]
    /// The time at which the value stops being served, in Unix seconds; nil means never.
    var expires: Int64?
  }

  /// Stores a value, unless the item already has it: other programs store what they have just received.
  ///
  /// Only the caller has access to a new item, unless a grant was made for its name before. Standard error then lists
  /// the subjects of such grants.
  ///
  /// - Parameters:
  ///   - form: the form that the value must have for the helper's own answer.
  ///   - folders: folders in which the item that was stored last must be distinguishable by its time.
  /// - Returns: true if the value replaced another one.
  @discardableResult
  func store(
    _ name: String, _ value: borrowing SecretBuffer, as form: CarriedForm, _ about: About, lastIn folders: [String] = []
  ) throws(Failure) -> Bool {
    do throws(NameError) { _ = try ItemName(name) } catch {
      throw Failure(Fault.invalidName(name: name, reason: error.reason, failed: nil))
    }
    try value.withBytes { bytes throws(Failure) in try form.checkNew(bytes, of: name) }
    let old = try item(name)
    var attributes = old?.attributes ?? [:]
    for (key, text) in about.attributes { attributes[key] = text }
    let isSame = old.map { $0.attributes == attributes && $0.expires == about.expires } ?? false
    if isSame, try holds(name, value) { return false }
    // Only administrators may change more than the value, so unchanged details are left out.
    let item = Wire.NewItem(
      name: name, kind: old == nil ? about.kind.rawValue : nil,
      attributes: old?.attributes == attributes ? nil : attributes,
      expires: old?.expires == about.expires ? nil : about.expires ?? 0, update: true)
    try outwait(folders, besides: name)
    let stored = try session.unlocking(for: purpose) { vault in try vault.set(item, value: value) }
    if let others = stored.openTo, !others.isEmpty {
      Output.note("stored \(Printable.quoted(name))\(AccessChange.note(others))")
    }
    return old != nil
  }

  /// Waits until the clock has passed the second in which another item of the folders was stored: the times of items
  /// have whole seconds.
  private func outwait(_ folders: [String], besides name: String) throws(Failure) {
    for folder in folders {
      let query = "name~\(Predicates.quote(folder + "/**"))"
      // A caller that may store items may lack the right to find them.
      guard let found = try session.attempt({ vault in try vault.find(query) }) else { continue }
      let last = found.filter { $0.name != name }.map(\.modified).max() ?? 0
      // A time that lies further ahead comes from a clock that was set back since, and is not waited for.
      Moment.pass(second: last)
    }
  }

  /// The refusal of an empty secret. The program that should have supplied the secret has failed, and an empty value
  /// would replace a good one.
  func noSecret(for name: String) -> Failure {
    Failure(.invalid, "the secret is empty, so nothing was stored for \(Printable.quoted(name))")
  }

  /// Returns true if the item has this value, as far as the caller may know the value.
  func holds(_ name: String, _ value: borrowing SecretBuffer) throws(Failure) -> Bool {
    do throws(Failure) {
      guard let old = try self.value(name) else { return false }
      return old.bytes.isEqual(to: value)
    } catch {
      // A caller that may set the value may lack the right to get it.
      guard error.exit == .denied else { throw error }
      return false
    }
  }

  /// Deletes items; items that are already gone are no error. If the vault has a trash, the items go there.
  ///
  /// - Returns: false if none of the items existed.
  @discardableResult
  func erase(_ names: [String]) throws(Failure) -> Bool {
    var isAny = false
    for name in names where try present({ vault in try vault.delete([name]) }) != nil { isAny = true }
    return isAny
  }
}
