# Where everything goes. Paths inside the units follow PREFIX.

bindir  := $(PREFIX)/bin
mandir  := $(PREFIX)/share/man
docdir  := $(PREFIX)/share/doc/vault
unitdir := $(PREFIX)/lib/systemd

MAN_PAGES   := $(wildcard man/*.[0-9])
COMPLETIONS := share/bash-completion/completions/vault share/zsh/site-functions/_vault \
  share/fish/vendor_completions.d/vault.fish
# What install makes, below PREFIX, and uninstall removes.
INSTALLED := bin/vault bin/vaultd $(COMPLETIONS) share/doc/vault/vaultd.conf lib/sysusers.d/vault.conf \
  $(foreach unit,vaultd.socket vaultd.service,lib/systemd/user/$(unit) lib/systemd/system/$(unit)) \
  $(foreach page,$(MAN_PAGES),share/man/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page)))

.PHONY: install uninstall
install: $(PROGRAMS)
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(docdir) $(DESTDIR)$(PREFIX)/lib/sysusers.d
	install -m 755 $(PROGRAMS) $(DESTDIR)$(bindir)
	for page in $(MAN_PAGES); do install -D -m 644 $$page $(DESTDIR)$(mandir)/man$${page##*.}/$${page##*/} || exit; done
	for unit in user/vaultd.socket user/vaultd.service system/vaultd.socket system/vaultd.service; do \
	  install -D -m 644 /dev/null $(DESTDIR)$(unitdir)/$$unit && \
	  sed 's|@bindir@|$(bindir)|g' systemd/$$unit >$(DESTDIR)$(unitdir)/$$unit || exit; done
	install -m 644 systemd/vault.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/vault.conf
	install -m 644 systemd/vaultd.conf $(DESTDIR)$(docdir)/vaultd.conf
	for shell in bash:bash-completion/completions/vault zsh:zsh/site-functions/_vault \
	    fish:fish/vendor_completions.d/vault.fish; do \
	  install -D -m 644 /dev/null $(DESTDIR)$(PREFIX)/share/$${shell#*:} && \
	  $(BIN)/vault completions $${shell%%:*} >$(DESTDIR)$(PREFIX)/share/$${shell#*:} || exit; done

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,$(INSTALLED))
	-rmdir $(DESTDIR)$(docdir) 2>/dev/null
