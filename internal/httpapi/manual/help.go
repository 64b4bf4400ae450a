package manual

import (
	"net/http"
	"strings"

	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// helpPath is where a page of the web UI asks for what explains it: with its own address as the parameter page.
const helpPath = root + "/help"

// explained are the sections that explain the pages of the web UI, by how their addresses begin. The first that fits counts.
var explained = [][2]string{
	{"/devices", "what-wakes-you#the-first-evening"},
	{"/compare", "alerting#measurements"},
	{"/connect", "guides"},
	{"/alerts", "alerting#how-rules-work"},
	{"/cases", "records#cases"},
	{"/rounds", "records#rounds"},
	{"/settings/rounds", "records#rounds"},
	{"/work", "records#work-orders"},
	{"/sites", "records"},
	{"/reports", "records#the-temperature-log"},
	{"/account/tokens", "quick-start"},
	{"/account/security", "security#who-is-trusted-with-what"},
	{"/account", "notifications#push-notifications"},
	{"/settings/sensors", "records#calibrations"},
	{"/settings/sources", "guides"},
	{"/settings/members", "security#rights-are-carried"},
	{"/settings/notifications", "notifications#routes"},
	{"/settings/quiet", "notifications#what-stops-a-message"},
	{"/settings/webhooks", "events#webhooks"},
	{"/settings/limits", "alerting#setting-limits"},
	{"/settings/predictions", "prediction#what-you-see"},
	{"/settings/general", "operations#readings-that-wait"},
	{"/settings/audit", "security"},
	{"/settings", "what-wakes-you#the-first-evening"},
	{"/policies", "security"},
	{"", "what-wakes-you"},
}

// helpFor returns the address of the section that explains a page.
func helpFor(page string) string {
	for _, x := range explained {
		if page == x[0] || strings.HasPrefix(page, x[0]+"/") {
			return root + "/" + x[1]
		}
	}
	return root
}

// help leads to the section that explains a page of the web UI.
func (m *manual) help(c *httpapi.Call) error {
	c.Header("Location", helpFor(c.R.URL.Query().Get("page")))
	c.W.WriteHeader(http.StatusSeeOther)
	return nil
}
