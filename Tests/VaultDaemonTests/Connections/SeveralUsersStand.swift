import Foundation
import Glibc
import NIOCore
import NIOPosix
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

/// A daemon within this process whose socket serves every user, and clients in processes of such users. Needs root.
final class SeveralUsersStand {
  let sandbox: Sandbox
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let assembly: NIOLoopBound<Assembly>

  init(_ settings: String = "") throws {
    let sandbox = try Sandbox()
    self.sandbox = sandbox
    let folder = (sandbox.socket as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let loop = group.next()
    let (store, path) = (sandbox.store, sandbox.socket)
    assembly = try loop.submit {
      let assembly = try Assembly.stand(
        on: loop, store: store, socket: path, settings: settings, administrators: getegid())
      return NIOLoopBound(assembly, eventLoop: loop)
    }.wait()
    let bound = assembly
    let socket = try ListeningSocket.bound(to: path)
    try loop.flatSubmit {
      let backlog = Backlog(now: Clock.system.monotonic)
      bound.value.turns.letIn = { backlog.letIn() }
      return Server.start(socket, loop: loop, backlog) { try VarlinkConnection($0, bound.value.door) }.map { _ in }
    }.wait()
    for folder in [sandbox.root, sandbox.runtime, folder] { unsafe chmod(folder, 0o711) }
    unsafe chmod(path, 0o666)
  }

  func on<R: Sendable>(_ body: @escaping @Sendable (Assembly) throws -> R) throws -> R {
    try group.next().submit { [assembly] in try body(assembly.value) }.wait()
  }

  func close() {
    try? on { $0.closeConnections() }
    try? group.syncShutdownGracefully()
    withExtendedLifetime(assembly) {}
    sandbox.close()
  }

  /// A process of a user, which connects to the daemon.
  func process(of uid: UInt32) throws -> OtherProcess { try OtherProcess(in: sandbox, uid: uid, gid: getgid()) }
}
