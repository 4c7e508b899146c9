{{- define "tocsin.name" -}}
{{- if contains "tocsin" .Release.Name }}{{ .Release.Name }}{{ else }}{{ printf "%s-tocsin" .Release.Name }}{{ end -}}
{{- end }}

{{- define "tocsin.selector" -}}
app.kubernetes.io/name: tocsin
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tocsin.labels" -}}
{{ include "tocsin.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "tocsin.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end }}

{{- /* Which of the three ways to a database is given. */ -}}
{{- define "tocsin.database" -}}
{{- $db := .Values.database }}
{{- $ways := list }}
{{- if $db.urlKey }}{{ $ways = append $ways "url" }}{{ end }}
{{- if $db.host }}{{ $ways = append $ways "host" }}{{ end }}
{{- if $db.cloudNativePG.cluster }}{{ $ways = append $ways "cluster" }}{{ end }}
{{- if ne (len $ways) 1 }}
{{- fail "Set one of database.urlKey, database.host and database.cloudNativePG.cluster." }}
{{- end }}
{{- if and $db.caKey $db.cloudNativePG.cluster }}
{{- fail "database.caKey goes with database.urlKey or database.host: the Secret of CloudNativePG holds its roots." }}
{{- end }}
{{- if and .Values.redis.caKey (not .Values.redis.urlKey) }}
{{- fail "redis.caKey needs redis.urlKey." }}
{{- end }}
{{- first $ways -}}
{{- end }}

{{- /* Files of the Secrets, below /run/secrets/tocsin. */ -}}
{{- define "tocsin.secrets" -}}
{{- $secret := required "existingSecret is the name of the Secret with the master keys." .Values.existingSecret }}
{{- $db := .Values.database }}
{{- $way := include "tocsin.database" . }}
- secret:
    name: {{ $secret }}
    items:
      - { key: {{ .Values.masterKeysKey | quote }}, path: secret-keys }
      {{- with .Values.bootstrapAdmin.passwordKey }}
      - { key: {{ . | quote }}, path: admin-password }
      {{- end }}
{{- if eq $way "url" }}
- secret:
    name: {{ $db.existingSecret | default $secret }}
    items:
      - { key: {{ $db.urlKey | quote }}, path: database-url }
      {{- with $db.caKey }}
      - { key: {{ . | quote }}, path: database-ca }
      {{- end }}
{{- else if eq $way "host" }}
- secret:
    name: {{ $db.existingSecret | default $secret }}
    items:
      - { key: {{ required "database.host needs database.passwordKey." $db.passwordKey | quote }}, path: database-password }
      {{- with $db.caKey }}
      - { key: {{ . | quote }}, path: database-ca }
      {{- end }}
{{- else }}
- secret:
    name: {{ $db.cloudNativePG.cluster }}-app
    items:
      - { key: password, path: database-password }
- secret:
    name: {{ $db.cloudNativePG.cluster }}-ca
    items:
      - { key: ca.crt, path: database-ca }
{{- end }}
{{- with .Values.redis.urlKey }}
- secret:
    name: {{ $.Values.redis.existingSecret | default $secret }}
    items:
      - { key: {{ . | quote }}, path: redis-url }
      {{- with $.Values.redis.caKey }}
      - { key: {{ . | quote }}, path: redis-ca }
      {{- end }}
{{- end }}
{{- end }}

