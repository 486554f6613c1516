internal import Glibc

// The notices about the output and the files beside it that need the attention of a person, for the journal and `vault
// status`.
extension Keeper {
  /// Reports files that were left under temporary names, and updates the notice once they are gone.
  func tellLeftovers() {
    let own = file.ownLeftovers
    let paths = Set(file.leftovers + own)
    guard paths != leftovers else { return }
    for path in paths.subtracting(leftovers) { report.leftover(path, own.contains(path) ? .own : .foreign) }
    leftovers = paths
    files.others = Set(
      paths.map { path in String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]) })
    tellNotice()
  }

  /// The notice for `vault status`; nil if there is nothing to report.
  var notice: String? {
    var words = NoticeText()
    let output = Self.absolute(file.output.path)
    if isHeld {
      words.add("", output, " is held, because another program has written it")
    } else if foreign != nil {
      words.add("", output, " differs from the template's text, because another program has written it")
    }
    for path in (file.hasAside ? [file.asidePath] : []) + file.leftovers {
      words.add(KeeperReport.Leftover.foreign.rawValue + " lies in ", Self.absolute(path))
    }
    for path in file.ownLeftovers { words.add(KeeperReport.Leftover.own.rawValue + " lies in ", Self.absolute(path)) }
    for path in file.templateLeftovers {
      words.add(KeeperReport.Leftover.template.rawValue + " lies in ", Self.absolute(path))
    }
    return words.text()
  }

  /// The reason why versions are missing from the file, in words.
  func reason(_ words: String) -> String {
    var reason = NoticeText()
    reason.add("another program has \(words) ", file.output.path)
    return reason.text(most: NoticeText.mostOfVersion) ?? ""
  }

  /// Sends the notice again if it has changed.
  func tellNotice() {
    guard command.notice != notice, wanted != nil else { return }
    command.notice = notice
    command.sayAgain()
  }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) + "/" + path
  }
}
