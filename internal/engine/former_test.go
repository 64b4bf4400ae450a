package engine_test

import (
	"encoding/base64"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
)

// oneSender is what version 6, which knew one sender of a device, wrote after twenty
// readings that came an hour late, one a minute.
const oneSender = "BkQAAgEIA8DEjsaYaACAsIPFmGjAxI7GmGjg1APg1APg1APg1APg1APg1APg1APg1AMTAAAAAAAAAAAAAAAAAAAAAAAAAABVAAOVAMCK18KYaAAAAIvZPODFCAAA4NQDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA9QMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABjAA0fwMSOxphoAAC/lIsB4NQDkAAAcEK/lIsBAAIBAAAAAAAAABAAIMjYP0AAAHAAAEBAzcxMPQAAQEABv5SLAQAAAAAAD4gBAQOK2TwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADgAD0PAxI7GmGjA/BUDAJDgE+DUA4EAAABAQBmQPxo9v5SLAQDyv8F84NQD4NQD4NQD4NQDIAMAAAAeAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAIC6twOAurcDgLCDxZhoAA=="

// TestStateOfOneSender: a state of before a device could have several senders is read: what
// was known of its clock holds.
func TestStateOfOneSender(t *testing.T) {
	old, err := base64.StdEncoding.DecodeString(oneSender)
	if err != nil || old[0] != 6 {
		t.Fatal(err, old[0])
	}
	var got engine.State
	if err := got.UnmarshalBinary(old); err != nil {
		t.Fatal(err)
	}
	if got.Behind() != rimewatch.Hour {
		t.Errorf("behind by %v, want an hour", got.Behind())
	}
	if err := new(engine.State).UnmarshalBinary(append(old, 0)); err == nil {
		t.Error("took what does not belong to it")
	}
}
