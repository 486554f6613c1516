internal import Glibc
internal import VaultBytes
internal import VaultService

/// The prompts for unlocks that clients have begun, in a file of mode 0600 beside the socket, so that the next daemon
/// ends them once the vault is unlocked: some clients wait through a restart. The file has paths and processes, and
/// nothing that tells a label, an attribute or the name of an item. A search that waits, and the path of a shared item,
/// are sealed there, and only the vault's key opens them.
///
/// A unique name means the same connection only on the same bus, so the file counts only for the bus that it names.
final class KeptPrompts {
  struct Entry: Equatable {
    /// The number in the prompt's path.
    let number: Int
    /// The client's unique name, and its process.
    let name: String
    let pid: Int32
    /// The start time of the process, in clock ticks since boot.
    let started: UInt64
    /// The paths that the client wants unlocked.
    let paths: [Path]
  }

  struct Path: Equatable {
    /// The path as the client wrote it.
    let text: String
    /// The search whose first match the path stands for; nil for a path of an object.
    var search: KeptSearch?
    /// The sealed path of the shared item that this path stands for; nil for none.
    var sealed: [UInt8]?
  }

  /// The most paths that are kept of one prompt, the most sealed bytes of one path, and the most bytes of the file.
  private static let (mostPaths, mostSealed, mostBytes) = (256, 4096, 1 << 20)
  /// The most prompts of the file that are taken up.
  private static let most = 1024
  private static let header = "vault prompts 1"

  private let path: String
  private var bus: String?
  private var entries: [Int: Entry] = [:]

  /// True while the file is to be written.
  private var isDue = false
  private let later: (@escaping () -> Void) -> Void

  /// - Parameter later: runs a closure in a later turn, so that many changes in one turn write the file once.
  init(in folder: String, later: @escaping (@escaping () -> Void) -> Void) {
    path = folder + "/prompts"
    self.later = later
  }

  /// The prompts that were kept on this bus, by an earlier daemon or before the connection to the bus was lost.
  func take(on bus: String?) -> [Entry] {
    guard let bus else { return [] }
    switchBus(to: bus)
    return entries.values.sorted { $0.number < $1.number }
  }

  func add(_ entry: Entry, on bus: String?) {
    guard let bus else { return }
    switchBus(to: bus)
    guard entries[entry.number] != entry else { return }
    entries[entry.number] = entry
    writeLater()
  }

  private func switchBus(to bus: String) {
    guard bus != self.bus else { return }
    let isRead = self.bus != nil
    (self.bus, entries) = (bus, [:])
    if !isRead, let text = try? TextFile.readOwn(path, limit: Self.mostBytes), let found = Self.parse(text, bus) {
      for entry in found.prefix(Self.most) { entries[entry.number] = entry }
    }
    writeLater()
  }

  func remove(_ number: Int) { if entries.removeValue(forKey: number) != nil { writeLater() } }

  // MARK: The file

  private func writeLater() {
    guard !isDue else { return }
    isDue = true
    later { [weak self] in
      self?.isDue = false
      self?.write()
    }
  }

  /// Writes the file anew. What cannot be written is lost with the daemon.
  private func write() {
    guard !entries.isEmpty, let bus else {
      unsafe unlink(path)
      return
    }
    var text = "\(Self.header)\nbus \(bus)\n"
    for entry in entries.values.sorted(by: { $0.number < $1.number }) {
      let line = Self.line(entry)
      if text.utf8.count + line.utf8.count <= Self.mostBytes { text += line }
    }
    try? TextFile.replace(path, with: text)
  }

  /// No path has a blank or `=` in it.
  private static func line(_ entry: Entry) -> String {
    let paths = entry.paths.prefix(mostPaths).map { path in
      guard let (word, sealed) = content(path), sealed.count <= mostSealed else { return path.text }
      return "\(path.text)=\(word):\(sealed.hex)"
    }
    let words = ["\(entry.number)", entry.name, "\(entry.pid)", "\(entry.started)"] + paths
    return words.joined(separator: " ") + "\n"
  }

  /// The words for a search of all collections, for a search of the path's own collection, and for the path of an item.
  private static let (everywhere, here, item) = ("all", "own", "item")

  /// The sealed bytes that are kept with a path, after the word for them; nil if there are none.
  private static func content(_ path: Path) -> (word: String, sealed: [UInt8])? {
    if let search = path.search { return (search.isEverywhere ? everywhere : here, search.sealed) }
    return path.sealed.map { (word: item, sealed: $0) }
  }

  private static func path(_ word: String) -> Path? {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { return Path(text: word) }
    let content = parts[1].split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard content.count == 2, let sealed = [UInt8](hex: content[1]) else { return nil }
    switch content[0] {
    case everywhere, here:
      return Path(text: parts[0], search: KeptSearch(isEverywhere: content[0] == everywhere, sealed: sealed))
    case item: return Path(text: parts[0], sealed: sealed)
    default: return nil
    }
  }

  /// Reads the prompts of a file for this bus; nil if no program of ours wrote it.
  static func parse(_ text: String, _ bus: String) -> [Entry]? {
    let lines = text.split(separator: "\n")
    guard lines.count >= 2, lines[0] == header else { return nil }
    guard lines[1] == "bus \(bus)" else { return [] }
    var found: [Entry] = []
    for line in lines.dropFirst(2) {
      let words = line.split(separator: " ").map(String.init)
      guard words.count >= 4, let number = Int(words[0]), (1..<Int.max >> 1).contains(number),
        let pid = Int32(words[2]), let started = UInt64(words[3])
      else { return nil }
      let paths = words.dropFirst(4).compactMap(path)
      guard paths.count == words.count - 4 else { return nil }
      found.append(Entry(number: number, name: words[1], pid: pid, started: started, paths: paths))
    }
    return found
  }
}
