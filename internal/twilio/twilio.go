// Package twilio sends text messages and makes phone calls through Twilio. Both are
// named by a URL:
//
//	twilio://ACCOUNT_SID:AUTH_TOKEN@sms?from=+15017122661&to=+15558675310
//	twilio://ACCOUNT_SID:AUTH_TOKEN@call?from=+15017122661&to=+15558675310
//
// See https://www.twilio.com/docs/messaging/api/message-resource and
// https://www.twilio.com/docs/voice/api/call-resource.
package twilio

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/rimewatch/rimewatch"
)

var (
	accountSID  = regexp.MustCompile(`^AC[0-9a-f]{32}$`)
	serviceSID  = regexp.MustCompile(`^MG[0-9a-f]{32}$`)
	authToken   = regexp.MustCompile(`^[0-9a-f]{32}$`)
	phoneNumber = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`) // ITU-T E.164
)

// maxSMS is how much of a message is sent, in bytes: what is shortened to it is billed
// as three text messages, which hold 153 characters each of the alphabet of gsm.
const maxSMS = 450

// CheckSMS reports why u cannot be the URL of text messages: CodeValidationFailed
// with the field url.
func CheckSMS(u *url.URL) error {
	from := u.Query().Get("from")
	if !phoneNumber.MatchString(number(from)) && !serviceSID.MatchString(from) {
		return cmp.Or[error](checkAccount(u, "sms"), rimewatch.Invalid("url", "needs a phone number of the Twilio account, with its country code, or a messaging service (MG…)"))
	}
	return checkAccount(u, "sms")
}

// checkAccount reports what is wrong with the account and the receiver of a URL.
func checkAccount(u *url.URL, does string) error {
	token, _ := u.User.Password()
	switch {
	case u.Host != does:
		return rimewatch.Invalid("url", "must be twilio://ACCOUNT_SID:AUTH_TOKEN@%s?from=…&to=…", does)
	case !accountSID.MatchString(u.User.Username()):
		return rimewatch.Invalid("url", "needs Twilio's account SID: AC and 32 characters")
	case !authToken.MatchString(token):
		return rimewatch.Invalid("url", "needs Twilio's auth token: 32 characters")
	case !phoneNumber.MatchString(number(u.Query().Get("to"))):
		return rimewatch.Invalid("url", "needs the phone number to notify, with its country code: +15558675310")
	}
	return nil
}

// number is a phone number without what people write between its digits. In a
// query a plus sign that is not encoded is a space.
func number(s string) string {
	if strings.HasPrefix(s, " ") {
		s = "+" + s[1:]
	}
	return strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", "/", "", ".", "").Replace(s)
}

// SMS returns the request that sends a text, shortened, and a link, which may be "".
func SMS(ctx context.Context, u *url.URL, text, link string) (*http.Request, error) {
	q := u.Query()
	if link != "" {
		link = "\n" + link
	}
	form := url.Values{"To": {number(q.Get("to"))}, "Body": {gsm(rimewatch.Shorten(text, maxSMS-len(link)) + link)}}
	if from := q.Get("from"); serviceSID.MatchString(from) {
		form.Set("MessagingServiceSid", from)
	} else {
		form.Set("From", number(from))
	}
	return post(ctx, u, "Messages", form)
}

// typeset are signs that a text message can do without.
var typeset = strings.NewReplacer("−", "-", "–", "-", "“", "\"", "”", "\"", "’", "'", "…", "...", "°C", "C", "°F", "F", "\u00a0", " ", "\u202f", " ",
	// Which Spanish does without there rather than pay for twice as many messages.
	"á", "a", "í", "i", "ó", "o", "ú", "u", "Á", "A", "Í", "I", "Ó", "O", "Ú", "U")

// gsmSigns are those of the alphabet of text messages (3GPP TS 23.038, 6.2.1) beyond
// letters and digits.
const gsmSigns = "@£$¥èéùìòÇ\nØøÅå_ !\"#%&'()*+,-./:;<=>?¡ÄÖÑÜ§¿äöñüà^{}\\[~]|€ÆæßÉ"

// gsm returns text without the signs that would halve what fits into a message, when
// that is all that stands in the way: one letter of another alphabet, and it stays.
func gsm(text string) string {
	plain := typeset.Replace(text)
	for _, r := range plain {
		if !(r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r))) && !strings.ContainsRune(gsmSigns, r) {
			return text
		}
	}
	return plain
}

// CheckCall reports why rawURL cannot be the URL of phone calls: CodeValidationFailed
// with the field url.
func CheckCall(rawURL string) error {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "twilio" {
		u = &url.URL{} // which says what is expected
	}
	if err := checkAccount(u, "call"); err != nil {
		return err
	}
	if !phoneNumber.MatchString(number(u.Query().Get("from"))) {
		return rimewatch.Invalid("url", "needs a phone number of the Twilio account, with its country code: +15017122661")
	}
	return nil
}

// ringing is for how long a phone rings, in s.
const ringing = "40"

// Call returns the request that makes a phone call in which Twilio does what a script
// says.
func Call(ctx context.Context, u *url.URL, script string) (*http.Request, error) {
	q := u.Query()
	return post(ctx, u, "Calls", url.Values{"To": {number(q.Get("to"))}, "From": {number(q.Get("from"))}, "Twiml": {script}, "Timeout": {ringing}})
}

// Credentials are the account's SID and its token in the URL of a channel.
func Credentials(rawURL string) (account, token string) {
	u, err := url.Parse(rawURL)
	if err != nil || u.User == nil {
		return "", ""
	}
	token, _ = u.User.Password()
	return u.User.Username(), token
}

// post returns a request to a resource of the account.
func post(ctx context.Context, u *url.URL, resource string, form url.Values) (*http.Request, error) {
	token, _ := u.User.Password()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.twilio.com/2010-04-01/Accounts/"+u.User.Username()+"/"+resource+".json", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(u.User.Username(), token)
	return r, nil
}

// Says is what Twilio says of a request that it has refused, "" = nothing: it names the
// number that it does not take.
func Says(body string) string {
	var says struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(body), &says) != nil || says.Message == "" {
		return ""
	}
	return fmt.Sprintf("Twilio says: %s (%d)", strings.TrimSuffix(says.Message, "."), says.Code)
}
