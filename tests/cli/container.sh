#!/bin/sh
# container.sh ROOT COMMAND...: runs a command as a platform for courses does: as root of a
# container that has ROOT's folders, the system's programs, no network, and nothing of this
# repository. As another user than root it takes a user namespace, in which there is one uid only.
# Exit code 126: no container can be made here.
user=
[ "$(id -u)" = 0 ] || user=--map-root-user
# shellcheck disable=SC2016,SC2086
exec unshare $user --mount --net --pid --fork --kill-child sh -c '
    root=$1
    shift
    mkdir -p "$root/proc" "$root/tmp" && chmod 1777 "$root/tmp" && chmod 755 "$root" || exit 126
    for folder in bin lib lib64 usr dev etc; do
        if [ -L /$folder ]; then
            cp -Pf /$folder "$root/"
        elif [ -d /$folder ]; then
            mkdir -p "$root/$folder" && mount --rbind /$folder "$root/$folder"
        fi || exit 126
    done
    mount -t proc proc "$root/proc" || exit 126
    [ $# -gt 0 ] || exit 0
    exec env -i PATH=/usr/sbin:/usr/bin:/bin chroot "$root" "$@"' sh "$@"
