package rule

import (
	"regexp/syntax"
)

// maxNeeds is how many texts are looked for before an expression.
const maxNeeds = 8

// needed are texts of which one is in everything that an expression matches; nil
// where that cannot be told. Looking for a text costs a hundredth of looking for
// an expression, and most windows do not have it.
func needed(tree *syntax.Regexp) [][]byte {
	switch tree.Op {
	case syntax.OpLiteral:
		if tree.Flags&syntax.FoldCase != 0 {
			return nil
		}
		return [][]byte{[]byte(string(tree.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min == 0 {
			return nil
		}
		return needed(tree.Sub[0])
	case syntax.OpConcat: // the rarest of its parts: the longest
		var best [][]byte
		for _, part := range tree.Sub {
			if texts := needed(part); shortest(texts) > shortest(best) {
				best = texts
			}
		}
		return best
	case syntax.OpAlternate:
		var all [][]byte
		for _, way := range tree.Sub {
			texts := needed(way)
			if texts == nil || len(all)+len(texts) > maxNeeds {
				return nil
			}
			all = append(all, texts...)
		}
		return all
	}
	return nil
}

// shortest is the length of the shortest text; 0 for none.
func shortest(texts [][]byte) int {
	n := 0
	for i, t := range texts {
		if i == 0 || len(t) < n {
			n = len(t)
		}
	}
	return n
}
