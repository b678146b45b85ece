# Two commands are enough on a fresh machine: `make demo` and `make test`.

library = build/library
with_library = R_LIBS="$(CURDIR)/$(library)$${R_LIBS:+:$$R_LIBS}"
rust = . tools/rust.sh; find_rust;
workspace = --manifest-path src/rust/Cargo.toml
properties = --manifest-path src/rust/properties/Cargo.toml

.PHONY: help setup install demo test coverage memcheck lint document check \
    bioccheck bench paper site dist msrv windows fresh cluster authors clean

help:
	@echo "make demo      set up, install, and find the changes in a simulated pair"
	@echo "make test      set up, and run every test"
	@echo "make setup     install what is missing"
	@echo "make install   install the package into R's library"
	@echo "make coverage  the share of lines that the tests reach"
	@echo "make memcheck  small cases of every routine under valgrind and Miri"
	@echo "make lint      rustfmt, clippy, lintr"
	@echo "make document  man/ and NAMESPACE from the roxygen comments"
	@echo "make check     R CMD check --as-cran of the source tarball"
	@echo "make bioccheck what BiocCheck remarks"
	@echo "make bench     the timing and memory table"
	@echo "make paper     the experiments of the paper, for the vignettes"
	@echo "make site      the web site, into build/site"
	@echo "make dist      the source tarball, with its crates inside"
	@echo "make msrv      the oldest rustc that will do: tests, and an install"
	@echo "make windows   the core's tests under wine, and the DLL of the package"
	@echo "make fresh     the two commands on Debian 12 and 13 with nothing else"
	@echo "make cluster   the same work on Slurm, on two hosts, and alone"
	@echo "make authors   inst/AUTHORS, from the crates of Cargo.lock"
	@echo "make clean     remove what these have built"

setup:
	@sh tools/setup.sh run

install: setup
	@sh tools/install.sh "$$(Rscript -e 'cat(.libPaths()[1])')"

demo: setup
	@sh tools/install.sh $(library)
	@cd build && $(with_library) Rscript ../inst/examples/demo.R

test:
	@sh tools/test.sh

coverage:
	@sh tools/coverage.sh

memcheck:
	@sh tools/memcheck.sh

lint:
	@sh tools/setup.sh lint
	@$(rust) cargo fmt $(workspace) --all -- --check
	@$(rust) cargo clippy --quiet --locked -j 2 $(workspace) --workspace \
	    $$(rust_features) --all-targets -- -D warnings
	@$(rust) cargo fmt $(properties) -- --check
	@$(rust) cargo clippy --quiet --locked -j 2 $(properties) --all-targets \
	    $$(rust_features) \
	    --target-dir $${CARGO_TARGET_DIR:-src/rust/target} -- -D warnings
	@sh tools/install.sh $(library)
	@$(with_library) Rscript tools/lint.R

document:
	@sh tools/setup.sh document
	@sh tools/install.sh $(library)
	@$(with_library) Rscript -e 'roxygen2::roxygenise(load_code = "installed")'

check:
	@sh tools/setup.sh check
	@sh tools/check.sh

bioccheck:
	@sh tools/setup.sh bioccheck
	@sh tools/bioccheck.sh

bench:
	@sh tools/setup.sh test
	@sh tools/install.sh $(library)
	@$(with_library) Rscript bench/run.R

paper:
	@sh tools/setup.sh test
	@sh tools/install.sh $(library)
	@$(with_library) Rscript bench/paper/run.R

site:
	@sh tools/setup.sh site
	@sh tools/install.sh $(library)
	@$(with_library) Rscript tools/site.R

dist:
	@sh tools/setup.sh check
	@sh tools/dist.sh

msrv:
	@sh tools/msrv.sh

windows:
	@sh tools/windows.sh

fresh:
	@sh tools/fresh.sh

cluster:
	@sh tools/cluster.sh

authors:
	@sh tools/setup.sh run
	@rm -rf build/crates
	@$(rust) sh tools/vendor.sh "$(CURDIR)/build/crates" > build/authors.log 2>&1
	@sh tools/authors.sh build/crates > inst/AUTHORS

clean:
	@sh cleanup
	rm -rf build kliepnet_*.tar.gz kliepnet.Rcheck
