# The PAM module: Embedded Swift, so that it loads into a login without a run-time library. It is no product of the
# package, whose static standard library would come along.

PAM_MODULE  := .build/pam/pam_vault.so
# What a daemon finds in its environment is the client's rule, and what it keeps of its starter the daemon's own.
PAM_SOURCES := $(wildcard Sources/pam_vault/*.swift) Sources/VaultClient/DaemonVariables.swift \
  Sources/VaultProcess/Inheritance.swift
# The strictness of Package.swift.
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

# Written only when it says something else, so that another PREFIX builds the module anew and the same one does not.
.build/pam/DaemonPath.swift: .build/pam/now
	@echo '/// The directory of the installed daemon.' >$<
	@echo 'let daemonPath: StaticString = "$(bindir)/vaultd"' >>$<
	@cmp -s $< $@ || cp $< $@
.build/pam/now: always
	@mkdir -p .build/pam
	@touch $@
.PHONY: always
always:
