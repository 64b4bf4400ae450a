package evaluate

import (
	"fmt"
	"io"
	"time"

	"github.com/rimewatch/rimewatch/internal/simulate"
)

// wildKind is what makes it hard to find a fault of a unit. Each unit counts by the
// first that is true of it.
type wildKind uint8

const (
	kindIced     wildKind = iota // it had truly iced up before the fault began
	kindLearning                 // it was never known, for it seldom ran steadily for long
	kindVaries                   // the load of its compressor varies by itself
	kindSeldom                   // it sends a reading every five minutes
	kindOther
	numKinds
)

var kindNames = [numKinds]string{"iced up before the fault began", "learning to the end", "load that varies by itself", "a reading every five minutes", "all others"}

func kindOf(w *simulate.Wild, iced, learning bool) wildKind {
	switch {
	case iced:
		return kindIced
	case learning:
		return kindLearning
	case w.Config.Params.Drive != simulate.FixedSpeed:
		return kindVaries
	case w.Config.SampleEvery >= 5*time.Minute:
		return kindSeldom
	default:
		return kindOther
	}
}

// printKinds prints on which units faults are found, and on which not.
func (t *wildTally) printKinds(out io.Writer) {
	fmt.Fprintln(out, "| units with a slow fault | found | before the product alarm |\n|---|---|---|")
	for i := range t.kinds {
		k := &t.kinds[i]
		fmt.Fprintf(out, "| %s | %d/%d | %d/%d |\n", kindNames[i], k.found, k.units, k.before, k.ends)
	}
	fmt.Fprintln(out)
}
