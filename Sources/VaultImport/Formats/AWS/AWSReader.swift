internal import VaultBytes
internal import VaultWire

/// The reader of the files of the AWS command line and SDKs, `credentials` and `config` ("Configuration and credential
/// file settings in the AWS CLI"). The profiles of both files belong together.
///
/// A profile is the item that `vault helper aws` looks up: `aws/prod`, the secret access key with the attribute
/// `access-key-id`, or for temporary credentials the JSON that `aws sts` prints.
enum AWSReader: CredentialFile {
  static let format = FileFormat.aws
  static let detail = "profiles of AWS"

  static func isNamed(_ file: Source.File) -> Bool {
    if file.folders.suffix(2) == ["cli", "cache"] || file.folders.suffix(2) == ["sso", "cache"] { return true }
    guard file.isNamed("credentials", "config") else { return false }
    return file.folders.last == ".aws" || isAlike(file)
  }

  static func isAlike(_ file: Source.File) -> Bool {
    guard let content = try? SectionFile(file.firstLines) else { return false }
    return content.sections.contains { section in
      section.name.hasPrefix("profile ") || section.name.hasPrefix("sso-session ")
        || section.options.contains { option in
          option.name.hasPrefix("aws_") || ["credential_process", "role_arn", "sso_session"].contains(option.name)
        }
    }
  }

  static func areAlike(_ source: Source) -> Bool {
    source.files.allSatisfy { isNamed($0) || source.files.count == 1 && isAlike($0) }
      && source.files.contains { !$0.folders.contains("cache") }
  }

  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure) {
    var profiles: [AWSProfile] = []
    var places: [String: Int] = [:]
    // The file of credentials comes first, because its keys take precedence.
    let isLater = { (file: Source.File) in !file.isNamed("credentials") }
    let sorted = files.filter { !isLater($0) } + files.filter(isLater)
    try read(each: sorted, into: &found) { file, found throws(ImportFailure) in
      var settings = Entry(settingsOf: file)
      guard file.folders.last != "cache" else {
        settings.addSetting(file.name, size: file.bytes.count, "it is a cache, which the AWS command line renews")
        return try found.add(settings)
      }
      let content = try SectionFile(file.lines())
      for section in content.sections {
        guard let name = AWSProfile.name(section.name) else {
          for option in section.options {
            settings.addSetting("\(section.name): \(option.name)", size: option.value.count)
          }
          continue
        }
        if places[name] == nil {
          places[name] = profiles.count
          profiles.append(AWSProfile(name))
        }
        profiles[places[name] ?? 0].options += section.options
      }
      if content.comments > 0 { settings.addSetting("comments", size: content.comments) }
      if !settings.fields.isEmpty { try found.add(settings) }
    }
    for profile in profiles { try found.add(profile.entry) }
  }
}
