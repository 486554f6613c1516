internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultWire

/// One of the streams of a program, on its way to one of this process's.
struct MaskedStream: ~Copyable {
  private let target: Int32
  /// The program's end of the pipe, which is the caller's to close.
  let theirs: Int32
  /// This process's end; -1 once nothing more comes.
  private(set) var descriptor: Int32
  private var masker: Masker

  init(to target: Int32, _ values: MaskedValues) throws(Failure) {
    do throws(StartedProgram.Failure) {
      (descriptor, theirs) = try StartedProgram.pipe(for: 3)
    } catch {
      throw Failure(.system, "cannot make a pipe: \(Output.describe(error.errno))")
    }
    self.target = target
    masker = Masker(values)
  }

  var isOpen: Bool { descriptor >= 0 }

  /// Passes on what there is, `atMost` bytes of it.
  mutating func pass(atMost: Int) throws(Failure) {
    var input = SecretBuffer(capacity: atMost)
    let count = FileInput.read(descriptor, into: &input, atMost: atMost)
    if count < 0, errno == EINTR { return }
    var output = SecretBuffer(capacity: input.count)
    if count > 0 { input.withBytes { masker.add($0, into: &output) } } else { masker.finish(into: &output) }
    do throws(Failure) {
      try output.withBytes { bytes throws(Failure) in try Output.write(bytes, to: target) }
    } catch {
      finish()
      // The program hears of it at its next writing, as if there were nobody between.
      if errno != EPIPE { throw error }
    }
    if count <= 0 { finish() }
  }

  private mutating func finish() {
    close(descriptor)
    descriptor = -1
  }
}
