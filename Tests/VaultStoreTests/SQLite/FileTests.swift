import Foundation
import Testing
import VaultCore
import VaultModel
import VaultTesting

@testable import VaultStore

@Suite struct FileTests {
  private let manager = FileManager.default

  @Test("a new vault is one file of ours beside its lock, readable by nobody else")
  func created() throws {
    let fixture = try Fixture()
    #expect(try fixture.files().keys.sorted() == ["vault.db", "vault.lock"])
    for (path, mode) in [
      (fixture.directory, 0o700), (fixture.path("vault.db"), 0o600), (fixture.path("vault.lock"), 0o600),
    ] {
      #expect(try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
    }
    let keychain = try fixture.unlocked()
    try keychain.put("a")
    #expect(try manager.attributesOfItem(atPath: fixture.path("vault.db-wal"))[.posixPermissions] as? Int == 0o600)
    #expect(try fixture.files().keys.sorted() == ["vault.db", "vault.db-wal", "vault.lock"])
  }

  @Test("where there is no vault, opening says so and makes nothing")
  func none() throws {
    let fixture = try Fixture(create: false)
    #expect(throws: VaultError.noVault) { try fixture.open() }
    #expect(!manager.fileExists(atPath: fixture.directory))
    try fixture.makeDirectory()
    #expect(throws: VaultError.noVault) { try fixture.open() }
    #expect(try fixture.files().isEmpty)
  }

  @Test("a vault that got its name and then could not be made to the end has lost it again") func named() throws {
    let fixture = try Fixture(create: false)
    // A directory is in the way of the removal of what was needed to make the vault.
    let obstacle = fixture.path("vault.db.new-journal")
    expect(\.isStorage) {
      try Database.create(in: fixture.directory) { (database: Database) throws(VaultError) in
        guard unsafe mkdir(obstacle, 0o700) == 0 else { throw .storage("mkdir") }
      }
    }
    #expect(try fixture.names() == ["vault.db.new-journal", "vault.lock"])
    try manager.removeItem(atPath: obstacle)
    try fixture.create()
    #expect(try fixture.unlocked().names("").isEmpty)
  }

  @Test("a lock is confirmed by another number, whatever number is there", arguments: [Int.max, .max - 1, -1, 7])
  func confirmed(number: Int) throws {
    let fixture = try Fixture()
    let keychain = try fixture.open()
    let text = "\(getpid())\n\(number)\n"
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.path("vault.lock")))
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
    Keychain.confirmLock(in: fixture.directory)
    let lines = try String(contentsOfFile: fixture.path("vault.lock"), encoding: .utf8).split(separator: "\n")
    #expect(lines.first == "\(getpid())" && lines.count == 2 && lines.last.flatMap { Int($0) } != number)
    withExtendedLifetime(keychain) {}
  }

  @Test("directories above the vault's are made where they are missing")
  func parents() throws {
    let fixture = try Fixture(create: false)
    let deep = fixture.directory + "/share/vault//"
    try Keychain.create(
      in: deep, slots: [fixture.slot(1, "x")], vaultID: fixture.vaultID, vaultKey: fixture.vaultKey,
      bootKey: fixture.bootKey, now: 1)
    _ = try Keychain(opening: deep)
  }

  /// A thing that may stand in the database's place.
  enum Obstacle: CaseIterable {
    case vault, emptyFile, foreignFile, directory, link, danglingLink

    func make(_ fixture: Fixture) throws {
      let path = fixture.path("vault.db")
      if self == .vault { return try fixture.create() }
      try fixture.makeDirectory()
      switch self {
      case .emptyFile: try Data().write(to: URL(fileURLWithPath: path))
      case .foreignFile: try Data("my notes".utf8).write(to: URL(fileURLWithPath: path))
      case .directory: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      case .link: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/passwd")
      default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
      }
    }
  }

  @Test("nothing that has the database's name is ever replaced", arguments: Obstacle.allCases)
  func exists(obstacle: Obstacle) throws {
    let fixture = try Fixture(create: false)
    try obstacle.make(fixture)
    let names = try manager.contentsOfDirectory(atPath: fixture.directory).sorted()
    let before = try? fixture.files()
    #expect(throws: VaultError.vaultExists) { try fixture.create() }
    #expect(try manager.contentsOfDirectory(atPath: fixture.directory).sorted() == names)
    #expect((try? fixture.files()) == before)
  }

  @Test("what a creation that was cut off left behind is in nobody's way")
  func leftovers() throws {
    let fixture = try Fixture(create: false)
    try fixture.makeDirectory()
    for name in ["vault.db.new", "vault.db.new-wal"] {
      try Data("half".utf8).write(to: URL(fileURLWithPath: fixture.path(name)))
    }
    #expect(throws: VaultError.noVault) { try fixture.open() }
    try fixture.create()
    #expect(try fixture.files().keys.sorted() == ["vault.db", "vault.lock"])
    // A power cut ended the making of the vault after the link: both names are one file.
    try manager.linkItem(atPath: fixture.path("vault.db"), toPath: fixture.path("vault.db.new"))
    do { try fixture.unlocked().put("a") }
    #expect(try fixture.files().keys.sorted() == ["vault.db", "vault.lock"])
    #expect(try fixture.unlocked().text("a") == "value")
  }

  @Test(
    "a directory or file that others may use is refused, with what to do",
    arguments: [
      ("", 0o755), ("", 0o710), ("vault.db", 0o644), ("vault.db", 0o620), ("vault.lock", 0o666),
    ])
  func modes(name: String, mode: Int) throws {
    let fixture = try Fixture()
    let path = name.isEmpty ? fixture.directory : fixture.path(name)
    try setMode(path, mode)
    #expect {
      try fixture.open()
    } throws: { error in
      guard case VaultError.permissions(let reason) = error else { return false }
      return reason.contains("chmod") && reason.contains(path)
    }
  }

  @Test("links in place of the directory or a file are refused", arguments: ["", "vault.db", "vault.lock"])
  func links(name: String) throws {
    let fixture = try Fixture()
    let path = name.isEmpty ? fixture.directory : fixture.path(name)
    try manager.moveItem(atPath: path, toPath: path + ".real")
    try manager.createSymbolicLink(atPath: path, withDestinationPath: path + ".real")
    expect(\.isPermissions) { _ = try fixture.open() }
    expect(\.isPermissions) { _ = try Keychain(opening: fixture.directory + "/") }
    guard name.isEmpty else { return }
    do throws(VaultError) { _ = try Keychain(opening: fixture.directory) } catch {
      #expect(error.text.contains("set XDG_DATA_HOME or give --store to vaultd"))
    }
  }

  @Test("a pipe in the database's place is refused without waiting for its other end")
  func pipe() throws {
    let fixture = try Fixture()
    try manager.removeItem(atPath: fixture.path("vault.db"))
    #expect(unsafe mkfifo(fixture.path("vault.db"), 0o600) == 0)
    #expect(throws: VaultError.self) { try fixture.open() }
  }

  @Test(
    "another user's vault is refused", .enabled(if: Root.isAtHand, "needs root"),
    arguments: ["", "vault.db", "vault.lock"])
  func owner(name: String) throws {
    let fixture = try Fixture()
    let path = name.isEmpty ? fixture.directory : fixture.path(name)
    #expect(unsafe chown(path, 65534, 65534) == 0)
    #expect { try fixture.open() } throws: { error in
      if case VaultError.permissions(let reason) = error { reason.contains("uid 65534") } else { false }
    }
  }
}
