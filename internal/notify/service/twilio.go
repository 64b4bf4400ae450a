package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
)

// twilio sends text messages to phones:
//
//	twilio://ACCOUNT_SID:AUTH_TOKEN@sms?from=+15017122661&to=+15558675310
//
// from may be a messaging service (MG…) instead of a number. See
// https://www.twilio.com/docs/messaging/api/message-resource.
var twilio = own{check: checkTwilio, request: sms, explain: twilioSays}

var (
	twilioAccount = regexp.MustCompile(`^AC[0-9a-f]{32}$`)
	twilioService = regexp.MustCompile(`^MG[0-9a-f]{32}$`)
	twilioToken   = regexp.MustCompile(`^[0-9a-f]{32}$`)
	phoneNumber   = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`) // ITU-T E.164
)

// maxSMS is how much of a message is sent, in bytes: a text message of more than
// 70 characters is billed as several, and Twilio takes at most 1,600 characters.
const maxSMS = 480

func checkTwilio(u *url.URL) error {
	token, _ := u.User.Password()
	q := u.Query()
	switch {
	case u.Host != "sms":
		return rimewatch.Invalid("url", "must be twilio://ACCOUNT_SID:AUTH_TOKEN@sms?from=…&to=…")
	case !twilioAccount.MatchString(u.User.Username()):
		return rimewatch.Invalid("url", "needs Twilio's account SID: AC and 32 characters")
	case !twilioToken.MatchString(token):
		return rimewatch.Invalid("url", "needs Twilio's auth token: 32 characters")
	case !phoneNumber.MatchString(number(q.Get("to"))):
		return rimewatch.Invalid("url", "needs the phone number to notify, with its country code: +15558675310")
	case !phoneNumber.MatchString(number(q.Get("from"))) && !twilioService.MatchString(q.Get("from")):
		return rimewatch.Invalid("url", "needs a phone number of the Twilio account, with its country code, or a messaging service (MG…)")
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

func sms(ctx context.Context, u *url.URL, m *message.Message) (*http.Request, error) {
	q := u.Query()
	text := m.Data.Subject + "\n" + m.Data.Text
	link := ""
	if m.Data.Link != "" {
		link = "\n" + m.Data.Link
	}
	form := url.Values{"To": {number(q.Get("to"))}, "Body": {shorten(text, maxSMS-len(link)) + link}}
	if from := q.Get("from"); twilioService.MatchString(from) {
		form.Set("MessagingServiceSid", from)
	} else {
		form.Set("From", number(from))
	}
	token, _ := u.User.Password()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.twilio.com/2010-04-01/Accounts/"+u.User.Username()+"/Messages.json", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(u.User.Username(), token)
	return r, nil
}

// twilioSays puts Twilio's own words in place of a bare status: it names the
// number that it does not take.
func twilioSays(err error) error {
	var status *outbound.StatusError
	var says struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if !errors.As(err, &status) || json.Unmarshal([]byte(status.Body), &says) != nil || says.Message == "" {
		return err
	}
	failed := outbound.Failure(err)
	return &rimewatch.Error{Code: failed.Code, RetryAfter: failed.RetryAfter, Message: fmt.Sprintf("Twilio says: %s (%d)", strings.TrimSuffix(says.Message, "."), says.Code)}
}
