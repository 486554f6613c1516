import Foundation
import Glibc
import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("When a process started") struct ProcessStartTests {
  @Test("is not what its name says", arguments: ["plain", "a b (c) d", ") S 1 1 1 1 0", "((", "))"])
  func named(_ name: String) throws {
    // A thread has a name and a start time of its own, in a line like a process's.
    let thread = "/proc/" + (try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self"))
    let number = try #require(thread.split(separator: "/").last.flatMap { pid_t($0) })
    let comm = try #require(FileHandle(forUpdatingAtPath: thread + "/comm"))
    let before = try comm.readToEnd() ?? Data()
    defer { try? comm.write(contentsOf: before) }
    try comm.write(contentsOf: Data(name.utf8))
    let own = try #require(PeerProcess.start(of: getpid()))
    let start = try #require(PeerProcess.start(of: number))
    // Start times are in clock ticks; the fields before them in that line are small numbers.
    #expect(start >= own)
  }
}
