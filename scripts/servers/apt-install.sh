#!/bin/sh
# Installs one Debian package without starting the service it brings. Called by install.ts, as root.
set -eu
package=$1
policy=/usr/sbin/policy-rc.d
saved=$policy.cronce-saved
mark='# cronce: no service starts during a test install'
no_cluster=/etc/postgresql-common/createcluster.d/cronce-no-cluster.conf

# Safe to repeat: it undoes what this script did, whether it ended well or was killed midway.
restore() {
  if grep -qsF "$mark" "$policy"; then rm -f "$policy"; fi
  if [ -e "$saved" ] && [ ! -e "$policy" ]; then mv "$saved" "$policy"; fi
  rm -f "$no_cluster"
  rmdir "${no_cluster%/*}" 2>/dev/null || : # Only if empty: the administrator may keep files there, too.
}

is_installed() {
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -qx 'install ok installed'
}

# One install at a time: the policy file is shared, and `apt-get update` does not wait for its lock.
# A kernel lock on a folder that exists anyway leaves neither a stale lock nor a lock file.
exec 9</var/lib/dpkg
flock -w 900 9
restore
if is_installed; then exit 0; fi

trap restore EXIT
trap 'exit 1' HUP INT TERM

# The policy file is the one switch that both invoke-rc.d and deb-systemd-invoke obey.
if [ -e "$policy" ]; then mv "$policy" "$saved"; fi
printf '#!/bin/sh\n%s\nexit 101\n' "$mark" >"$policy"
chmod 755 "$policy"
if [ "$package" = postgresql ]; then
  # Debian would make a data directory for a system-wide server, which is not wanted.
  mkdir -p "${no_cluster%/*}"
  echo 'create_main_cluster = false' >"$no_cluster"
fi

# 9<&-: a process that outlives the install must not take the lock with it.
apt() {
  DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y \
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Acquire::http::Timeout=30 "$@" 9<&-
}
# One unreachable source fails the whole update although the lists we need may be there.
apt update || echo 'apt-get update failed; trying the lists at hand'
apt install --no-install-recommends "$package"
