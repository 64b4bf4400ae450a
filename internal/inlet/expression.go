package inlet

import (
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// Bounds of one expression.
const (
	maxSource = 500 // bytes
	maxNodes  = 120
)

// allowed are the functions of the language that neither loop with a predicate
// nor make a value larger than their input.
var allowed = []string{"len", "abs", "ceil", "floor", "round", "int", "float", "string", "trim", "trimPrefix", "trimSuffix",
	"upper", "lower", "split", "indexOf", "lastIndexOf", "hasPrefix", "hasSuffix", "max", "min", "first", "last", "get", "fromJSON", "concat", "toPairs"}

// forbidden are the operators that make something large of something small.
var forbidden = []string{"..", "**", "^"}

// expression is one of a template, ready to run.
type expression struct {
	source  string
	program *vm.Program
}

// environment runs expressions on one payload.
type environment struct {
	scope    scope
	payload  *Payload
	explain  bool
	parts    parts
	repeated map[string]bool // names that an object of the payload has more than once
	vm       vm.VM
}

// scope are the names that an expression may use.
type scope struct {
	Payload any            `expr:"payload"`
	Item    any            `expr:"item"`   // one of what each returned
	Topic   []any          `expr:"topic"`  // its parts
	Path    string         `expr:"path"`   // the topic
	Query   map[string]any `expr:"query"`  // of the URL
	Client  string         `expr:"client"` // the publisher's name, "" = none
}

func newEnvironment(p *Payload, body any) *environment {
	topic := make([]any, 0, 8)
	for part := range strings.SplitSeq(p.Topic, "/") {
		topic = append(topic, part)
	}
	query := make(map[string]any, len(p.Query))
	for k, v := range p.Query {
		query[k] = v
	}
	return &environment{scope: scope{Payload: body, Topic: topic, Path: p.Topic, Query: query, Client: p.Client}, payload: p, explain: p.Explain, repeated: repeatedKeys(p.Body)}
}

// compile checks and compiles an expression; an empty one is nil.
func compile(source string) (*expression, error) {
	if strings.TrimSpace(source) == "" {
		return nil, nil //nolint:nilnil // no expression is a value: run answers nothing for it
	}
	if len(source) > maxSource {
		return nil, fail("is longer than %d characters", maxSource)
	}
	guard := new(guard)
	options := []expr.Option{expr.Env(&scope{}), expr.MaxNodes(maxNodes), expr.DisableAllBuiltins(), expr.Patch(guard), expr.Function("ruuvi5", ruuvi5),
		expr.Function("entity", entity), expr.Function("components", components),
		expr.Function("samples", samples), expr.Function("measured", measured)}
	for _, name := range allowed {
		options = append(options, expr.EnableBuiltin(name))
	}
	program, err := expr.Compile(source, options...)
	if err != nil {
		return nil, fail("is not understood: %s", clip(strings.ReplaceAll(err.Error(), "\n", " "), 200))
	}
	if guard.found != nil {
		return nil, guard.found
	}
	return &expression{source, program}, nil
}

// guard refuses the functions that a template may not use.
type guard struct{ found error }

// Visit implements ast.Visitor.
func (g *guard) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode, *ast.PointerNode:
		g.found = fail("must not use functions over elements")
	case *ast.VariableDeclaratorNode, *ast.SequenceNode:
		g.found = fail("must not use variables")
	case *ast.BinaryNode:
		if slices.Contains(forbidden, n.Operator) {
			g.found = fail("must not use %s", n.Operator)
		}
	}
}

// run returns the value of the expression.
func (x *expression) run(env *environment) (v any, err error) {
	if x == nil {
		return nil, nil //nolint:nilnil // nothing asked, nothing found
	}
	v, err = env.vm.Run(x.program, &env.scope)
	if err != nil {
		return nil, uncalculated(err)
	}
	return v, nil
}

// uncalculated returns in our words why an expression has no value, followed by the library's
// message.
func uncalculated(err error) error {
	reason, _, _ := strings.Cut(err.Error(), " (1:") // where in the expression
	reason = clip(reason, mostOfLibrary)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(reason, part) })
	}
	switch {
	case has("cannot fetch", "cannot get", "index out of range"):
		return fail("could not be calculated, because what it reads is not in the payload: %s", reason)
	case has("invalid operation", "invalid argument", "not defined on", "invalid number of"):
		return fail("could not be calculated, because a value is of another kind than expected: %s", reason)
	default:
		return fail("could not be calculated: %s", reason)
	}
}

// text returns the value of an expression that names something: a text, or a
// number as it is written.
func (x *expression) text(env *environment) (string, error) {
	v, err := x.run(env)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return strings.TrimSpace(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case int:
		return strconv.Itoa(v), nil
	default:
		return "", fail("is not a text")
	}
}

// holds reports whether a condition is true.
func (x *expression) holds(env *environment) bool {
	v, err := x.run(env)
	yes, _ := v.(bool)
	return err == nil && yes
}
