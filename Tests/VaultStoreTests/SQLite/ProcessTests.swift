import CLinux
import Foundation
import Testing
import VaultCore
import VaultModel
import VaultStore

/// Stores that several processes open, and stores whose process dies.
@Suite struct ProcessTests {
  @Test("a second opener is told who has the store")
  func sameProcess() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    #expect(throws: VaultError.inUse(pid: getpid())) { try fixture.open() }
    try keychain.put("a")
    withExtendedLifetime(keychain) {}
  }

  @Test("the store is free again when its owner lets go")
  func released() throws {
    let fixture = try Fixture()
    for _ in 0..<3 { _ = try fixture.open() }
  }

  @Test("a longer number that an earlier owner wrote leaves nothing beside the present one's")
  func earlierNumber() throws {
    let fixture = try Fixture()
    try Data("4194304999\n".utf8).write(to: URL(filePath: fixture.path("vault.lock")))
    let keychain = try fixture.open()
    #expect(throws: VaultError.inUse(pid: getpid())) { try fixture.open() }
    withExtendedLifetime(keychain) {}
  }

  @Test("locks that are confirmed are counted behind the owner's number, which stays readable")
  func confirmed() throws {
    let fixture = try Fixture()
    Keychain.confirmLock(in: fixture.directory)
    try Data("4194304999\n41\n".utf8).write(to: URL(filePath: fixture.path("vault.lock")))
    let other = try Data(contentsOf: URL(filePath: fixture.path("vault.lock")))
    unsafe chmod(fixture.path("vault.lock"), 0o600)
    Keychain.confirmLock(in: fixture.directory)
    #expect(try Data(contentsOf: URL(filePath: fixture.path("vault.lock"))) == other, "another process has it")
    let keychain = try fixture.open()
    for number in 1...12 {
      Keychain.confirmLock(in: fixture.directory)
      let text = try String(contentsOfFile: fixture.path("vault.lock"), encoding: .utf8)
      #expect(text == "\(getpid())\n\(number)\n")
    }
    #expect(throws: VaultError.inUse(pid: getpid())) { try fixture.open() }
    withExtendedLifetime(keychain) {}
  }

  @Test("the store is free once its owner lets go, though a child that is being started still has the lock's file")
  func sharedLock() throws {
    let fixture = try Fixture()
    var shared: Int32 = -1
    do {
      let keychain = try fixture.open()
      var lock = stat()
      #expect(unsafe stat(fixture.path("vault.lock"), &lock) == 0)
      let own = try #require(
        (0 as Int32..<1024).first { number in
          var status = stat()
          return unsafe fstat(number, &status) == 0 && (status.st_dev, status.st_ino) == (lock.st_dev, lock.st_ino)
        })
      // The same open file under another descriptor, as between fork and exec.
      shared = dup(own)
      withExtendedLifetime(keychain) {}
    }
    #expect(shared >= 0)
    defer { close(shared) }
    _ = try fixture.open()
  }

  @Test("a program that only looks at the lock delays an opener, and does not refuse it", arguments: [1, 30])
  func looking(milliseconds: UInt32) throws {
    let fixture = try Fixture()
    _ = try fixture.open()
    let lock = unsafe open(fixture.path("vault.lock"), O_RDONLY | O_CLOEXEC)
    try #require(lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) == 0)
    let end = Thread {
      usleep(milliseconds * 1000)
      close(lock)
    }
    end.start()
    let keychain = try fixture.open()
    // A look while the store is open tells that the lock is held.
    let second = unsafe open(fixture.path("vault.lock"), O_RDONLY | O_CLOEXEC)
    defer { close(second) }
    #expect(flock(second, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    withExtendedLifetime(keychain) {}
  }

  @Test("another process is refused while the store is open")
  func otherProcess() async throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    let (directory, pid) = (fixture.directory, getpid())
    await #expect(processExitsWith: .success) { [directory = directory as String, pid = pid as Int32] in
      #expect(throws: VaultError.inUse(pid: pid)) { try Keychain(opening: directory) }
      #expect(throws: VaultError.vaultExists) {
        let key = RandomBytes.secret(count: 32)
        let slot = try SlotRecord.make(
          id: 1, kind: .password, label: "", created: 1, secret: secret("x"), kdf: .floor, vaultKey: key,
          vaultID: [UInt8](repeating: 0, count: 16))
        try Keychain.create(
          in: directory, slots: [slot], vaultID: [UInt8](repeating: 0, count: 16), vaultKey: key, bootKey: key, now: 1)
      }
    }
    try keychain.put("a")
  }

  @Test("what was stored before the process was killed is there, and the lock is free")
  func killed() async throws {
    let fixture = try Fixture(key: [UInt8](repeating: 3, count: 32))
    let directory = fixture.directory
    await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String] in
      let keychain = try Keychain(opening: directory)
      try keychain.unlock(vaultKey: secret([UInt8](repeating: 3, count: 32)))
      try keychain.put("kept", "one")
      try keychain.put("kept", "two", update: true)
      try keychain.transaction { () throws(VaultError) in
        guard let name = try? ItemName("lost") else { return }
        try keychain.set(ItemChange(name: name, kind: .note), value: secret("x"), now: 1)
        kill(getpid(), SIGKILL)
      }
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.text("kept") == "two")
    #expect(try keychain.text("kept", version: 1) == "one")
    #expect(try keychain.names("") == ["kept"])
  }

  @Test("when the disk is full the change fails as a whole, and what was there stays readable")
  func diskFull() async throws {
    let fixture = try Fixture(key: [UInt8](repeating: 4, count: 32))
    let directory = fixture.directory
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      signal(SIGXFSZ, SIG_IGN)
      let keychain = try Keychain(opening: directory)
      try keychain.unlock(vaultKey: secret([UInt8](repeating: 4, count: 32)))
      try keychain.put("old", "one")
      var limit = rlimit(rlim_cur: 200_000, rlim_max: 200_000)
      #expect(unsafe setrlimit(__rlimit_resource_t(1), &limit) == 0)
      let big = String(repeating: "y", count: 300_000)
      expect(\.isStorage) { try keychain.put("old", big, update: true) }
      expect(\.isStorage) { try keychain.put("new", big) }
      #expect(try keychain.text("old") == "one")
      #expect(try keychain.names("") == ["old"])
      #expect(try keychain.put("small") == 1)
    }
    #expect(try fixture.unlocked().names("") == ["old", "small"])
  }
}
