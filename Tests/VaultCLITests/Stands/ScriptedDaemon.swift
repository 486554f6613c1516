import CLinux
import Foundation
import Glibc
import Synchronization
import VaultTesting

/// A program that listens in the daemon's place and sends replies that a daemon never would.
final class ScriptedDaemon: Sendable {
  let socket: String
  private let listener: Int32
  private let calls = Calls()
  private let pause = DispatchSemaphore(value: 0)

  private final class Calls: Sendable {
    let counts = Mutex<[String: Int]>([:])

    /// Counts a call, and returns the number of earlier ones of the method.
    func note(_ method: String) -> Int {
      counts.withLock { counts in
        counts[method, default: 0] += 1
        return counts[method, default: 0] - 1
      }
    }
  }

  /// A call: the method's name without its interface, and the parameters.
  struct Call {
    let method: String
    let parameters: [String: Any]

    fileprivate init(_ frame: ArraySlice<UInt8>) {
      let message = (try? JSONSerialization.jsonObject(with: Data(frame))) as? [String: Any]
      method = (message?["method"] as? String)?.split(separator: ".").last.map(String.init) ?? ""
      parameters = message?["parameters"] as? [String: Any] ?? [:]
    }
  }

  /// - Parameters:
  ///   - replies: the messages for a call, sent one after another, by the method's name. At an empty one, the daemon
  ///     waits for ``goOn()``.
  ///   - otherwise: the messages for any other method.
  convenience init(
    _ sandbox: Sandbox, _ replies: [String: [String]],
    otherwise: [String] = [#"{"error":"io.vaultd.Vault.NoVault"}"#]
  ) throws {
    try self.init(sandbox) { call, _ in replies[call.method] ?? otherwise }
  }

  /// - Parameter answer: returns the messages for a call, sent one after another. It also gets the number of earlier
  ///   calls of the same method.
  init(_ sandbox: Sandbox, answer: @escaping @Sendable (_ call: Call, _ earlier: Int) -> [String]) throws {
    socket = sandbox.home + "/socket"
    listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard unsafe vault_bind_unix(listener, socket) == 0, listen(listener, 8) == 0 else {
      throw SandboxError("no socket at \(socket)")
    }
    Thread.detachNewThread { [listener, calls, pause] in
      while true {
        let peer = accept(listener, nil, nil)
        guard peer >= 0 else { break }
        Thread.detachNewThread {
          ScriptedDaemon.serve(peer, pause) { call in answer(call, calls.note(call.method)) }
          Glibc.close(peer)
        }
      }
      Glibc.close(listener)
    }
  }

  /// Ends the daemon. A test calls this itself, so that the daemon lives until then.
  func close() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// Ends the wait at an empty reply.
  func goOn() { pause.signal() }

  /// Returns the number of calls of a method.
  func heard(_ method: String) -> Int { calls.counts.withLock { $0[method] ?? 0 } }

  private static func serve(_ peer: Int32, _ pause: DispatchSemaphore, _ answer: (Call) -> [String]) {
    var heard: [UInt8] = []
    while true {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = unsafe recv(peer, &bytes, bytes.count, 0)
      guard count > 0 else { return }
      heard += bytes.prefix(count)
      while let end = heard.firstIndex(of: 0) {
        let call = Call(heard[..<end])
        heard.removeSubrange(...end)
        for reply in answer(call) {
          if reply.isEmpty {
            pause.wait()
            continue
          }
          let message = Array(reply.utf8) + [0]
          _ = unsafe send(peer, message, message.count, Int32(MSG_NOSIGNAL))
        }
      }
    }
  }
}
