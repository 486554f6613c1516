/// The formats that the program reads. The raw value is the name that `--from` takes.
///
/// The order is the order in which unnamed files are tried: a format that is easily told from others comes before one
/// that takes nearly anything.
public enum SourceFormat: String, CaseIterable, Sendable {
  case kdbx
  case pass
  case bitwarden
  case otpauthMigration = "otpauth-migration"
  case otpauth
  case csv

  /// The reader of the format.
  var reader: any SourceReader.Type {
    switch self {
    case .kdbx: KDBXReader.self
    case .pass: PassReader.self
    case .bitwarden: BitwardenReader.self
    case .otpauthMigration: MigrationReader.self
    case .otpauth: OneTimeListReader.self
    case .csv: CSVReader.self
    }
  }

  /// The first format that recognizes the files.
  static func guess(_ source: Source) -> SourceFormat? { allCases.first { $0.reader.recognizes(source) } }
}
