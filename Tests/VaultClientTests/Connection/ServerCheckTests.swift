import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultClient

let isRoot = Root.isAtHand

@Suite final class ServerCheckTests {
  let server: FakeServer

  init() throws {
    server = try FakeServer { peer, _ in
      while try peer.read() != nil { peer.reply() }
    }
  }

  deinit { server.close() }

  /// Returns true if nobody has connected to the server so far. The server counts connections in order, so the one that
  /// is answered now must be the first.
  private func isUntouched() throws -> Bool {
    setMode(0o700, of: server.directory)
    #expect(unsafe chown(server.directory, geteuid(), getegid()) == 0)
    try server.vault.lock()
    return server.connections == 1
  }

  private func connect(
    _ trust: SocketLocation.Trust = .runtimeDirectory, _ path: String? = nil
  ) -> ClientError? {
    clientError { _ = try Connection(to: SocketLocation(path: path ?? server.path, trust: trust), patience: .zero) }
  }

  @Test("A socket in a directory of one's own with mode 0700 is spoken to")
  func acceptsOwn() {
    #expect(connect() == nil)
    #expect(connect(.explicit) == nil)
    #expect(throws: Never.self) { try server.vault.lock() }
    #expect(server.connections == 3)
  }

  @Test("The user's directory must be closed to others", arguments: [0o701, 0o710, 0o750, 0o755, 0o770, 0o777])
  func refusesOpenDirectory(_ mode: mode_t) throws {
    setMode(mode, of: server.directory)
    #expect(isUnsafe(connect()))
    #expect(try isUntouched())
  }

  @Test("A directory named by hand may be read by others, but not written by everyone")
  func refusesWorldWritable() throws {
    setMode(0o755, of: server.directory)
    #expect(connect(.explicit) == nil)
    for mode in [0o777, 0o707, 0o1777, 0o702] as [mode_t] {
      setMode(mode, of: server.directory)
      #expect(isUnsafe(connect(.explicit)))
      #expect(isUnsafe(connect(.system)))
    }
  }

