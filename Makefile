# Builds, tests and installs Gimbal. `deps` installs what the machine lacks, or names it in one line.

PREFIX ?= /usr
DESTDIR ?=
# Where SwiftPM builds. The scripts in Tests/System read it, too.
SCRATCH ?= .build
export SCRATCH

PACKAGES = libevent-dev libexpat1-dev pkg-config
DEB_PACKAGES = $(PACKAGES) debhelper lintian
TEST_PACKAGES = $(DEB_PACKAGES) socat jq python3 python3-jsonschema python3-mpmath systemd systemd-container \
    dbus libpam-systemd valgrind python3-pytest python3-junitparser python3-selenium chromium chromium-driver firefox-esr \
    libjs-leaflet zbar-tools python3-pip $(MQTT_PACKAGES) $(WEB_PACKAGES) mosquitto mosquitto-clients python3-paho-mqtt nats-server faketime iproute2 openssl \
    prometheus python3-prometheus-client rpm rpmlint python3-lz4 python3-zstandard python3-yaml
# For gimbal-mqtt, which `make mqtt` builds.
MQTT_PACKAGES = libmosquitto-dev
# For gimbal-web, which `make web` builds.
WEB_PACKAGES = libqrencode-dev
MINIMUM_SWIFT = 6.2

# Only one function at a time changes what the hub shares, and tests run with Swift's exclusivity checks; in a release
# these would be a tenth of a line's cost. Optimizing all targets as one, which takes lld, saves another twelfth. (In
# Package.swift such flags would keep other packages from using the libraries.)
release_flags = -Xswiftc -enforce-exclusivity=unchecked --experimental-lto-mode full -Xswiftc -use-ld=lld $(anywhere)
# Builds are the same in any folder that contains SCRATCH: its path is not in the programs. Debug information would have
# names that depend on it, and with them the build ID; packages have none, and linking takes less without.
anywhere = -Xswiftc -file-prefix-map -Xswiftc '$(CURDIR)=.' -Xcc '-ffile-prefix-map=$(CURDIR)=.' -debug-info-format none
swift_build = swift build -c release --static-swift-stdlib $(release_flags) $(SWIFT_FLAGS) --scratch-path '$(SCRATCH)'
programs = $(SCRATCH)/release/gimbald $(SCRATCH)/release/gimbal
# Man pages and completions, one folder per kind.
share = $(SCRATCH)/share
swift_sources = Package.swift Sources $(wildcard Tests)

bin = $(DESTDIR)$(PREFIX)/bin
units = $(DESTDIR)$(PREFIX)/lib/systemd
sysusers = $(DESTDIR)$(PREFIX)/lib/sysusers.d
catalog = $(DESTDIR)$(PREFIX)/lib/systemd/catalog
doc = $(DESTDIR)$(PREFIX)/share/doc/gimbal
# Below /usr/share, Debian's zsh reads only vendor-completions; everywhere else it reads site-functions.
on_debian = $(and $(filter /usr,$(PREFIX)),$(wildcard /etc/debian_version))
zsh = $(DESTDIR)$(PREFIX)/share/zsh/$(if $(on_debian),vendor-completions,site-functions)
bash = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
fish = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
man = $(DESTDIR)$(PREFIX)/share/man
# Strips symbols, unless a packager's tools do that.
STRIP ?= -s

# $(call quietly,COMMAND): shows the output only if the command fails.
quietly = @log=$$(mktemp); trap 'rm -f "$$log"' EXIT; $(1) >"$$log" 2>&1 || { cat "$$log"; exit 1; }

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: help swift deps deps-deb deps-test build demo docs test kernels simulate sanitize fuzz soak bench install uninstall
.PHONY: purge coverage mutate
.PHONY: pictures deb package release check-release lint format clean mqtt deps-mqtt install-mqtt web deps-web install-web

help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo 'Variables: PREFIX ($(PREFIX)), DESTDIR and SCRATCH ($(SCRATCH), where it builds)'

# MARK: Requirements

