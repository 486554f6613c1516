import Glibc
import Logging
import NIOCore
import NIOPosix
import VaultBytes
import VaultCore
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

/// Keystores on a loop of their own, for a test on another thread.
final class KeystoreStand: Sendable {
  /// The id of the vault whose keys the keystores hold.
  static let vault = [UInt8](repeating: 0xA5, count: 16)

  let loop: any EventLoop
  private let keystores: NIOLoopBound<MachineKeystores>
  private let home: String

  /// - Parameter programs: the folder of the helper programs.
  init(
    _ sandbox: Sandbox, _ settings: String = "", environment: [String: String] = [:],
    programs: String = Sandbox.programs
  ) throws {
    loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    let loop = loop
    let configuration = try Configuration(parsing: settings)
    let directory = sandbox.home
    home = directory
    let variables = sandbox.environment.merging(environment) { $1 }
    keystores = try loop.submit {
      let programs = HelperPrograms(
        loop: loop, watcher: try DescriptorWatcher(loop: loop), ends: HelperEnds(), directory: programs,
        variable: { variables[$0] })
      return NIOLoopBound(
        MachineKeystores(programs, WorkerThread(telling: loop), directory: directory, configuration), eventLoop: loop)
    }.wait()
  }

  deinit { loop.shutdownGracefully { _ in } }

  /// Stores a key and returns its locator.
  func store(_ key: [UInt8], in kind: KeystoreKind) throws -> [UInt8] {
    let done = loop.makePromise(of: [UInt8].self)
    loop.execute { [keystores] in
      let key = unsafe SecureBytes(copying: key.span.bytes)
      _ = keystores.value.store(key, in: kind, vault: Self.vault) { result in
        done.completeWith(result.mapError { $0 as any Error })
      }
    }
    return try done.futureResult.wait()
  }

  /// Returns the key at `locator`.
  func fetch(_ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8] = KeystoreStand.vault) throws -> [UInt8] {
    let done = loop.makePromise(of: [UInt8].self)
    loop.execute { [keystores] in
      _ = keystores.value.fetch(locator, from: kind, vault: vault) { result in
        switch consume result {
        case .success(let key):
          done.succeed(key.withBytes { span in unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } })
        case .failure(let error): done.fail(error)
        }
      }
    }
    return try done.futureResult.wait()
  }

  func remove(_ locator: [UInt8], from kind: KeystoreKind) throws {
    let done = loop.makePromise(of: Void.self)
    loop.execute { [keystores] in
      keystores.value.remove(locator, from: kind, vault: Self.vault) { error in
        if let error { done.fail(error) } else { done.succeed() }
      }
    }
    try done.futureResult.wait()
  }

  /// Asks the keystore program `name` for the key at `locator`, with a limit of `seconds`.
  func ask(_ name: String, _ locator: [UInt8] = [], within seconds: Int64) throws -> [UInt8] {
    let done = loop.makePromise(of: [UInt8].self)
    loop.execute { [keystores] in
      let helper = KeystoreHelper(
        programs: keystores.value.programs, name: name, place: "", limit: .seconds(seconds))
      _ = helper.fetch(locator, vault: Self.vault) { result in
        switch consume result {
        case .success(let key): done.succeed([UInt8](repeating: 0, count: key.count))
        case .failure(let error): done.fail(error)
        }
      }
    }
    return try done.futureResult.wait()
  }

  /// Asks for a key and cancels at once; returns true if an answer still came before another helper had answered.
  func askAndCancel(_ name: String) throws -> Bool {
    let done = loop.makePromise(of: Bool.self)
    loop.execute { [keystores] in
      var answered = false
      let helper = KeystoreHelper(programs: keystores.value.programs, name: name, place: "", limit: .seconds(60))
      helper.fetch([], vault: Self.vault) { _ in answered = true }()
      _ = helper.fetch([], vault: Self.vault) { _ in done.succeed(answered) }
    }
    return try done.futureResult.wait()
  }

  /// Asks for a key, cancels once `isAtWork` returns true, and returns the result of `look`, taken when all helpers are
  /// gone, as before a sleep.
  func callOff<T: Sendable>(
    _ name: String, once isAtWork: () throws -> Bool, _ look: @escaping @Sendable () -> T
  ) throws -> T {
    let (loop, keystores) = (loop, keystores)
    let cancel = try loop.submit {
      let helper = KeystoreHelper(programs: keystores.value.programs, name: name, place: "", limit: .seconds(60))
      return NIOLoopBound(helper.fetch([], vault: Self.vault) { _ in }, eventLoop: loop)
    }.wait()
    while try !isAtWork() { sched_yield() }
    let done = loop.makePromise(of: T.self)
    loop.execute {
      cancel.value()
      keystores.value.programs.ends.whenAllGone { done.succeed(look()) }
    }
    return try done.futureResult.wait()
  }

  /// Asks for a key and, once `isAtWork` returns true, ends every helper as the daemon does at its own end, with this
  /// call cancelled or not.
  func endAll(_ name: String, callingOff: Bool, once isAtWork: () -> Bool) throws {
    let (loop, keystores) = (loop, keystores)
    let cancel = try loop.submit {
      let helper = KeystoreHelper(programs: keystores.value.programs, name: name, place: "", limit: .seconds(60))
      return NIOLoopBound(helper.fetch([], vault: Self.vault) { _ in }, eventLoop: loop)
    }.wait()
    while !isAtWork() { sched_yield() }
    try loop.submit { keystores.value.programs.ends.endAll { if callingOff { cancel.value() } } }.wait()
  }

  static func newKey() -> [UInt8] { RandomBytes.array(count: 32) }

  /// Returns the error of `body`, which must be a keystore's.
  static func error(_ body: () throws -> some Any) -> KeystoreError? {
    do {
      _ = try body()
      return nil
    } catch {
      return error as? KeystoreError
    }
  }
}
