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
      let reply = ProviderReply.collections(collections).frame()
      guard reply.count < ProviderReply.frameLimit else {
        throw ProviderFailure(.unavailable, "the labels of its \(collections.count) collections are too long")
      }
      guard conversation.send(reply) else { return }
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
      guard error.code == .refused else {
        throw ProviderFailure(Provider.isAbsent(name) ? .absent : .unavailable, error.reason)
      }
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
        return conversation.send(try read(paths[item], in: collections[collection]).frame())
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

  private func read(_ item: String, in collection: String) throws(ProviderFailure) -> ProviderReply {
    do throws(ProviderFailure) { return try items.read(item) } catch {
      guard error.code == .gone, try !items.isGone(item, from: collection, error) else { throw error }
      throw ProviderFailure(.unavailable, error.reason)
    }
  }

  /// Lists all items of a collection, even those that cannot be read.
  private mutating func list(
    _ number: Int, _ conversation: inout HelperConversation
  ) throws(ProviderFailure) -> Bool {
    var paths: [String] = []
    for path in try items.items(in: collections[number]) {
      let place: ProviderPlace
      do throws(ProviderFailure) { place = ProviderPlace(path: path, created: try items.created(path)) } catch {
        if error.code == .lost { throw error }
        if try items.isGone(path, from: collections[number], error) { continue }
        place = ProviderPlace(path: path, created: 0, problem: error.reason)
      }
      guard conversation.send(ProviderReply.listed(place).frame()) else { return false }
      paths.append(path)
    }
    listed[number] = paths
    return conversation.send(ProviderReply.done.frame())
  }
}
