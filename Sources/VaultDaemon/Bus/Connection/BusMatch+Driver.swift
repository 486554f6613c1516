extension BusMatch {
  /// A match for the changes of a name's owner.
  ///
  /// - Parameter changed: gets the new owner's unique name, or nil when nobody owns the name any more.
  convenience init(ownerOf name: String, refused: (() -> Void)? = nil, changed: @escaping (String?) -> Void) {
    self.init(driver: "NameOwnerChanged", name, refused: refused) { message in
      guard let change = try? (message.string(), message.string(), message.string()) else { return }
      changed(change.2.isEmpty ? nil : change.2)
    }
  }

  /// A match for a signal of the bus itself that is about `name`.
  convenience init(
    driver member: String, _ name: String, refused: (() -> Void)? = nil, _ handler: @escaping (BusMessage) -> Void
  ) {
    let driver = BusMethod.Object.driver
    let rule = """
      type='signal',sender='\(driver.destination)',path='\(driver.path)',interface='\(driver.interface)',\
      member='\(member)',arg0='\(name)'
      """
    self.init(rule, refused: refused) { message in
      // Anyone can send this daemon a signal with these fields, but only the bus itself with this sender.
      if message.sender == driver.destination { handler(message) }
    }
  }
}
