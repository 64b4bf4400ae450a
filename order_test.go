package rimewatch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestOrderStates: what can be done with an order in which state, and what it is then.
func TestOrderStates(t *testing.T) {
	firm := &rimewatch.Doer{Kind: rimewatch.DoerExternal, Name: "Kim", Firm: "Polar"}
	result := rimewatch.OrderResult{Performed: *firm, Outcome: rimewatch.OutcomeRepaired, Cause: "Fan", Work: "Replaced"}
	const o, a, s, d, v, c = rimewatch.OrderOpen, rimewatch.OrderAssigned, rimewatch.OrderOnSite, rimewatch.OrderDone, rimewatch.OrderVerified, rimewatch.OrderCancelled
	states := []rimewatch.OrderStatus{o, a, s, d, v, c}
	for _, act := range []struct {
		name string
		do   func(*rimewatch.WorkOrder) error
		to   map[rimewatch.OrderStatus]rimewatch.OrderStatus // from what it is possible, and what follows
	}{
		{"assign", func(x *rimewatch.WorkOrder) error { return x.Assign(firm, 4) }, map[rimewatch.OrderStatus]rimewatch.OrderStatus{o: a, a: a, s: a}},
		{"take away", func(x *rimewatch.WorkOrder) error { return x.Assign(nil, 0) }, map[rimewatch.OrderStatus]rimewatch.OrderStatus{o: o, a: o, s: o}},
		{"set out", func(x *rimewatch.WorkOrder) error { return x.SetOut(7) }, map[rimewatch.OrderStatus]rimewatch.OrderStatus{o: o, a: a, s: s}},
		{"arrive", func(x *rimewatch.WorkOrder) error { return x.Arrive(7) }, map[rimewatch.OrderStatus]rimewatch.OrderStatus{o: s, a: s, s: s}},
		{"finish", func(x *rimewatch.WorkOrder) error { return x.Finish(result, 7) }, map[rimewatch.OrderStatus]rimewatch.OrderStatus{o: d, a: d, s: d}},
		{"confirm", func(x *rimewatch.WorkOrder) error { x.Confirm(*firm, 7); return nil }, map[rimewatch.OrderStatus]rimewatch.OrderStatus{o: o, a: a, s: s, d: v, v: v, c: c}},
		{"cancel", func(x *rimewatch.WorkOrder) error { return x.Cancel() }, map[rimewatch.OrderStatus]rimewatch.OrderStatus{o: c, a: c, s: c, c: c}},
		{"new link", func(x *rimewatch.WorkOrder) error { _, err := x.NewLink(7); return err }, map[rimewatch.OrderStatus]rimewatch.OrderStatus{o: o, a: a, s: s}},
	} {
		for _, from := range states {
			x := rimewatch.WorkOrder{Status: from, Problem: "Ices up", Urgency: rimewatch.UrgencySoon, LinkUntil: 3}
			if from != o {
				x.Assignee = firm
			}
			if from == d || from == v {
				x.Result = &result
			}
			err := act.do(&x)
			to, possible := act.to[from]
			if !possible {
				to = from
			}
			if got := rimewatch.CodeOf(err) == rimewatch.CodeConflict; got == possible || x.Status != to {
				t.Errorf("%s from %s: %v, then %s", act.name, from, err, x.Status)
			}
			if err := x.Check(); err != nil {
				t.Errorf("%s from %s cannot be stored: %v", act.name, from, err)
			}
		}
	}
}

// TestOrderMoments: what is said twice counts from the first time, and whoever comes next begins anew.
func TestOrderMoments(t *testing.T) {
	x := rimewatch.WorkOrder{Status: rimewatch.OrderOpen}
	firm := &rimewatch.Doer{Kind: rimewatch.DoerExternal, Name: "Kim"}
	steps := []error{x.Assign(firm, 4), x.SetOut(10), x.SetOut(11), x.Arrive(20), x.Arrive(21), x.SetOut(22)}
	for i, err := range steps {
		if err != nil {
			t.Fatal(i, err)
		}
	}
	if x.OnWayAt != 10 || x.OnSiteAt != 20 {
		t.Errorf("on the way at %d, there at %d", x.OnWayAt, x.OnSiteAt)
	}
	first, _ := x.NewLink(30)
	second, _ := x.NewLink(30)
	if first != 30+rimewatch.OrderLinkLife || second <= first || x.LinkUntil != second {
		t.Errorf("links until %d and %d", first, second)
	}
	if err := x.Assign(nil, 0); err != nil || x.OnWayAt+x.OnSiteAt+x.LinkUntil != 0 {
		t.Errorf("after it was taken away: %+v, %v", x, err)
	}
}

// TestOrderCheck: what cannot be an order.
func TestOrderCheck(t *testing.T) {
	for _, bad := range []struct {
		field  string
		change func(*rimewatch.WorkOrder)
	}{
		{"problem", func(x *rimewatch.WorkOrder) { x.Problem = " " }},
		{"problem", func(x *rimewatch.WorkOrder) { x.Problem = strings.Repeat("x", rimewatch.MaxOrderText+1) }},
		{"access", func(x *rimewatch.WorkOrder) { x.Access = strings.Repeat("x", rimewatch.MaxNoteLen+1) }},
		{"urgency", func(x *rimewatch.WorkOrder) { x.Urgency = "yesterday" }},
		{"status", func(x *rimewatch.WorkOrder) { x.Status = "" }},
		{"status", func(x *rimewatch.WorkOrder) { x.Result = nil }},
		{"assignee", func(x *rimewatch.WorkOrder) { x.Status = rimewatch.OrderAssigned }},
		{"outcome", func(x *rimewatch.WorkOrder) { x.Result.Outcome = "" }},
		{"cause", func(x *rimewatch.WorkOrder) { x.Result.Cause = "" }},
		{"work", func(x *rimewatch.WorkOrder) { x.Result.Work = "\n" }},
		{"parts", func(x *rimewatch.WorkOrder) { x.Result.Parts = "\xff" }},
		{"cost", func(x *rimewatch.WorkOrder) { x.Result.Cost = "1\n2" }},
		{"remarks", func(x *rimewatch.WorkOrder) { x.Result.Remarks = "\x00" }},
	} {
		x := rimewatch.WorkOrder{Status: rimewatch.OrderDone, Problem: "Ices up", Urgency: rimewatch.UrgencySoon, Result: &rimewatch.OrderResult{Outcome: rimewatch.OutcomeRepaired, Cause: "Fan", Work: "Replaced"}}
		if err := x.Check(); err != nil {
			t.Fatal(err)
		}
		bad.change(&x)
		var refused *rimewatch.Error
		if err := x.Check(); !errors.As(err, &refused) || refused.Fields[bad.field] == nil {
			t.Errorf("%s: %v", bad.field, err)
		}
	}
}

// TestVerdictOfAnOrder: what was found says what the prediction was worth.
func TestVerdictOfAnOrder(t *testing.T) {
	for outcome, want := range map[rimewatch.OrderOutcome]rimewatch.Verdict{
		rimewatch.OutcomeRepaired: rimewatch.Fixed, rimewatch.OutcomeNothingWrong: rimewatch.FalseAlarm, rimewatch.OutcomeNotRepaired: rimewatch.Useful,
	} {
		if got := outcome.Verdict(); got != want {
			t.Errorf("%s: %s, want %s", outcome, got, want)
		}
	}
}
