internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultProcess
internal import VaultWire

/// One output stream of a program, on its way to a stream of this process. None of its functions blocks.
struct MaskedStream: ~Copyable {
  private let target: Int32
  /// True if ``target`` is a descriptor that this stream opened.
  private let isOpenedAnew: Bool
  /// The program's end of the pipe; the caller must close it.
  let theirs: Int32
  /// This process's end of the pipe; -1 once no more data comes.
  private var descriptor: Int32
  private var masker: Masker
  /// The bytes to pass on, and the number of them that are already written.
  private var output = SecretBuffer()
  private var written = 0

  init(to target: Int32, _ values: MaskedValues) throws(Failure) {
    do throws(StartedProgram.Failure) {
      (descriptor, theirs) = try StartedProgram.pipe(for: 3)
    } catch {
      throw Failure(.system, "cannot make a pipe: \(Output.describe(error.errno))")
    }
    let own = Self.openAnew(target)
    (self.target, isOpenedAnew) = (own ?? target, own != nil)
    masker = Masker(values)
  }

  deinit { if isOpenedAnew { close(target) } }

  /// Opens a terminal or a pipe once more, so that a write to it never blocks. A terminal that had room may be stopped
  /// by the time of the write, which would then block with all signals blocked. Other users of the stream notice no
  /// change.
  ///
  /// - Returns: nil for anything else; if the stream cannot be opened, such as another user's terminal; or if it is not
  ///   open for writing, because this process was started without that stream.
  private static func openAnew(_ target: Int32) -> Int32? {
    let flags = fcntl(target, F_GETFL)
    guard flags >= 0, [O_WRONLY, O_RDWR].contains(flags & O_ACCMODE) else { return nil }
    var status = stat()
    guard unsafe fstat(target, &status) == 0, [S_IFCHR, S_IFIFO].contains(status.st_mode & S_IFMT) else { return nil }
    let own = unsafe open("/proc/self/fd/\(target)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    return own >= 0 ? own : nil
  }

  private var isWriting: Bool { written < output.count }

  /// True until all output of the program is passed on, or no more can be.
  var isOpen: Bool { descriptor >= 0 || isWriting }

  /// The event to wait for: room for output, or else more data from the program.
  var polled: pollfd {
    isWriting
      ? pollfd(fd: target, events: Int16(POLLOUT), revents: 0)
      : pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  }

  /// Handles the event of ``polled``: writes as much as there is room for, or reads at most `atMost` bytes.
  ///
  /// - Throws: ``Failure`` if the output cannot be written. Then no more of it is passed on, and the program's next
  ///   write fails. A reader that is gone is no failure.
  mutating func pass(atMost: Int) throws(Failure) {
    guard isWriting else { return read(atMost: atMost) }
    do throws(Failure) {
      written += try output.withBytes { bytes throws(Failure) in
        try Output.writePart(of: bytes.extracting(droppingFirst: written), to: target)
      }
    } catch {
      let code = errno
      finish()
      output = SecretBuffer()
      written = 0
      if code != EPIPE { throw error }
    }
  }

  private mutating func read(atMost: Int) {
    var input = SecretBuffer(capacity: atMost)
    let count = FileInput.read(descriptor, into: &input, atMost: atMost)
    if count < 0, errno == EINTR { return }
    output = SecretBuffer(capacity: input.count)
    written = 0
    if count > 0 {
      input.withBytes { masker.add($0, into: &output) }
    } else {
      masker.finish(into: &output)
      finish()
    }
  }

  private mutating func finish() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
