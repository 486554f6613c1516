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
