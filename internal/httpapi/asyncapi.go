package httpapi

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

const streamIntro = `The real-time stream of Rimewatch: what happens, as it happens. The REST API, whose objects the events carry, is described in /api/openapi.json.

**Missing nothing.** Subscribe, wait for ` + "`subscribed`" + `, then fetch the present state by REST. After a lost connection subscribe again with the id of the last event in ` + "`since`" + `: what happened in the meantime, up to ten minutes of it, follows. With ` + "`recovered: false`" + ` fetch the state again. An event may arrive twice; deduplicate by its id.

**Slow subscribers.** Readings coalesce to the newest of each device; everything else is kept, up to a bound, at which the stream is closed with 4408.

**Close codes.** 4401 the token or session has ended; 4403 the role has changed, or the token may hear nothing; 4408 too slow; 4429 too many messages; 1007 a text frame that is not UTF-8; 1009 a frame that claims more than 64 KiB; 1012 the service restarts. Pings come every 25 s.

**Versions.** Clients ignore members, messages and events that they do not know.`

// object is a JSON object of the description.
type object map[string]any

func ref(path string) object { return object{"$ref": "#/" + path} }

// streamChannels are the channels of subscriptions: their events with payloads, and their filters.
var streamChannels = []struct {
	channel, message, member, schema string
	events, filters                  []string
}{
	{"devices", "deviceEvent", "device", "DeviceItem", []string{"device.created", "device.updated", "device.deleted", "device.online", "device.offline"}, []string{"serials", "site_id", "equipment_type"}},
	{"readings", "readingEvent", "reading", "Reading", []string{"reading.created"}, []string{"serials", "site_id", "equipment_type"}},
	{"alerts", "alertEvent", "alert", "Alert", []string{"alert.opened", "alert.updated", "alert.acknowledged", "alert.resolved"}, []string{"serials", "severity", "type"}},
	{"summary", "summaryEvent", "summary", "HealthSummary", []string{"summary.updated"}, nil},
	{"events", "event", "event", "Event", eventTypes(), []string{"types", "site_id"}},
}

// eventTypes are the types of events, by name.
func eventTypes() (names []string) {
	for _, k := range rimewatch.EventKinds() {
		names = append(names, string(k.Type))
	}
	return names
}

// streamDocument is the AsyncAPI description, from the schemas of the REST API.
func (a *API) streamDocument() any {
	schemas, messages := streamSchemas(), object{}
	registry := a.doc.Components.Schemas
	for _, c := range streamChannels {
		schemas[upperFirst(c.message)+messageSuffix(c.message)] = eventSchema(c.channel, c.events, c.member, c.schema)
		copySchemas(registry, registry.Map()[c.schema], c.schema, schemas)
	}
	for name, title := range map[string]string{
		"subscribe": "Subscribe to a channel", "unsubscribe": "End a subscription", "subscribed": "A subscription has begun",
		"unsubscribed": "A subscription has ended", "error": "Something that the client asked for was not done",
		"deviceEvent": "News of a device", "readingEvent": "A new reading", "alertEvent": "News of an alert", "summaryEvent": "The health of the fleet has changed",
		"event": "What happened, as in GET /v1/events",
	} {
		messages[name] = object{"name": name, "title": title, "contentType": TypeJSON, "payload": ref("components/schemas/" + upperFirst(name) + messageSuffix(name))}
	}
	names := slices.Sorted(maps.Keys(messages))
	used := object{}
	for _, name := range names {
		used[name] = ref("components/messages/" + name)
	}
	operation := func(action, summary string, names ...string) object {
		list := make([]object, 0, len(names))
		for _, name := range names {
			list = append(list, ref("channels/stream/messages/"+name))
		}
		return object{"action": action, "channel": ref("channels/stream"), "summary": summary, "messages": list}
	}
	return object{
		"asyncapi":           "3.0.0",
		"info":               object{"title": "Rimewatch stream", "version": a.doc.Info.Version, "description": streamIntro, "license": a.doc.Info.License},
		"defaultContentType": TypeJSON,
		"servers":            object{"this": streamServer(a.cfg.PublicURL)},
		"channels": object{"stream": object{
			"address": "/v1/stream", "title": "The stream", "messages": used,
			"description": "A WebSocket with the subprotocol rimewatch.v1. Every message is a JSON object in a text frame.",
			"bindings": object{"ws": object{"method": "GET", "query": object{"type": "object", "properties": object{
				"ticket": object{"type": "string", "description": "From POST /v1/stream/tickets; once, within 30 s."},
			}}, "bindingVersion": "0.1.0"}},
		}},
		"operations": object{
			"receiveRequests": operation("receive", "What clients ask for.", "subscribe", "unsubscribe"),
			"sendAnswers":     operation("send", "Answers to that.", "subscribed", "unsubscribed", "error"),
			"sendEvents":      operation("send", "What happens.", "deviceEvent", "readingEvent", "alertEvent", "summaryEvent", "event"),
		},
		"components": object{"schemas": schemas, "messages": messages, "securitySchemes": object{
			"token":   object{"type": "http", "scheme": "bearer", "description": "An API token in the Authorization header."},
			"session": object{"type": "httpApiKey", "in": "cookie", "name": sessionCookie, "description": "A signed-in browser on one of our own pages."},
			"ticket":  object{"type": "httpApiKey", "in": "query", "name": "ticket", "description": "A ticket of POST /v1/stream/tickets."},
		}},
	}
}

