internal import CSandbox
internal import Glibc
internal import VaultWire

/// The sandbox in which files are read: no other file, no socket, no process, and limits on memory and time.
enum ImportSandbox {
  /// Enters the sandbox for the rest of the process's life.
  ///
  /// - Parameter kdfMemory: The most bytes for the derivation of a key; what exceeds the usual limit adds to the limit
  ///   on the memory of the process.
  /// - Throws: ``ImportFailure`` with the step that failed. Nothing may be read then.
  static func enter(kdfMemory: UInt64 = Source.usualKDFMemory) throws(ImportFailure) {
    let more = max(kdfMemory, Source.usualKDFMemory) - Source.usualKDFMemory
    guard let step = unsafe vault_enter_sandbox(more) else { return }
    // The name of a step is a literal, and the program has one thread, so nothing changes the text of the error
    // meanwhile.
    let (reason, name) = unsafe (String(cString: strerror(errno)), String(cString: step))
    throw ImportFailure(.failed, "no file is read without the sandbox, which cannot be entered: \(name): \(reason)")
  }
}
