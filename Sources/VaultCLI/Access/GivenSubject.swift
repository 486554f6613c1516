internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultProcess

/// A subject from the command line, with the symbolic links in the path of its program resolved.
///
/// The daemon compares the path after `exe:` with the path that the kernel reports for a process, which contains no
/// symbolic links. So links are resolved here, in the mount namespace of the person who gives the subject.
struct GivenSubject {
  /// The subject as it was given.
  let given: String
  /// The subject with the resolved path.
  let text: String
  /// The reason why no process can run the file at that path at present; nil if a process can.
  let obstacle: String?

  /// - Throws: ``Failure`` if the resolved path cannot be a part of a subject.
  init(_ given: String) throws(Failure) {
    self.given = given
    var obstacle: String?
    var parts: [String] = []
    for part in given.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      guard part.hasPrefix(Self.kind), case let path = String(part.dropFirst(Self.kind.count)), path.hasPrefix("/")
      else {
        parts.append(part)
        continue
      }
      let file = try Self.resolved(path)
      guard !file.unicodeScalars.contains(where: { $0 == "," || $0.value < 0x20 || (0x7F...0x9F) ~= $0.value }) else {
        throw Failure(
          .usage, "\(Printable.quoted(path)) leads to \(Printable.quoted(file)), which no subject can name",
          "rename that file, or give its sha256:")
      }
      obstacle = Self.obstacle(to: file)
      parts.append(Self.kind + file)
    }
    text = parts.joined(separator: ",")
    self.obstacle = obstacle
  }

  private static let kind = "exe:"

  /// True if the subject was given with another path than its resolved one.
  private var isResolved: Bool { !text.utf8.elementsEqual(given.utf8) }

  /// Calls `body` with the resolved subject. If the vault has nothing for it, calls `body` with the subject as given,
  /// because an earlier version stored subjects with unresolved paths.
  ///
  /// - Returns: the answer, and the subject with which `body` succeeded.
  func finding<R>(_ body: (String) throws(Failure) -> R) throws(Failure) -> (answer: R, subject: String) {
    do throws(Failure) { return (try body(text), text) } catch {
      guard error.exit == .missing, isResolved else { throw error }
      do throws(Failure) { return (try body(given), given) } catch let second {
        throw second.exit == .missing ? error : second
      }
    }
  }

  /// Says on a terminal to which path a link leads.
  func noteLink() {
    guard isResolved, Keyboard.isAttended else { return }
    Output.note("\(Printable.whole(given)) is resolved to \(Printable.whole(text))")
  }

  /// Says to which path a link leads and, even without a terminal, that no process matches the subject at present.
  func noteProcess() {
    noteLink()
    if let obstacle { Output.note("no process is \(Printable.whole(text)) at present: \(obstacle)") }
  }

  // MARK: The file

  /// Returns a path without symbolic links. If there is no such file, its folder is resolved, and so is a link that
  /// leads to no file yet; if there is no such folder either, the path is returned unchanged.
  ///
  /// - Throws: ``Failure`` if the path leads to a name that no subject can have.
  private static func resolved(_ path: String, links: Int = mostLinks) throws(Failure) -> String {
    if let whole = try real(path) { return whole }
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    let name = path[slash...].dropFirst()
    guard !name.isEmpty, name != ".", name != "..", let folder = try real(String(path[...slash])) else { return path }
    let file = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    guard links > 0, let target = SymbolicLink.target(of: file) else { return file }
    return try resolved(target.hasPrefix("/") ? target : "\(folder)/\(target)", links: links - 1)
  }

  /// The most links that the kernel follows in one path; see path_resolution(7).
  private static let mostLinks = 40

  private static func real(_ path: String) throws(Failure) -> String? {
    // The text is copied and then freed.
    guard let text = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(text) }
    guard let real = unsafe String(validatingCString: text) else {
      throw Failure(
        .usage, "\(Printable.quoted(path)) leads to a path that is not UTF-8, which no subject can name",
        "rename that file, or give its sha256:")
    }
    return real
  }

  private static func obstacle(to path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      return errno == ENOENT || errno == ENOTDIR ? "there is no such file" : Output.describe(errno)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      return status.st_mode & S_IFMT == S_IFDIR ? "that is a folder" : "that is not a regular file"
    }
    guard status.st_mode & 0o111 != 0 else { return "that file is not executable" }
    return isScript(path) ? "that file is a script, whose processes run its interpreter" : nil
  }

  /// Returns true for a file that execve(2) runs with an interpreter.
  private static func isScript(_ path: String) -> Bool {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return false }
    defer { close(file) }
    var mark: [UInt8] = [0, 0]
    // The array has the two bytes that read(2) may fill.
    return unsafe read(file, &mark, 2) == 2 && mark == Array("#!".utf8)
  }
}
