# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared by the scripts that need other packages than .venv has: an environment
# that lies on top of it, holds nothing but those, and takes the rest, torch first
# of all, from there. Sourced from the repository root, after steps.sh.

# Where the interpreter $1 installs packages.
packages_of() {
  "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
}

# make_overlay ENV REQUIREMENTS [PATH...]: with these folders on its path.
make_overlay() {
  local env=$1 requirements=$2 base
  shift 2
  base=$(packages_of .venv/bin/python) &&
    rm -rf "$env" &&
    .venv/bin/python -m venv --without-pip "$env" &&
    printf '%s\n' "$base" "$@" >"$(packages_of "$env/bin/python")/base.pth" &&
    "$env/bin/python" -m pip install --no-input --progress-bar off \
      --disable-pip-version-check --no-deps -r "$requirements"
}

# ensure_overlay ENV REQUIREMENTS [PATH...]: unless it is as it should be.
ensure_overlay() {
  local wanted
  wanted=$({ .venv/bin/python -V && echo "$PWD $*" &&
    cat "$2" scripts/overlay.sh; } | sha256sum)
  [[ $(cat "$1/stamp" 2>/dev/null) != "$wanted" ]] || return 0
  quiet_step "create $1" make_overlay "$@"
  echo "$wanted" >"$1/stamp"
}
