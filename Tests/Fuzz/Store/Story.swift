import VaultCore
import VaultModel
import VaultStore

/// The history of a store, change by change: its files after each change, and the values that it held.
struct Story {
  /// The store after a change.
  struct Moment {
    let main: [UInt8]
    let log: [UInt8]
    /// All pages, with the log folded in.
    let folded: [UInt8]
    let values: [String: [UInt8]]
  }

  static let key: [UInt8] = [UInt8](repeating: 5, count: 32)
  let vaultID: [UInt8]
  private(set) var slots: [SlotRecord] = []
  private(set) var moments: [Moment] = []
  /// Every value that was ever stored under each name.
  private(set) var stored: [String: Set<[UInt8]>] = [:]

  var last: Moment { moments[moments.count - 1] }

  /// A change of one item.
  enum Change {
    case set(String, [UInt8], AccessClass)
    case delete(String)
    /// Folds the log into the main file; the log then begins anew.
    case fold
  }

  /// Makes the store in a folder and applies these changes.
  init(_ changes: [Change], in folder: Folder) throws {
    folder.clear(folder.store)
    vaultID = RandomBytes.array(count: 16)
    let slot = try SlotRecord.make(
      id: 1, kind: .recovery, label: "slot", created: 1000, secret: RecoveryCode.random().text(), kdf: nil,
      vaultKey: Self.vaultKey, vaultID: vaultID)
    try Keychain.create(
      in: folder.store, slots: [slot], vaultID: vaultID, vaultKey: Self.vaultKey,
      bootKey: RandomBytes.secret(count: 32), now: 1000)
    var keychain: Keychain? = try Self.open(folder.store)
    slots = keychain?.slots ?? []
    var values: [String: [UInt8]] = [:]
    note(folder, values)
    for change in changes {
      switch change {
      case .set(let name, let value, let accessible):
        try keychain?.put(name, value, accessible)
        values[name] = value
        stored[name, default: []].insert(value)
      case .delete(let name):
        try keychain?.delete([ItemName(name)])
        values[name] = nil
      case .fold:
        keychain = nil
        keychain = try Self.open(folder.store)
      }
      note(folder, values)
    }
    keychain = nil
    folder.clear(folder.store)
  }

  private mutating func note(_ folder: Folder, _ values: [String: [UInt8]]) {
    let (main, log) = (Folder.read(folder.store + "/vault.db"), Folder.read(folder.store + "/vault.db-wal"))
    let folded = LogFile(log).map { $0.folded(into: main) } ?? main
    moments.append(Moment(main: main, log: log, folded: folded, values: values))
  }

  static var vaultKey: SecureBytes {
    // Bytes have no padding: all are initialized.
    unsafe SecureBytes(copying: key.span.bytes)
  }

  static func open(_ directory: String) throws(VaultError) -> Keychain {
    let keychain = try Keychain(opening: directory)
    try keychain.unlock(vaultKey: vaultKey)
    return keychain
  }
}

extension Story {
  /// A store with a few items of each class, including an item longer than a page and a deleted one, so that every
  /// table has a row.
  static func small(in folder: Folder) throws -> Story {
    try Story(
      [
        .set("a/one", text("first"), .whenUnlocked), .set("b", text("bee"), .afterFirstUnlock),
        .set("gone", text("going", times: 1200), .whenUnlocked), .set("c", text("sea"), .always), .fold,
        .set("a/one", text("second"), .whenUnlocked), .set("long", text("long ", times: 1000), .whenUnlocked),
        .delete("gone"), .set("b", text("bees"), .afterFirstUnlock), .set("long", text("longer ", times: 900), .always),
      ], in: folder)
  }

  /// A store with so many items that the trees have more than one page.
  static func large(in folder: Folder) throws -> Story {
    var changes: [Change] = (0..<40).map { index in
      .set("item/\(index)", text("value \(index)"), AccessClass.allCases[index % 3])
    }
    for index in [3, 20, 39] { changes.append(.set("item/\(index)", text("other \(index)"), .whenUnlocked)) }
    changes.append(.set("item/5", text("pages ", times: 700), .whenUnlocked))
    changes += [.fold, .delete("item/30"), .set("item/31", text("late"), .whenUnlocked)]
    return try Story(changes, in: folder)
  }

  private static func text(_ text: String, times: Int = 1) -> [UInt8] {
    Array(String(repeating: text, count: times).utf8)
  }
}

extension Keychain {
  /// Stores a note.
  func put(_ name: String, _ value: [UInt8], _ accessible: AccessClass? = nil) throws {
    let attributes = ["to": "be \(name)"]
    let change = ItemChange(
      name: try ItemName(name), kind: .note, attributes: attributes, accessible: accessible, update: true)
    // Bytes have no padding: all are initialized.
    try set(change, value: unsafe value.span.bytes, now: 2000)
  }

  /// A copy of a value.
  func value(_ name: String) throws -> [UInt8] {
    try withValue(of: ItemName(name), now: 2000) { _, _, bytes in
      unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    }
  }
}
