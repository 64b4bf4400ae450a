package phrase

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/catalogue"
)

// Audit writes an entry of the audit trail: what was done, to what, and what
// changed.
func (w Words) Audit(e *rimewatch.AuditEntry) (title, about, text string) {
	title = auditTitles[e.Action]
	if title == "" { // of an action that was added to the trail and not here
		title = strings.ReplaceAll(e.Action, ".", " ")
	}
	kind, name, _ := strings.Cut(e.Subject, " ")
	about = e.Subject
	if form := auditSubjects[kind]; form != "" {
		about = strings.TrimSpace(w.Sayf(form, name))
	}
	var facts map[string]any
	_ = json.Unmarshal([]byte(e.Detail), &facts)     // what is no object has no facts
	if kind == "source" && facts["kind"] == "push" { // a channel of that kind is another thing
		facts["kind"] = "sender"
	}
	return w.Say(title), about, w.auditFacts(facts, " · ", ": ")
}

// auditFacts lists the facts that are not empty, sorted by their stored names.
func (w Words) auditFacts(facts map[string]any, between, colon string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		v := facts[name]
		if emptyFact(v) {
			continue
		}
		label := w.auditLabel(name)
		if colon == " " {
			label = w.Lower(label)
		}
		list = append(list, label+colon+w.auditFact(name, v))
	}
	return strings.Join(list, between)
}

