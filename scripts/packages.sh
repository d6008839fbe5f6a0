# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Debian packages, for scripts that source it from the repository root after
# scripts/steps.sh. An entry is a package, then what shows that it is there: a
# command, or a file if it has a slash (a pattern, since the library folder is
# named for the machine).

is_there() {
  if [[ $1 == */* ]]; then
    compgen -G "$1" >/dev/null
  else
    command -v "$1" >/dev/null
  fi
}

# find_missing_of ENTRY...: sets $missing to the packages that are not there.
find_missing_of() {
  local entry package probe
  missing=()
  for entry in "$@"; do
    read -r package probe <<<"$entry"
    is_there "$probe" || missing+=("$package")
  done
}

apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  local options=(-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  # A list that cannot be refreshed may still do; the install decides.
  apt-get "${options[@]}" update || true
  apt-get "${options[@]}" install -y --no-install-recommends "$@"
}

# give_up WHY: ends the script with what is left to do by hand.
give_up() {
  local name=${0##*/}
  {
    echo "$name: $1"
    echo "$name: missing Debian packages: ${missing[*]}"
    echo "$name: install them as root, then run this again:"
    echo "    apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  } >&2
  exit 1
}

# Installs what is in $missing.
install_missing() {
  command -v apt-get >/dev/null || give_up "there is no apt-get here"
  ((EUID == 0)) || give_up "installing packages needs root"
  quiet_step "apt-get install ${#missing[@]} packages" \
    apt_install "${missing[@]}" || give_up "apt-get failed"
}

# need_packages ENTRY...: installs those that are not there.
need_packages() {
  find_missing_of "$@"
  ((${#missing[@]})) || return 0
  install_missing
  find_missing_of "$@"
  ((${#missing[@]} == 0)) ||
    give_up "apt-get installed the packages, but what they bring is not found"
}
