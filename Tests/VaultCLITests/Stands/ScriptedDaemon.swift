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

  private final class Calls: Sendable { let counts = Mutex<[String: Int]>([:]) }

  /// - Parameters:
  ///   - replies: the messages for a call, sent one after another, by the method's name.
  ///   - otherwise: the messages for any other method.
  init(
    _ sandbox: Sandbox, _ replies: [String: [String]],
    otherwise: [String] = [#"{"error":"io.vaultd.Vault.NoVault"}"#]
  ) throws {
    socket = sandbox.home + "/socket"
    listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard unsafe vault_bind_unix(listener, socket) == 0, listen(listener, 8) == 0 else {
      throw SandboxError("no socket at \(socket)")
    }
    Thread.detachNewThread { [listener, calls] in
      while true {
        let peer = accept(listener, nil, nil)
        guard peer >= 0 else { break }
        Thread.detachNewThread {
          ScriptedDaemon.serve(peer, replies, otherwise) { method in
            calls.counts.withLock { $0[method, default: 0] += 1 }
          }
          Glibc.close(peer)
        }
      }
      Glibc.close(listener)
    }
  }

  /// Ends the daemon. A test calls this itself, so that the daemon lives until then.
  func close() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// Returns the number of calls of a method in `replies`.
  func heard(_ method: String) -> Int { calls.counts.withLock { $0[method] ?? 0 } }

  private static func serve(
    _ peer: Int32, _ replies: [String: [String]], _ otherwise: [String], _ note: (String) -> Void
  ) {
    var heard: [UInt8] = []
    while true {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = unsafe recv(peer, &bytes, bytes.count, 0)
      guard count > 0 else { return }
      heard += bytes.prefix(count)
      while let end = heard.firstIndex(of: 0) {
        let call = String(decoding: heard[..<end], as: UTF8.self)
        heard.removeSubrange(...end)
        let method = replies.keys.first { key in
          ["io.vaultd.Vault", "org.varlink.service"].contains { call.contains("\"\($0).\(key)\"") }
        }
        if let method { note(method) }
        for reply in method.flatMap({ replies[$0] }) ?? otherwise {
          let message = Array(reply.utf8) + [0]
          _ = unsafe send(peer, message, message.count, Int32(MSG_NOSIGNAL))
        }
      }
    }
  }
}
