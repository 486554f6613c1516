import Glibc

/// A file that another one has replaced under its name, kept open.
///
/// The system frees the blocks of such a file when its last descriptor is closed, which takes long for a large file.
/// Release the last reference on a thread that nobody waits for.
public final class DisplacedFile: Sendable {
  private let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }
}
