# Builds the PAM module in Embedded Swift, so that a login program can load it without a run-time library. The module is
# not a product of the package, because that would link the package's static standard library into it.

PAM_MODULE  := .build/pam/pam_vault.so
# Two sources come from other modules: the client's rule for the environment of a daemon that it starts, and the
# daemon's rule for the state that it must not keep from the process that started it.
PAM_SOURCES := $(wildcard Sources/pam_vault/*.swift) Sources/VaultClient/Daemon/DaemonVariables.swift \
  Sources/VaultProcess/Inheritance.swift
# The same strict checks as in Package.swift.
PAM_FLAGS   := -swift-version 6 -warnings-as-errors -strict-memory-safety \
  -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility \
  -enable-upcoming-feature ExistentialAny -enable-experimental-feature Embedded -wmo -Osize -parse-as-library

$(PAM_MODULE): $(PAM_SOURCES) .build/pam/DaemonPath.swift Sources/pam_vault/pam_vault.map \
    $(wildcard Sources/CPAM/* Sources/CLinux/*) Sources/pam_vault/module.mk
	swiftc $(PAM_FLAGS) -I Sources/CPAM -I Sources/CLinux -module-name pam_vault -c \
	  $(PAM_SOURCES) .build/pam/DaemonPath.swift -o .build/pam/pam_vault.o
	clang -shared -fuse-ld=lld -Wl,--version-script=Sources/pam_vault/pam_vault.map -Wl,-z,defs -Wl,-z,relro,-z,now \
	  -Wl,-z,nodelete -Wl,--gc-sections -Wl,--as-needed -s -o $@ .build/pam/pam_vault.o -lpam

build: $(PAM_MODULE)

# The file is written only if its content changes, so that make rebuilds the module after a change of PREFIX and not
# otherwise.
.build/pam/DaemonPath.swift: .build/pam/now
	@echo '/// The directory of the installed daemon.' >$<
	@echo 'let daemonPath: StaticString = "$(bindir)/vaultd"' >>$<
	@cmp -s $< $@ || cp $< $@
.build/pam/now: always
	@mkdir -p .build/pam
	@touch $@
.PHONY: always
always:
