internal import Glibc
internal import NIOCore
internal import VaultBytes
internal import VaultWire

/// The daemon's helper programs: finds them, and asks each one question.
final class HelperPrograms {
  let watcher: DescriptorWatcher
  let loop: any EventLoop
  let ends: HelperEnds
  /// The environment of every helper, as lines `NAME=value`.
  private let environment: [String]
  /// The directory of `vaultd` itself.
  private let directory: String?

  /// Reads the daemon's own environment through `variable`. Call this at start, before there is another thread.
  init(
    loop: any EventLoop, watcher: DescriptorWatcher, ends: HelperEnds,
    directory: String? = HelperPrograms.ownDirectory(), variable: (String) -> String?
  ) {
    self.loop = loop
    self.ends = ends
    self.watcher = watcher
    self.directory = directory
    // Only variables that a helper needs: settings for the user's other programs must not reach programs that see a
    // key. TSS2_LOG silences libtss2, which would log every error, even those that the daemon explains better.
    var environment = ["LANG=C.UTF-8", "PATH=/usr/bin:/bin", "TSS2_LOG=all+NONE"]
    for name in ["HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "SECRET_SERVICE_BUS_NAME"] {
      if let value = variable(name) { environment.append("\(name)=\(value)") }
    }
    self.environment = environment
  }

  /// The path of a helper. An installed helper is in `libexec/vault` beside `directory`, the directory of `vaultd`; in
  /// a build it is in `directory` itself. Nil when the helper is in neither.
  static func path(of name: String, from directory: String? = ownDirectory()) -> String? {
    guard let directory else { return nil }
    return ["\(directory)/../libexec/vault/\(name)", "\(directory)/\(name)"].first {
      unsafe access($0, X_OK) == 0
    }
  }

  /// The directory of the running program. Nil when its name is not UTF-8, because it would be read as the name of
  /// another directory.
  static func ownDirectory() -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
    guard count > 0, count < bytes.count else { return nil }
    let path = String(validating: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return path.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
  }

  /// Starts the helper `name`, sends it `question`, one whole frame, and passes its answer on, one frame.
  ///
  /// The helper is ended after its answer, or after `limit` without one. Calling the returned closure ends it earlier,
  /// and then there is no answer.
  ///
  /// - Parameter gone: runs once when no process is left: after the answer, or without one.
  @discardableResult
  func ask(
    _ name: String, _ question: consuming SecretBuffer, within limit: TimeAmount, gone: @escaping () -> Void = {},
    then: @escaping (consuming Result<Frame, HelperFailure>) -> Void
  ) -> () -> Void {
    guard let path = Self.path(of: name, from: directory) else {
      then(.failure(.notInstalled(name)))
      gone()
      return {}
    }
    let exchange = HelperExchange(name: name, limit: limit, gone: gone, then: then)
    exchange.start(path, environment, question, loop, watcher, ends)
    return { exchange.cancel() }
  }
}
