import Foundation
import Glibc
import Testing

@testable import VaultDaemon

/// Processes that sleep until the test is over, and the number of searches for them.
private final class Sleepers {
  private var processes: [Process] = []
  private(set) var searches = 0

  func start() throws -> pid_t {
    let process = try Process.run(URL(fileURLWithPath: "/bin/sleep"), arguments: ["600"])
    processes.append(process)
    return process.processIdentifier
  }

  func find(_ pid: pid_t) -> PeerProcess? {
    searches += 1
    return PeerProcess.start(of: pid).flatMap { PeerProcess(pid, started: $0) }
  }

  func end(_ pid: pid_t) {
    kill(pid, SIGKILL)
    processes.first { $0.processIdentifier == pid }?.waitUntilExit()
  }

  deinit { for process in processes { kill(process.processIdentifier, SIGKILL) } }
}

@Suite("The processes that are held") struct HeldProcessesTests {
  private let sleepers = Sleepers()

  @Test("all connections of one process share one descriptor of it") func shared() throws {
    var held = HeldProcesses()
    let pid = try sleepers.start()
    let first = try #require(held.running(pid, acceptedAs: 1, most: 4) { sleepers.find(pid) })
    for place in [2, 7, 1, 300] {
      #expect(held.running(pid, acceptedAs: place, most: 4) { sleepers.find(pid) } === first)
    }
    #expect(sleepers.searches == 1)
  }

  @Test("one that has ended runs for none of its connections, and is nobody else's who gets its number") func ended()
    throws
  {
    var held = HeldProcesses()
    let (pid, next) = (try sleepers.start(), try sleepers.start())
    #expect(held.running(pid, acceptedAs: 1, most: 4) { sleepers.find(pid) } != nil)
    sleepers.end(pid)
    // The kernel now reports another process under that number.
    let other = held.running(pid, acceptedAs: 3, most: 4) { sleepers.find(next) }
    #expect(other != nil && sleepers.searches == 2)
    #expect(held.running(pid, acceptedAs: 1, most: 4) { sleepers.find(pid) } == nil)
    #expect(held.running(pid, acceptedAs: 2, most: 4) { sleepers.find(pid) } == nil)
    #expect(held.running(pid, acceptedAs: 4, most: 4) { sleepers.find(next) } != nil)
  }

  @Test("a connection that was accepted before the one by which a process was found is looked at itself") func earlier()
    throws
  {
    var held = HeldProcesses()
    let (pid, former) = (try sleepers.start(), try sleepers.start())
    sleepers.end(former)
    #expect(held.running(pid, acceptedAs: 2, most: 4) { sleepers.find(pid) } != nil)
    // The earlier connection belongs to a former process with the same number.
    #expect(held.running(pid, acceptedAs: 1, most: 4) { sleepers.find(former) } == nil)
    #expect(held.running(pid, acceptedAs: 2, most: 4) { sleepers.find(pid) } != nil)
  }

  @Test("processes that cannot be seen from here, all of number 0, are not taken for one another") func unseen() throws
  {
    var held = HeldProcesses()
    let (one, other) = (try sleepers.start(), try sleepers.start())
    let first = held.running(0, acceptedAs: 1, most: 4) { sleepers.find(one) }
    let second = held.running(0, acceptedAs: 2, most: 4) { sleepers.find(other) }
    #expect(first != nil && second != nil && first !== second)
    #expect(held.running(0, acceptedAs: 1, most: 4) { sleepers.find(one) } === first)
    #expect(sleepers.searches == 2)
  }

  @Test("no more than so many are held, those that were asked for last") func most() throws {
    var held = HeldProcesses()
    let pids = try (0..<3).map { _ in try sleepers.start() }
    for index in [0, 1, 2, 1, 2] {
      _ = held.running(pids[index], acceptedAs: index, most: 2) { sleepers.find(pids[index]) }
    }
    #expect(sleepers.searches == 3)
    _ = held.running(pids[0], acceptedAs: 0, most: 2) { sleepers.find(pids[0]) }
    #expect(sleepers.searches == 4)
  }

  @Test("one that is asked for again is dropped after all that were asked for before that") func again() throws {
    var held = HeldProcesses()
    let pids = try (0..<4).map { _ in try sleepers.start() }
    for index in [0, 1, 2, 0, 3] {
      _ = held.running(pids[index], acceptedAs: index, most: 3) { sleepers.find(pids[index]) }
    }
    #expect(sleepers.searches == 4)
    for index in [0, 2, 3] {
      _ = held.running(pids[index], acceptedAs: index, most: 3) { sleepers.find(pids[index]) }
    }
    #expect(sleepers.searches == 4)
  }

  @Test("where there is no descriptor left, those that are held make room") func room() throws {
    var held = HeldProcesses()
    let (one, other) = (try sleepers.start(), try sleepers.start())
    #expect(held.running(one, acceptedAs: 1, most: 4) { sleepers.find(one) } != nil)
    var isFull = true
    let found = held.running(other, acceptedAs: 2, most: 4) {
      defer { isFull = false }
      return isFull ? nil : sleepers.find(other)
    }
    #expect(found != nil)
  }
}
