#!/bin/sh
# Stands in for a helper program: runs what the test has left in its home.
. "$HOME/script"