swift_version = $(shell swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*[0-9]\).*/\1/p')
oldest = $(shell printf '%s\n' $(1) | sort -V | head -n 1)
swift_is_old = $(filter-out $(MINIMUM_SWIFT),$(call oldest,$(swift_version) $(MINIMUM_SWIFT)))

swift:
	@: $(if $(swift_version),,$(error Swift $(MINIMUM_SWIFT) or later is needed, and no swift is on the PATH))
	@: $(if $(swift_is_old),$(error Swift $(MINIMUM_SWIFT) or later is needed, and this is $(swift_version)))

# $(call lacking,PACKAGES): those not installed. Without dpkg, only libevent and libexpat are checked.
ifneq ($(shell command -v dpkg-query),)
lacking = $(shell for package in $(1); do \
    dpkg-query -W -f '$${db:Status-Status}' $$package 2>/dev/null | grep -q '^installed' || echo $$package; done)
else
lacking = $(shell pkg-config --exists libevent_core expat 2>/dev/null || echo $(1))
endif

# $(call get,PACKAGES): installs them, or says in one line why it cannot.
get = $(if $(strip $(1)),$(if $(trouble),$(error $(strip $(1)) must be installed, $(trouble)),$(apt_install)),@:)
trouble = $(if $(shell command -v apt-get),$(if $(as_root),,and that takes root or sudo),and there is no apt-get here)
as_root = $(if $(filter 0,$(shell id -u)),env,$(if $(shell command -v sudo),sudo env))
apt_get = $(as_root) DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=120
# apt's lists are updated only if installing fails without that.
define apt_install
@echo 'installing $(strip $(1))'
$(call quietly,install="$(apt_get) install --no-install-recommends $(strip $(1))"; \
    { $$install || { $(apt_get) update && $$install; }; })
endef

deps: ## install the Debian packages that building needs
	$(call get,$(call lacking,$(PACKAGES)))

deps-deb:
	$(call get,$(call lacking,$(DEB_PACKAGES)))

deps-test: ## install the Debian packages that testing needs
	$(call get,$(call lacking,$(TEST_PACKAGES)))

# MARK: Building and testing

build: swift deps ## build gimbald and gimbal for release, with Swift's libraries linked in (the default)
	$(swift_build) --product gimbald
	$(swift_build) --product gimbal
	$(call quietly,$(swift_build) --quiet --product generate-manual)
	@$(make_share)

# The pages carry the date of the version, not of the build: builds are reproducible.
released = $(shell date -u -d "$$(sed -n '/^ -- /{s/.*>  //p;q}' debian/changelog)" +%F)
generate_manual = '$(SCRATCH)/release/generate-manual' --multi-page --date $(released) --output-directory "$$new/pages"
mend_page = awk -v also='gimbal 1 gimbald 8' -v system_name="$$('$(SCRATCH)/release/gimbal' --version)" \
    -f Sources/Client/gimbal/manual.awk

