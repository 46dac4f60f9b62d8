// Package lint checks the files of deployment against the types and parsers of Kubernetes and
// Docker. It is a module of its own, because nothing else needs these.
package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// TestManifests decodes each object into the type of its kind, without unknown or double fields.
func TestManifests(t *testing.T) {
	files, err := filepath.Glob("../kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no manifests", err)
	}
	var pods []core.PodTemplateSpec
	services := map[string]core.ServiceSpec{}
	var selectors []map[string]string // selectors of policies
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, object := range bytes.Split(text, []byte("\n---\n")) {
			var kind struct{ APIVersion, Kind string }
			if err := yaml.Unmarshal(object, &kind); err != nil {
				t.Fatalf("%s, object %d: %v", file, i, err)
			}
			strict := func(into any) {
				if err := yaml.UnmarshalStrict(object, into); err != nil {
					t.Errorf("%s, %s: %v", file, kind.Kind, err)
				}
			}
			switch kind.APIVersion + " " + kind.Kind {
			case "v1 Service":
				var s core.Service
				strict(&s)
				services[s.Name] = s.Spec
			case "policy/v1 PodDisruptionBudget":
				strict(&policy.PodDisruptionBudget{})
			case "networking.k8s.io/v1 NetworkPolicy":
				var p networking.NetworkPolicy
				strict(&p)
				selectors = append(selectors, p.Spec.PodSelector.MatchLabels)
			case "apps/v1 StatefulSet":
				var s apps.StatefulSet
				strict(&s)
				pods = append(pods, s.Spec.Template)
				if _, ok := services[s.Spec.ServiceName]; !ok {
					t.Errorf("%s: no service %q", file, s.Spec.ServiceName)
				}
				for _, c := range s.Spec.Template.Spec.Containers {
					for _, m := range c.VolumeMounts {
						volume := func(v core.Volume) bool { return v.Name == m.Name }
						claim := func(v core.PersistentVolumeClaim) bool { return v.Name == m.Name }
						if !slices.ContainsFunc(s.Spec.Template.Spec.Volumes, volume) && !slices.ContainsFunc(s.Spec.VolumeClaimTemplates, claim) {
							t.Errorf("%s: no volume %s", file, m.Name)
						}
					}
				}
			default:
				t.Errorf("%s: no type for %s %s", file, kind.APIVersion, kind.Kind)
			}
		}
	}
	for _, p := range pods {
		ports := map[string]int32{}
		for _, c := range p.Spec.Containers {
			for _, port := range c.Ports {
				ports[port.Name] = port.ContainerPort
			}
			for _, probe := range []*core.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
				if probe == nil || probe.HTTPGet == nil || ports[probe.HTTPGet.Port.StrVal] == 0 {
					t.Errorf("container %s: probe %+v", c.Name, probe)
				}
			}
		}
		for _, s := range selectors {
			for key, value := range s {
				if p.Labels[key] != value {
					t.Errorf("a policy selects %s=%s, and the pod has %v", key, value, p.Labels)
				}
			}
		}
		for name, s := range services {
			for key, value := range s.Selector {
				if p.Labels[key] != value {
					t.Errorf("service %s selects %s=%s, and the pod has %v", name, key, value, p.Labels)
				}
			}
			for _, port := range s.Ports {
				if ports[port.TargetPort.StrVal] == 0 {
					t.Errorf("service %s: no port %v", name, port.TargetPort)
				}
			}
		}
	}
	if len(pods) != 1 || len(services) != 2 || len(selectors) != 1 {
		t.Errorf("%d pods, %d services, %d policies", len(pods), len(services), len(selectors))
	}
}

// TestRun: the image names a file of tokens, which a server without callers' tokens must not look for.
func TestRun(t *testing.T) {
	file, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	open := 0
	for line := range strings.Lines(string(file)) {
		if strings.Contains(line, "-e HEDDLE_SERVER_INSECURE=true") {
			open++
			if !strings.Contains(line, "-e HEDDLE_SERVER_TOKENS= ") {
				t.Errorf("%s reads the tokens", line)
			}
		}
	}
	if open == 0 || !strings.Contains(string(file), " HEDDLE_SERVER_TOKENS=/") {
		t.Errorf("%d commands without tokens; the image has the setting: %v", open, strings.Contains(string(file), " HEDDLE_SERVER_TOKENS=/"))
	}
}

// TestDockerfile parses the file as Docker does, and checks each stage: a base with a version, clean
// package lists, commands without a shell, and no root at the end.
func TestDockerfile(t *testing.T) {
	f, err := os.Open("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tree, err := parser.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range tree.Warnings {
		t.Error(w.Short)
	}
	stages, args, err := instructions.Parse(tree.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{} // values of the arguments before the first stage
	for _, a := range args {
		for _, pair := range a.Args {
			values["${"+pair.Key+"}"] = pair.ValueString()
		}
	}
	var names []string
	for _, s := range stages {
		if value, ok := values[s.BaseName]; ok {
			s.BaseName = value
		}
		if !slices.Contains(names, s.BaseName) && (!strings.Contains(s.BaseName, ":") || strings.HasSuffix(s.BaseName, ":latest")) {
			t.Errorf("%s: base %s has no version", s.Name, s.BaseName)
		}
		names = append(names, s.Name)
		user := ""
		for _, c := range s.Commands {
			switch c := c.(type) {
			case *instructions.UserCommand:
				user = c.User
			case *instructions.EntrypointCommand:
				if c.PrependShell {
					t.Errorf("%s: %v runs in a shell, which keeps signals from the server", s.Name, c)
				}
			case *instructions.RunCommand:
				text := strings.Join(c.CmdLine, " ")
				if strings.Contains(text, "apt-get install") && !(strings.Contains(text, "--no-install-recommends") && strings.Contains(text, "rm -rf /var/lib/apt/lists/*")) {
					t.Errorf("%s: %s leaves files behind", s.Name, text)
				}
			}
		}
		if s.Name != "build" && (user == "" || user == "root") {
			t.Errorf("%s: the server runs as %q", s.Name, user)
		}
	}
	if got := strings.Join(names, " "); got != "build base pocl intel amd nvidia" {
		t.Errorf("stages %s", got)
	}
}
