import Foundation
import Glibc
import Testing
import VaultTesting

// Traces left in the program of a login.
extension LoginTests {
  /// Returns the forms of the password in the memory of a login that has reached `place` (before or behind the module's
  /// line), and the number of the login's children.
  private func held(_ place: WritableKeyPath<(before: String, behind: String), String>) throws -> (Set<String>, Int) {
    var lines = (before: "", behind: "")
    lines[keyPath: place] = "session required pam_exec.so quiet ROOT/pause"
    var found: Set<String> = []
    var children = 0
    try LoginStand.with(session: lines) { (stand) throws in
      try stand.makeVault()
      let root = stand.sandbox.root
      // The parent of the program that pam_exec starts is the login.
      let script = "#!/bin/sh\necho $PPID >\(root)/pid.new; mv \(root)/pid.new \(root)/pid; read word <\(root)/go\n"
      try stand.sandbox.run(
        "-c", "mkfifo \(root)/go; cat >\(root)/pause; chmod 755 \(root)/pause", program: "/bin/sh", stdin: script)
      let login = Thread { _ = try? stand.logIn() }
      login.start()
      defer {
        try? Data("on\n".utf8).write(to: URL(fileURLWithPath: root + "/go"))
        while !login.isFinished { usleep(1000) }
      }
      try stand.wait("the login to come to the line") { FileManager.default.fileExists(atPath: root + "/pid") }
      let text = try String(contentsOfFile: root + "/pid", encoding: .utf8)
      let pid = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
      found = try MemorySearch(pid: pid).find(Array(stand.user.password.utf8))
      let list = try String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
      children = list.split(separator: " ").count
    }
    return (found, children)
  }

  @Test("leaves no password in the login program's memory, and no child") func memory() throws {
    let before = try held(\.before)
    #expect(before.0.contains("raw"), "the search finds it while it is kept")
    let behind = try held(\.behind)
    #expect(behind.0 == [])
    #expect(behind.1 == 1, "what pam_exec runs, and nothing else")
  }
}
