# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared by the scripts that make and try wheels, which source it from the
# repository root: the interpreters of this machine.

# Is $1 a Python $2 that extensions can be built with?
is_python() {
  "$1" - "$2" 2>/dev/null <<'PY'
import ensurepip, os, sys, sysconfig, venv

version = "%d.%d" % sys.version_info[:2]
headers = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(version != sys.argv[1] or not os.path.exists(headers))
PY
}

# find_pythons VERSION...: sets $pythons to one interpreter for each of these
# versions that is here, in their order. The first of a version is taken:
# .venv's, what $PYTHONS names, what is in PATH, what pyenv has.
find_pythons() {
  local version candidate
  pythons=()
  for version in "$@"; do
    # shellcheck disable=SC2086
    for candidate in .venv/bin/python ${PYTHONS:-} "python$version" \
      "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
      if is_python "$candidate" "$version"; then
        pythons+=("$candidate")
        break
      fi
    done
  done
}

# What $1 has, as in the name of a wheel: cp311.
python_tag() {
  "$1" -c 'import sys; print("cp%d%d" % sys.version_info[:2])'
}
