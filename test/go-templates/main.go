// Renders templates with Go's own text/template: a JSON list of sources on stdin, a JSON list of answers on stdout.
package main

import (
	"encoding/json"
	"os"
	"sort"
	"strings"
	"text/template"
	"time"
)

type labels map[string]string

type pair struct{ Name, Value string }

type pairs []pair

type alert struct {
	Status      string
	Labels      labels
	Fingerprint string
}

type alerts []alert

type alertGroup struct {
	Number      int
	Title       string
	Urgent      bool
	Owner       string
	ReopenCount int
	Share       float64
	StartedAt   time.Time
}

type data struct {
	AlertGroup   alertGroup
	Alerts       alerts
	CommonLabels labels
	Numbers      []interface{}
	Words        []interface{}
	Nothing      interface{}
	Tree         map[string]interface{}
	Text         string
}

type answer struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

func (l labels) Names() []interface{} {
	names := []string{}
	for name := range l {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		if names[i] == "alertname" || names[j] == "alertname" {
			return names[i] == "alertname" && names[j] != "alertname"
		}
		return names[i] < names[j]
	})
	listed := []interface{}{}
	for _, name := range names {
		listed = append(listed, name)
	}
	return listed
}

func (l labels) SortedPairs() pairs {
	sorted := pairs{}
	for _, name := range l.Names() {
		sorted = append(sorted, pair{name.(string), l[name.(string)]})
	}
	return sorted
}

func (a alerts) withStatus(status string) alerts {
	found := alerts{}
	for _, each := range a {
		if each.Status == status {
			found = append(found, each)
		}
	}
	return found
}

func (a alerts) Firing() alerts   { return a.withStatus("firing") }
func (a alerts) Resolved() alerts { return a.withStatus("resolved") }

var sample = data{
	AlertGroup: alertGroup{
		Number: 412, Title: "Disk full", Urgent: true, Share: 0.125,
		StartedAt: time.Date(2026, 3, 9, 14, 5, 0, 250000000, time.UTC),
	},
	Alerts: alerts{
		{"firing", labels{"alertname": "Disk", "pod": "a", "zone": ""}, "f1"},
		{"firing", labels{"alertname": "Disk", "pod": "b<&>"}, "f2"},
		{"resolved", labels{"alertname": "Disk", "pod": "c"}, "f3"},
	},
	CommonLabels: labels{"cluster": "prod", "ns": "shop", "alertname": "Disk"},
	Numbers:      []interface{}{3, -7, 0, 2.5, int(1 << 40)},
	Words:        []interface{}{"a", "été", "", "x\ty\"z", nil},
	Tree:         map[string]interface{}{"b": 1, "a": map[string]interface{}{"deep": "leaf"}, "n": nil, "f": 1e21},
	Text:         "it's <b>\"1\"</b> & 2\n= 🔥",
}

func render(source string) answer {
	parsed, err := template.New("root").Option("missingkey=zero").Parse(source)
	if err != nil {
		return answer{false, "parse: " + err.Error()}
	}
	var output strings.Builder
	if err := parsed.Execute(&output, sample); err != nil {
		return answer{false, "run: " + err.Error()}
	}
	return answer{true, output.String()}
}

func main() {
	var sources []string
	if err := json.NewDecoder(os.Stdin).Decode(&sources); err != nil {
		panic(err)
	}
	answers := make([]answer, len(sources))
	for index, source := range sources {
		answers[index] = render(source)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		panic(err)
	}
}
