internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultWire

/// One of the streams of a program, on its way to one of this process's. No call of it waits.
struct MaskedStream: ~Copyable {
  private let target: Int32
  /// Where ``target`` is a descriptor of its own.
  private let isOpenedAnew: Bool
  /// The program's end of the pipe, which is the caller's to close.
  let theirs: Int32
  /// This process's end; -1 once nothing more comes.
  private var descriptor: Int32
  private var masker: Masker
  /// What is on its way, and the count of those bytes that are written.
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

  /// A terminal or pipe once more, so that writing to it never waits: one that has just had room may be stopped by the time of the
  /// write, which would then wait with all signals blocked. For the others who have it nothing changes. Nil for anything else, and
  /// where it cannot be opened, as another user's terminal, or is not open for writing, as one that the program was started
  /// without.
  private static func openAnew(_ target: Int32) -> Int32? {
    let flags = fcntl(target, F_GETFL)
    guard flags >= 0, [O_WRONLY, O_RDWR].contains(flags & O_ACCMODE) else { return nil }
    var status = stat()
    guard unsafe fstat(target, &status) == 0, [S_IFCHR, S_IFIFO].contains(status.st_mode & S_IFMT) else { return nil }
    let own = unsafe open("/proc/self/fd/\(target)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    return own >= 0 ? own : nil
  }

  private var isWriting: Bool { written < output.count }

  /// True until all is passed on that the program has written, or nothing more can be.
  var isOpen: Bool { descriptor >= 0 || isWriting }

  /// What is to be waited for: room, or else more from the program.
  var polled: pollfd {
    isWriting
      ? pollfd(fd: target, events: Int16(POLLOUT), revents: 0)
      : pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  }

  /// Does what ``polled`` has told of: writes as much as there is room for, or reads at most `atMost` bytes.
  ///
  /// - Throws: ``Failure`` when its output cannot be written; then nothing more of it is passed on, and the program hears of
  ///   that at its next writing. A reader that is gone is no failure.
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
