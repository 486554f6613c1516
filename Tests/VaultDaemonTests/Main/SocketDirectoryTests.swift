import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("The directory of the daemon's socket") struct SocketDirectoryTests {
  /// Takes the directory `path` and releases it at once; returns the problem with it, if any.
  private func problem(of path: String) -> SocketDirectory.Problem? {
    do throws(SocketDirectory.Problem) { _ = try SocketDirectory(path: path) } catch { return error }
    return nil
  }

  private func isUnsafe(_ path: String) -> Bool { if case .unsafe? = problem(of: path) { true } else { false } }

  @Test("one that is not there is made for its owner alone") func made() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let path = sandbox.root + "/made"
    #expect(problem(of: path) == nil)
    var status = stat()
    try #require(unsafe lstat(path, &status) == 0)
    #expect(status.st_mode == S_IFDIR | 0o700)
  }

  @Test("one in which others can put something is refused, and so is what is no directory") func refused() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let path = sandbox.root + "/directory"
    try #require(unsafe mkdir(path, 0o700) == 0)
    for mode: mode_t in [0o720, 0o702] {
      unsafe chmod(path, mode)
      #expect(problem(of: path) == .unsafe("\(path) can be written by others; set its mode to 0700"))
    }
    unsafe chmod(path, 0o755)
    #expect(problem(of: path) == nil)
    let link = sandbox.root + "/link"
    try #require(unsafe symlink(path, link) == 0)
    let file = try sandbox.write("", to: "file")
    #expect(isUnsafe(link) && isUnsafe(file))
  }

  @Test("one of another user's is refused", .enabled(if: TestUser.canBeMade, "needs root to give a directory away"))
  func otherOwner() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let path = sandbox.root + "/directory"
    try #require(unsafe mkdir(path, 0o700) == 0 && chown(path, 4711, 4711) == 0)
    let told = """
      \(path) belongs to uid 4711, whose daemon may be serving there; run vaultd as that user, or name another socket \
      with --socket
      """
    #expect(problem(of: path) == .unsafe(told))
  }

  @Test("none is made in another user's folder", .enabled(if: TestUser.canBeMade, "needs root to give a folder away"))
  func otherParent() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let folder = sandbox.root + "/folder"
    try #require(unsafe mkdir(folder, 0o700) == 0 && chown(folder, 4711, 4711) == 0)
    #expect(isUnsafe(folder + "/vault"))
    #expect(unsafe access(folder + "/vault", F_OK) != 0)
  }

  @Test("one daemon at a time has it") func taken() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let path = sandbox.root + "/directory"
    func holding() throws -> SocketDirectory.Problem? {
      let first = try SocketDirectory(path: path)
      let second = problem(of: path)
      _ = consume first
      return second
    }
    #expect(try holding() == .taken)
    #expect(problem(of: path) == nil)
  }

  @Test("a socket that was left behind is removed, and nothing else at its place") func cleared() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let directory = try SocketDirectory(path: sandbox.root + "/directory")
    let path = sandbox.root + "/directory/socket"
    try directory.clear(socket: path)
    // The type of the socket makes no difference.
    let socket = socket(AF_UNIX, 1, 0)
    defer { close(socket) }
    try #require(unsafe vault_bind_unix(socket, path) == 0)
    try directory.clear(socket: path)
    #expect(unsafe access(path, F_OK) != 0)
    try Data("somebody's".utf8).write(to: URL(fileURLWithPath: path))
    var problem: SocketDirectory.Problem?
    do throws(SocketDirectory.Problem) { try directory.clear(socket: path) } catch { problem = error }
    #expect(problem == .unsafe("\(path) exists and is not a socket; remove it or name another with --socket"))
    #expect(FileManager.default.contents(atPath: path) == Data("somebody's".utf8))
  }
}
