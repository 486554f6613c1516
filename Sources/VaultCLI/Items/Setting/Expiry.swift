/// The time at which an item expires, as a person gives it.
enum Expiry: Equatable {
  case never
  /// A time in Unix seconds, 0 or more.
  case time(Int64)

  /// The word for ``never``.
  static let word = "never"

  /// The expiry as a call has it, in Unix seconds. There 0 means never, so the time 0 becomes 1.
  var wire: Int64 {
    switch self {
    case .never: 0
    case .time(let time): max(1, time)
    }
  }
}
