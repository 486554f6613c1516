import Foundation
import Glibc
import Synchronization
import VaultProcess

/// A TPM 2.0 of one sandbox, in software: swtpm, whose state lies in the sandbox.
public final class SoftwareTPM: Sendable {
  private let sandbox: Sandbox
  private let folder: String
  private let running = Mutex<Child?>(nil)

  /// The TPM's name for libtss2 and for the setting `tpm2-device`.
  public var device: String { "swtpm:path=" + folder + "/socket" }

  /// Starts a TPM in factory state. Several TPMs in one sandbox need different names.
  public init(in sandbox: Sandbox, name: String = "tpm") throws {
    self.sandbox = sandbox
    folder = sandbox.root + "/" + name
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try start()
  }

  /// Starts the TPM, also again after ``stop()``, as the start of a machine does.
  public func start() throws {
    let log = folder + "/log"
    let pid = folder + "/pid"
    let child = try sandbox.keep(
      Child(
        "/usr/bin/swtpm",
        [
          "socket", "--tpm2", "--tpmstate", "dir=" + folder, "--server", "type=unixio,path=\(folder)/socket", "--ctrl",
          "type=unixio,path=\(folder)/socket.ctrl", "--flags", "not-need-init,startup-clear", "--pid", "file=" + pid,
        ], environment: sandbox.environment,
        descriptors: [
          .null, .file(log, O_WRONLY | O_CREAT), .file(log, O_WRONLY | O_CREAT),
        ]))
    // swtpm writes its process ID once both sockets listen.
    while !FileManager.default.fileExists(atPath: pid) {
      guard child.status == nil else {
        throw SandboxError("swtpm: \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")
      }
      sched_yield()
    }
    running.withLock { $0 = child }
  }

  /// Removes the TPM as if it had been unplugged; its state is kept. A TPM that is not stopped ends with the sandbox.
  public func stop() {
    let child = running.withLock { $0 }
    child?.signal(SIGKILL)
    _ = child?.wait()
    for name in ["socket", "socket.ctrl", "pid"] { unsafe unlink(folder + "/" + name) }
  }

  /// Puts a listener between the TPM and its clients. Returns the device name of the listener for libtss2, and a
  /// function that returns the bytes that passed through it.
  public func listener() throws -> (device: String, heard: () throws -> [UInt8]) {
    let way = folder + "/way"
    let (there, back) = (way + ".there", way + ".back")
    for (ending, dump) in [("", ["-r", there, "-R", back]), (".ctrl", [])] {
      let log = way + ending + ".log"
      _ = try sandbox.keep(
        Child(
          "/usr/bin/socat", dump + ["UNIX-LISTEN:\(way)\(ending),fork", "UNIX-CONNECT:\(folder)/socket\(ending)"],
          environment: sandbox.environment,
          descriptors: [.null, .file(log, O_WRONLY | O_CREAT), .file(log, O_WRONLY | O_CREAT)]))
      while !FileManager.default.fileExists(atPath: way + ending) { sched_yield() }
    }
    return ("swtpm:path=" + way, { try [there, back].flatMap { try Data(contentsOf: URL(fileURLWithPath: $0)) } })
  }

  /// Stops the TPM, so that it answers nothing until ``resume()``.
  public func pause() { running.withLock { $0?.signal(SIGSTOP) } }
  public func resume() { running.withLock { $0?.signal(SIGCONT) } }

  /// Lets a user access the TPM, as membership in the group `tss` does on Debian.
  public func open(to user: TestUser) throws {
    for name in ["/socket", "/socket.ctrl"] {
      guard unsafe chown(folder + name, user.uid, user.uid) == 0 else { throw SandboxError("chown: \(errno)") }
    }
  }

  /// Runs one of the programs of tpm2-tools on the TPM.
  public func run(_ tool: String, _ arguments: String...) throws {
    let outcome = try sandbox.run(["-T", device] + arguments, program: "/usr/bin/" + tool)
    guard outcome.status == 0 else { throw SandboxError("\(tool): \(outcome)") }
  }

  /// Clears the TPM as the firmware's menu does, which gives it new storage keys.
  public func clear() throws { try run("tpm2_clear", "-c", "p") }
}
