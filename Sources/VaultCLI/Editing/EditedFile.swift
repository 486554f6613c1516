internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultWire

/// A file that an editor may change, in memory and in a folder that nobody else can enter. Both go with this value, and with
/// them whatever the editor has put beside the file.
///
/// Its name says nothing about the item: whoever lists the processes of the machine sees it.
struct EditedFile: ~Copyable {
  private static let name = "value.txt"
  private let folder: String
  var path: String { "\(folder)/\(Self.name)" }

  private init(in folder: String) { self.folder = folder }

  /// Makes one that holds `text`.
  ///
  /// - Throws: ``Failure`` when there is no folder in memory, or no room in it.
  static func make(_ text: borrowing SecretBuffer) throws(Failure) -> EditedFile {
    let file = EditedFile(in: try makeFolder())
    let descriptor = unsafe open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(file.path) }
    defer { close(descriptor) }
    try text.withBytes { bytes throws(Failure) in try Output.write(bytes, to: descriptor) }
    return file
  }

  deinit { Self.remove(folder) }

  /// What it holds now.
  borrowing func read() throws(Failure) -> SecretBuffer {
    let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw Self.failure(path) }
    defer { close(descriptor) }
    return try FileInput.readAll(descriptor, limit: SetRequest.valueLimit, name: path)
  }

  private static func failure(_ path: String) -> Failure { Failure(.io, "\(path): \(Output.describe(errno))") }

  /// A new folder of mode 0700 below the first place that is in memory.
  private static func makeFolder() throws(Failure) -> String {
    for place in [Environment.variable("XDG_RUNTIME_DIR") ?? RuntimeDirectory.found(), "/dev/shm"] {
      guard let place, place.hasPrefix("/"), isInMemory(place) else { continue }
      var template = Array("\(place)/vault-XXXXXX".utf8CString)
      // It ends with a NUL, and what is written over is the six letters before that.
      guard unsafe mkdtemp(&template) != nil else { continue }
      return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    throw Failure(
      .configuration, "there is no folder in memory for the value: neither XDG_RUNTIME_DIR nor /dev/shm is a tmpfs",
      "mount one")
  }

  /// True for a tmpfs or ramfs (statfs(2)).
  private static func isInMemory(_ place: String) -> Bool {
    var system = statfs()
    return unsafe statfs(place, &system) == 0 && [0x0102_1994, 0x8584_58F6].contains(Int(system.f_type))
  }

  /// Removes a folder with all that is in it. The memory of files is overwritten before: the kernel gives it back as it is.
  private static func remove(_ folder: String) {
    if let stream = unsafe opendir(folder) {
      defer { unsafe closedir(stream) }
      while let entry = unsafe readdir(stream) {
        let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          // The kernel ends it with a NUL.
          unsafe String(cString: bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
        }
        if name == "." || name == ".." { continue }
        let path = "\(folder)/\(name)"
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { continue }
        if status.st_mode & S_IFMT == S_IFDIR {
          remove(path)
          continue
        }
        if status.st_mode & S_IFMT == S_IFREG { overwrite(path, count: Int(status.st_size)) }
        unsafe unlink(path)
      }
    }
    unsafe rmdir(folder)
  }

  private static func overwrite(_ path: String, count: Int) {
    let descriptor = unsafe open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let zeros = [UInt8](repeating: 0, count: 64 << 10)
    var left = count
    while left > 0 {
      let written = unsafe zeros.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, min(left, $0.count)) }
      guard written > 0 else { return }
      left -= written
    }
  }
}
