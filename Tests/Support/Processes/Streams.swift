import Glibc

/// The three streams of a running program, fed and drained together so that neither side can block the other.
struct Streams: ~Copyable {
  private var descriptors: [Int32]
  private var unsent: ArraySlice<UInt8>
  private(set) var stdout: [UInt8] = []
  private(set) var stderr: [UInt8] = []

  /// Takes ownership of the three descriptors.
  init(input: Int32, output: Int32, errors: Int32, unsent: ArraySlice<UInt8>) {
    // A program that does not read its input must not end the tests.
    Glibc.signal(SIGPIPE, SIG_IGN)
    descriptors = [input, output, errors]
    self.unsent = unsent
    for descriptor in descriptors { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
  }

  deinit { for descriptor in descriptors where descriptor >= 0 { close(descriptor) } }

  /// Passes bytes on until both outputs are at their end; false if `seconds` pass without a byte.
  mutating func exchange(seconds: Int32) -> Bool {
    while descriptors[1] >= 0 || descriptors[2] >= 0 {
      if unsent.isEmpty { finish(0) }
      // poll skips negative descriptors.
      var polled = (0...2).map { index in
        pollfd(fd: descriptors[index], events: Int16(index == 0 ? POLLOUT : POLLIN), revents: 0)
      }
      let ready = unsafe poll(&polled, 3, seconds * 1000)
      if ready == 0 { return false }
      if ready < 0 { continue }
      if polled[0].revents != 0 { send() }
      if polled[1].revents != 0 { stdout += receive(1) }
      if polled[2].revents != 0 { stderr += receive(2) }
    }
    return true
  }

  private mutating func send() {
    let count = unsafe unsent.withUnsafeBytes { unsafe write(descriptors[0], $0.baseAddress, $0.count) }
    if count > 0 { unsent = unsent.dropFirst(count) } else if errno != EAGAIN { finish(0) }
  }

  private mutating func receive(_ index: Int) -> ArraySlice<UInt8> {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = unsafe read(descriptors[index], &buffer, buffer.count)
    if count == 0 || (count < 0 && errno != EAGAIN) { finish(index) }
    return buffer.prefix(max(count, 0))
  }

  private mutating func finish(_ index: Int) {
    guard descriptors[index] >= 0 else { return }
    close(descriptors[index])
    descriptors[index] = -1
  }
}
