import Foundation
import Glibc
import NIOCore
import Testing
import VaultModel
import VaultStore
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

/// A file system that does not answer before it is told to.
private final class Silence: Sendable {
  private let read: Int32
  private let write: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw SandboxError("pipe") }
    (read, write) = (ends[0], ends[1])
  }

  deinit { for end in [read, write] { close(end) } }

  /// Waits for the end of the silence, however many wait.
  func wait() {
    var byte: UInt8 = 0
    _ = unsafe Glibc.read(read, &byte, 1)
  }

  /// Lets all go on who wait, and who will. Programs that other tests start may have the pipe, so its end is not taken
  /// for a sign.
  func end() { _ = unsafe Glibc.write(write, [UInt8](repeating: 0, count: 1024), 1024) }
}

/// A process that runs until it is ended.
private struct Sleeper {
  let pid: Int32

  init() throws {
    var pid: pid_t = 0
    let arguments = unsafe [strdup("sleep"), strdup("600"), nil]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    guard unsafe posix_spawn(&pid, "/bin/sleep", nil, nil, arguments, [nil]) == 0 else {
      throw SandboxError("posix_spawn")
    }
    self.pid = pid
  }

  func end() {
    kill(pid, SIGKILL)
    waitpid(pid, nil, 0)
  }
}

@Suite("A client whose program's file is not read yet") struct UnreadProgramTests {
  private static let digest = String(repeating: "0a", count: 32)
  private static let identity = {
    let file = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { Glibc.close(file) }
    return FileStamp(of: file)!
  }()

