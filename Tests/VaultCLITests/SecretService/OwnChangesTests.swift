import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("What vault has changed in a user's files") struct OwnChangesTests {
  private static let contents: [(PlaceContent, PlaceContent)] = [
    (.file("made\n"), .missing), (.file("made\n"), .file("mine %20 é\n")), (.link(to: "/dev/null"), .missing),
    (.link(to: "/dev/null"), .link(to: "/mine é")), (.file(""), .link(to: "mine")), (.link(to: "/x"), .file("")),
  ]

  /// The names and contents of everything in a folder.
  private static func tree(_ folder: String) throws -> [String: PlaceContent] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    return Dictionary(uniqueKeysWithValues: names.map { ($0, PlaceContent(of: "\(folder)/\($0)")) })
  }

  /// Makes all changes, one after the other.
  private static func make(_ changes: inout OwnChanges, in folder: String) throws {
    for (index, (made, _)) in contents.enumerated() { _ = try changes.put(made, at: "\(folder)/a/b\(index)/c") }
    _ = try changes.set("key", to: "on", in: "\(folder)/conf")
    _ = try changes.set("key", to: "on", in: "\(folder)/new/conf")
  }

  /// Makes a folder with what a user had before.
  private static func folder(_ sandbox: Sandbox, _ name: String) throws -> String {
    let folder = "\(sandbox.home)/\(name)"
    for (index, (_, former)) in contents.enumerated() where former != .missing {
      try FileManager.default.createDirectory(atPath: "\(folder)/a/b\(index)", withIntermediateDirectories: true)
      try former.put(at: "\(folder)/a/b\(index)/c")
    }
    try PlaceContent.file("# mine\nother = 1\n#key = off\nlast = 2").put(at: "\(folder)/conf")
    return folder
  }

  @Test("is undone, and made again, wherever a run is interrupted") func interrupted() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let whole = try Self.folder(sandbox, "whole")
    let before = try Self.tree(whole)
    var changes = try OwnChanges("\(sandbox.home)/state/record")
    try Self.make(&changes, in: whole)
    let after = try Self.tree(whole)
    let text = try String(contentsOfFile: changes.path, encoding: .utf8)
    let lines = text.replacing(whole, with: "@").split(separator: "\n")
    #expect(lines.count > 10)
    for count in 1..<lines.count {
      for isMade in [false, true] {
        for isResumed in [false, true] {
          let name = "part\(count)\(isMade)\(isResumed)"
          let folder = try Self.folder(sandbox, name)
          let record = "\(sandbox.home)/\(name).record"
          let text = lines[...count].map { $0.replacing("@", with: folder) }.joined(separator: "\n") + "\n"
          try Data(text.utf8).write(to: URL(fileURLWithPath: record))
          var rest = try OwnChanges(record)
          for change in rest.changes.dropLast(isMade ? 0 : 1) { try change.make() }
          if isResumed {
            try Self.make(&rest, in: folder)
            #expect(try Self.tree(folder) == after, "\(name)")
            // Once more changes nothing.
            let kept = rest.changes
            try Self.make(&rest, in: folder)
            #expect(rest.changes == kept, "\(name)")
          }
          #expect(try rest.undo().kept == [], "\(name)")
          #expect(try Self.tree(folder) == before, "\(name)")
          #expect(!FileManager.default.fileExists(atPath: record))
        }
      }
    }
  }

  @Test("keeps the mode of a file, and undoes a file of its own that somebody has edited") func details() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let folder = try Self.folder(sandbox, "folder")
    let (theirs, own) = ("\(folder)/theirs", "\(folder)/own")
    try PlaceContent.file("theirs\n").put(at: theirs, mode: 0o600)
    let made = PlaceContent.file("\(DesktopFiles.mark)\nmade\n")
    var changes = try OwnChanges("\(sandbox.home)/record")
    _ = try changes.put(made, at: theirs)
    _ = try changes.put(made, at: own)
    try #require(PlaceContent.mode(of: theirs) == 0o644)
    try PlaceContent.file("\(DesktopFiles.mark)\nedited\n").put(at: own)
    changes.close()
    var again = try OwnChanges(changes.path)
    #expect(try again.put(made, at: own))
    #expect(try !again.put(made, at: theirs))
    #expect(try again.undo().kept == [])
    #expect(PlaceContent(of: own) == .missing)
    #expect(PlaceContent(of: theirs) == .file("theirs\n") && PlaceContent.mode(of: theirs) == 0o600)
  }

  @Test("of two runs at the same time, the second waits, and loses nothing of the first") func together() async throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let (folder, record) = (sandbox.home, "\(sandbox.home)/record")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          var changes = try OwnChanges(record)
          for part in 0..<4 { _ = try changes.put(.file("made"), at: "\(folder)/\(number)-\(part)") }
          changes.close()
        }
      }
      try await group.waitForAll()
    }
    #expect(try OwnChanges(record).changes.count == 32)
  }

  @Test("an undoing that is interrupted goes on") func undoing() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let folder = try Self.folder(sandbox, "folder")
    let before = try Self.tree(folder)
    var changes = try OwnChanges("\(sandbox.home)/record")
    try Self.make(&changes, in: folder)
    changes.close()
    let record = try Data(contentsOf: URL(fileURLWithPath: changes.path))
    for count in 0...changes.changes.count {
      var again = try OwnChanges(changes.path)
      try Self.make(&again, in: folder)
      for change in again.changes.reversed().prefix(count) { _ = try change.undo() }
      again.close()
      try record.write(to: URL(fileURLWithPath: changes.path))
      var rest = try OwnChanges(changes.path)
      #expect(try rest.undo().kept == [])
      #expect(try Self.tree(folder) == before, "\(count)")
    }
  }

  @Test("a record is read as it was written, and another text is refused") func record() throws {
    let changes: [OwnChange] =
      Self.contents.map { .content(path: "/a b/é\n%", made: $0, former: $1, mode: nil) } + [
        .content(path: "/a", made: .missing, former: .file(""), mode: 0o640),
        .setting(path: "/a", key: "k", value: "on", former: nil), .folder(path: "/x y"),
        .setting(path: "/a", key: "k", value: "on", former: "off é"),
        .setting(path: "/a", key: "k", value: "", former: ""),
      ]
    for change in changes { #expect(OwnChange(line: change.line[...]) == change, "\(change.line)") }
    for line in [
      "", "folder", "folder relative", "content /a missing", "content /a other missing", "content /a file:%4 missing",
      "content /a file:%FF missing", "content /a missing file: 1000", "content /a missing file: 8",
      "content /a text:a missing", "setting /a k", "else /a",
    ] {
      #expect(OwnChange(line: line[...]) == nil, "\(line)")
    }
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    for text in ["", "vault secret-service 2\n", "vault secret-service 1\nelse /a\n"] {
      let path = try sandbox.write(text, to: "record")
      #expect(throws: Failure.self) { try OwnChanges(path) }
    }
  }

  @Test("what is neither a small text nor a link stays") func inTheWay() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let folder = "\(sandbox.home)/folder"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let large = try sandbox.write(String(repeating: "a", count: 70_000), to: "large")
    let bytes = sandbox.home + "/bytes"
    try Data([0xFF, 0xFE]).write(to: URL(fileURLWithPath: bytes))
    var changes = try OwnChanges("\(sandbox.home)/record")
    for path in [folder, large, bytes] {
      #expect(throws: Failure.self) { try changes.put(.file("x"), at: path) }
    }
    #expect(changes.changes == [])
  }

  @Test(
    "a setting takes its place, and every other line stays",
    arguments: [
      ("", "k = on\n"), ("a = 1", "a = 1\nk = on"), ("a = 1\n", "a = 1\nk = on\n"), ("k = off\n", "k = on\n"),
      ("  k=off\nb = 2", "k = on\nb = 2"), ("#k = off\nb = 2\n", "#k = off\nk = on\nb = 2\n"),
      ("# k = off\n", "# k = off\nk = on\n"), ("#k = off", "#k = off\nk = on"), ("kk = off\n", "kk = off\nk = on\n"),
      ("a = 1\r\nk = off\r\n", "a = 1\r\nk = on\r\n"), ("a = 1\r\n", "a = 1\r\nk = on\r\n"),
      ("nonsense\nk = off\n", "nonsense\nk = on\n"), ("# the k = off\n", "# the k = off\nk = on\n"),
    ])
  func edited(_ before: String, _ after: String) {
    #expect(SettingEdit.edited(before, "k", "on") == after)
    #expect(SettingEdit.edited(after, "k", "on") == after)
    // The added part is taken away without a trace.
    if SettingEdit.edited(before, "k", nil) == before { #expect(SettingEdit.edited(after, "k", nil) == before) }
  }
}
