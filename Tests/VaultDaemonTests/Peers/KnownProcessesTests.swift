import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("The unit of a process", .enabled(if: Cgroups.canBeMade, "makes cgroups, which needs root"))
struct KnownProcessesTests {
  @Test("is that of its cgroup, whoever was asked about before, and another one once it is moved") func unit() throws {
    let cgroups = try Cgroups(processes: 2)
    defer { cgroups.remove() }
    let known = KnownProcesses()
    let (first, second) = (cgroups.pids[0], cgroups.pids[1])
    func units(of pid: pid_t, uid: uid_t = 12345) throws -> (system: String?, user: String?) {
      let process = try #require(PeerProcess.start(of: pid).flatMap { PeerProcess(pid, started: $0) })
      return known.units(of: pid, uid: uid, process)
    }
    func unit(of pid: pid_t) throws -> String? { try units(of: pid).system }
    // A name that no other test uses, which may run at the same time.
    let own = "vault-test-\(getpid())"
    // Each process is asked about twice, so that the second answer comes from memory.
    for pid in [first, second, first] {
      try cgroups.move(pid, to: "system.slice/\(own).service")
      for _ in 0..<2 { #expect(try unit(of: pid) == "\(own).service") }
      try cgroups.move(pid, to: "user.slice/user-12345.slice/user@12345.service/\(own).service")
      for _ in 0..<2 {
        #expect(try unit(of: pid) == "user@12345.service")
        #expect(try units(of: pid).user == "\(own).service")
        // Root put another user's process there, so the process is no part of that user's unit.
        #expect(try units(of: pid, uid: 12346).user == nil)
      }
      try cgroups.move(pid, to: "\(own)-none")
      for _ in 0..<2 { #expect(try unit(of: pid) == nil) }
    }
    try cgroups.move(first, to: "system.slice/\(own).service")
    #expect(try unit(of: first) == "\(own).service")
    #expect(try unit(of: second) == nil)
  }

  @Test("is remembered for the last cgroups alone") func many() throws {
    let cgroups = try Cgroups(processes: 1)
    defer { cgroups.remove() }
    let known = KnownProcesses()
    let pid = cgroups.pids[0]
    let process = try #require(PeerProcess.start(of: pid).flatMap { PeerProcess(pid, started: $0) })
    for number in 0..<100 {
      let name = "vault-test-\(getpid())-\(number).service"
      try cgroups.move(pid, to: "system.slice/\(name)")
      #expect(known.units(of: pid, uid: 0, process).system == name)
      #expect(known.units(of: pid, uid: 0, process).user == nil)
    }
  }
}
