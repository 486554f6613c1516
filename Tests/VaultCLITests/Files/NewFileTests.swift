import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("A file that is written beside its name") struct NewFileTests {
  private func withFolders(_ body: (String) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    for name in ["a", "b"] { try #require(unsafe mkdir(sandbox.home + "/" + name, 0o700) == 0) }
    try #require(unsafe symlink("a", sandbox.home + "/link") == 0)
    try body(sandbox.home)
  }

  private func swap(_ home: String) {
    #expect(unsafe unlink(home + "/link") == 0 && symlink("b", home + "/link") == 0)
  }

  private func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder)
  }

  @Test("it stays in the folder that its path led to at first", arguments: [true, false]) func swapped(replaces: Bool)
    throws
  {
    try withFolders { home in
      let file = try NewFile(home + "/link/out", replaces: replaces)
      swap(home)
      try file.write(unsafe Array("text".utf8).span.bytes)
      try file.finish()
      #expect(try names(home + "/a") == ["out"] && names(home + "/b").isEmpty)
      #expect(try String(contentsOfFile: home + "/a/out", encoding: .utf8) == "text")
    }
  }

  @Test("a fleeting one has no name until it is finished", arguments: [true, false]) func fleeting(replaces: Bool)
    throws
  {
    try withFolders { home in
      let file = try NewFile(home + "/a/out", replaces: replaces, isFleeting: true)
      // The tests run on a file system that has files without a name.
      #expect(try names(home + "/a").isEmpty)
      try file.write(unsafe Array("text".utf8).span.bytes)
      if replaces { try "old".write(toFile: home + "/a/out", atomically: false, encoding: .utf8) }
      try file.finish()
      #expect(try names(home + "/a") == ["out"])
      #expect(try String(contentsOfFile: home + "/a/out", encoding: .utf8) == "text")
    }
  }

  @Test("what a killed process left is removed by the next one, what a living one holds is not") func leftovers() throws
  {
    try withFolders { home in
      let folder = home + "/a"
      let (left, held, others) = (".vault-unfinished-abcdef", ".vault-unfinished-ghijkl", ".vault-new-abcdef")
      for name in [left, held, others] {
        try "part".write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
      }
      let holder = unsafe open("\(folder)/\(held)", O_RDONLY | O_CLOEXEC)
      defer { close(holder) }
      try #require(flock(holder, LOCK_EX) == 0)
      try NewFile.write("text", to: folder + "/out", replaces: false)
      #expect(try names(folder).sorted() == [others, held, "out"].sorted())
      #expect(flock(holder, LOCK_UN) == 0)
      try NewFile.write("text", to: folder + "/out", replaces: true)
      #expect(try names(folder).sorted() == [others, "out"].sorted())
    }
  }

  @Test("given up, it leaves nothing there either") func givenUp() throws {
    try withFolders { home in
      var file: NewFile? = try NewFile(home + "/link/out", replaces: true)
      #expect(try names(home + "/a").count == 1)
      swap(home)
      try file?.write(unsafe Array("text".utf8).span.bytes)
      file = nil
      #expect(try names(home + "/a").isEmpty && names(home + "/b").isEmpty)
    }
  }
}