// messageSuffix is the end of the name of an event's message for programs, which differs from the event's by it.
func messageSuffix(message string) string {
	if message == "event" {
		return "Message"
	}
	return ""
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// streamServer describes where the stream is: as people reach the service, or
// as a variable when nobody has said.
func streamServer(publicURL string) object {
	server := object{"pathname": Prefix, "security": []object{ref("components/securitySchemes/token"), ref("components/securitySchemes/session"), ref("components/securitySchemes/ticket")}}
	u, err := url.Parse(publicURL)
	if err != nil || u.Host == "" {
		server["host"], server["protocol"] = "{host}", "ws"
		server["variables"] = object{"host": object{"default": "localhost:8080"}}
		return server
	}
	server["host"], server["protocol"] = u.Host, "ws"
	if u.Scheme == "https" {
		server["protocol"] = "wss"
	}
	return server
}

// copySchemas copies a schema of the REST API and all that it refers to.
func copySchemas(r huma.Registry, s *huma.Schema, name string, into object) {
	if into[name] != nil {
		return
	}
	into[name] = s
	var visit func(s *huma.Schema)
	visit = func(s *huma.Schema) {
		if s == nil {
			return
		}
		if s.Ref != "" {
			copySchemas(r, r.SchemaFromRef(s.Ref), s.Ref[strings.LastIndexByte(s.Ref, '/')+1:], into)
			return
		}
		visit(s.Items)
		for _, p := range s.Properties {
			visit(p)
		}
		for _, p := range s.OneOf {
			visit(p)
		}
	}
	visit(s)
}

// structure is the schema of an object all of whose members are required.
func structure(members object) object {
	return object{"type": "object", "required": slices.Sorted(maps.Keys(members)), "properties": members}
}

func constant(v string) object { return object{"type": "string", "const": v} }

func eventSchema(channel string, events []string, member, schema string) object {
	return structure(object{
		"op": constant("event"), "channel": constant(channel),
		"id":    object{"type": "string", "description": "Unique within the workspace; for `since`."},
		"event": object{"type": "string", "enum": events},
		"at":    object{"type": "string", "format": "date-time"},
		"data":  structure(object{member: ref("components/schemas/" + schema)}),
	})
}

// streamSchemas are the messages that are no events.
func streamSchemas() object {
	id := object{"type": "integer", "minimum": 0, "maximum": int64(wire.MaxCount), "description": "Names the subscription; the client chooses it."}
	filterable := object{
		"serials":        object{"type": "array", "minItems": 1, "maxItems": 500, "items": object{"type": "string"}, "description": "Without case."},
		"site_id":        object{"type": "integer", "description": "0 = devices without a site."},
		"equipment_type": object{"type": "string"},
		"severity":       object{"type": "string", "enum": []string{"warning", "critical"}},
		"type":           object{"type": "string", "description": "Of alert."},
		"types":          object{"type": "array", "minItems": 1, "maxItems": len(eventTypes()), "items": object{"type": "string", "enum": eventTypes()}},
	}
	variants := make([]object, 0, len(streamChannels))
	for _, c := range streamChannels {
		filters := object{}
		for _, name := range c.filters {
			filters[name] = filterable[name]
		}
		variants = append(variants, object{
			"type": "object", "required": []string{"op", "id", "channel"}, "additionalProperties": false,
			"properties": object{
				"op": constant("subscribe"), "id": id, "channel": constant(c.channel),
				"filter": object{"type": []string{"object", "null"}, "properties": filters, "additionalProperties": false},
				"since":  object{"type": []string{"string", "null"}, "description": "The id of the last event that came."},
			},
		})
	}
	unsubscribe := structure(object{"op": constant("unsubscribe"), "id": id})
	unsubscribe["additionalProperties"] = false
	return object{
		"Subscribe":   object{"oneOf": variants},
		"Unsubscribe": unsubscribe,
		"Subscribed": structure(object{
			"op": constant("subscribed"), "id": id, "channel": object{"type": "string"},
			"last_event_id": object{"type": "string", "description": "Events after this one come, or have not happened yet."},
			"recovered":     object{"type": "boolean", "description": "Everything since `since` comes. Otherwise something may be missing: fetch the state."},
		}),
		"Unsubscribed": structure(object{"op": constant("unsubscribed"), "id": id}),
		"Error": structure(object{
			"op": constant("error"), "id": object{"type": []string{"integer", "null"}},
			"error": structure(object{
				"code": object{"type": "string", "enum": allCodes()}, "message": object{"type": "string"},
				"fields": object{"type": "object", "additionalProperties": object{"type": "array", "items": object{"type": "string"}}},
			}),
		}),
	}
}
