#!/bin/sh
echo "list: [1, 2]"
