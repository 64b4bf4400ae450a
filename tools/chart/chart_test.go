// Package chart tests the Helm chart of deploy/helm: it is rendered as Helm does, and
// what comes out is decoded strictly.
package chart

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

const root = "../.."

// render renders the chart and decodes each object, by kind and name. Fields that
// Kubernetes does not know are errors.
func render(t *testing.T, values string) (map[string]runtime.Object, error) {
	t.Helper()
	c, err := loader.Load(filepath.Join(root, "deploy/helm/rimewatch"))
	if err != nil {
		t.Fatal(err)
	}
	var set map[string]any
	if err := sigsyaml.Unmarshal([]byte(values), &set); err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(c, set, chartutil.ReleaseOptions{Name: "market", Namespace: "cold", Revision: 1, IsInstall: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Engine{Strict: true}.Render(c, all)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	strict := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	objects := make(map[string]runtime.Object)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		documents := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(files[name])))
		for {
			text, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(name, err)
			}
			var plain map[string]any
			if err := sigsyaml.UnmarshalStrict(text, &plain); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			if len(plain) == 0 {
				continue
			}
			u := unstructured.Unstructured{Object: plain}
			var o runtime.Object = &u
			if u.GetAPIVersion() != "postgresql.cnpg.io/v1" { // that of an operator
				if o, _, err = strict.Decode(text, nil, nil); err != nil {
					t.Fatalf("%s: %v\n%s", name, err, text)
				}
			}
			objects[u.GetKind()+" "+u.GetName()] = o
		}
	}
	return objects, nil
}

const withDatabase = "database: {existingSecret: db}\n"

func must[T runtime.Object](t *testing.T, objects map[string]runtime.Object, name string) T {
	t.Helper()
	o, ok := objects[name].(T)
	if !ok {
		t.Fatalf("there is no %s among %q", name, slices.Sorted(maps.Keys(objects)))
	}
	return o
}

func TestChart(t *testing.T) {
	objects, err := render(t, withDatabase)
	if err != nil {
		t.Fatal(err)
	}
	set := must[*appsv1.StatefulSet](t, objects, "StatefulSet market-rimewatch")
	pod := set.Spec.Template
	if *set.Spec.Replicas != 3 || set.Spec.ServiceName != "market-rimewatch-nodes" || len(set.Spec.VolumeClaimTemplates) != 1 {
		t.Errorf("%+v", set.Spec)
	}
	if a := pod.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution; len(a) != 1 || a[0].PodAffinityTerm.TopologyKey != "kubernetes.io/hostname" {
		t.Errorf("anti-affinity %+v", a)
	}
	nodes := must[*corev1.Service](t, objects, "Service market-rimewatch-nodes")
	if nodes.Spec.ClusterIP != "None" || !nodes.Spec.PublishNotReadyAddresses {
		t.Errorf("%+v", nodes.Spec)
	}
	budget := must[*policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget market-rimewatch")
	if budget.Spec.MaxUnavailable.IntValue() != 1 {
		t.Errorf("%+v", budget.Spec)
	}
	network := must[*networkingv1.NetworkPolicy](t, objects, "NetworkPolicy market-rimewatch")
	// Everything selects the pods, and nothing but them.
	for what, labels := range map[string]map[string]string{
		"the set": set.Spec.Selector.MatchLabels, "the budget": budget.Spec.Selector.MatchLabels, "the policy": network.Spec.PodSelector.MatchLabels,
		"who reaches nodes": network.Spec.Ingress[1].From[0].PodSelector.MatchLabels, "the nodes' names": nodes.Spec.Selector,
		"the service": must[*corev1.Service](t, objects, "Service market-rimewatch").Spec.Selector,
	} {
		if len(labels) != 2 {
			t.Errorf("%s selects %v", what, labels)
		}
		for k, v := range labels {
			if pod.Labels[k] != v {
				t.Errorf("%s selects %s=%s; the pods have %q", what, k, v, pod.Labels[k])
			}
		}
	}
	if from := network.Spec.Ingress[1]; from.Ports[0].Port.StrVal != "nodes" || len(from.From) != 1 {
		t.Errorf("the internal address is open to %+v", from)
	}
	secret := must[*corev1.Secret](t, objects, "Secret market-rimewatch-cluster")
	if n := len(secret.Data["secret"]); n != 32 {
		t.Errorf("a secret of %d characters", n)
	}
	env := make(map[string]corev1.EnvVar)
	for _, e := range pod.Spec.Containers[0].Env {
		env[e.Name] = e
	}
	if e := env["RIMEWATCH_STORE"].ValueFrom.SecretKeyRef; e.Name != "db" || e.Key != "uri" {
		t.Errorf("the database from %+v", e)
	}
	if u := env["RIMEWATCH_CLUSTER_URL"].Value; u != "http://$(POD_NAME).market-rimewatch-nodes.cold.svc:8090" {
		t.Error(u)
	}
	if e := env["RIMEWATCH_CLUSTER_SECRET"].ValueFrom.SecretKeyRef; e.Name != secret.Name || e.Key != "secret" {
		t.Errorf("the secret from %+v", e)
	}
}

// TestSettings has every variable that the chart sets be one that the program reads.
func TestSettings(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "internal/config/config.go"))
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, m := range regexp.MustCompile(`env:"(RIMEWATCH_[A-Z_]+)"`).FindAllSubmatch(text, -1) {
		known[string(m[1])] = true
	}
	objects, err := render(t, withDatabase+"publicURL: https://cold.example\ntrustedProxies: [10.0.0.0/8, 192.168.0.0/16]\n")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range must[*appsv1.StatefulSet](t, objects, "StatefulSet market-rimewatch").Spec.Template.Spec.Containers[0].Env {
		if strings.HasPrefix(e.Name, "RIMEWATCH_") {
			n++
			if !known[e.Name] {
				t.Errorf("the program does not read %s", e.Name)
			}
		}
		if e.Name == "RIMEWATCH_TRUSTED_PROXY" && e.Value != "10.0.0.0/8,192.168.0.0/16" {
			t.Error(e.Value)
		}
	}
	if n < 8 {
		t.Errorf("only %d settings", n)
	}
	// Neither does Kubernetes set others, nor are there any in the examples that the program does not read.
	if links := must[*appsv1.StatefulSet](t, objects, "StatefulSet market-rimewatch").Spec.Template.Spec.EnableServiceLinks; links == nil || *links {
		t.Error("services of the namespace become variables beside the settings")
	}
	values, err := os.ReadFile(root + "/deploy/helm/rimewatch/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`RIMEWATCH_[A-Z_]+`).FindAllString(string(values), -1) {
		if !known[name] {
			t.Errorf("an example of the values is %s, which the program does not read", name)
		}
	}
}