# The generator names a subcommand's page gimbal.watch.1; `man gimbal watch` looks for gimbal-watch.1.
define make_share
set -e; new='$(share).new'; rm -rf "$$new"; trap 'rm -rf "$$new"' EXIT; \
mkdir -p "$$new/pages" "$$new/man1" "$$new/man8" "$$new/bash" "$$new/zsh" "$$new/fish"; \
$(generate_manual) '$(SCRATCH)/release/gimbal'; \
$(generate_manual) --section 8 '$(SCRATCH)/release/gimbald'; \
rm "$$new/pages/gimbal.help.1"; \
for page in "$$new"/pages/*; do \
    name=$$(basename "$$page" | sed 's/^gimbal[.]\([a-z]\)/gimbal-\1/'); \
    $(mend_page) "$$page" >"$$new/man$${name##*.}/$$name"; \
done; \
for program in gimbal gimbald; do \
    complete="$(SCRATCH)/release/$$program --generate-completion-script"; \
    $$complete bash | sed '1{/^#!/d}' >"$$new/bash/$$program"; \
    $$complete zsh >"$$new/zsh/_$$program"; \
    $$complete fish >"$$new/fish/$$program.fish"; \
done; \
'$(SCRATCH)/release/gimbald' --generate-config >"$$new/gimbald.conf"; \
rm -r "$$new/pages"; rm -rf '$(share)'; mv "$$new" '$(share)'
endef

# Optional: it needs libmosquitto.
deps-mqtt: deps
	$(call get,$(call lacking,$(MQTT_PACKAGES)))

mqtt: build deps-mqtt ## also build gimbal-mqtt for release, with its man page: cameras at an MQTT broker
	GIMBAL_MQTT=1 $(swift_build) --product gimbal-mqtt
	$(call quietly,$(call make_share_of,gimbal-mqtt))

# $(call make_share_of,PROGRAM): man page and completions of a program that `build` does not include. The generator
# lists a subcommand `help`, which does not exist.
define make_share_of
set -e; new='$(SCRATCH)/share-of/$(1)'; rm -rf "$$new"; mkdir -p "$$new/pages"; \
$(generate_manual) --section 8 '$(SCRATCH)/release/$(1)'; \
awk -v also='gimbal 1 gimbald 8' -v system_name="$$('$(SCRATCH)/release/$(1)' --version)" \
    -f Sources/Client/gimbal/manual.awk "$$new/pages/$(1).8" | \
    sed '/^[.]Ar subcommand$$/d; /^[.]Sh SUBCOMMANDS/,/^[.]El/d' >"$$new/$(1).8"; \
complete='$(SCRATCH)/release/$(1) --generate-completion-script'; \
$$complete bash | sed '1{/^#!/d}' >"$$new/bash"; $$complete zsh >"$$new/zsh"; $$complete fish >"$$new/fish"; \
rm -r "$$new/pages"
endef

# $(call install_share_of,PROGRAM)
define install_share_of
install -d '$(bin)' '$(units)/system' '$(man)/man8' '$(bash)' '$(zsh)' '$(fish)'
install -m 755 $(STRIP) '$(SCRATCH)/release/$(1)' '$(bin)'
sed 's|/usr/bin/|$(PREFIX)/bin/|g' systemd/$(1).service >'$(units)/system/$(1).service'
chmod 644 '$(units)/system/$(1).service'
install -m 644 '$(SCRATCH)/share-of/$(1)/$(1).8' '$(man)/man8'
install -m 644 '$(SCRATCH)/share-of/$(1)/bash' '$(bash)/$(1)'
install -m 644 '$(SCRATCH)/share-of/$(1)/zsh' '$(zsh)/_$(1)'
install -m 644 '$(SCRATCH)/share-of/$(1)/fish' '$(fish)/$(1).fish'
endef

# Optional: it needs libqrencode.
deps-web: deps
	$(call get,$(call lacking,$(WEB_PACKAGES)))

web: build deps-web ## also build gimbal-web for release, with its man page: cameras on a page to watch and touch
	GIMBAL_WEB=1 $(swift_build) --product gimbal-web
	$(call quietly,$(call make_share_of,gimbal-web))
	@echo 'now $(SCRATCH)/release/gimbal web opens the page'

# For the README: look at them before you commit them.
pictures: web deps-test ## take the README's screenshots of the page, in both themes
	@PYTHONDONTWRITEBYTECODE=1 $(wildcard /usr/bin/python3) Tests/Page/Browser/pictures.py '$(SCRATCH)/release' Tests/Page/Pictures

demo: swift deps ## build, then replay a sample trace through a daemon of its own
	@echo 'building gimbald and gimbal without optimization, which takes a minute the first time; `make build` optimizes them'
	@$(demo_build) --product gimbald
	@$(demo_build) --product gimbal
	@echo 'starting a daemon of its own, and replaying a trace through it'
	@SCRATCH='$(SCRATCH)/demo' Tests/System/demo.sh

# The quickest way to working programs: whole modules, as for release, but not optimized.
demo_build = swift build -c release -Xswiftc -Onone $(SWIFT_FLAGS) --scratch-path '$(SCRATCH)/demo'

# Libraries that other programs may import, each after those its pages link to.
libraries = MapCamera Gestures GimbalProtocol GimbalClient
docs = $(SCRATCH)/docs

docs: swift ## render the documentation of the libraries
	$(call quietly,swift build --quiet $(plain_build) --target GimbalClient $(SWIFT_FLAGS) --scratch-path '$(SCRATCH)')
	$(call quietly,$(make_docs))
	@echo "rendered into $(docs); to read it: python3 -m http.server --directory '$(docs)'"
	@echo 'and open http://localhost:8000/documentation'

# Uses the toolchain's own tools: a plugin would be a package that all users of the libraries have to fetch.
define make_docs
set -e; new='$(docs).new'; rm -rf "$$new"; set --; \
triple=$$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p'); \
for library in $(libraries); do \
    mkdir -p "$$new/$$library"; \
    swift symbolgraph-extract -module-name $$library -I '$(SCRATCH)/debug/Modules' -target "$$triple" \
        -minimum-access-level public -skip-synthesized-members -output-dir "$$new/$$library"; \
    docc convert Sources/*/$$library/$$library.docc --additional-symbol-graph-dir "$$new/$$library" "$$@" \
        --enable-experimental-external-link-support --warnings-as-errors --transform-for-static-hosting \
        --output-path "$$new/$$library.doccarchive"; \
    set -- "$$@" --dependency "$$new/$$library.doccarchive"; \
