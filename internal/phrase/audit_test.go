package phrase

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestAuditIsWhole: every action that the service writes into the audit trail has
// a title, and every fact a name.
func TestAuditIsWhole(t *testing.T) {
	action := regexp.MustCompile(`^[a-z_]+\.[a-z_]+$`)
	writes := map[string]bool{"audit": true, "auditUser": true, "AuditUser": true, "AuditWorkspace": true, "NewAuditEntry": true}
	kept := map[string]bool{"created": true, "updated": true, "deleted": true, "other": true}
	actions, facts := map[string]bool{}, map[string]bool{}
	text := func(e ast.Expr) string {
		lit, _ := e.(*ast.BasicLit)
		if lit == nil || lit.Kind != token.STRING {
			return ""
		}
		s, _ := strconv.Unquote(lit.Value)
		return s
	}
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "storetest") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				if sel, ok := x.Fun.(*ast.SelectorExpr); ok && writes[sel.Sel.Name] {
					for _, e := range x.Args {
						if s := text(e); action.MatchString(s) {
							actions[s] = true
						}
					}
				}
			case *ast.KeyValueExpr: // of a resource
				if key, ok := x.Key.(*ast.Ident); ok && kept[key.Name] && action.MatchString(text(x.Value)) {
					actions[text(x.Value)] = true
				}
			case *ast.CompositeLit:
				if sel, ok := x.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Fields" {
					for _, e := range x.Elts {
						if kv, ok := e.(*ast.KeyValueExpr); ok && text(kv.Key) != "" {
							facts[text(kv.Key)] = true
						}
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(actions) < 40 || len(facts) < 50 {
		t.Fatalf("%d actions and %d facts are found", len(actions), len(facts))
	}
	for _, does := range []rimewatch.TransitionKind{rimewatch.TransitionAcknowledged, rimewatch.TransitionResolved, rimewatch.TransitionNoted, rimewatch.TransitionFeedback} {
		actions["alert."+string(does)] = true
	}
	for _, of := range []any{rimewatch.LimitOverrides{}, rimewatch.Matchers{}, rimewatch.RouteStep{}} {
		for f := range reflect.TypeOf(of).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(of).Field(f).Tag.Get("json"), ",")
			facts[name] = true
		}
	}
	for a := range actions {
		if auditTitles[a] == "" {
			t.Errorf("%s has no title", a)
		}
	}
	for f := range facts {
		if auditLabelOf(f) == "" {
			t.Errorf("%s has no name", f)
		}
	}
}

func TestAudit(t *testing.T) {
	english := In(rimewatch.Locale{Units: "f", Clock: "12h", Dates: "mdy"}).On("Europe/Madrid")
	spanish := In(rimewatch.Locale{Language: "es"}).On("Europe/Madrid")
	for _, x := range []struct {
		action, subject, detail string
		words                   Words
		want                    string
	}{
		{"site.updated", "site 1", `{"name":{"from":"Hall","to":"Market"},"address":{"from":"","to":"1 Rd"}}`, english, "Site updated|site 1|Address: nothing → 1 Rd · Name: Hall → Market"},
		{"site.updated", "site 1", `{"name":{"from":"Hall","to":"Market"},"address":{"from":"","to":"1 Rd"}}`, spanish, "Local modificado|local 1|Dirección: nada → 1 Rd · Nombre: Hall → Market"},
		{"channel.created", "channel 3", `{"kind":"push"}`, spanish, "Canal creado|canal 3|Tipo: notificaciones en un teléfono u ordenador"},
		{"source.created", "source 3", `{"kind":"push"}`, english, "Source created|source 3|Kind: devices that send by themselves"},
		{
			"device.updated", "device WIF-1", `{"limits":{"from":null,"to":{"temp_max":-15.5,"delay_s":3600,"clear_delta":1}},"equipment_type":{"from":"other","to":"walkin_freezer"}}`, english,
			"Device updated|device WIF-1|Equipment type: Unclassified → Walk-in freezer · Limits: nothing → back inside the limit by 1.8 °F, delay 1 h, warm limit 4.1 °F",
		},
		{
			"device.updated", "device WIF-1", `{"limits":{"from":null,"to":{"temp_max":-15.5,"delay_s":3600}},"labels":{"from":{"aisle":"4"},"to":{}}}`, spanish,
			"Equipo modificado|equipo WIF-1|Etiquetas: aisle 4 → nada · Límites: nada → retardo 1 h, límite de calor −15,5 °C",
		},
		{
			"route.updated", "route 2", `{"quiet_hours":{"from":null,"to":{"from":1320,"to":0}},"digest_at":{"from":450,"to":null},"match":{"from":{},"to":{"severities":["critical"],"types":["high_temperature"]}}}`, english,
			"Route updated|route 2|Warnings together at: 7:30 AM → nothing · Applies to: nothing → severities critical, types Too warm · Quiet hours: nothing → 10:00 PM–12:00 AM",
		},
		{
			"user.sign_in_refused", "user 3", `{"wrong":"password","in_this_hour":4,"address":"192.0.2.1"}`, spanish,
			"Inicio de sesión rechazado|persona 3|Dirección: 192.0.2.1 · En esta hora: 4 · Incorrecto: contraseña",
		},
		{
			"silence.created", "silence 1", `{"match":{},"starts_at":"2026-11-20T12:00:00.000Z","ends_at":"2026-11-20T23:30:00.000Z","comment":""}`, english,
			"Silence created|silence 1|End: Sat Nov 21, 2026, 12:30 AM (CET) · Start: Fri Nov 20, 2026, 1:00 PM (CET)",
		},
		{"workspace.updated", "workspace 1", `{"raw_days":{"from":1,"to":90},"require_second_factor":{"from":false,"to":true}}`, spanish, "Espacio modificado|espacio 1|Las lecturas se guardan durante: 1 día → 90 días · Segundo factor obligatorio: no → sí"},
		{"user.updated", "user 3", `{"language":{"from":"en","to":"es"}}`, spanish, "Cuenta modificada|persona 3|Idioma: English → Español"},
		{"new.thing", "gadget 7", `[]`, english, "new thing|gadget 7|"},
	} {
		title, about, text := x.words.Audit(&rimewatch.AuditEntry{Action: x.action, Subject: x.subject, Detail: x.detail})
		if got := strings.ReplaceAll(title+"|"+about+"|"+text, "\u00a0", " "); got != x.want {
			t.Errorf("%s:\n%s, want\n%s", x.action, got, x.want)
		}
	}
}
