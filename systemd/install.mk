# Where everything goes. Paths inside the units follow PREFIX.

bindir  := $(PREFIX)/bin
mandir  := $(PREFIX)/share/man
docdir  := $(PREFIX)/share/doc/vault
unitdir := $(PREFIX)/lib/systemd
libexecdir := $(PREFIX)/libexec/vault
# PAM and polkit read no other folder but these below it, whatever the PREFIX.
sysconfdir ?= /etc

# Where PAM looks for its modules: Debian's own folder, for every PREFIX of the system.
SECURITYDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),$(patsubst %/pam_permit.so,%,$(firstword \
  $(wildcard /lib/*/security/pam_permit.so /lib/security/pam_permit.so))),$(PREFIX)/lib/security)

MAN_PAGES   := $(wildcard man/*.[0-9])
COMPLETIONS := share/bash-completion/completions/vault share/zsh/site-functions/_vault \
  share/fish/vendor_completions.d/vault.fish
UNITS := vaultd.socket vaultd.service vault-pam.socket vault-pam@.service
# What an administrator has changed stays, at every installation; ours lies in docdir to compare with.
PAM_SERVICES := vault vault-biometry
# What install makes below PREFIX, and uninstall removes.
INSTALLED := bin/vault bin/vaultd $(addprefix libexec/vault/,$(HELPERS)) $(COMPLETIONS) share/doc/vault/vaultd.conf \
  lib/sysusers.d/vault.conf $(foreach service,$(PAM_SERVICES),share/doc/vault/pam.d/$(service)) \
  $(foreach unit,$(UNITS),lib/systemd/user/$(unit) lib/systemd/system/$(unit)) \
  $(foreach page,$(MAN_PAGES),share/man/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page)))

.PHONY: install uninstall
install: $(PROGRAMS) $(PAM_MODULE)
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(docdir) $(DESTDIR)$(PREFIX)/lib/sysusers.d
	install -m 755 $(BIN)/vault $(BIN)/vaultd $(DESTDIR)$(bindir)
	install -d $(DESTDIR)$(libexecdir) $(DESTDIR)$(sysconfdir)/pam.d $(DESTDIR)$(docdir)/pam.d
	install -m 755 $(addprefix $(BIN)/,$(HELPERS)) $(DESTDIR)$(libexecdir)
	install -D -m 644 $(PAM_MODULE) $(DESTDIR)$(SECURITYDIR)/pam_vault.so
	for service in $(PAM_SERVICES); do \
	  install -m 644 pam/$$service $(DESTDIR)$(docdir)/pam.d && { \
	  [ -e $(DESTDIR)$(sysconfdir)/pam.d/$$service ] || \
	  install -m 644 pam/$$service $(DESTDIR)$(sysconfdir)/pam.d; } || exit; done
	for page in $(MAN_PAGES); do install -D -m 644 $$page $(DESTDIR)$(mandir)/man$${page##*.}/$${page##*/} || exit; done
	for unit in $(foreach mode,user system,$(addprefix $(mode)/,$(UNITS))); do \
	  install -D -m 644 /dev/null $(DESTDIR)$(unitdir)/$$unit && \
	  sed 's|@bindir@|$(bindir)|g; s|@libexecdir@|$(libexecdir)|g' systemd/$$unit >$(DESTDIR)$(unitdir)/$$unit || exit; done
	install -m 644 systemd/vault.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/vault.conf
	install -D -m 644 systemd/vault.rules $(DESTDIR)$(sysconfdir)/polkit-1/rules.d/50-vault.rules
	install -m 644 systemd/vaultd.conf $(DESTDIR)$(docdir)/vaultd.conf
	for shell in bash:bash-completion/completions/vault zsh:zsh/site-functions/_vault \
	    fish:fish/vendor_completions.d/vault.fish; do \
	  install -D -m 644 /dev/null $(DESTDIR)$(PREFIX)/share/$${shell#*:} && \
	  $(BIN)/vault completions $${shell%%:*} >$(DESTDIR)$(PREFIX)/share/$${shell#*:} || exit; done

uninstall:
	for service in $(PAM_SERVICES); do \
	  ! cmp -s pam/$$service $(DESTDIR)$(sysconfdir)/pam.d/$$service || \
	  rm -f $(DESTDIR)$(sysconfdir)/pam.d/$$service; done
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,$(INSTALLED)) $(DESTDIR)$(sysconfdir)/polkit-1/rules.d/50-vault.rules
	rm -f $(DESTDIR)$(SECURITYDIR)/pam_vault.so
	-rmdir $(DESTDIR)$(docdir)/pam.d $(DESTDIR)$(docdir) $(DESTDIR)$(libexecdir) 2>/dev/null