done; \
docc merge "$$new"/*.doccarchive --synthesized-landing-page-name Gimbal --output-path "$$new/site"; \
rm -rf '$(docs)'; mv "$$new/site" '$(docs)'; rm -rf "$$new"
endef

# Builds the optional products, too, so that they do not rot. The page's server is tested as a debug build, like the
# unit tests: a release of its libraries would take minutes more. Of its packages only what it uses is built, unlike in
# a build of all tests. Debug information would take 50 s of two cores. (SwiftPM looks for tests in an index; what that
# says of the system's modules would take 20 s.) What the scripts of Tests/System test is built while the unit tests run.
plain_build = -debug-info-format none -Xswiftc -index-ignore-system-modules
build_debug = GIMBAL_FAST_TESTS=1 GIMBAL_BENCH=1 GIMBAL_MQTT=1 GIMBAL_WEB=1 swift build --quiet $(plain_build) --scratch-path '$(SCRATCH)'

test: swift deps-test ## run all tests: unit tests, and system tests of the programs
	$(call quietly,$(build_debug) --product gimbalPackageTests)
	$(call quietly,$(build_debug) --product gimbal-web)
	@Tests/run.sh '$(SCRATCH)'

# Benchmarks of the single stages that a line passes.
kernels: swift
	@GIMBAL_BENCH=1 $(swift_build) --quiet --product kernels

# Options: BENCH=--quick, BENCH='--long latency', BENCH=--help; BENCH=--keep also writes the README's figures.
BENCH ?=
bench_programs = $(addprefix $(SCRATCH)/bench/,relay load neighbours allocations.so)

bench: swift deps ## benchmark the daemon against other installed servers and a bare relay
	@echo 'building'
	$(call quietly,$(swift_build) --quiet --product gimbald)
	$(call quietly,$(swift_build) --quiet --product gimbal)
	$(call quietly,$(MAKE) --no-print-directory kernels)
	$(call quietly,$(MAKE) --no-print-directory $(bench_programs))
	@Tests/Benchmarks/bench.py $(BENCH)

bench_cc = mkdir -p $(@D) && $(or $(shell command -v cc),clang) -O2 -Wall -Wextra -o $@ $<

$(SCRATCH)/bench/relay: Tests/Benchmarks/relay.c
	$(bench_cc) $$(pkg-config --cflags --libs libevent_core)

$(SCRATCH)/bench/load: Tests/Benchmarks/load.c
	$(bench_cc) -lm

$(SCRATCH)/bench/neighbours: Tests/Benchmarks/neighbours.c
	$(bench_cc)

$(SCRATCH)/bench/allocations.so: Tests/Benchmarks/allocations.c
	$(bench_cc) -shared -fPIC

SEEDS ?= 1-1000
simulate_build = -c release --scratch-path '$(SCRATCH)/simulate'

simulate: swift deps ## simulate the hub from SEEDS (1-1000), 1,500 steps each
	@echo 'building'
	$(call quietly,swift build --quiet --build-tests -Xswiftc -enable-testing $(simulate_build))
	@export GIMBAL_SEEDS='$(SEEDS)'; Tests/run-units.sh $(simulate_build) --filter SimulationTests

# A program that calls exit() still holds what main's frames hold: the soak test looks for leaks instead. With a limit
# on file sizes, the thread sanitizer cannot start; and each sanitizer has its own malloc, which gives nothing back.
sanitize: swift deps-test ## run the unit tests under the address and thread sanitizers
	@for sanitizer in address thread; do \
	    echo "$$sanitizer sanitizer"; \
	    ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS='suppressions=$(CURDIR)/Tests/Sanitize/thread.txt' \
	        swift test --quiet --disable-xctest --sanitize=$$sanitizer \
	        --skip aFullDiskKeeps --skip whatClientsLeaveIsGivenBack --scratch-path "$(SCRATCH)/$$sanitizer" || exit 1; \
	done

# Options: FUZZ=--keep also writes Tests/Fuzz/Corpus; FUZZ=FuzzHub runs one of them.
FUZZ ?=

fuzz: swift deps-test ## fuzz the code that reads input, each fuzzer for FUZZ_SECONDS (60)
	@Tests/Fuzz/run.sh $(FUZZ)

coverage: swift deps-test ## count the lines that the unit tests reach, and list the others
	@Tests/Coverage/coverage.py '$(SCRATCH)/coverage'

# Targets that only compute, without shared state: their unit tests run in seconds.
MUTATED ?= Gestures Touches MapCamera JSONLines EarthViews
SEED ?= 1
COUNT ?= 60

mutate: swift ## break COUNT (60) places of each of MUTATED, at random from SEED (1), and count what its tests catch
	@SEED='$(SEED)' COUNT='$(COUNT)' Tests/Mutation/mutate.py '$(SCRATCH)/mutation' $(MUTATED)

soak: deps-test build ## run a daemon with hostile clients for SOAK_SECONDS (120)
	@Tests/Soak/soak.py '$(SCRATCH)/release/gimbald'

lint: swift ## check the style of the Swift sources
	swift format lint --strict --recursive $(swift_sources)

format: swift ## format the Swift sources in this style
	swift format --in-place --recursive $(swift_sources)

clean: ## remove what was built
	rm -rf '$(SCRATCH)'

# MARK: Installing

$(programs) $(share) &:
	@$(MAKE) --no-print-directory build

install: $(programs) $(share) ## install below DESTDIR and PREFIX, building only what is missing
	install -d '$(bin)' '$(units)/system' '$(units)/user' '$(sysusers)' '$(catalog)' '$(doc)'
	install -m 755 $(STRIP) $(programs) '$(bin)'
	install -m 644 systemd/gimbald*.socket systemd/gimbald-watch-restart.service '$(units)/system'
	install -m 644 systemd/user/gimbald.socket '$(units)/user'
	for unit in system user; do \
	    folder=systemd; [ $$unit = system ] || folder=systemd/user; \
	    sed 's|/usr/bin/|$(PREFIX)/bin/|g' $$folder/gimbald.service >'$(units)'/$$unit/gimbald.service; \
	    chmod 644 '$(units)'/$$unit/gimbald.service; \
	done
	install -m 644 systemd/gimbal.sysusers '$(sysusers)/gimbal.conf'
	install -m 644 systemd/gimbal.catalog '$(catalog)'
	install -d '$(man)/man1' '$(man)/man8' '$(bash)' '$(zsh)' '$(fish)'
	install -m 644 '$(share)'/man1/* '$(man)/man1'
	install -m 644 '$(share)'/man8/* '$(man)/man8'
	install -m 644 '$(share)'/bash/* '$(bash)'
	install -m 644 '$(share)'/zsh/* '$(zsh)'
	install -m 644 '$(share)'/fish/* '$(fish)'
	cp -R $(wildcard README.md SECURITY.md LICENSE) Protocols '$(share)/gimbald.conf' '$(doc)'
	chmod -R u=rwX,go=rX '$(doc)'
	$(call on_this_machine,installed)

install-mqtt: ## install what `make mqtt` built: gimbal-mqtt, its unit, man page and completions
	$(call install_share_of,gimbal-mqtt)

install-web: ## install what `make web` built: gimbal-web, its units, man page and completions
	$(call install_share_of,gimbal-web)
	install -m 644 systemd/gimbal-web.socket '$(units)/system'

# Staging below DESTDIR does not affect this machine.
on_this_machine = @$(if $(DESTDIR),:,systemd/machine.sh $(1) '$(units)')

uninstall: ## stop and disable the units, and remove what `install` installs
	$(call on_this_machine,uninstalling)
	rm -f '$(bin)/gimbald' '$(bin)/gimbal' '$(sysusers)/gimbal.conf' '$(catalog)/gimbal.catalog'
	rm -f '$(units)/system/gimbald.service' '$(units)/system/gimbald.socket' '$(units)/system/gimbald-watch.socket'
	rm -f '$(units)/system/gimbald-watch-restart.service'
	rm -f '$(units)/user/gimbald.service' '$(units)/user/gimbald.socket'
	rm -f '$(man)/man1/gimbal.1' '$(man)'/man1/gimbal-*.1 '$(man)/man8/gimbald.8'
	rm -f '$(bin)/gimbal-mqtt' '$(units)/system/gimbal-mqtt.service' '$(man)/man8/gimbal-mqtt.8'
	rm -f '$(bin)/gimbal-web' '$(units)/system/gimbal-web.service' '$(units)/system/gimbal-web.socket'
	rm -f '$(man)/man8/gimbal-web.8'
	for program in gimbal gimbald gimbal-mqtt gimbal-web; do \
	    rm -f '$(bash)'/$$program '$(zsh)'/_$$program '$(fish)'/$$program.fish; \
	done
	rm -rf '$(doc)'
	$(call on_this_machine,$(if $(filter purge,$(MAKECMDGOALS)),purge,uninstalled))

purge: uninstall ## uninstall, and remove what the services leave: cameras, tokens, settings, user and group

# MARK: Packaging

# The tools' own files stay beside the package that they describe; the package itself is copied into this folder.
package_folder = $(SCRATCH)/deb
# Debian's tools do not understand the debug information of Swift's compiler: there is no package for it.
package_options = noautodbgsym
LINTIAN ?= lintian --fail-on error$(comma)warning
comma = ,

# What to package besides the daemon and its command line: `make deb WITH='mqtt web'`.
WITH ?=
profiles = $(if $(strip $(WITH)),--build-profiles=$(subst $(space),$(comma),$(patsubst %,pkg.gimbal.%,$(strip $(WITH)))))
empty =
space = $(empty) $(empty)

deb: swift deps-deb build $(WITH) ## make Debian packages in this folder: gimbal, and those in WITH='mqtt web'
	@$(MAKE) --no-print-directory package
	@for package in '$(package_folder)'/*.deb; do \
	    cp "$$package" . && echo "to install it: apt install ./$${package##*/}"; \
	done

package: $(programs) $(share)
	@rm -rf '$(package_folder)' && mkdir -p '$(package_folder)'
	$(call quietly,$(make_package))
	$(call quietly,$(LINTIAN) '$(package_folder)/gimbal.changes')

define make_package
trap 'dh_clean; rm -f "$$log"' EXIT; export GIMBAL_IS_BUILT=yes DEB_OUTPUT='$(abspath $(package_folder))'; \
DEB_BUILD_OPTIONS="$(package_options) $$DEB_BUILD_OPTIONS" dpkg-buildpackage $(profiles) --build=binary --no-pre-clean --no-sign \
    --buildinfo-file='$(package_folder)/gimbal.buildinfo' --buildinfo-option=-u'$(package_folder)' \
    --changes-file='$(package_folder)/gimbal.changes' --changes-option=-u'$(package_folder)'
endef

# MARK: Releasing

release: swift deps-deb ## make the release of a commit tagged vVERSION: archive, packages, SPDX list, checksums
	@debian/release.py '$(SCRATCH)/gimbal-release'

check-release: swift deps-test ## make a release twice, in different folders, and compare the bytes
	@Tests/System/release.sh twice
