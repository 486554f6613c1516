# The place of each file. Paths inside the units follow PREFIX.

# Below the home of somebody who is not root, what needs root is left out, and the units go where a user's manager
# looks.
PERSONAL := $(shell [ "$$(id -u)" = 0 ] || case '$(PREFIX)' in ("$$HOME"/?*) echo yes;; esac)

bindir  := $(PREFIX)/bin
mandir  := $(PREFIX)/share/man
docdir  := $(PREFIX)/share/doc/vault
unitdir := $(PREFIX)/$(if $(PERSONAL),share,lib)/systemd
libexecdir := $(PREFIX)/libexec/vault
# PAM and polkit read no other folder but these below it, whatever the PREFIX.
sysconfdir ?= /etc

# The folder in which PAM looks for its modules: Debian's own, for every PREFIX of the system.
SECURITYDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),$(patsubst %/pam_permit.so,%,$(firstword \
  $(wildcard /lib/*/security/pam_permit.so /lib/security/pam_permit.so))),$(PREFIX)/lib/security)

# The names under which other programs look for `vault` as their helper, in PATH; and those that are others' own, or are
# not looked for there, in a folder that nobody has in PATH unless they put it there. Each is a link, the first ones'
# page as well.
HELPER_LINKS := git-credential-vault docker-credential-vault cargo-credential-vault
OTHER_LINKS  := keyring vault-ansible-client

MAN_PAGES   := $(wildcard man/*.[0-9])
COMPLETIONS := share/bash-completion/completions/vault share/zsh/site-functions/_vault \
  share/fish/vendor_completions.d/vault.fish
# Below Sources, beside the programs they start.
UNITS := $(wildcard $(foreach place,user $(if $(PERSONAL),,system),Sources/vaultd/$(place)/*.s* \
  Sources/vault-pam/$(place)/*.s* Sources/vault-agent/$(place)/*.s*))
# The name of a unit below the folder of the installed ones: user/vaultd.socket.
unit-place = $(notdir $(patsubst %/,%,$(dir $1)))/$(notdir $1)
# The files that an administrator may change, as SOURCE:PLACE below sysconfdir. A copy of the version installed last
# lies in docdir under the same name: by that a changed file is told from an old one, and it stays, whatever is
# installed or uninstalled. One that was removed, or that a link stands in for, was changed as well.
CONFIG_FILES := $(if $(PERSONAL),,Sources/vault-pam/pam.d/vault:pam.d/vault \
  Sources/vault-pam/pam.d/vault-biometry:pam.d/vault-biometry \
  Sources/vaultd/vault.rules:polkit-1/rules.d/50-vault.rules)
# The files that install makes below PREFIX, and uninstall removes.
INSTALLED := bin/vault bin/vaultd $(addprefix libexec/vault/,$(HELPERS)) $(addprefix bin/,$(HELPER_LINKS)) \
  $(addprefix libexec/vault/bin/,$(OTHER_LINKS)) $(HELPER_LINKS:%=share/man/man1/%.1) $(COMPLETIONS) \
  share/doc/vault/vaultd.conf \
  $(if $(PERSONAL),,lib/sysusers.d/vault.conf) \
  $(foreach unit,$(UNITS),$(unitdir:$(PREFIX)/%=%)/$(call unit-place,$(unit))) \
  $(foreach page,$(MAN_PAGES),share/man/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page)))

, := ,
# Through the environment, so that the shell takes it as it is, spaces and all.
install uninstall: export DESTDIR := $(DESTDIR)

.PHONY: install uninstall
install: $(PROGRAMS) $(if $(PERSONAL),,$(PAM_MODULE))
	install -d "$$DESTDIR$(bindir)" "$$DESTDIR$(docdir)" "$$DESTDIR$(libexecdir)/bin" "$$DESTDIR$(mandir)/man1"
	install -m 755 $(BIN)/vault $(BIN)/vaultd "$$DESTDIR$(bindir)"
	install -m 755 $(addprefix $(BIN)/,$(HELPERS)) "$$DESTDIR$(libexecdir)"
	for link in $(HELPER_LINKS); do \
	  ln -sf vault "$$DESTDIR$(bindir)/$$link" && \
	  ln -sf ../man7/vault-helpers.7 "$$DESTDIR$(mandir)/man1/$$link.1" || exit; done
	for link in $(OTHER_LINKS); do ln -sf ../../../bin/vault "$$DESTDIR$(libexecdir)/bin/$$link" || exit; done
	$(if $(PERSONAL),,install -D -m 644 $(PAM_MODULE) "$$DESTDIR$(SECURITYDIR)/pam_vault.so")
	for file in $(CONFIG_FILES); do \
	  source=$${file%%:*}; \
	  last="$$DESTDIR$(docdir)/$${file#*:}"; \
	  place="$$DESTDIR$(sysconfdir)/$${file#*:}"; \
	  if [ -L "$$place" ]; then echo "kept: $$place, which is a link; compare it with $$last"; \
	  elif [ ! -e "$$place" ] && [ -e "$$last" ]; then echo "left out: $$place, which was removed; it would be $$last"; \
	  elif [ ! -e "$$place" ] || cmp -s "$$last" "$$place"; then install -D -m 644 $$source "$$place" || exit; \
	  elif ! cmp -s $$source "$$place"; then echo "kept: $$place, which was changed; compare it with $$last"; fi; \
	  install -D -m 644 $$source "$$last" || exit; done
	for page in $(MAN_PAGES); do \
	  install -D -m 644 $$page "$$DESTDIR$(mandir)/man$${page##*.}/$${page##*/}" || exit; done
	for unit in $(foreach unit,$(UNITS),$(unit):$(call unit-place,$(unit))); do \
	  place="$$DESTDIR$(unitdir)/$${unit#*:}"; \
	  install -D -m 644 /dev/null "$$place" && \
	  sed 's|@bindir@|$(bindir)|g; s|@libexecdir@|$(libexecdir)|g' "$${unit%%:*}" >"$$place" || exit; done
	$(if $(PERSONAL),,install -D -m 644 Sources/vaultd/vault.sysusers "$$DESTDIR$(PREFIX)/lib/sysusers.d/vault.conf")
	install -m 644 Sources/vaultd/vaultd.conf "$$DESTDIR$(docdir)/vaultd.conf"
	for shell in bash:bash-completion/completions/vault zsh:zsh/site-functions/_vault \
	    fish:fish/vendor_completions.d/vault.fish; do \
	  install -D -m 644 /dev/null "$$DESTDIR$(PREFIX)/share/$${shell#*:}" && \
	  $(BIN)/vault completions $${shell%%:*} >"$$DESTDIR$(PREFIX)/share/$${shell#*:}" || exit; done
	$(if $(PERSONAL),@echo "left out$(,) because only root can install them: what opens a vault with the login" \
	  "password$(,) a fingerprint or the login itself$(,) and a vault of the machine's own")

uninstall:
	for file in $(CONFIG_FILES); do \
	  last="$$DESTDIR$(docdir)/$${file#*:}"; \
	  place="$$DESTDIR$(sysconfdir)/$${file#*:}"; \
	  if [ ! -L "$$place" ] && { cmp -s "$$last" "$$place" || cmp -s $${file%%:*} "$$place"; }; then rm -f "$$place"; \
	  elif [ -e "$$place" ] || [ -L "$$place" ]; then echo "kept: $$place, which was changed"; fi; \
	  rm -f "$$last"; done
	for file in $(INSTALLED); do rm -f "$$DESTDIR$(PREFIX)/$$file"; done
	$(if $(PERSONAL),,rm -f "$$DESTDIR$(SECURITYDIR)/pam_vault.so")
	-rmdir "$$DESTDIR$(docdir)"/{pam.d,polkit-1/rules.d,polkit-1,} "$$DESTDIR$(libexecdir)"{/bin,} 2>/dev/null
