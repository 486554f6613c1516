import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("The walk through an imported folder") struct SourceFolderTests {
  private static func walk(_ path: String, takes: @escaping (String) -> Bool = { _ in true }) throws -> SourceFolder {
    try SourceFolder(unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), takes: takes)
  }

  private static func paths(_ folder: SourceFolder) throws -> [String] {
    var paths: [String] = []
    while let file = try folder.next() {
      close(file.descriptor)
      paths.append(file.path)
    }
    return paths
  }

  private static func withFolder(_ body: (String) throws -> Void) throws {
    let path = NSTemporaryDirectory() + "walk-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path + "/b/c", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    for name in ["z", "b/c/x", "b/y", "a", ".hidden"] {
      try Data(name.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
    }
    try body(path)
  }

  @Test("finds all files in the order of their names") func order() throws {
    try Self.withFolder { path in
      let paths = try Self.paths(Self.walk(path))
      #expect(paths == [".hidden", "a", "b/c/x", "b/y", "z"])
    }
  }

  @Test("passes over links, pipes and unwanted names, and counts them") func passedOver() throws {
    try Self.withFolder { path in
      #expect(unsafe symlink("/etc/passwd", path + "/link") == 0 && symlink("/etc", path + "/b/etc") == 0)
      #expect(unsafe mkfifo(path + "/pipe", 0o600) == 0)
      let folder = try Self.walk(path) { !$0.hasPrefix(".") }
      let paths = try Self.paths(folder)
      #expect(paths == ["a", "b/c/x", "b/y", "z"])
      let counts = Dictionary(uniqueKeysWithValues: folder.passedOver.map { ($0.reason, $0.count) })
      #expect(
        counts == [
          "names that begin with a dot": 1, "symbolic links": 2,
          "devices, pipes and sockets": 1,
        ])
    }
  }

  @Test("ends at a name that is not UTF-8, and names it") func names() throws {
    try Self.withFolder { path in
      let name: [CChar] = Array(path.utf8CString.dropLast()) + [0x2F, -1, 0x61, 0]
      let file = unsafe open(name, O_CREAT | O_WRONLY, 0o600)
      close(file)
      let failure = #expect(throws: Failure.self) { try Self.paths(Self.walk(path)) }
      #expect(failure?.event == "the name `%FFa` is not UTF-8")
    }
  }
}
