internal import CLinux
internal import Glibc
internal import VaultBytes

/// The files that an import writes: the report and the template.
struct ImportFiles {
  let report: String?
  let template: String?

  /// Throws if one of the files is there or cannot be made, or if both are the same. The items are stored before the
  /// files are written, so whatever can be known about the files before is found out here.
  func check(reading source: String) throws(Failure) {
    if let report { try Self.check(report, "report", reading: source) }
    if let template { try Self.check(template, "template", reading: source) }
    if let report, let template, Self.areSame(report, template) {
      throw Failure(.usage, "--report and --template name the same file", "give another name for one of them")
    }
  }

  private static func check(_ file: String, _ what: String, reading source: String) throws(Failure) {
    do throws(Failure) { try NewFile.check(file, replaces: false, reading: [source]) } catch {
      guard error.exit == .exists else { throw error }
      throw Failure(.exists, error.event, "give another name for the \(what)")
    }
    // The file goes away at once.
    _ = try NewFile(file, replaces: false, isFleeting: true)
  }

  /// True if two paths name the same file of the same folder, whether it is there or not.
  static func areSame(_ one: String, _ other: String) -> Bool {
    func parts(_ path: String) -> (folder: String, name: Substring) {
      guard let slash = path.lastIndex(of: "/") else { return (".", path[...]) }
      return (slash == path.startIndex ? "/" : String(path[..<slash]), path[path.index(after: slash)...])
    }
    let (one, other) = (parts(one), parts(other))
    guard one.name.utf8.elementsEqual(other.name.utf8) else { return false }
    var (first, second) = (stat(), stat())
    guard unsafe fstatat(AT_FDCWD, one.folder, &first, 0) == 0,
      unsafe fstatat(AT_FDCWD, other.folder, &second, 0) == 0
    else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// Writes the report and the template.
  ///
  /// - Parameters:
  ///   - makeTemplate: makes the template; nil if none is to be written.
  ///   - stored: the number of items that the import has stored.
  /// - Returns: the first failure, which says that the items are stored all the same; nil if both files are written.
  func write(
    report text: @autoclosure () -> String, _ makeTemplate: (() throws -> ImportTemplate)?, stored: Int
  ) -> Failure? {
    var failures: [Failure] = []
    if let report {
      do { try NewFile.write(text(), to: report, replaces: false) } catch {
        failures.append(Self.failure(error, "report", stored))
      }
    }
    if let template, let makeTemplate {
      do {
        let made = try makeTemplate()
        try NewFile.write(template, replaces: false) { file, _ in try made.withBytes { try file.write($0) } }
        Output.note(made.note)
      } catch {
        failures.append(Self.failure(error, "template", stored))
      }
    }
    return failures.first
  }

  /// The failure to write a file after items were stored.
  static func failure(_ error: any Error, _ what: String, _ stored: Int) -> Failure {
    let failure = Failure(any: error)
    let again = "the same command with another name for the \(what) writes it"
    let advice = failure.exit == .exists ? again : failure.advice
    guard stored > 0 else { return Failure(failure.exit, failure.event, advice) }
    let items = stored == 1 ? "1 item is" : "\(stored) items are"
    return Failure(failure.exit, "\(items) stored, but there is no \(what): \(failure.event)", advice)
  }
}