func TestOptions(t *testing.T) {
	objects, err := render(t, `
cloudnativepg: {enabled: true, resources: {requests: {cpu: "1"}}, storage: {storageClass: fast}}
cluster: {existingSecret: ours}
antiAffinity: required
networkPolicy: {from: [{namespaceSelector: {}}]}
ingress: {enabled: true, className: nginx, host: cold.example, tlsSecret: cert, annotations: {a: b}}
env: {RIMEWATCH_LOG_LEVEL: debug}
extraEnv: [{name: RIMEWATCH_METRICS_TOKEN, valueFrom: {secretKeyRef: {name: m, key: t}}}]
image: {tag: v1}
imagePullSecrets: [{name: pull}]
podAnnotations: {x: "1"}
nodeSelector: {disk: ssd}
tolerations: [{operator: Exists}]
serviceAccount: {annotations: {role: r}}
service: {annotations: {lb: "1"}, type: LoadBalancer}
`)
	if err != nil {
		t.Fatal(err)
	}
	set := must[*appsv1.StatefulSet](t, objects, "StatefulSet market-rimewatch").Spec.Template.Spec
	if len(set.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) != 1 || set.Containers[0].Image != "rimewatch:v1" || len(set.Tolerations) != 1 {
		t.Errorf("%+v", set)
	}
	for _, e := range set.Containers[0].Env {
		switch e.Name {
		case "RIMEWATCH_STORE":
			if e.ValueFrom.SecretKeyRef.Name != "market-rimewatch-db-app" {
				t.Errorf("the database from %+v", e.ValueFrom.SecretKeyRef)
			}
		case "RIMEWATCH_CLUSTER_SECRET":
			if e.ValueFrom.SecretKeyRef.Name != "ours" {
				t.Errorf("the secret from %+v", e.ValueFrom.SecretKeyRef)
			}
		}
	}
	if objects["Secret market-rimewatch-cluster"] != nil {
		t.Error("a secret is made beside ours")
	}
	must[*networkingv1.Ingress](t, objects, "Ingress market-rimewatch")
	db := must[*unstructured.Unstructured](t, objects, "Cluster market-rimewatch-db")
	if n, _, err := unstructured.NestedFloat64(db.Object, "spec", "postgresql", "synchronous", "number"); n != 1 || err != nil {
		t.Errorf("%v synchronous standbys, %v", n, err)
	}
}

func TestRefused(t *testing.T) {
	for values, want := range map[string]string{
		"{}":                                   "database.existingSecret",
		withDatabase + "replicas: 0":           "replicas",
		withDatabase + "antiAffinity: perhaps": "antiAffinity",
		"cloudnativepg: {enabled: true, instances: 1}": "cloudnativepg.instances",
		withDatabase + "ingress: {enabled: true}":      "ingress.host",
	} {
		if _, err := render(t, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", values, err)
		}
	}
}