  @Test("A socket that is a symbolic link is refused, also to one's own socket")
  func refusesSymbolicLink() throws {
    let link = server.directory + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "socket")
    for trust in [.runtimeDirectory, .explicit, .system] as [SocketLocation.Trust] {
      #expect(isUnsafe(connect(trust, link)))
    }
    #expect(try isUntouched())
  }

  @Test("A directory that is a symbolic link is refused")
  func refusesLinkedDirectory() throws {
    let link = server.directory + "/inner"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: ".")
    #expect(isUnsafe(connect(.runtimeDirectory, link + "/socket")))
    #expect(isUnsafe(connect(.explicit, link + "/socket")))
  }

  @Test("What is no socket is refused", arguments: ["file", "fifo", "folder"])
  func refusesOtherFiles(_ name: String) throws {
    let path = server.directory + "/" + name
    switch name {
    case "file": #expect(FileManager.default.createFile(atPath: path, contents: Data()))
    case "fifo": #expect(unsafe mkfifo(path, 0o600) == 0)
    default: #expect(unsafe mkdir(path, 0o700) == 0)
    }
    #expect(isUnsafe(connect(.runtimeDirectory, path)))
    #expect(isUnsafe(connect(.runtimeDirectory, path + "/socket")) == (name != "folder"))
  }

  @Test("Where nothing is, there is no daemon")
  func tellsNobodyIsThere() {
    let path = server.directory + "/none"
    #expect(connect(.runtimeDirectory, path) == .noDaemon(path))
    #expect(connect(.runtimeDirectory, path + "/socket") == .noDaemon(path + "/socket"))
  }

  @Test("A path too long for a socket address works all the same")
  func reachesLongPaths() throws {
    let parent = server.directory + "/" + String(repeating: "x", count: 200)
    #expect(unsafe mkdir(parent, 0o700) == 0)
    let far = try FakeServer(in: parent) { peer, _ in try peer.waitForEnd() }
    defer { far.close() }
    #expect(connect(.runtimeDirectory, far.path) == nil)
  }

  @Test("Another user's directory is refused", .enabled(if: isRoot, "only root can give a directory away"))
  func refusesOthersDirectory() throws {
    #expect(unsafe chown(server.directory, 65534, 65534) == 0)
    #expect(isUnsafe(connect()))
    #expect(isUnsafe(connect(.explicit)))
    #expect(try isUntouched())
  }

  @Test(
    "The system's socket may be served by root whoever owns its directory",
    .enabled(if: isRoot, "only root can give a directory away"))
  func acceptsRootAsSystem() {
    #expect(unsafe chown(server.directory, 65534, 65534) == 0)
    #expect(connect(.system) == nil)
  }

  @Test(
    "A process of another user behind the socket is refused, unless it is the system's and owns the directory",
    .enabled(if: isRoot, "only root can start a process of another user"))
  func refusesOthersProcess() throws {
    let path = server.directory + "/other"
    let stranger = try Stranger(at: path)
    defer { stranger.end() }
    #expect(isUnsafe(connect(.runtimeDirectory, path)))
    #expect(isUnsafe(connect(.explicit, path)))
    #expect(isUnsafe(connect(.system, path)))
    #expect(unsafe chown(server.directory, 65534, 65534) == 0)
    #expect(connect(.system, path) == nil)
  }

  @Test(
    "A path that somebody gave may lead to another user's directory: that user's daemon is spoken to, and root's",
    .enabled(if: isRoot, "only root can start a process of another user"))
  func acceptsOwnerOfNamedDirectory() throws {
    let place = try ForeignPlace()
    defer { place.remove() }
    let stranger = try Stranger(at: place.socket)
    defer { stranger.end() }
    #expect(connect(.explicit, place.socket) == nil)
    #expect(isUnsafe(connect(.runtimeDirectory, place.socket)))
    let own = try FakeServer(in: place.directory) { peer, _ in try peer.waitForEnd() }
    defer { own.close() }
    #expect(unsafe chown(own.directory, ForeignPlace.owner, 0) == 0)
    #expect(connect(.explicit, own.path) == nil)
  }

  @Test(
    "In a directory that is root's only root and oneself are spoken to, whoever else listens there",
    .enabled(if: isRoot, "only root can start a process of another user"))
  func refusesOthersInRootsDirectory() throws {
    let place = try ForeignPlace()
    defer { place.remove() }
    let stranger = try Stranger(at: place.socket)
    defer { stranger.end() }
    #expect(unsafe chown(place.directory, 0, 0) == 0)
    #expect(isUnsafe(connect(.explicit, place.socket)))
  }

  @Test(
    "Another user's directory is refused where somebody else could write to it, or lead the way to it elsewhere",
    .enabled(if: isRoot, "only root can give a directory away"))
  func refusesOpenWays() throws {
    let place = try ForeignPlace()
    defer { place.remove() }
    let stranger = try Stranger(at: place.socket)
    defer { stranger.end() }
    for directory in [place.directory, place.parent] {
      for mode: mode_t in [0o775, 0o757, 0o1777] {
        setMode(mode, of: directory)
        #expect(isUnsafe(connect(.explicit, place.socket)), "\(directory), mode \(String(mode, radix: 8))")
      }
      setMode(0o755, of: directory)
    }
    #expect(unsafe chown(place.parent, ForeignPlace.owner + 1, 0) == 0)
    #expect(isUnsafe(connect(.explicit, place.socket)))
    #expect(unsafe chown(place.parent, ForeignPlace.owner, 0) == 0)
    #expect(connect(.explicit, place.socket) == nil)
    try FileManager.default.createSymbolicLink(atPath: place.root + "/link", withDestinationPath: place.parent)
    #expect(isUnsafe(connect(.explicit, place.root + "/link/inner/socket")))
    func upwards(from path: String) -> String { path.split(separator: "/").map { _ in "../" }.joined() }
    let relative = upwards(from: FileManager.default.currentDirectoryPath) + place.socket.dropFirst()
    #expect(FileManager.default.fileExists(atPath: relative))
    #expect(isUnsafe(connect(.explicit, relative)))
    #expect(connect(.explicit, "\(place.root)/\(upwards(from: place.root))./\(place.socket)") == nil)
  }
}

/// A directory of another user, on a path that nobody else can change. It lies below `/run`, because every user can
/// write to the directories of other tests.
private struct ForeignPlace {
  static let owner: uid_t = 65534
  let root: String
  var parent: String { root + "/parent" }
  var directory: String { parent + "/inner" }
  var socket: String { directory + "/socket" }

  init() throws {
    root = try ScratchFolder.make(in: "/run")
    setMode(0o755, of: root)
    for path in [parent, directory] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      setMode(0o755, of: path)
    }
    #expect(unsafe chown(directory, Self.owner, 0) == 0)
  }

  func remove() { try? FileManager.default.removeItem(atPath: root) }
}

/// A process of the user nobody that listens on a socket.
private final class Stranger {
  private let process = Process()
  private let input = Pipe()

  init(at path: String) throws {
    process.executableURL = URL(filePath: "/usr/bin/perl")
    // The script makes the socket as root, listens as nobody, and stays until its input ends.
    process.arguments = [
      "-MSocket", "-e",
      """
      socket(S, PF_UNIX, SOCK_STREAM, 0) && bind(S, pack_sockaddr_un($ARGV[0])) || die; $> = 65534;
      listen(S, 5) || die; syswrite(STDOUT, "x"); sysread(STDIN, $b, 1)
      """, path,
    ]
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    #expect(try output.fileHandleForReading.read(upToCount: 1) == Data("x".utf8))
  }

  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
