internal import Glibc
internal import NIOCore
internal import VaultBytes
internal import VaultProcess
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
    directory: String? = OwnProgram.directory, variable: (String) -> String?
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

  /// Starts the helper `name`, sends it the whole frame `question`, and passes on its answer, which is also one frame.
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
    guard let path = OwnProgram.helper(name, from: directory) else {
      let barred = OwnProgram.barredHelper(name, from: directory)
      then(.failure(barred.map { HelperFailure.cannotStart("\($0) is not executable") } ?? .notInstalled(name)))
      gone()
      return {}
    }
    let exchange = HelperExchange(name: name, limit: limit, gone: gone, then: then)
    exchange.start(path, environment, question, loop, watcher, ends)
    return { exchange.cancel() }
  }
}
