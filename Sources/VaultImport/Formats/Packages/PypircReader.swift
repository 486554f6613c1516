internal import VaultBytes
internal import VaultWire

/// The reader of `.pypirc` (Python Packaging User Guide, "The .pypirc file"), with which twine uploads packages.
///
/// A server is the item that `vault helper keyring` looks up for the URL of the repository, as uv does before an
/// upload: `keyring/https:%2F%2Fupload.pypi.org%2Flegacy%2F/__token__`.
enum PypircReader: CredentialFile {
  static let format = FileFormat.pypirc
  static let detail = "servers of .pypirc"
  /// The URLs that twine knows without a setting (twine/utils.py).
  private static let repositories = [
    "pypi": "https://upload.pypi.org/legacy/", "testpypi": "https://test.pypi.org/legacy/",
    "server-login": "https://upload.pypi.org/legacy/",
  ]

  static func isNamed(_ file: Source.File) -> Bool { file.isNamed(".pypirc") }

  static func isAlike(_ file: Source.File) -> Bool {
    guard let content = try? SectionFile(file.firstLines) else { return false }
    return content.sections.contains { section in
      section.name == "distutils" && section.value("index-servers") != nil
        || repositories[section.name] != nil && section.value("password") != nil
    }
  }

  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure) {
    try read(each: files, into: &found) { file, found throws(ImportFailure) in
      let content = try SectionFile(file.lines())
      var settings = Entry(settingsOf: file)
      for section in content.sections {
        guard section.options.contains(where: { $0.name == "password" }) else {
          for option in section.options {
            settings.addSetting("\(section.name): \(option.name)", size: option.value.count)
          }
          continue
        }
        try found.add(entry(section))
      }
      if content.comments > 0 { settings.addSetting("comments", size: content.comments) }
      if !settings.fields.isEmpty { try found.add(settings) }
    }
  }

  private static func entry(_ section: SectionFile.Section) -> Entry {
    let stated = section.value("repository").map { $0[...].text }
    let repository = stated ?? repositories[section.name]
    let service = repository.map { URLSpelling($0).usual } ?? section.name
    let user = section.value("username") ?? []
    var entry = Entry(.login, at: ["keyring", NameSegment.encode(service), NameSegment.encode(user)])
    entry.add("server", .text, section.name)
    if stated == nil, let repository { entry.add("repository", .url, repository) }
    var taken: Set<String> = []
    for option in section.options {
      let isFirst = taken.insert(option.name).inserted
      switch option.name {
      case "repository": entry.put(option.name, .url, option.value)
      case "username": entry.put(option.name, .username, option.value)
      case "password" where isFirst: entry.put(option.name, .password, option.value)
      case "password": entry.put(option.name, .secret, option.value)
      default: entry.addSetting(option.name, size: option.value.count)
      }
    }
    return entry
  }
}