{{- /* Settings of the service that are no secrets. */ -}}
{{- define "tocsin.settings" -}}
{{- $db := .Values.database }}
{{- $way := include "tocsin.database" . }}
{{- if and (gt (int .Values.replicas) 1) (not .Values.redis.urlKey) }}
{{- fail "More than one replica needs redis.urlKey." }}
{{- end }}
SVC_PUBLIC_URL: {{ required "publicURL is the address at which people reach the web interface." .Values.publicURL | quote }}
{{- with .Values.ingestURL }}
SVC_INGEST_URL: {{ . | quote }}
{{- end }}
SVC_SECRET_KEYS_FILE: /run/secrets/tocsin/secret-keys
{{- if eq $way "url" }}
SVC_DATABASE_URL_FILE: /run/secrets/tocsin/database-url
{{- else }}
{{- $cluster := $db.cloudNativePG.cluster }}
SVC_DATABASE_HOST: {{ if $cluster }}{{ printf "%s-rw" $cluster | quote }}{{ else }}{{ $db.host | quote }}{{ end }}
SVC_DATABASE_PORT: {{ $db.port | quote }}
SVC_DATABASE_NAME: {{ $db.name | default ($cluster | empty | ternary "" "app") | required "database.host needs database.name." | quote }}
SVC_DATABASE_USER: {{ $db.user | default ($cluster | empty | ternary "" "app") | required "database.host needs database.user." | quote }}
SVC_DATABASE_SSLMODE: {{ $db.sslmode | quote }}
SVC_DATABASE_PASSWORD_FILE: /run/secrets/tocsin/database-password
{{- end }}
{{- if or $db.caKey (eq $way "cluster") }}
SVC_DATABASE_CA_FILE: /run/secrets/tocsin/database-ca
{{- end }}
{{- with $db.sessionHost }}
SVC_DATABASE_SESSION_HOST: {{ . | quote }}
{{- end }}
{{- with $db.sessionPort }}
SVC_DATABASE_SESSION_PORT: {{ . | quote }}
{{- end }}
SVC_DATABASE_POOL_MAX: {{ $db.poolMax | quote }}
{{- if .Values.redis.urlKey }}
SVC_REDIS_URL_FILE: /run/secrets/tocsin/redis-url
{{- if .Values.redis.caKey }}
NODE_EXTRA_CA_CERTS: /run/secrets/tocsin/redis-ca
{{- end }}
{{- end }}
{{- if .Values.bootstrapAdmin.email }}
SVC_BOOTSTRAP_ADMIN_EMAIL: {{ .Values.bootstrapAdmin.email | quote }}
SVC_BOOTSTRAP_ADMIN_PASSWORD_FILE: /run/secrets/tocsin/admin-password
{{- $_ := required "bootstrapAdmin.email needs bootstrapAdmin.passwordKey." .Values.bootstrapAdmin.passwordKey }}
{{- end }}
{{- with .Values.trustedProxies }}
SVC_TRUSTED_PROXIES: {{ join "," . | quote }}
{{- end }}
{{- range $name, $value := .Values.extraEnv }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end }}

{{- /* The rule groups of files/rules.yaml with what alerting.* changes. */ -}}
{{- define "tocsin.rules" -}}
{{- $alerting := .Values.alerting }}
{{- $base := $alerting.runbookBaseURL | default .Values.publicURL | trimSuffix "/" }}
{{- $file := .Files.Get "files/rules.yaml" | fromYaml }}
{{- $names := list }}
groups:
{{- range $file.groups }}
  - name: {{ .name }}
    rules:
    {{- range .rules }}
    {{- $names = append $names .alert }}
    {{- $own := index $alerting.rules .alert | default dict }}
    {{- if ne (toString $own.enabled) "false" }}
    {{- $annotations := .annotations }}
    {{- $link := $annotations.runbook_url | replace "http://localhost:8080" $base }}
    {{- $_ := set $annotations "runbook_url" $link }}
      - alert: {{ .alert }}
        expr: {{ $own.expr | default .expr | replace "job=\"tocsin\"" $alerting.jobSelector | toJson }}
        for: {{ $own.for | default .for }}
        labels:
          severity: {{ $own.severity | default .labels.severity }}
        annotations:
          {{- toYaml $annotations | nindent 10 }}
    {{- end }}
    {{- end }}
{{- end }}
{{- range $name, $_ := $alerting.rules }}
{{- if not (has $name $names) }}{{ fail (printf "alerting.rules: there is no rule %s." $name) }}{{ end }}
{{- end }}
{{- end }}

{{- /* What the container and the one that migrates share. */ -}}
{{- define "tocsin.container" -}}
image: {{ include "tocsin.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
envFrom:
  - configMapRef:
      name: {{ include "tocsin.name" . }}-settings
volumeMounts:
  - name: secrets
    mountPath: /run/secrets/tocsin
    readOnly: true
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}
