#!/bin/sh
# An external node classifier: its arguments, then the node's name.
node=$2
[ -n "$node" ] || node=$1
case $node in
  web1) printf 'classes:\n  role: {port: 81}\nparameters: {datacentre: %s}\n' "$1" ;;
  web2) printf 'classes: [base]\nenvironment: next\n' ;;
  web3) exit 3 ;;
esac