  /// Makes a stand whose first client, the owner, has said by a grant that the programs with the digest are confined to
  /// item `a`. The file of that client's process was found to be another one.
  private static func granted() throws -> ConnectionStand {
    let stand = try ConnectionStand.unlocked("")
    try stand.on { client in
      try client.vault.keychain().set(ItemChange(name: ItemName("b")), value: ConnectionStand.secret([1]), now: 1)
      client.programs.read = { _, _, _ in .none }
      client.door.access.add(.presence, by: client.connection.caller, with: [])
      client.call("Grant", #"{"subject":"user:\#(geteuid()),sha256:\#(digest)","items":"a","rights":["get"]}"#)
    }
    try stand.goRound("the grant") { $0.messages().contains { $0.contains("confined\":true") } }
    return stand
  }

  /// Lets nobody read a file before the silence ends; the files then turn out to be `reading`.
  private static func fallSilent(_ stand: ConnectionStand, _ reading: Program.Reading) throws -> Silence {
    let silence = try Silence()
    try stand.on { client in
      client.programs.read = { _, _, _ in
        silence.wait()
        return reading
      }
    }
    return silence
  }

  /// Makes a second client of the same process, which asks for the items `a` and `b`.
  private static func second(_ stand: ConnectionStand) throws {
    try stand.on { client in
      let other = try client.another()
      client.kept = other
      for name in ["a", "b"] { other.call("Get", #"{"name":"\#(name)"}"#) }
      #expect(other.messages() == [] && other.hasWork)
      #expect(client.programs.count == 1)
    }
  }

  private static func close(_ stand: ConnectionStand) {
    try? stand.on { client in
      for other in [client.kept, client.keptToo] { (other as? ConnectionStand.Inside)?.leave() }
      (client.kept, client.keptToo) = (nil, nil)
    }
    stand.close()
  }

  private static func answers(_ stand: ConnectionStand, _ count: Int) throws -> [String] {
    try stand.goRound("the answers") { client in
      client.answers += client.second.messages()
      return client.answers.count >= count
    }
    return try stand.on { $0.answers }
  }

  @Test("waits for it, and nobody else does") func others() throws {
    let stand = try Self.granted()
    defer { Self.close(stand) }
    let silence = try Self.fallSilent(stand, .digest(Self.digest, Self.identity))
    try Self.second(stand)
    for _ in 0..<20 {
      let answers = try stand.on { client in
        // A client that asked again at once would be waited for, on a clock that stands still.
        client.pass(.milliseconds(100))
        client.call("Get", #"{"name":"b"}"#)
        return client.messages()
      }
      #expect(answers.count == 1 && answers[0].contains(#""name":"b""#), "\(answers)")
    }
    #expect(try stand.on { $0.second.messages() } == [])
    silence.end()
    let answers = try Self.answers(stand, 2)
    #expect(answers[0].contains(#""name":"a""#) && answers[1].contains("Denied"), "\(answers)")
    // A later client of the same process is told the same, though its file is looked at again.
    try stand.on { client in
      client.answers = []
      client.second.leave()
      let other = try client.another()
      client.kept = other
      other.call("Get", #"{"name":"b"}"#)
    }
    #expect(try Self.answers(stand, 1)[0].contains("Denied"))
  }

  @Test("is refused by a lock, which does not wait") func lock() throws {
    let stand = try Self.granted()
    defer { Self.close(stand) }
    let silence = try Self.fallSilent(stand, .none)
    defer { silence.end() }
    try Self.second(stand)
    try stand.on { client in
      client.call("Lock")
      #expect(client.messages().count == 1 && client.vault.state.kind == .locked)
    }
    #expect(try Self.answers(stand, 1)[0].contains("Locked"))
  }

  @Test("may leave, and its file is read to the end") func leaves() throws {
    let stand = try Self.granted()
    defer { Self.close(stand) }
    let silence = try Self.fallSilent(stand, .none)
    try Self.second(stand)
    try stand.on { client in
      client.second.leave()
      client.kept = nil
    }
    silence.end()
    try stand.goRound("the end of the reading") { $0.programs.count == 0 }
    try Self.second(stand)
    let answers = try Self.answers(stand, 2)
    #expect(answers.allSatisfy { $0.contains(#""name":""#) }, "\(answers)")
  }

  @Test("has to do without the grant after a while, and is no freer than with it") func late() throws {
    let stand = try Self.granted()
    defer { Self.close(stand) }
    let silence = try Self.fallSilent(stand, .none)
    try Self.second(stand)
    try stand.on { client in
      client.pass(.nanoseconds(ProgramReader.patience - 1))
      #expect(client.second.messages() == [])
      client.pass(.nanoseconds(1))
    }
    let answers = try Self.answers(stand, 2)
    #expect(answers.allSatisfy { $0.contains("Denied") }, "\(answers)")
    // The same file is not read twice at a time, and the next client has the result.
    try stand.on { client in
      client.answers = []
      client.second.leave()
      let other = try client.another()
      client.kept = other
      other.call("Get", #"{"name":"b"}"#)
      #expect(client.programs.count == 1)
    }
    silence.end()
    #expect(try Self.answers(stand, 1)[0].contains(#""name":"b""#))
  }

  @Test("goes on to watch and to attend when a grant begins to ask for the file, and misses what happens meanwhile")
  func watching() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { Self.close(stand) }
    let silence = try Self.fallSilent(stand, .none)
    try stand.on { client in
      let (watcher, agent) = (try client.another(), try client.another())
      (client.kept, client.keptToo) = (watcher, agent)
      watcher.call("Monitor", more: true)
      agent.call("Attend", #"{"faces":["dialog"]}"#, more: true)
      #expect(watcher.messages().count == 1 && agent.messages().count == 1)
      client.programs.read = { _, _, _ in .none }
      client.door.access.add(.presence, by: client.connection.caller, with: [])
      client.call("Grant", #"{"subject":"user:\#(geteuid()),sha256:\#(Self.digest)","items":"a","rights":["get"]}"#)
      client.programs.read = { _, _, _ in
        silence.wait()
        return .none
      }
    }
    try stand.goRound("the grant") { $0.messages().contains { $0.contains("confined\":true") } }
    try stand.goRound("the files to be looked at") { $0.programs.count == 1 }
    try stand.on { client in
      client.call("Set", #"{"name":"b","value":"v"}"#)
      #expect(client.messages().count == 1)
    }
    for _ in 0..<100 { #expect(try stand.on { $0.second.messages() } == []) }
    #expect(try stand.on { $0.door.attendance.agents.count } == 1)
    silence.end()
    let answers = try Self.answers(stand, 1)
    #expect(answers[0].contains(#""missed":true"#), "\(answers)")
    try stand.on { client in
      client.answers = []
      client.call("Set", #"{"name":"b","value":"w","update":true}"#)
    }
    #expect(try Self.answers(stand, 1)[0].contains(#""name":"b""#))
    #expect(try stand.on { $0.door.attendance.agents.count } == 1)
  }

  @Test("is not served by the unlock for which it waited before the file is read") func unlock() throws {
    let stand = try Self.granted()
    defer { Self.close(stand) }
    let silence = try Self.fallSilent(stand, .digest(Self.digest, Self.identity))
    try stand.on { client in
      client.vault.wipe()
      client.vault.closeStore()
      client.door.access.book.forgetAll()
      client.vault.openStore(because: .start)
      let other = try client.another()
      client.kept = other
      other.call("Get", #"{"name":"b","wait_ms":60000}"#)
      #expect(client.programs.count == 0)
      try client.unlock()
    }
    try stand.goRound("the file to be looked at") { $0.programs.count == 1 }
    for _ in 0..<100 { #expect(try stand.on { $0.second.messages() } == []) }
    silence.end()
    #expect(try Self.answers(stand, 1)[0].contains("Denied"))
  }

  @Test("is not kept waiting by a file that does not answer, also under its own path") func samePath() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { Self.close(stand) }
    let silence = try Silence()
    defer { silence.end() }
    // A thread has a process id of its own in /proc, and the path of its process.
    let own = getpid()
    let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
    let other = try #require(threads.compactMap { Int32($0) }.first { $0 != own })
    try stand.on { client in
      client.programs.read = { pid, _, _ in
        if pid == own { silence.wait() }
        return .none
      }
      client.programs.digest(of: own, uid: 1) { client.answers.append("hung \($0)") }
      client.programs.digest(of: other, uid: 1) { client.answers.append("honest \($0)") }
      #expect(client.programs.count == 1)
      client.pass(.nanoseconds(ProgramReader.quick))
      // The silent process alone waits on.
      client.programs.digest(of: own, uid: 1) { client.answers.append("hung again \($0)") }
      #expect(client.programs.count == 2)
    }
    try stand.goRound("the honest one's file") { $0.answers == ["honest known(nil)"] }
    try stand.on { client in
      client.programs.digest(of: other, uid: 1) { client.answers.append("honest again \($0)") }
      #expect(client.programs.count == 2)
    }
    try stand.goRound("its file again") { $0.answers.last == "honest again known(nil)" }
  }

  @Test("is kept waiting by dozens of silent files of its user, and by none of another user") func dozens() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { Self.close(stand) }
    let silence = try Self.fallSilent(stand, .none)
    let most = ProgramReader.mostAsideOfOne
    let children = try (0..<most + 2).map { _ in try Sleeper() }
    defer { for child in children { child.end() } }
    let pids = children.map(\.pid)
    try stand.on { client in
      for (number, pid) in pids.enumerated() {
        client.programs.digest(of: pid, uid: 1) { client.answers.append("\($0)") }
        #expect(client.programs.count == min(number, most) + 1)
        client.pass(.nanoseconds(ProgramReader.quick))
      }
      client.answers = []
      client.programs.read = { _, _, _ in .none }
      client.programs.digest(of: getpid(), uid: 2) { client.answers.append("other \($0)") }
    }
    try stand.goRound("the other user's file") { $0.answers.contains("other known(nil)") }
    #expect(try stand.on { $0.answers.count } == 1)
    silence.end()
    try stand.goRound("the user's files") { $0.programs.count == 0 && $0.answers.last == "known(nil)" }
  }

  @Test("keeps a few threads alone, and none of them from other users") func threads() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { Self.close(stand) }
    let silence = try Self.fallSilent(stand, .none)
    try stand.on { client in
      // Each user's file is another one.
      for uid: UInt32 in [1, 1, 1, 2, 3, 4, 5, 6] {
        client.programs.digest(of: getpid(), uid: uid) { client.answers.append("\(uid) \($0)") }
      }
      #expect(client.programs.count == ProgramReader.most && client.answers == [])
      client.pass(.nanoseconds(ProgramReader.patience))
      #expect(client.answers.count == 8 && client.answers.allSatisfy { $0.hasSuffix("uncertain") })
      client.answers = []
      client.programs.digest(of: getpid(), uid: 7) { client.answers.append("\(7) \($0)") }
    }
    silence.end()
    try stand.goRound("the files") { $0.programs.count == 0 }
    #expect(try stand.on { $0.answers } == ["7 known(nil)"])
  }
}

extension ConnectionStand.Inside {
  fileprivate var programs: ProgramReader { assembly.clients.known.programs! }
  fileprivate var second: ConnectionStand.Inside { kept as! ConnectionStand.Inside }
}
