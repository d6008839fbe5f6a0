# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared by the other scripts, which source it from the repository root: every
# step of a run says its name and how long it took.
#
# A step that is a function of several commands joins them with &&: bash does
# not stop at the first failure inside a command whose status is looked at.

# Prints "done: NAME (SECONDS s)"; START is a value of $EPOCHREALTIME.
finished() {
  awk -v name="$1" -v start="$2" -v now="$EPOCHREALTIME" \
    'BEGIN { printf "done: %s (%.1f s)\n", name, now - start }'
}

# step NAME COMMAND...: runs it with its output shown.
step() {
  local name=$1 start=$EPOCHREALTIME status=0
  shift
  echo "step: $name"
  "$@" || status=$?
  if ((status)); then
    echo "FAILED: $name (exit status $status)" >&2
    return "$status"
  fi
  finished "$name" "$start"
}

# quiet_step NAME COMMAND...: keeps the output in build/logs/ and shows the end
# of it only when the command fails.
quiet_step() {
  local name=$1 start=$EPOCHREALTIME status=0 log
  shift
  log=build/logs/${name//[^A-Za-z0-9._-]/-}.log
  mkdir -p build/logs
  echo "step: $name"
  "$@" >"$log" 2>&1 || status=$?
  if ((status)); then
    tail -n 40 "$log" >&2
    echo "FAILED: $name (exit status $status; all of it in $log)" >&2
    return "$status"
  fi
  finished "$name" "$start"
}
