import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultService

@Suite("The room that is kept for deletions") struct SpareRoomTests {
  private func withRoom(_ body: (_ path: String, _ room: SpareRoom) throws -> Void) throws {
    let root = try ScratchFolder.make()
    defer { try? FileManager.default.removeItem(atPath: root) }
    try body(root + "/vault.room", SpareRoom(directory: root))
  }

  private func status(_ path: String) throws -> stat {
    var status = stat()
    try #require(unsafe lstat(path, &status) == 0, "\(path)")
    return status
  }

  /// Returns the bytes that the file takes on the disk.
  private func room(_ path: String) throws -> Int {
    let status = try status(path)
    return status.st_mode == S_IFREG | 0o600 ? Int(status.st_blocks) * 512 : -1
  }

  @Test("is on the disk and not just a size, and the same until it is given back") func kept() throws {
    try withRoom { path, room in
      room.keep()
      #expect(try self.room(path) >= SpareRoom.size)
      let number = try status(path).st_ino
      room.keep()
      #expect(try status(path).st_ino == number)
      #expect(room.give())
      #expect(unsafe !room.give() && access(path, F_OK) != 0)
    }
  }

  @Test("is not taken where less than as much would be left", .enabled(if: Root.isAtHand, "mounts small disks"))
  func scarce() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    for (size, isTaken) in [("11m", false), ("13m", true)] {
      let disk = ["-t", "tmpfs", "-o", "size=\(size)", "vault-test", sandbox.home]
      try #require(try sandbox.run(disk, program: "/usr/bin/mount").status == 0)
      defer { _ = try? sandbox.run("--lazy", sandbox.home, program: "/usr/bin/umount") }
      SpareRoom(directory: sandbox.home).keep()
      #expect(FileManager.default.fileExists(atPath: sandbox.home + "/vault.room") == isTaken)
    }
  }

  @Test(
    "is taken anew where something else stands that would give nothing back",
    arguments: ["empty", "half", "sparse", "second name", "link to nothing", "link to a room", "pipe"])
  func replaced(what: String) throws {
    try withRoom { path, room in
      let other = path + ".other"
      func make(_ path: String, _ size: Int) {
        #expect(FileManager.default.createFile(atPath: path, contents: Data(count: size)))
      }
      switch what {
      case "empty": make(path, 0)
      case "half": make(path, SpareRoom.size / 2)
      case "sparse":
        make(path, 0)
        try #require(unsafe truncate(path, off_t(SpareRoom.size)) == 0)
      case "second name":
        make(other, SpareRoom.size)
        try #require(unsafe link(other, path) == 0)
      case "link to nothing": try #require(unsafe symlink(other, path) == 0)
      case "link to a room":
        make(other, SpareRoom.size)
        try #require(unsafe symlink(other, path) == 0)
      default: try #require(unsafe mkfifo(path, 0o600) == 0)
      }
      room.keep()
      #expect(try self.room(path) >= SpareRoom.size)
      #expect(try status(path).st_nlink == 1)
      // The target of the link belongs to somebody else, and is unchanged.
      let size = try FileManager.default.fileExists(atPath: other) ? status(other).st_size : nil
      #expect(size == (["second name", "link to a room"].contains(what) ? off_t(SpareRoom.size) : nil))
    }
  }
}
