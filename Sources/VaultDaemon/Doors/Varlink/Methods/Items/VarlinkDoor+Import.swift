internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

// ImportCollection, ImportItems, Export and BeginImport.
extension VarlinkDoor {
  func importCollection(
    _ call: Wire.ImportCollectionParameters, _: borrowing Frame, _ connection: VarlinkConnection
  ) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      if let source = call.source {
        do throws(ValueError) { try Attributes.validate(["source": source]) } catch { throw .invalid("source") }
      }
      let taken = try items.takeIn(
        collection: call.source, label: call.label, isStandard: call.default ?? false, isTrial: call.trial ?? false,
        made: call.made ?? 0, for: connection.caller)
      connection.reply(
        Wire.ImportCollectionReply(
          collection: taken.id?.element, made: taken.isNew, default: taken.becomesStandard))
    }
  }

  func importItems(_ call: Wire.ImportItemsParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    do throws(Refusal) {
      try vault.checkStore()
      try CallWeight.check(count: call.items.count)
      let fields = call.items.map { SecretField($0.value, $0.data, frame) }
      var (foreign, sizes): ([ForeignItem], [Int]) = ([], [])
      for (item, field) in zip(call.items, fields) {
        guard let size = field.count else { throw .invalidValue(kind: "", reason: NewValue.unreadable) }
        sizes.append(size)
        foreign.append(try item.foreign())
      }
      let outcomes = try items.takeIn(foreign, sizes: sizes, isTrial: call.trial ?? false, for: connection.caller) {
        fields[$0].copy(frame, into: &$1)
      }
      connection.reply(Wire.ImportItemsReply(outcomes: outcomes.map(\.rawValue)))
    } catch {
      connection.fail(error)
    }
  }

  func export(_ call: Wire.ExportParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      try items.noteExport(to: call.to, count: call.items, for: connection.caller)
      connection.reply(Wire.Empty())
    }
  }

  func beginImport(_ call: Wire.BeginImportParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      try items.noteImport(from: call.from, count: call.items, for: connection.caller)
      connection.reply(Wire.Empty())
    }
  }
}

extension Wire.ForeignItem {
  fileprivate func foreign() throws(Refusal) -> ForeignItem {
    let place = try collection.map { text throws(Refusal) in
      guard let place = CollectionID(element: text), place.folder != nil else { throw .invalid("collection") }
      return place
    }
    do throws(ValueError) {
      let facts = KeyringFacts(
        id: KeyringID(number: 0), order: 0, label: label, contentType: contentType,
        attributes: try KeyringAttributes(attributes.map { ($0.key, $0.value) }), created: created, modified: modified)
      return ForeignItem(in: place, from: source, facts)
    } catch {
      throw .invalidValue(kind: "", reason: error.reason)
    }
  }
}
