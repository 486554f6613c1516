# The Debian package, by debhelper's tools one after another: what is packed is what `make install` installs.
#
#   DEBEMAIL=you@example.org DEBFULLNAME='Your Name' make deb
#
# DEB_REVISION (1) is the number behind the version. SOURCE_DATE_EPOCH is the time of whatever would be newer than that;
# it is else the last commit's, so that the same programs make the same package.

DEB_REVISION ?= 1
DEB_VERSION   = $(shell sed -n 's/.*static let text = "\(.*\)"/\1/p' \
  Sources/VaultProcess/ProgramVersion.swift)-$(DEB_REVISION)
DEB          := .build/deb
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || date +%s)
# As devscripts has it: DEBEMAIL is an address, whose name is DEBFULLNAME, or both in one.
deb deb-maintainer: export MAINTAINER = $(if $(findstring <,$(DEBEMAIL)),$(DEBEMAIL),$(DEBFULLNAME) <$(DEBEMAIL)>)

.PHONY: deb deb-maintainer
deb: deb-maintainer deb-deps
	@rm -rf $(DEB)
	@mkdir -p $(DEB)
	@cp -r Sources/packaging/debian $(DEB)/debian
	@$(MAKE) --no-print-directory install PREFIX=/usr sysconfdir=/etc docdir=/usr/share/doc/vaultd \
	  DESTDIR='$(CURDIR)/$(DEB)/debian/vaultd'
	@cd $(DEB) && SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) ../../Sources/packaging/pack $(DEB_VERSION) ../../Sources
	@mv $(DEB)/*.deb .build
	@cd .build && ls -t vaultd_$(DEB_VERSION)_*.deb | sed -n '1s|^|made .build/|p'

deb-maintainer:
	@form='^[^<>]*[^<> ] <[^<>@[:space:]]+@[^<>@[:space:]]+>$$'; \
	[[ $$MAINTAINER =~ $$form && $$MAINTAINER != *[[:cntrl:]]* ]] && exit; \
	echo "make deb: a package names who keeps it; say who that is, as in" >&2; \
	echo "  DEBEMAIL=you@example.org DEBFULLNAME='Your Name' make deb" >&2; exit 1
