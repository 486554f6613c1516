import Foundation
import Testing
import VaultTesting

@Suite("Where code may stand") struct LayoutTests {
  /// Returns the Swift files below a folder of the sources, with their text.
  private func files(_ folder: String) throws -> [(path: String, text: String)] {
    let base = Repository.root.appending(path: "Sources/\(folder)")
    let all = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
    let swift = all.filter { $0.pathExtension == "swift" }
    try #require(!swift.isEmpty, "\(folder)")
    return try swift.map { file in
      (String(file.path.dropFirst(base.path.count + 1)), try String(contentsOf: file, encoding: .utf8))
    }
  }

  private func imports(_ text: String) -> Set<String> {
    let lines = text.split(separator: "\n").filter { line in
      ["", "@testable ", "internal ", "package ", "public "].contains { line.hasPrefix($0 + "import ") }
    }
    return Set(lines.compactMap { $0.split(separator: " ").last.map(String.init) })
  }

  @Test("the top level holds the package, its readme, its license, its sources, its tests and its manual")
  func topLevel() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Repository.root.path).filter { !$0.hasPrefix(".") }
    // SwiftPM writes its resolved versions there.
    let own = Set(names).subtracting(["Package.resolved"])
    #expect(own == ["Package.swift", "Makefile", "README.md", "LICENSE", "Sources", "Tests", "man"])
  }

  @Test("exclusive access is checked in release builds, too") func exclusivity() throws {
    for name in ["Package.swift", "Makefile"] {
      let text = try String(contentsOf: Repository.root.appending(path: name), encoding: .utf8)
      #expect(!text.contains("enforce-exclusivity=unchecked"), "\(name)")
    }
  }

  @Test("a folder of the sources or of the tests is one idea, and has few files", arguments: ["Sources", "Tests"])
  func folders(name: String) throws {
    let sources = Repository.root.appending(path: name)
    let all = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
    let swift = (all ?? []).filter { $0.pathExtension == "swift" }
    let folders = Dictionary(grouping: swift) { $0.deletingLastPathComponent().path }
    try #require(folders.count > 50)
    // About fifteen: seventeen of one idea may stay together.
    // Each fuzz target is one file.
    for (folder, files) in folders where !folder.hasSuffix("/Fuzz") { #expect(files.count <= 17, "\(folder)") }
  }

  @Test("only the store's SQLite folder knows of SQL and of files") func store() throws {
    for (path, text) in try files("VaultStore") where !path.hasPrefix("SQLite/") {
      // The C library compares bytes.
      let usual: Set = ["VaultCore", "VaultModel", "VaultBytes", "Synchronization"]
      let outer = imports(text).subtracting(path == "Records/Bytes.swift" ? usual.union(["Glibc"]) : usual)
      #expect(outer.isEmpty, "\(path)")
      for word in ["SELECT ", "INSERT ", "UPDATE ", "DELETE FROM", "PRAGMA"] {
        #expect(!text.contains("\"\(word)"), "\(path) says \(word)")
      }
    }
  }

  @Test("the rooms know of no socket, no JSON, no wire of SSH, no event loop and no other process")
  func rooms() throws {
    for (path, text) in try files("VaultService") {
      let outer = imports(text).subtracting([
        "VaultStore", "VaultSigning", "VaultCore", "VaultModel", "VaultBytes", "Glibc", "CLinux", "Synchronization",
      ])
      #expect(outer.isEmpty, "\(path)")
      // VaultSigning's tokens are signed here, so their name is allowed.
      let others = text.replacing("JSONWebToken", with: "").replacing("JSON Web", with: "")
      for word in ["socket(", "connect(", "posix_spawn", "fork(", "execve", "JSON", "SSHWriter", "SSHReader"] {
        #expect(!others.contains(word), "\(path) says \(word)")
      }
    }
  }

  @Test("a room tells the kinds of slots apart by their facts, of which a new kind has to have its own")
  func slotKinds() throws {
    for (path, text) in try files("VaultService") {
      let named = text.matches(of: /[kK]ind [!=]= \.(pam|login|recovery)\b/)
      #expect(named.isEmpty, "\(path) names a kind")
    }
  }

  @Test("a door reaches no keychain, and none but the doors speak the wire") func doors() throws {
    for (path, text) in try files("VaultDaemon") {
      let names = imports(text)
      #expect(!names.contains("VaultStore") && !text.contains("Keychain("), "\(path)")
      let speaks = ["Doors/Varlink/", "Connections/", "Helpers/"].contains { path.hasPrefix($0) }
      // These files may import VaultWire: settings for the names of PAM services, the account that serves the machine's
      // vault for its name, the sockets' paths for their limit, and the handover, which is a client of another daemon.
      let mentions = ["Settings/Configuration", "Settings/UserName", "Settings/Paths", "BusHandover"]
        .map { "Main/\($0).swift" }.contains(path)
      #expect(speaks || mentions || !names.contains("VaultWire"), "\(path)")
    }
  }

  @Test("the client's commands write no JSON by hand") func json() throws {
    // A value that a template escapes is a string without an object.
    for (path, text) in try files("VaultCLI") where !path.hasPrefix("Printing/") && path != "Inject/Escape.swift" {
      #expect(!text.contains("JSONWriter"), "\(path)")
    }
  }

  /// Returns the words of a line, without punctuation.
  private func words(_ line: Substring) -> [String] {
    line.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
  }

  /// Returns the words of a program's text, without those of its comments.
  private func words(_ text: String) -> Set<String> {
    var found: Set<String> = []
    for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
      found.formUnion(words(line))
    }
    return found
  }

  /// Returns the types that a program's text declares at its top level for other files.
  private func types(_ text: String) -> Set<String> {
    let keywords: Set<String> = ["class", "enum", "protocol", "struct"]
    var found: Set<String> = []
    for line in text.split(separator: "\n") where !line.hasPrefix(" ") && !line.hasPrefix("//") {
      let parts = words(line)
      guard !parts.contains("private"), !parts.contains("fileprivate") else { continue }
      guard let index = parts.firstIndex(where: { keywords.contains($0) }) else { continue }
      found.formUnion(parts.dropFirst(index + 1).prefix(1))
    }
    return found
  }

  @Test("a door knows no other door, but for the one that tells of the state of others and has them join a bus")
  func strangers() throws {
    let doors = ["Credentials", "SecretService", "SSHAgent", "Varlink"]
    var types: [String: Set<String>] = [:]
    for door in doors {
      for (_, text) in try files("VaultDaemon/Doors/" + door) { types[door, default: []].formUnion(self.types(text)) }
    }
    // `vault secret-service` and `vault status` tell of the two doors, over the wire that only this one speaks.
    let told = [
      "VarlinkDoor.swift": "SecretServiceDoor",
      "Methods/Upkeep/VarlinkDoor+SecretService.swift": "SecretServiceDoor",
      "Methods/Upkeep/SecretServiceDoor+Status.swift": "SecretServiceDoor",
      "Methods/Upkeep/SSHAgentDoor+Status.swift": "SSHAgentDoor",
    ]
    for door in doors {
      #expect(types[door]?.isEmpty == false, "\(door)")
      var others: Set<String> = []
      for (other, declared) in types where other != door { others.formUnion(declared) }
      for (path, text) in try files("VaultDaemon/Doors/" + door) {
        var known = words(text).intersection(others)
        if door == "Varlink", let allowed = told[path] {
          let isNamed = known.remove(allowed) != nil
          #expect(isNamed, "\(path)")
        }
        #expect(known.isEmpty, "\(door)/\(path) names \(known)")
      }
    }
  }

  @Test("the room for connections knows no door by name") func room() throws {
    for (path, text) in try files("VaultDaemon/Connections") {
      let lower = text.lowercased()
      for word in ["varlink", "sshagent", "ssh-agent", "credential", "secretservice"] {
        #expect(!lower.contains(word), "\(path) says \(word)")
      }
    }
  }

  @Test(
    "the switches that decide about a call's cost, need of the log and callers, and an entry's part, name every case",
    arguments: [
      "VaultService/Audit/Writing/AuditPart", "VaultService/Audit/Writing/Audit+Gate",
      "VaultService/Audit/Writing/Refusal+Outcome", "VaultDaemon/Doors/Varlink/MethodName+Turns",
      "VaultDaemon/Doors/Varlink/MethodName+Terms", "VaultDaemon/Doors/Varlink/MethodName+Audience",
      "VaultDaemon/Doors/SecretService/SecretCall", "VaultDaemon/Doors/SSHAgent/AgentRequest+Terms",
    ])
  func decisions(path: String) throws {
    let text = try String(contentsOf: Repository.root.appending(path: "Sources/\(path).swift"), encoding: .utf8)
    let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    // If the decision moves to another file, the list above must follow it.
    try #require(lines.contains { $0.hasPrefix("switch ") })
    // Each of these begins a pattern that takes every case that no other pattern names.
    for rest in ["default:", "@unknown default:", "case _", "case let "] {
      #expect(!lines.contains { $0.hasPrefix(rest) }, "\(rest)")
    }
  }

  /// The targets whose tests stand in no folder of their own, and the reason.
  private static let testedElsewhere = [
    "CGivenFiles": "VaultDaemonTests/Bus sends descriptors to a service",
    "CSandbox": "VaultImportTests/Sandbox tries calls in it",
    "CStart": "VaultCLITests/Run and VaultDaemonTests/Main start programs with closed streams",
    "CWipingHeap": "VaultDaemonTests/Memory loads it",
    "VaultKeyring": "VaultDaemonTests/Helpers starts its program",
    "VaultProcess": "each program starts with it, and so do the programs that VaultTesting starts",
    "VaultQR": "VaultCLITests/Printing starts its program",
    "VaultRSA": "VaultDaemonTests/Helpers starts its program",
    "VaultTPM2": "VaultHelperTests calls it, and VaultDaemonTests/Helpers starts its program",
    "WireGenerator": "VaultWireTests reads what it makes",
    "WirePlugin": "the build fails without what it makes",
  ]

  @Test("a target has a folder of tests, or there is a reason why not") func tests() throws {
    let manager = FileManager.default
    let sources = Repository.root.appending(path: "Sources").path
    // A name in small letters is that of a program, which only starts its target, or of files to install.
    let targets = try manager.contentsOfDirectory(atPath: sources).filter { target in
      // A C library's module has no code of ours but what stands in its shim.h.
      target.first?.isUppercase == true && !manager.fileExists(atPath: "\(sources)/\(target)/module.modulemap")
    }
    try #require(targets.count > 10)
    let untested = targets.filter { target in
      !manager.fileExists(atPath: Repository.root.appending(path: "Tests/\(target)Tests").path)
    }
    #expect(untested.sorted() == Self.testedElsewhere.keys.sorted())
  }
}
