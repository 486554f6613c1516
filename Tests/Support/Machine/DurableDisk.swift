import CFaultyDisk
import CLinux
public import Foundation
import Glibc

/// A folder on a disk that keeps everything that was synced when the power is cut, and the rest by chance.
///
/// At each call that syncs something or changes a name, this class records what a power cut at that moment could leave:
/// of a file, its last synced content or its present one; of a folder, its last synced names or its present ones
/// (fsync(2) of a file does not cover its name). A file that was never synced is empty.
@safe public final class DurableDisk {
  /// The part of the unsynced changes that a power cut leaves.
  public enum Luck: CaseIterable, Sendable { case nothing, names, contents, everything }

  /// The content of each file by its path below the folder; nil for a folder.
  public typealias Tree = [String: Data?]

  /// A moment at which the power was cut, and what was left.
  public struct Cut: CustomStringConvertible {
    public let luck: Luck
    /// The number of calls before the cut.
    public let calls: Int
    /// True if the cut came after everything had been done.
    public let isAfterwards: Bool
    public let tree: Tree

    public var description: String {
      "after call \(calls)\(isAfterwards ? ", the last," : "") with \(luck): \(tree.keys.sorted())"
    }
  }

  /// The possible cuts. A cut that leaves the same tree as an earlier one is recorded only if it came after everything.
  public private(set) var cuts: [Cut] = []
  /// The paths, below the folder, of what was synced, in order.
  public private(set) var syncs: [String] = []

  /// The names in each folder and the content of each file, by inode.
  private struct Snapshot {
    var names: [ino_t: [String: ino_t]] = [:]
    var contents: [ino_t: Data] = [:]
  }

  private let root: String
  private let rootNumber: ino_t
  private var synced = Snapshot()
  private var now = Snapshot()
  private var calls = 0
  /// Descriptors of all files, so that the inode number of a removed file is not given to another.
  private var held: [ino_t: Int32] = [:]

  /// Begins with the present content of the folder, which counts as synced.
  ///
  /// - Parameter root: The folder.
  public init(at root: String) throws {
    self.root = root
    var status = stat()
    guard unsafe stat(root, &status) == 0 else { throw SandboxError("stat \(root): \(errno)") }
    rootNumber = status.st_ino
    look()
    synced = now
  }

  deinit { for descriptor in held.values { close(descriptor) } }

  /// Runs `body` and records the operations of this thread meanwhile.
  public func watch<R>(_ body: () throws -> R) rethrows -> R {
    // This object outlives the call.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe faulty_disk_tell(
      { context, descriptor in
        // The context is this object, as passed below.
        if let context = unsafe context {
          unsafe Unmanaged<DurableDisk>.fromOpaque(context).takeUnretainedValue().called(descriptor)
        }
      }, context)
    defer { faulty_disk_tell(nil, nil) }
    let result = try body()
    look()
    note(isAfterwards: true)
    return result
  }

  private func called(_ descriptor: Int32) {
    calls += 1
    look()
    var status = stat()
    if descriptor >= 0, unsafe fstat(descriptor, &status) == 0 {
      if let names = now.names[status.st_ino] { synced.names[status.st_ino] = names }
      if let content = now.contents[status.st_ino] { synced.contents[status.st_ino] = content }
      if let path = path(of: status.st_ino) { syncs.append(path) }
    }
    note(isAfterwards: false)
  }

  // MARK: The present state

  private func look() {
    now = Snapshot()
    look(root, rootNumber)
  }

  private func look(_ path: String, _ number: ino_t) {
    var names: [String: ino_t] = [:]
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      let inner = path + "/" + name
      var status = stat()
      guard unsafe lstat(inner, &status) == 0 else { continue }
      names[name] = status.st_ino
      if held[status.st_ino] == nil { held[status.st_ino] = unsafe open(inner, O_PATH | O_NOFOLLOW | O_CLOEXEC) }
      if status.st_mode & S_IFMT == S_IFDIR {
        look(inner, status.st_ino)
      } else {
        // The content of a lock file means nothing after a power cut.
        now.contents[status.st_ino] = name.hasSuffix(".lock") ? Data() : FileManager.default.contents(atPath: inner)
      }
    }
    now.names[number] = names
  }

  /// The path of an inode below the folder; nil if it no longer has a name.
  private func path(of number: ino_t) -> String? {
    if number == rootNumber { return "" }
    for (folder, names) in now.names {
      guard let name = names.first(where: { $0.value == number })?.key, let path = path(of: folder) else { continue }
      return path.isEmpty ? name : path + "/" + name
    }
    return nil
  }

  private func note(isAfterwards: Bool) {
    for luck in Luck.allCases {
      var tree: Tree = [:]
      grow(&tree, rootNumber, "", luck)
      guard isAfterwards || !cuts.contains(where: { $0.tree == tree }) else { continue }
      cuts.append(Cut(luck: luck, calls: calls, isAfterwards: isAfterwards, tree: tree))
    }
  }

  private func grow(_ tree: inout Tree, _ folder: ino_t, _ path: String, _ luck: Luck) {
    let (keepsNames, keepsContents) = ([.names, .everything].contains(luck), [.contents, .everything].contains(luck))
    for (name, number) in (keepsNames ? now : synced).names[folder] ?? [:] {
      let inner = path + name
      if now.names[number] != nil || synced.names[number] != nil {
        tree.updateValue(nil, forKey: inner)
        grow(&tree, number, inner + "/", luck)
      } else {
        tree[inner] = (keepsContents ? now.contents[number] : nil) ?? synced.contents[number] ?? Data()
      }
    }
  }

  /// Writes the tree that a cut left into `folder`.
  public static func put(_ tree: Tree, into folder: String) throws {
    for (path, content) in tree.sorted(by: { $0.key < $1.key }) {
      let place = folder + "/" + path
      if let content {
        try content.write(to: URL(fileURLWithPath: place))
        unsafe chmod(place, 0o600)
      } else {
        guard unsafe mkdir(place, 0o700) == 0 else { throw SandboxError("mkdir \(place): \(errno)") }
      }
    }
  }
}
