import Foundation
import Testing
import VaultTesting

@Suite("A daemon that the client starts") struct StartedDaemonTests {
  @Test("holds no lock of the script's open, and finds nothing in its environment but where things are")
  func inherits() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let line = """
      cd; exec 9>lock 12</etc/passwd; flock 9
      export LD_PRELOAD=/nonexistent/evil.so NOTIFY_SOCKET=@foreign LISTEN_FDS=1 MALLOC_TRACE=/tmp/x SECRET=hunter2 LC_TIME=C
      vault init --password-stdin \(floorOptions.joined(separator: " ")) 2>/dev/null
      """
    let outcome = try sandbox.run("-c", line, program: "/bin/bash", stdin: password + "\n")
    #expect(outcome.status == 0, "\(outcome)")
    let free = try sandbox.run("--nonblock", sandbox.home + "/lock", "true", program: "/usr/bin/flock")
    #expect(free.status == 0, "the script has ended, and its lock has not")

    let pid = try #require(sandbox.daemonPid)
    let environment = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/environ")).split(separator: 0)
    let names = Set(environment.map { String(decoding: $0.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self) })
    #expect(
      names == [
        "PATH", "HOME", "LANG", "LC_TIME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
        "DBUS_SYSTEM_BUS_ADDRESS",
      ])
    for descriptor in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd") {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\(descriptor)")
      #expect(target != "/etc/passwd" && target?.hasSuffix("/lock") != true)
    }
  }
}
