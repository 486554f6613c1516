internal import VaultModel
internal import VaultService

extension Refusal {
  /// The reason for the journal, without the name of an item.
  var reasonWithoutNames: String {
    switch self {
    case .denied(let reason), .busy(let reason): reason
    case .noVault: "there is no vault"
    case .noSuchItem: "the item is not there"
    case .expired: "the item has expired"
    case .presenceRequired: "the item asks for a person each time"
    case .tooLarge(let limit): "the value has more than \(limit) bytes"
    case .invalid(let what): "\(what) was sent"
    default: outcome.name
    }
  }
}
