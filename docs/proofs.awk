# Makes a table of what `go test -v` says of the proofs: result, seconds, name,
# figures. What failed is printed whole. Exits with 1 if anything did.

/^=== (RUN|NAME|PAUSE|CONT)/ { next }

# What a test logs comes before its result.
/^    [a-z_]+_test\.go:[0-9]+: / {
	sub(/^    [a-z_]+_test\.go:[0-9]+: /, "")
	said = said (said == "" ? "" : "\n") $0
	next
}

/^--- (PASS|FAIL|SKIP)/ {
	seconds = $4
	gsub(/[()s]/, "", seconds)
	figures = said
	gsub(/\n/, "\n                                                      ", figures)
	printf "%-4s %7.1f s  %-38s %s\n", $2 == "PASS:" ? "ok" : $2 == "SKIP:" ? "skip" : "FAIL", seconds, $3, figures
	if ($2 == "FAIL:") {
		printf "%s", detail
		bad++
	}
	count++
	said = detail = ""
	next
}

/^(FAIL|panic:)/ { bad++; print; next }
/^(ok|PASS|\?)/ { detail = ""; next }

{ detail = detail $0 "\n" }

END {
	if (bad) printf "%s", detail
	printf "%d proofs, %d failed\n", count, bad
	exit bad > 0
}
