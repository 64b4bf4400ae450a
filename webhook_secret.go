package rimewatch

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
)

// WebhookSecretPrefix starts the secrets of webhooks, as Standard Webhooks asks.
const WebhookSecretPrefix = "whsec_"

// NewWebhookSecret returns 32 random bytes in the form of Standard Webhooks.
func NewWebhookSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return WebhookSecretPrefix + base64.StdEncoding.EncodeToString(b[:])
}

// WebhookKey returns the bytes of a secret that sign: 24 to 64 of them, the range
// of Standard Webhooks; false if it is not such a secret.
func WebhookKey(secret string) ([]byte, bool) {
	encoded, ok := strings.CutPrefix(secret, WebhookSecretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	return key, ok && err == nil && len(key) >= 24 && len(key) <= 64 && !strings.ContainsAny(secret, "\r\n")
}
