internal import Glibc

/// A change of a file that `vault secret-service enable` makes, and that `disable` undoes.
enum OwnChange: Equatable {
  /// A place has other content than before; `mode` is that of the former file, nil for what is not a file.
  case content(path: String, made: PlaceContent, former: PlaceContent, mode: mode_t?)
  /// A setting in a file of settings has another value than before; `former` is nil if it was not set.
  case setting(path: String, key: String, value: String, former: String?)
  /// A folder was made.
  case folder(path: String)

  /// The path of the change, which identifies it.
  var path: String {
    switch self {
    case .content(let path, _, _, _), .setting(let path, _, _, _), .folder(let path): path
    }
  }

  /// The result of undoing a change.
  enum Undoing: Equatable {
    /// Everything is as it was before the change.
    case done
    /// Everything was so already, because the change was not made or was already undone.
    case needless
    /// Somebody has changed the place since, so it stays as it is.
    case kept
  }

  /// Makes the change, unless it is made.
  func make() throws(Failure) {
    switch self {
    case .content(let path, let made, _, _): if PlaceContent(of: path) != made { try made.put(at: path) }
    case .setting(let path, let key, let value, _): try SettingEdit(path).set(key, to: value)
    case .folder(let path): try Folders.make(path)
    }
  }

  /// Undoes the change, unless somebody has changed the place since.
  func undo() throws(Failure) -> Undoing {
    switch self {
    case .content(let path, let made, let former, let mode):
      switch PlaceContent(of: path) {
      case made: break
      case former: return .needless
      default: return .kept
      }
      try former.put(at: path, mode: mode ?? PlaceContent.usualMode)
      return .done
    case .setting(let path, let key, let value, let former):
      let edit = SettingEdit(path)
      let present = edit.value(of: key)
      guard present == value else { return present == former ? .needless : .kept }
      try edit.set(key, to: former)
      return .done
    case .folder(let path): return Folders.remove(path) ? .done : .needless
    }
  }

  // MARK: The record

  /// The change as a line of the record.
  var line: String {
    let words: [String] =
      switch self {
      case .content(let path, let made, let former, let mode):
        ["content", PlaceContent.escape(path), made.word, former.word] + (mode.map { [String($0, radix: 8)] } ?? [])
      case .setting(let path, let key, let value, let former):
        ["setting", PlaceContent.escape(path), key, PlaceContent.escape(value)]
          + (former.map { [PlaceContent.escape($0)] } ?? [])
      case .folder(let path): ["folder", PlaceContent.escape(path)]
      }
    return words.joined(separator: " ")
  }

  /// Reads a line of the record; nil if it is not one.
  init?(line: Substring) {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count > 1, let path = PlaceContent.unescape(words[1]), path.hasPrefix("/") else { return nil }
    switch (words[0], words.count) {
    case ("content", 4), ("content", 5):
      guard let made = PlaceContent(word: words[2]), let former = PlaceContent(word: words[3]) else { return nil }
      var mode: mode_t?
      if words.count == 5 {
        guard words[4].count <= 4, let bits = mode_t(words[4], radix: 8), bits <= 0o777 else { return nil }
        mode = bits
      }
      self = .content(path: path, made: made, former: former, mode: mode)
    case ("setting", 4), ("setting", 5):
      guard let value = PlaceContent.unescape(words[3]) else { return nil }
      var former: String?
      if words.count == 5 {
        guard let text = PlaceContent.unescape(words[4]) else { return nil }
        former = text
      }
      self = .setting(path: path, key: String(words[2]), value: value, former: former)
    case ("folder", 2): self = .folder(path: path)
    default: return nil
    }
  }
}