func emptyFact(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// auditLabelOf returns the name of a fact for people, "" = it has none.
func auditLabelOf(name string) string {
	for _, f := range rimewatch.DeviceFields() {
		if f.Name == name {
			return f.Label
		}
	}
	return auditLabels[name]
}

func (w Words) auditLabel(name string) string {
	if label := auditLabelOf(name); label != "" {
		return w.Say(label)
	}
	if e, ok := rimewatch.EquipmentBySlug(name); ok {
		return w.Say(e.Label)
	}
	return strings.ReplaceAll(name, "_", " ")
}

// auditFact writes the value of a fact; a change says from what to what.
func (w Words) auditFact(name string, v any) string {
	switch v := v.(type) {
	case nil:
		return w.Say("nothing")
	case bool:
		if v {
			return w.Say("yes")
		}
		return w.Say("no")
	case float64:
		return w.auditNumber(name, v)
	case string:
		return w.auditText(name, v)
	case []any:
		all := make([]string, len(v))
		for i := range v {
			all[i] = w.auditFact(name, v[i])
		}
		return cmp.Or(strings.Join(all, ", "), w.Say("nothing"))
	case map[string]any:
		from, hasFrom := v["from"]
		to, hasTo := v["to"]
		_, minutes := from.(float64)
		switch {
		case len(v) == 0:
			return w.Say("nothing")
		case len(v) == 2 && hasFrom && hasTo && name == "quiet_hours" && minutes:
			return w.auditNumber("digest_at", from.(float64)) + "–" + w.auditFact("digest_at", to)
		case len(v) == 2 && hasFrom && hasTo:
			return w.auditFact(name, from) + " → " + w.auditFact(name, to)
		}
		return w.auditFacts(v, ", ", " ")
	}
	return fmt.Sprint(v)
}

// auditNumber writes a number by what its name says that it is.
func (w Words) auditNumber(name string, v float64) string {
	plain := rimewatch.Decimal(v)
	switch name {
	case "digest_at": // minutes of the day
		return w.Clock(time.Date(2000, 1, 1, 0, int(v), 0, 0, time.UTC))
	case "temp_min", "temp_max", "critical_min", "critical_max":
		if w.fahrenheit() {
			plain = rimewatch.Decimal(math.Round(w.Temperature(v)*10) / 10)
		}
		return w.Number(plain) + " " + w.Degree()
	case "clear_delta":
		return w.Quantity(v, "K")
	case "raw_days", "rollup_days":
		return w.Count(int(v), "%d day", "%d days")
	case "seconds":
		return w.Number(plain) + " s"
	}
	if strings.HasSuffix(name, "_s") {
		return w.Span(time.Duration(v) * time.Second)
	}
	return w.Number(plain)
}

// auditText writes a text: a time, a word of the API, or what a person wrote.
func (w Words) auditText(name, v string) string {
	switch name {
	case "type", "types":
		return w.TypeName(rimewatch.AlertType(v))
	case "equipment_type", "equipment_types":
		if e, ok := rimewatch.EquipmentBySlug(v); ok {
			return w.Say(e.Label)
		}
	case "language":
		if catalogue.Known(v) {
			return catalogue.Of(v).Name
		}
	case "field":
		return w.Measure(v)
	}
	if strings.HasSuffix(name, "_at") || name == "until" || name == "applied_from" {
		if at, err := rimewatch.ParseTime(v); err == nil {
			return w.Moment(at)
		}
	}
	if word := auditWords[name+"="+v]; word != "" {
		return w.Say(word)
	}
	return cmp.Or(v, w.Say("nothing"))
}

// auditTitles say what was done, by the action.
var auditTitles = map[string]string{
	"alert.acknowledged":           "Alert acknowledged",
	"alert.feedback":               "Prediction answered",
	"alert.noted":                  "Note on an alert",
	"alert.resolved":               "Alert resolved",
	"act.created":                  "Asked for, to be done in ten seconds",
	"act.undone":                   "Taken back before it was done",
	"act.updated":                  "Could not be done",
	"binding.deleted":              "Assignment of a sensor removed",
	"binding.set":                  "Sensor assigned to a device",
	"calibration.recorded":         "Calibration recorded",
	"channel.created":              "Channel created",
	"channel.deleted":              "Channel deleted",
	"channel.tried":                "Channel tested",
	"channel.updated":              "Channel updated",
	"clock.adopted":                "New time of the server's clock adopted",
	"clock.returned":               "The server's clock is right again",
	"clock.stepped":                "The server's clock was changed",
	"contact.created":              "Contact added",
	"contact.deleted":              "Contact removed",
	"contact.updated":              "Contact updated",
	"corrective_action.recorded":   "Corrective action recorded",
	"corrective_action.verified":   "Corrective action verified",
	"device.created":               "Device created",
	"device.deleted":               "Device deleted",
	"device.updated":               "Device updated",
	"invitation.accepted":          "Invitation accepted",
	"invitation.created":           "Invitation sent",
	"invitation.renewed":           "Invitation sent again",
	"invitation.withdrawn":         "Invitation withdrawn",
	"maintenance.created":          "Maintenance planned",
	"maintenance.ended":            "Maintenance ended early",
	"maintenance.updated":          "Maintenance changed",
	"maintenance.withdrawn":        "Maintenance withdrawn",
	"maintenance_plan.created":     "Maintenance plan created",
	"maintenance_plan.deleted":     "Maintenance plan deleted",
	"maintenance_plan.updated":     "Maintenance plan changed",
	"member.added":                 "Member added",
	"member.removed":               "Member removed",
	"member.updated":               "Member updated",
	"report_schedule.created":      "Scheduled report created",
	"report_schedule.deleted":      "Scheduled report deleted",
	"report_schedule.updated":      "Scheduled report updated",
	"request.refused":              "Request refused",
	"case.attached":                "File attached to a case",
	"case.opened":                  "Case opened",
	"case.signed":                  "Case signed",
	"check.completed":              "Check completed",
	"check.missed":                 "Check missed",
	"check.noted":                  "Later note on a check",
	"check_template.created":       "Round created",
	"check_template.deleted":       "Round deleted",
	"check_template.updated":       "Round changed",
	"rota.created":                 "Rota created",
	"rota.deleted":                 "Rota deleted",
	"rota.updated":                 "Rota updated",
	"route.created":                "Route created",
	"route.deleted":                "Route deleted",
	"route.updated":                "Route updated",
	"sandbox.created":              "Sandbox made",
	"sandbox.ended":                "Sandbox ended",
	"silence.created":              "Silence created",
	"silence.ended":                "Silence ended early",
	"silence.updated":              "Silence updated",
	"site.created":                 "Site created",
	"site.deleted":                 "Site deleted",
	"site.updated":                 "Site updated",
	"source.created":               "Source created",
	"source.deleted":               "Source deleted",
	"source.updated":               "Source updated",
	"source_key.created":           "Key added to a source",
	"source_key.deleted":           "Key of a source revoked",
	"source_key.replaced":          "Key of a source replaced",
	"source_key.updated":           "Key of a source renamed",
	"token.created":                "Token created",
	"token.narrowed":               "Token limited to sending readings",
	"token.rotated":                "Token replaced by a new one",
	"token.revoked":                "Token revoked",
	"token.taken_over":             "Token taken over by the workspace",
	"user.break_glass_named":       "Named as the emergency account",
	"user.break_glass_used":        "Emergency account used",
	"user.identified":              "Account linked to the sign-in provider",
	"user.made_local":              "Account separated from the sign-in provider",
	"user.password_removed":        "Password removed: signs in at the provider",
	"user.password_set":            "Password set",
	"user.recovery_code_used":      "Recovery code used",
	"user.recovery_codes_replaced": "Recovery codes replaced",
	"user.reset_requested":         "Link for a new password requested",
	"user.second_factor_added":     "Second factor set up",
	"user.second_factor_removed":   "Second factor removed",
	"user.sign_in_refused":         "Sign-in refused",
	"user.signed_in":               "Signed in",
	"user.tokens_lapse":            "Tokens about to lapse",
	"user.updated":                 "Account updated",
	"work_order.attached":          "File attached to a work order",
	"work_order.created":           "Work ordered",
	"work_order.updated":           "Work order updated",
	"webhook.created":              "Webhook created",
	"webhook.deleted":              "Webhook deleted",
	"webhook.replayed":             "Events sent to a webhook again",
	"webhook.stopped":              "Webhook switched off by the service",
	"webhook.updated":              "Webhook updated",
	"address.changed":              "Address of the installation changed",
	"workspace.created":            "Workspace created",
	"workspace.deletion_changed":   "Deletion of the workspace scheduled or cancelled",
	"workspace.updated":            "Workspace updated",
}

// auditSubjects name what it was done to, by the first word of the subject.
var auditSubjects = map[string]string{
	"act": "act %s", "alert": "alert %s", "case": "case %s", "channel": "channel %s", "check": "check %s", "check_template": "round %s", "clock": "clock %s", "contact": "contact %s", "device": "device %s", "installation": "installation %s", "invitation": "invitation %s",
	"maintenance": "maintenance window %s", "maintenance_plan": "maintenance plan %s", "report_schedule": "scheduled report %s", "rota": "rota %s", "route": "route %s", "silence": "silence %s",
	"site": "site %s", "source": "source %s", "source_key": "key %s", "token": "token %s", "user": "person %s", "webhook": "webhook %s", "work_order": "work order %s", "workspace": "workspace %s",
}

// auditLabels name facts, but for those of a device (rimewatch.DeviceFields).
var auditLabels = map[string]string{
	"about": "Name", "access": "Access", "assignee": "Given to", "on_way_at": "On the way", "on_site_at": "On site", "problem": "What is wrong", "result": "Result", "status": "Status", "urgency": "Urgency", "link_until": "Link works until",
	"alert_id": "Alert", "case_id": "Case", "contact_id": "Contact", "device_id": "Device", "site_id": "Site", "outcome": "Outcome", "cause": "Cause", "work": "What was done", "parts": "Parts", "cost": "Cost", "remarks": "Remarks", "performed": "Done by", "name": "Name", "firm": "Firm", "slug": "Name in links", "does": "What", "address": "Address", "after_s": "After", "applied_from": "Applied from", "broker": "Broker", "by": "By", "channel_ids": "Channels",
	"categories": "Groups of equipment", "day": "Day",
	"cold": "Too cold", "clear_delta": "Back inside the limit by", "clear_s": "Normal again after", "clock": "Clock", "code": "Code", "comment": "Comment", "content_sha256": "Hash of the file", "company": "Company", "days": "Days",
	"critical_delay_s": "Delay of critical", "critical_max": "Critical above", "critical_min": "Critical below", "dates": "Dates", "delay_s": "Delay",
	"delete_at": "Deletion", "description": "Description", "device": "Device", "device_ids": "Devices", "device_serial": "Device", "digest_at": "Warnings together at",
	"disposition": "Product", "email": "E-mail", "enabled": "Switched on", "ends_at": "End",
	"equipment_types": "Equipment types", "exposure_min_per_day": "Minutes a day beyond the limit", "expires_at": "Expires", "external_id": "Sensor", "fallback_channel_id": "Fallback channel", "field": "Measurement",
	"fields": "Measurements", "from": "From", "headers": "Headers", "id": "Number", "in_days": "In days", "in_this_hour": "In this hour", "instead_of": "Instead of",
	"issuer": "Sign-in provider", "key": "Key", "kind": "Kind", "labels": "Labels", "language": "Language", "left": "Left",
	"limits": "Limits", "low_delay_s": "Delay of too cold", "match": "Applies to", "meaning": "Meaning",
	"logo_at": "Logo", "note": "Note", "offset": "Offset", "on_unknown": "Unknown devices", "overrides": "Changes", "passed": "Passed",
	"pack": "Pack", "performed_by": "Done by", "period": "Every", "phone": "Phone", "quiet_hours": "Quiet hours", "range": "Lowest and highest", "raw_days": "Readings are kept for", "reason": "Reason",
	"recovery": "Notify when resolved", "repeat_s": "Repeat every", "request": "Request", "require_action": "Cases to be documented", "require_second_factor": "Second factor required", "role": "Role",
	"rollup_days": "Averages are kept for", "scopes": "Permissions", "seconds": "By", "secret": "Secret", "serial": "Serial number",
	"severities": "Severities", "sha256": "Hash of the record", "size": "Size in bytes", "severity": "Severity", "shifts": "Shifts", "site_ids": "Sites", "source_id": "Source", "starts_at": "Start", "steps": "Steps", "subject": "Account there",
	"warm": "Too warm", "windows": "Times", "temp_max": "Warm limit", "targets": "People", "tell": "Notify", "typed": "Hand thermometer", "temp_min": "Cold limit", "template": "Template", "theme": "Appearance", "timezone": "Time zone", "to": "To",
	"replaces": "Instead of token", "topics": "Topics", "type": "Type", "types": "Types", "units": "Units", "until": "Until", "url": "URL", "user_id": "Person", "username": "User name",
	"owner_id": "Whose own", "tell_hand_over": "Hand-overs are told", "calendar_since": "Calendar link made",
	"verdict": "Answer", "verified_by": "Verified by", "wrong": "Wrong",
}

// auditWords are the texts for words of the API, by fact and word.
var auditWords = map[string]string{
	"by=password": "password", "by=password and second factor": "password and second factor",
	"wrong=password": "password", "wrong=second factor": "second factor",
	"wrong=an address that the provider has not verified": "an address that the provider has not verified",
	"clock=12h": "12 hours", "clock=24h": "24 hours", "units=c": "°C", "units=f": "°F",
	"disposition=discard": "discarded", "disposition=hold": "on hold", "disposition=none": "no product concerned", "disposition=release": "released",
	"kind=call": "phone call", "kind=email": "e-mail", "kind=mqtt": "MQTT broker", "kind=push": "notifications on a phone or computer", "kind=sender": "devices that send by themselves", "kind=service": "messaging service", "kind=webhook": "webhook",
	"on_unknown=hold": "wait until accepted", "on_unknown=refuse": "refused", "on_unknown=register": "created",
	"period=monthly": "month", "period=weekly": "week",
	"status=open": "open", "status=assigned": "assigned", "status=on_site": "on site", "status=done": "done", "status=verified": "verified", "status=cancelled": "cancelled",
	"urgency=emergency": "emergency", "urgency=soon": "soon", "urgency=routine": "routine",
	"outcome=repaired": "repaired", "outcome=nothing_wrong": "nothing wrong", "outcome=not_repaired": "not repaired",
	"role=admin": "admin", "role=owner": "owner", "role=technician": "technician", "role=viewer": "viewer",
	"scopes=alerts:read": "reads alerts", "scopes=alerts:write": "handles alerts", "scopes=devices:read": "reads devices", "scopes=devices:write": "changes devices",
	"scopes=readings:read": "reads readings", "scopes=readings:write": "sends readings", "scopes=status:read": "status page",
	"template=auto": "recognised automatically", "template=own": "a template of its own",
	"secret=changed": "changed", "severity=critical": "critical", "severity=warning": "warning", "severities=critical": "critical", "severities=warning": "warning",
	"theme=dark": "dark", "theme=light": "light", "theme=system": "as the system",
	"verdict=false_alarm": "false alarm", "verdict=fixed": "repaired", "verdict=useful": "useful", "verdict=normal": "normal now",
}
