internal import Glibc
internal import VaultBytes
internal import VaultHelper
internal import VaultModel
internal import VaultWire

/// A conversation with `vault`, which moves items between a keyring and the vault.
struct Transfer: ~Copyable {
  private let items: ProviderItems
  private var collections: [String]
  /// The paths of the items in the collections that were listed.
  private var listed: [Int: [String]] = [:]

  /// Answers calls until `vault` hangs up, or breaks the rules.
  static func run(_ conversation: inout HelperConversation) {
    guard let frame = conversation.next(), case .open(let name, let daemon)? = ProviderCall(frame),
      let pid = pid_t(exactly: daemon)
    else { return }
    do throws(ProviderFailure) {
      let items = ProviderItems(try Self.provider(name, pid))
      let collections = try items.collections()
      guard conversation.send(ProviderReply.collections(collections).frame()) else { return }
      var transfer = Transfer(items: items, collections: collections.map(\.path))
      while let frame = conversation.next() {
        guard let call = ProviderCall(frame), transfer.answer(call, frame, &conversation) else { return }
      }
    } catch {
      _ = conversation.send(ProviderReply.failed(error).frame())
    }
  }

  private static func provider(_ name: String, _ daemon: pid_t) throws(ProviderFailure) -> Provider {
    do throws(KeystoreError) { return try Provider(name, unlike: daemon) } catch {
      guard error.code == .refused else { throw ProviderFailure(.unavailable, error.reason) }
      throw ProviderFailure(.refused, "the keyring at \(name) is this vault itself")
    }
  }

  private init(items: consuming ProviderItems, collections: [String]) {
    self.items = items
    self.collections = collections
  }

  /// Answers one call; false if `vault` has hung up, or the call makes no sense.
  private mutating func answer(
    _ call: ProviderCall, _ frame: borrowing Frame, _ conversation: inout HelperConversation
  ) -> Bool {
    do throws(ProviderFailure) {
      switch call {
      case .open: return false
      case .unlock(let number):
        guard collections.indices.contains(number) else { return false }
        if try items.isLocked(collections[number]) { try items.unlock(collections[number]) }
        return conversation.send(ProviderReply.done.frame())
      case .list(let number):
        guard collections.indices.contains(number) else { return false }
        return try list(number, &conversation)
      case .read(let collection, let item):
        guard let paths = listed[collection], paths.indices.contains(item) else { return false }
        return conversation.send(try items.read(paths[item]).frame())
      case .make(let label):
        collections.append(try items.make(label))
        return conversation.send(ProviderReply.made(collections.count - 1).frame())
      case .store(let number, let content):
        guard collections.indices.contains(number), let value = ProviderCall.value(frame) else { return false }
        let outcome = try items.store(content, value, in: collections[number])
        return conversation.send(ProviderReply.stored(outcome).frame())
      }
    } catch {
      return conversation.send(ProviderReply.failed(error).frame())
    }
  }

  private mutating func list(
    _ number: Int, _ conversation: inout HelperConversation
  ) throws(ProviderFailure) -> Bool {
    var paths: [String] = []
    for path in try items.items(in: collections[number]).prefix(ProviderReply.most.items) {
      // An item that is gone by now is none.
      guard let created = try? items.created(path) else { continue }
      guard conversation.send(ProviderReply.listed(ProviderPlace(path: path, created: created)).frame()) else {
        return false
      }
      paths.append(path)
    }
    listed[number] = paths
    return conversation.send(ProviderReply.done.frame())
  }
}
