import CLinux
import Foundation
import Glibc
import Testing
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

@Suite("The file keystore") struct FileKeystoreTests {
  private func withKey(_ body: (KeystoreStand, _ key: [UInt8], _ locator: [UInt8], _ path: String) throws -> Void)
    throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let stand = try KeystoreStand(sandbox)
    let key = KeystoreStand.newKey()
    let locator = try stand.store(key, in: .file)
    let names = try FileManager.default.contentsOfDirectory(atPath: sandbox.home)
    #expect(names.count == 1)
    let name = try #require(names.first)
    #expect(name.wholeMatch(of: /presence-[0-9a-f]{16}\.key/) != nil, "\(name)")
    try body(stand, key, locator, sandbox.home + "/" + name)
  }

  @Test("a key is kept in a file of its own, which nobody else may read") func roundTrip() throws {
    try withKey { stand, key, locator, path in
      var status = stat()
      #expect(unsafe lstat(path, &status) == 0)
      #expect(status.st_mode == S_IFREG | 0o600)
      #expect(status.st_size == 32)
      #expect(try stand.fetch(locator, from: .file) == key)
      let other = KeystoreStand.newKey()
      let second = try stand.store(other, in: .file)
      #expect(try stand.fetch(second, from: .file) == other)
      #expect(try stand.fetch(locator, from: .file) == key)
    }
  }

  @Test("a removed key is gone, removing it again is no error, and one that cannot be removed is told of") func remove()
    throws
  {
    try withKey { stand, _, locator, path in
      try stand.remove(locator, from: .file)
      #expect(unsafe access(path, F_OK) != 0)
      #expect(KeystoreStand.error { try stand.fetch(locator, from: .file) }?.code == .notFound)
      try stand.remove(locator, from: .file)
      try #require(unsafe mkdir(path, 0o700) == 0)
      let kept = KeystoreStand.error { try stand.remove(locator, from: .file) }
      #expect(
        kept?.code == .unavailable && kept?.reason.hasPrefix("unlink \(path): ") == true, "\(String(describing: kept))")
    }
  }

  @Test("a file that was spoilt is told from one that is open to others or somewhere else") func spoilt() throws {
    try withKey { stand, key, locator, path in
      func error() -> KeystoreError? { KeystoreStand.error { try stand.fetch(locator, from: .file) } }
      func code() -> KeystoreError.Code? { error()?.code }
      unsafe chmod(path, 0o640)
      #expect(error() == KeystoreError(.refused, "\(path) is open to others; `chmod go-rwx` mends that"))
      unsafe chmod(path, 0o600)
      if TestUser.canBeMade {
        unsafe chown(path, 4711, 4711)
        #expect(
          error() == KeystoreError(.refused, "\(path) belongs to uid 4711; `chown` it to uid \(geteuid())"))
        unsafe chown(path, geteuid(), getegid())
      }
      unsafe truncate(path, 31)
      #expect(code() == .damaged)
      unsafe truncate(path, 33)
      #expect(code() == .damaged)
      unsafe unlink(path)
      unsafe mkdir(path, 0o700)
      #expect(code() == .damaged)
      unsafe rmdir(path)
      try Data(key).write(to: URL(fileURLWithPath: path + ".real"))
      unsafe chmod(path + ".real", 0o600)
      unsafe symlink(path + ".real", path)
      #expect(error() == KeystoreError(.refused, "\(path) is a symbolic link; put the file itself there"))
      unsafe unlink(path)
      unsafe mkfifo(path, 0o600)
      #expect(error() == KeystoreError(.damaged, "\(path) is not a regular file; remove it"))
    }
  }

  @Test("a locator that names no file of ours reaches none", arguments: [0, 1, 7, 9, 1024])
  func locators(_ count: Int) throws {
    try withKey { stand, _, _, path in
      let locator = [UInt8](repeating: 0x2E, count: count)
      #expect(KeystoreStand.error { try stand.fetch(locator, from: .file) }?.code == .damaged)
      #expect(KeystoreStand.error { try stand.remove(locator, from: .file) }?.code == .damaged)
      #expect(unsafe access(path, F_OK) == 0)
    }
  }

  @Test("a directory that cannot be written is told") func unwritable() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    unsafe rmdir(sandbox.home)
    let stand = try KeystoreStand(sandbox)
    let error = KeystoreStand.error { try stand.store(KeystoreStand.newKey(), in: .file) }
    #expect(error?.code == .unavailable)
    #expect(error?.reason.contains("No such file or directory") == true, "\(String(describing: error))")
  }
}
