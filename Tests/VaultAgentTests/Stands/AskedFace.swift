import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultAgent

/// A question that a face asks on a thread of its own, as in the agent.
final class AskedFace {
  let withdrawal: Withdrawal
  private let outcome = Outcome()
  private var thread: WorkThread?

  private final class Outcome { var text = "nothing" }

  init(_ face: any Face, _ question: Question) throws {
    withdrawal = try Withdrawal()
    let (withdrawal, outcome) = (withdrawal, outcome)
    thread = WorkThread {
      do throws(FaceError) { outcome.text = word(try face.ask(question, until: withdrawal)) } catch {
        outcome.text =
          switch error {
          case .unavailable(let reason): "unavailable: \(reason)"
          case .unsuitable: "unsuitable"
          case .withdrawn: "withdrawn"
          }
      }
    }
    try #require(thread != nil)
  }

  deinit {
    withdrawal.raise()
    thread?.join()
  }

  /// Waits for the end of the question and returns its outcome in words.
  func end() -> String {
    thread.take()?.join()
    return outcome.text
  }
}

/// A pinentry script that a test writes, in a folder that is deleted with this object.
final class PinentryScript {
  let path: String
  private let folder: String

  /// - Parameter script: the rest of a script for sh, which can use `$folder`.
  init(_ script: String) throws {
    // Writing to a pinentry that has ended must be an error here, as it is in the agent.
    signal(SIGPIPE, SIG_IGN)
    folder = try ScratchFolder.make()
    path = folder + "/pinentry"
    let note =
      "folder=\(folder)\necho $$ >$folder/pid\n"
      + "a=$(readlink /proc/$$/fd/0) b=$(readlink /proc/$$/fd/1); echo $a $b >$folder/pipes\n"
    try Executable.write("#!/bin/sh\n" + note + script + "\n", to: path)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Makes a pinentry that answers OK to every command up to the question, and then runs `action`.
  static func answering(_ action: String) throws -> PinentryScript {
    try PinentryScript(
      "echo OK; while read -r line; do case $line in GETPIN*|CONFIRM*) \(action);; *) echo OK;; esac; done")
  }

  /// Makes a pinentry that runs another program in its place.
  static func running(_ program: String, _ environment: String = "") throws -> PinentryScript {
    try PinentryScript("exec env \(environment) \(program)")
  }

  /// Reads the words of a file that the script wrote.
  func note(_ name: String) throws -> [String] {
    // FileHandle, because Foundation's functions that read whole files refuse a pipe.
    let bytes = try FileHandle(forReadingAtPath: folder + "/" + name)?.readToEnd() ?? Data()
    return String(decoding: bytes, as: UTF8.self).split { $0.isWhitespace }.map(String.init)
  }

  /// Makes a pipe to which the script writes; a reader of the pipe waits for that.
  func makePipe(_ name: String) throws {
    guard unsafe mkfifo(folder + "/" + name, 0o600) == 0 else { throw SandboxError("mkfifo: \(errno)") }
  }

  /// Fails if anything of the pinentry is left: the process itself, a zombie, or one of its pipes in this process.
  func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let pid = try #require(try note("pid").first.flatMap { pid_t($0) })
    #expect(!ProcessTree.isThere(pid), "\(pid) is there", sourceLocation: sourceLocation)
    let pipes = try note("pipes")
    #expect(pipes.count == 2 && pipes.allSatisfy { $0.hasPrefix("pipe:") }, sourceLocation: sourceLocation)
    let own = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
    }
    #expect(own.filter { pipes.contains($0) } == [], sourceLocation: sourceLocation)
  }
}

/// The pinentry programs of the system.
enum RealPinentry: String {
  case curses = "/usr/bin/pinentry-curses"
  case window = "/usr/bin/pinentry-gtk-2"

  var isThere: Bool { unsafe access(rawValue, X_OK) == 0 }
}
