// Empty: a target has a file. The package manager builds the programs that it depends on first.
