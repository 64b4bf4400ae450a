package httpapi

import (
	"crypto/rand"

	"github.com/rimewatch/rimewatch"
)

// NewWebhookSecret draws a secret by which the messages of a webhook are signed.
func NewWebhookSecret() string { return rimewatch.WebhookSecret(drawKey()) }

func drawKey() (key [32]byte) {
	_, _ = rand.Read(key[:]) // never fails
	return key
}
