#!/bin/sh
set -e
# An upgrade stops nothing: rpm passes 1, dpkg "upgrade".
case "$1" in
1 | upgrade) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	systemctl disable --now heddle.service
fi
