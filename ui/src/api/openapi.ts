/**
 * The schemas of the API as types. Made from its description; do not edit. `npm run openapi` writes it anew.
 */
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An account of a messenger that acts for a person. */
        readonly AccountLink: {
            readonly id: components["schemas"]["AccountLinkId"];
            readonly messenger: components["schemas"]["ConnectionType"];
            /** @description The Connection; null when it holds for all of the messenger. */
            readonly connection: components["schemas"]["EntityRef"] | null;
            /** @description Id of the account in the messenger. */
            readonly external_id: string;
            /** @description Name of the account as it was last seen; null when unknown. */
            readonly username: string | null;
            /**
             * Format: date-time
             * @description When it last acted; null when never.
             */
            readonly last_used_at: string | null;
            /**
             * Format: date-time
             * @description When it was linked.
             */
            readonly created_at: string;
        };
        /**
         * @description A PublicId: `AK…`.
         * @example AK9X2QF4H7NJC0
         */
        readonly AccountLinkId: string;
        /**
         * @description A PublicId: `AR…`.
         * @example AR9X2QF4H7NJC0
         */
        readonly AccountLinkRequestId: string;
        /** @description Notices until somebody acknowledges. */
        readonly AckTimeout: {
            /** @description Whether there are any. */
            readonly enabled: boolean;
            /** @description Seconds F before the first notice; two more follow at 3F and 7F. At most a year. */
            readonly first_interval_seconds: number;
        };
        /** @description One actor: the state machine of one thing. */
        readonly Actor: {
            /** @description Its kind. */
            readonly kind: string;
            /** @description Its key. */
            readonly key: string;
            /** @description Id of the replica that runs it; null when none does. */
            readonly replica: string | null;
            /** @description Number of its shard. */
            readonly shard: number;
            /** @description State as its machine names it; null before it began. */
            readonly state: string | {
                readonly [key: string]: unknown;
            } | null;
            /** @description Version of the form it is stored in. */
            readonly schema: number;
            /** @description How often it was stored. */
            readonly version: number;
            /**
             * Format: date-time
             * @description When it acts by itself next; null when it does not.
             */
            readonly wake_at: string | null;
            /** @description Messages to it that wait in the inbox, among the oldest 1,000 of its shard. */
            readonly waiting: number;
            /** @description Those that wait in memory of its replica alone; null when that is of an earlier release. */
            readonly waiting_in_memory: number | null;
            /** @description Those that wait, the oldest first; at most 20. */
            readonly inbox: readonly {
                /** @description Type of the message. */
                readonly type: string;
                /**
                 * Format: date-time
                 * @description When it was stored.
                 */
                readonly since: string;
            }[];
            /** @description The last 50 messages since it was loaded, newest first. None while it sleeps. */
            readonly messages: readonly components["schemas"]["ActorMessage"][];
        };
        /** @description How many actors of one kind are in one state. */
        readonly ActorCount: {
            /** @description Kind of the actors. */
            readonly kind: string;
            /** @description State as its machine names it; null before it began. */
            readonly state: string | {
                readonly [key: string]: unknown;
            } | null;
            /** @description How many are in it. */
            readonly count: number;
        };
        /**
         * @description What sort of effect it is.
         *     - `send`: A message to an actor.
         *     - `record`: Rows that were stored with the commit.
         *     - `perform`: A side effect after the commit, such as a call or a hint.
         * @enum {string}
         */
        readonly ActorEffectKind: "send" | "record" | "perform";
        /** @description A message that an actor was given, without what it said, and what it did. */
        readonly ActorMessage: {
            /**
             * Format: date-time
             * @description When it was handled.
             */
            readonly at: string;
            /**
             * Format: date-time
             * @description When what it did was stored; null until then.
             */
            readonly committed_at: string | null;
            /** @description Type of the message. */
            readonly type: string;
            /** @description Kind of the actor that sent it; null from outside. */
            readonly from: string | null;
            /** @description State of its machine afterwards; null before it began. */
            readonly state: string | {
                readonly [key: string]: unknown;
            } | null;
            /** @description Events that its machine took, in order. */
            readonly events: readonly string[];
            /** @description Transitions that its machine took, in order; at most eight. */
            readonly transitions: readonly {
                /** @description Path of the state that has it; null: the machine itself, in every state. */
                readonly from: string | null;
                /** @description Path of the state it leads to; null: the state stays. */
                readonly to: string | null;
                /** @description Event that it follows; `always` for one that happens by itself. */
                readonly event: string;
                /** @description Guard that held; null when it has none. */
                readonly guard: string | null;
                /** @description Names of its actions. */
                readonly actions: readonly string[];
            }[];
            /** @description What it led to, by kind and type, at most eight; never what it said. */
            readonly effects: readonly {
                readonly kind: components["schemas"]["ActorEffectKind"];
                /** @description Its type. */
                readonly type: string;
                /** @description Kind of the actors that a message went to; null for others. */
                readonly to: string | null;
                /** @description How many there were; 8,191 for more. */
                readonly count: number;
            }[];
        };
        /** @description A user or a Service account. */
        readonly ActorRef: {
            /**
             * @description `user`: a person; `service_account`: a program.
             * @enum {string}
             */
            readonly kind: "user" | "service_account";
            /** @description Id of the user (`SR`) or of the Service account (`SA`). */
            readonly id: components["schemas"]["PublicId"];
            /** @description Name now, or the last one. */
            readonly name: string;
            /** @description Login of a user. Absent for a Service account. */
            readonly login?: string;
            /** @description Whether it was deleted. */
            readonly deactivated: boolean;
        };
        /** @description An Alert of an Alert Group. */
        readonly Alert: components["schemas"]["AlertBase"] & {
            readonly integration: components["schemas"]["EntityRef"];
            /**
             * Format: uri
             * @description The page of the rule that made it; null without one.
             */
            readonly source_url: string | null;
        };
        /** @description What every answer says of an Alert. */
        readonly AlertBase: {
            /** @description Identity of the Alert: a hash of its labels. */
            readonly fingerprint: string;
            /** @description Its labels, static labels of the Integration included. */
            readonly labels: components["schemas"]["Labels"];
            /** @description Its annotations. */
            readonly annotations: components["schemas"]["Labels"];
            readonly state: components["schemas"]["AlertState"];
            /** @description Why it ended; null while it fires. */
            readonly resolve_reason: components["schemas"]["ResolveReason"] | null;
            /** @description The reason as a sentence in English; null while it fires. */
            readonly resolve_reason_text: string | null;
            /**
             * Format: date-time
             * @description When it began to fire, as the sender says.
             */
            readonly starts_at: string;
            /**
             * Format: date-time
             * @description When it ended; null while it fires.
             */
            readonly resolved_at: string | null;
            /**
             * Format: date-time
             * @description When a Snapshot last listed it.
             */
            readonly last_seen_at: string;
            /** @description Keys of the sender's groups that list it. */
            readonly alertmanager_groups: readonly string[];
        };
        /** @description Alerts of one Route that share a Group key, from the first that fired to the end. */
        readonly AlertGroup: {
            readonly id: components["schemas"]["AlertGroupId"];
            /** @description The number that people know it by, `#N`. Numbers grow. */
            readonly number: number;
            /** @description A line that names it, from labels and annotations. */
            readonly title: string;
            /** @description The summary of an Alert that fires, or that did last; null without one. */
            readonly summary: string | null;
            readonly status: components["schemas"]["GroupStatus"];
            /** @description Who acknowledged it; null unless `acknowledged`. */
            readonly owner: components["schemas"]["UserRef"] | null;
            /**
             * Format: date-time
             * @description When the Snooze ends; null without an end, and unless `snoozed`.
             */
            readonly snooze_until: string | null;
            /** @description Who snoozed it; null unless `snoozed`. */
            readonly snoozed_by: components["schemas"]["ActorRef"] | null;
            /** @description The highest level among its firing Alerts; of a resolved one, the last. */
            readonly severity_level: components["schemas"]["SeverityLevel"];
            /** @description Whether it is Urgent: by its Route, or by its level where critical is Urgent. */
            readonly urgent: boolean;
            readonly route: components["schemas"]["EntityRef"];
            /** @description The Integrations that its Alerts came from. */
            readonly integrations: readonly components["schemas"]["EntityRef"][];
            /**
             * Format: date-time
             * @description When it was created: its first Alert was received.
             */
            readonly started_at: string;
            /**
             * Format: date-time
             * @description The earliest `starts_at` of its Alerts, by the clocks of their senders; null if not known.
             */
            readonly alerts_started_at: string | null;
            /**
             * Format: date-time
             * @description When it was resolved; null while open.
             */
            readonly resolved_at: string | null;
            /**
             * Format: date-time
             * @description When its status, Alerts or Notes last changed.
             */
            readonly last_changed_at: string;
            /** @description How often it was opened again. */
            readonly reopen_count: number;
            /** @description How many of its Alerts fire. */
            readonly firing_alert_count: number;
            /** @description How many of its Alerts ended. */
            readonly resolved_alert_count: number;
            /** @description How it was resolved; null while open. */
            readonly resolution: components["schemas"]["Resolution"] | null;
            /** @description Whether nobody acknowledged it in time. */
            readonly unclaimed: boolean;
            /** @description The next notice that is due; null when none is. */
            readonly next_notice: {
                /**
                 * @description `ack_timeout` while nobody acknowledged it, `reminder` to its Owner after that.
                 * @enum {string}
                 */
                readonly kind: "ack_timeout" | "reminder";
                /**
                 * Format: date-time
                 * @description When it is due.
                 */
                readonly at: string;
            } | null;
            /** @description Whether it could not be delivered somewhere. */
            readonly delivery_problem: boolean;
            /** @description Whether retention removed its Alerts and Timeline. */
            readonly details_removed: boolean;
            /** @description The labels of its Group key. */
            readonly group_labels: components["schemas"]["Labels"];
            /** @description Labels of all Alerts. */
            readonly common_labels: components["schemas"]["Labels"];
            /** @description Annotations of all Alerts. */
            readonly common_annotations: components["schemas"]["Labels"];
            /** @description Values of `label_columns` that all its Alerts share; empty without them. */
            readonly label_values: components["schemas"]["Labels"];
            /** @description What people should know about it. */
            readonly notices: readonly components["schemas"]["AlertGroupNotice"][];
            /** @description Those of Link rules by name, then runbook, dashboard and source. */
            readonly links: readonly components["schemas"]["AlertGroupLink"][];
            /** @description The Commands that the caller may use on it now. */
            readonly allowed_commands: readonly components["schemas"]["CommandName"][];
        };
        /** @description What fires around an Alert Group, and what its Group key had before. */
        readonly AlertGroupContext: {
            /** @description What else fires around it. */
            readonly nearby: {
                /** @description Those with most labels in common first; at most 10. */
                readonly items: readonly components["schemas"]["NearbyAlertGroup"][];
                /** @description How many of those compared share a label. */
                readonly count: number;
                /** @description Whether so many are open that only the nearest were compared. */
                readonly truncated: boolean;
            };
            readonly past: components["schemas"]["AlertGroupPast"];
        };
        /** @description How many Alert Groups have each status. */
        readonly AlertGroupCounts: {
            /** @description With the status `firing`. */
            readonly firing: number;
            /** @description With the status `acknowledged`. */
            readonly acknowledged: number;
            /** @description With the status `snoozed`. */
            readonly snoozed: number;
            /** @description With the status `resolved`. */
            readonly resolved: number;
            /** @description The sum of the four. */
            readonly all: number;
        };
        /** @description Which Alert Groups went where. */
        readonly AlertGroupFlow: {
            /**
             * Format: date-time
             * @description Begin of the range, included.
             */
            readonly from: string;
            /**
             * Format: date-time
             * @description End of the range, not included.
             */
            readonly to: string;
            /** @description How many Alert Groups started, each once. */
            readonly alert_group_count: number;
            /** @description By column, the most Alert Groups first; at most 12 subjects a column. */
            readonly nodes: readonly {
                /**
                 * @description `integration`, `route` or `destination`.
                 * @enum {string}
                 */
                readonly column: "integration" | "route" | "destination";
                /**
                 * @description `subject`; `others`: not named; `none`: no Destination; `forgotten`: no longer kept.
                 * @enum {string}
                 */
                readonly kind: "subject" | "others" | "none" | "forgotten";
                /** @description Null unless `kind` is `subject`. */
                readonly subject: components["schemas"]["EntityRef"] | null;
                /** @description The subject is deleted. */
                readonly deleted: boolean;
                /** @description How many subjects it stands for. */
                readonly subject_count: number;
                /** @description How many Alert Groups. */
                readonly alert_group_count: number;
            }[];
            /** @description How many Alert Groups went from one node to another. */
            readonly links: readonly {
                /** @description Place of a node in `nodes`, from 0. */
                readonly source: number;
                /** @description Place of a node of the next column. */
                readonly target: number;
                /** @description How many Alert Groups. */
                readonly alert_group_count: number;
            }[];
        };
        /** @description Alert Groups with the same value, or name, of a label. */
        readonly AlertGroupFold: {
            /** @description The value, or name, that all Alerts of each group share; null where there is none. */
            readonly value: string | null;
            /** @description How many Alert Groups have it. */
            readonly alert_group_count: number;
            /** @description Those with the status `firing`. */
            readonly firing_count: number;
            readonly severity_level: components["schemas"]["SeverityLevel"];
            /**
             * Format: date-time
             * @description When the newest of them began.
             */
            readonly last_started_at: string;
            /** @description By the names that were asked for: how many values of the label they have. */
            readonly distinct: {
                readonly [key: string]: number;
            };
        };
        /** @description Alert Groups by the values or names of labels, the largest first. */
        readonly AlertGroupFolds: {
            /** @description The largest first. */
            readonly items: readonly components["schemas"]["AlertGroupFold"][];
            /** @description How many folds there are; at most 200 are items. */
            readonly fold_count: number;
            /** @description How many Alert Groups were looked at. */
            readonly alert_group_count: number;
            /** @description Whether there may be older Alert Groups, which were not looked at. */
            readonly truncated: boolean;
        };
        /**
         * @description A PublicId: `AG…`.
         * @example AG9X2QF4H7NJC0
         */
        readonly AlertGroupId: string;
        /** @description A link that helps with an Alert Group. Only http and https. */
        readonly AlertGroupLink: {
            readonly kind: components["schemas"]["AlertGroupLinkKind"];
            /** @description Text of the link. */
            readonly name: string;
            /**
             * Format: uri
             * @description Where it leads.
             */
            readonly url: string;
            /** @description The Link rule that made it; null for other kinds. */
            readonly link_rule_id: components["schemas"]["LinkRuleId"] | null;
        };
        /**
         * @description Where the link comes from.
         *     - `link_rule`: Made by a Link rule.
         *     - `runbook`: From the annotation `runbook_url`.
         *     - `dashboard`: From the annotation `dashboard_url`.
         *     - `source`: The page of the rule at the sender.
         * @enum {string}
         */
        readonly AlertGroupLinkKind: "link_rule" | "runbook" | "dashboard" | "source";
        /** @description What people should know of an Alert Group. The fields besides `kind` are those of the kind. */
        readonly AlertGroupNotice: {
            readonly kind: components["schemas"]["AlertGroupNoticeKind"];
            /** @description How many Alerts still fire, with `alerts_still_firing`. */
            readonly count?: number;
            /** @description The label that differs, with `replacement`. */
            readonly label?: string;
            /** @description Days for which details are kept, with `details_removed`. */
            readonly retention_days?: number;
            /** @description Number of the one that was resolved, with `firing_again_after_manual_resolve`. */
            readonly resolved_number?: number;
            /** @description The other Alert Group, with `newer_alert_group_exists`. */
            readonly related_alert_group?: components["schemas"]["AlertGroupRef"];
        };
        /**
         * @description What there is to know.
         *     - `alerts_still_firing`: Somebody resolved it, and `count` of its Alerts still fire at the sender.
         *     - `newer_alert_group_exists`: Somebody resolved it, and the newer `related_alert_group` of the same Route and Group key is open.
         *     - `firing_again_after_manual_resolve`: Somebody resolved the Alert Group with the number `resolved_number`, and it fires again as this one.
         *     - `replacement`: An Alert replaced another one that differs in `label`: the same thing may run elsewhere now.
         *     - `details_removed`: Alerts and Timeline were removed after `retention_days`.
         * @enum {string}
         */
        readonly AlertGroupNoticeKind: "alerts_still_firing" | "newer_alert_group_exists" | "firing_again_after_manual_resolve" | "replacement" | "details_removed";
        /** @description What earlier Alert Groups of the same Route and Group key were like. */
        readonly AlertGroupPast: {
            /**
             * Format: date-time
             * @description Start of the period that is counted, which ends when this Alert Group started.
             */
            readonly from: string;
            /** @description Alert Groups of the same Route and Group key that started in it, at most 500. */
            readonly alert_group_count: number;
            /** @description Whether there may be more than 500. */
            readonly truncated: boolean;
            /** @description Median of seconds from start to end of those that are resolved; null without any. */
            readonly median_duration_seconds: number | null;
            /** @description Who acknowledged the last 20 first, the last one first; at most 3. */
            readonly acknowledged_by: readonly {
                readonly user: components["schemas"]["UserRef"];
                /** @description How many of the last 20. */
                readonly alert_group_count: number;
            }[];
            /** @description The newest Notes on the last 20, newest first; at most 3. */
            readonly notes: readonly {
                readonly alert_group: components["schemas"]["AlertGroupRef"];
                readonly note: components["schemas"]["Note"];
            }[];
        };
        /** @description An Alert Group by id and number. */
        readonly AlertGroupRef: {
            readonly id: components["schemas"]["AlertGroupId"];
            /** @description The number that people know it by, `#N`. */
            readonly number: number;
        };
        /** @description Figures of Alert Groups by when they started. */
        readonly AlertGroupStatistics: {
            /**
             * @description What they are counted by: `route` or `integration`.
             * @enum {string}
             */
            readonly group_by: "route" | "integration";
            /**
             * Format: date-time
             * @description Begin of the range, included.
             */
            readonly from: string;
            /**
             * Format: date-time
             * @description End of the range, not included.
             */
            readonly to: string;
            /** @description One item for each Route in evaluation order, or Integration by name. Deleted ones come last, and only with groups. */
            readonly items: readonly {
                readonly subject: components["schemas"]["EntityRef"];
                /** @description How many Alert Groups started. */
                readonly alert_group_count: number;
                /** @description Until somebody acknowledged. */
                readonly time_to_acknowledge: components["schemas"]["DurationFigures"];
                /** @description Until the end. */
                readonly time_to_resolve: components["schemas"]["DurationFigures"];
                /** @description The same figures for each day of the time zone; null from where all items together would have more than 20000 days: ask for those by id. */
                readonly per_day: readonly {
                    /** @description The day, `YYYY-MM-DD`. */
                    readonly date: string;
                    /** @description How many Alert Groups started. */
                    readonly alert_group_count: number;
                    /** @description Until somebody acknowledged. */
                    readonly time_to_acknowledge: components["schemas"]["DurationFigures"];
                    /** @description Until the end. */
                    readonly time_to_resolve: components["schemas"]["DurationFigures"];
                }[] | null;
            }[];
            /** @description Hours of the week in the time zone that have any, from Monday 0:00. Each Alert Group counts once. */
            readonly per_hour: readonly {
                /** @description 1 is Monday, 7 is Sunday. */
                readonly weekday: number;
                /** @description Hour of the day, 0 to 23. */
                readonly hour: number;
                /** @description How many Alert Groups started. */
                readonly alert_group_count: number;
            }[];
            /**
             * Format: date-time
             * @description Begin of what the lists below are about; after `from` in a long period.
             */
            readonly lists_from: string;
            /** @description The 10 alert names with the most Alert Groups, then by name. Each Alert Group counts once. */
            readonly noisiest: readonly {
                /** @description The common `alertname`. */
                readonly alert_name: string;
                /** @description How many Alert Groups started. */
                readonly alert_group_count: number;
                /** @description Reopens of all of them. */
                readonly reopen_count: number;
                /** @description Ever acknowledged. */
                readonly acknowledged_count: number;
                /** @description Resolved by the system, never acknowledged. */
                readonly self_resolved_count: number;
            }[];
            /** @description All others, those without a common `alertname` among them. */
            readonly noisiest_rest: {
                /** @description How many other alert names. */
                readonly alert_name_count: number;
                /** @description How many Alert Groups started. */
                readonly alert_group_count: number;
                /** @description Reopens of all of them. */
                readonly reopen_count: number;
                /** @description Ever acknowledged. */
                readonly acknowledged_count: number;
                /** @description Resolved by the system, never acknowledged. */
                readonly self_resolved_count: number;
            };
            /** @description The 50 people who acknowledged most first, then by name. */
            readonly by_person: readonly {
                readonly user: components["schemas"]["UserRef"];
                /** @description Alert Groups acknowledged first. */
                readonly acknowledged_count: number;
                /** @description Alert Groups resolved now. */
                readonly resolved_count: number;
                /** @description Median seconds to the first Acknowledge; null without any. */
                readonly time_to_acknowledge_median_seconds: number | null;
            }[];
            /** @description Other people, Service accounts, and Acknowledges by nobody known. */
            readonly by_person_rest: {
                /** @description How many other people. */
                readonly person_count: number;
                /** @description Alert Groups acknowledged first. */
                readonly acknowledged_count: number;
                /** @description Alert Groups resolved now. */
                readonly resolved_count: number;
            };
        };
        /**
         * @description The state of an Alert.
         *     - `firing`: It fires.
         *     - `resolved`: It ended.
         * @enum {string}
         */
        readonly AlertState: "firing" | "resolved";
        /** @description One alert of a notification. */
        readonly AlertmanagerAlert: {
            readonly status: components["schemas"]["AlertState"];
            /** @description Its labels. */
            readonly labels: components["schemas"]["Labels"];
            /** @description Its annotations. */
            readonly annotations?: components["schemas"]["Labels"];
            /**
             * Format: date-time
             * @description When the alert began to fire.
             */
            readonly startsAt: string;
            /**
             * Format: date-time
             * @description When it ended. While it fires, when Alertmanager would consider it over.
             */
            readonly endsAt?: string;
            /** @description The page of the rule that made the alert. */
            readonly generatorURL?: string;
            /** @description Hash of the labels by Alertmanager. Tocsin computes its own. */
            readonly fingerprint?: string;
        };
        /** @description A route of the sender, and what was learned about it. */
        readonly AlertmanagerRoute: {
            /** @description Path of the route, as the group keys of the sender show it. */
            readonly route_path: string;
            /** @description Seconds between repeats, as observed; null until they were. */
            readonly learned_repeat_interval_seconds: number | null;
            /** @description Seconds of silence after which its Alerts are over. */
            readonly resolve_by_absence_after_seconds: number;
            /** @description How many groups of the route are cut off by `max_alerts`. */
            readonly truncated_group_count: number;
            /** @description Whether it repeats so rarely that ends are noticed late. */
            readonly long_interval_warning: boolean;
            /** @description A change to `alertmanager.yml` that helps; null when none is needed. */
            readonly recommended_snippet: string | null;
        };
        /**
         * @description A notification of Alertmanager for one group of alerts.
         * @example {
         *       "version": "4",
         *       "groupKey": "{}:{alertname=\"DiskFull\"}",
         *       "status": "firing",
         *       "receiver": "tocsin",
         *       "alerts": [
         *         {
         *           "status": "firing",
         *           "labels": {
         *             "alertname": "DiskFull",
         *             "severity": "critical",
         *             "instance": "db1"
         *           },
         *           "annotations": {
         *             "summary": "The disk of db1 is full"
         *           },
         *           "startsAt": "2030-01-01T00:00:00Z"
         *         }
         *       ]
         *     }
         */
        readonly AlertmanagerSnapshot: {
            /**
             * @description Version of the format.
             * @example 4
             */
            readonly version?: string;
            /**
             * @description Key of the group at the sender, with its route. Snapshots of one key replace one another.
             * @example {}/{severity="critical"}:{alertname="DiskFull"}
             */
            readonly groupKey: string;
            /** @description How many alerts `max_alerts` cut off. Those that are not listed then stay as they are. */
            readonly truncatedAlerts?: number;
            /**
             * @description `firing` while at least one alert fires, else `resolved`.
             * @enum {string}
             */
            readonly status?: "firing" | "resolved";
            /** @description Name of the receiver at the sender. */
            readonly receiver?: string;
            /** @description Its labels. */
            readonly groupLabels?: components["schemas"]["Labels"];
            /** @description Shared labels. */
            readonly commonLabels?: components["schemas"]["Labels"];
            /** @description Shared annotations. */
            readonly commonAnnotations?: components["schemas"]["Labels"];
            /** @description Address of the Alertmanager. */
            readonly externalURL?: string;
            /** @description All alerts of the group, those that ended included. */
            readonly alerts: readonly components["schemas"]["AlertmanagerAlert"][];
        };
        /** @description An API token, without its value. */
        readonly ApiToken: {
            readonly id: components["schemas"]["PublicId"];
            /** @description Its name. */
            readonly name: string;
            /**
             * Format: date-time
             * @description When it ends; null for never.
             */
            readonly expires_at: string | null;
            readonly created_at: components["schemas"]["CreationTime"];
            readonly last_used_at: components["schemas"]["LastUse"];
            /** @description Address it was last used from; null when never. */
            readonly last_used_address: string | null;
        };
        /**
         * @description A new API token.
         * @example {
         *       "name": "CI",
         *       "expires_at": "2030-01-01T00:00:00Z"
         *     }
         */
        readonly ApiTokenInput: {
            readonly name: components["schemas"]["ResourceName"];
            /**
             * Format: date-time
             * @description When the token ends, in the future; null or left out for never.
             */
            readonly expires_at?: string | null;
        };
        /** @description Something that was done. */
        readonly AuditEntry: {
            readonly id: components["schemas"]["AuditEntryId"];
            /**
             * Format: date-time
             * @description When it was done.
             */
            readonly at: string;
            /** @description Who did it. */
            readonly actor: {
                /**
                 * @description `user`: a person; `service_account`: a program; `system`: the service; `bootstrap`: the first start; `cli`: a command of the operator.
                 * @enum {string}
                 */
                readonly kind: "user" | "service_account" | "system" | "bootstrap" | "cli";
                /** @description Id of the person or Service account; null for others. */
                readonly id: components["schemas"]["PublicId"] | null;
                /** @description Name now; `deleted-user-<id>` once deleted. */
                readonly name: string;
            };
            /** @description The API token that was used; null without one. */
            readonly token_id: components["schemas"]["PublicId"] | null;
            /** @description Name of the API token; null without one. */
            readonly token_name: string | null;
            readonly transport: components["schemas"]["Transport"];
            /** @description What was done, as `<area>.<verb>`. */
            readonly action: string;
            /** @description Type of what it was done to; null without one. */
            readonly resource_type: string | null;
            /** @description Id of what it was done to; null without one. */
            readonly resource_id: string | null;
            /** @description Name of what it was done to, at that time; null without one. */
            readonly resource_name: string | null;
            /** @description Address it was done from; null when unknown. */
            readonly address: string | null;
            /** @description What changed. Names, logins and emails of deleted users read `[erased]`. */
            readonly diff: readonly ({
                /** @description Which field, as a JSON pointer into the resource. */
                readonly pointer: string;
                /** @description Value before. Absent for what was created. */
                readonly before?: unknown;
                /** @description Value after. */
                readonly after: unknown;
            } | {
                /** @description Which field, as a JSON pointer into the resource. */
                readonly pointer: string;
                /**
                 * @description A secret changed; its values are not kept.
                 * @constant
                 */
                readonly secret_changed: true;
            })[];
            /** @description More facts, by name. */
            readonly details: {
                readonly [key: string]: unknown;
            };
        };
        /**
         * @description A PublicId: `AE…`.
         * @example AE9X2QF4H7NJC0
         */
        readonly AuditEntryId: string;
        /**
         * Format: uri
         * @description Address: http or https, without query, fragment and user name, up to 2,000 characters.
         */
        readonly BaseUrl: string;
        /** @description The way to a bridge. */
        readonly BridgeConnection: components["schemas"]["ConnectionBase"] & {
            /**
             * @description A bridge.
             * @constant
             */
            readonly type: "bridge";
            /**
             * Format: uri
             * @description Address of the bridge.
             */
            readonly base_url: string;
            readonly event_mode: components["schemas"]["EventMode"];
            readonly push_secret_status: components["schemas"]["SecretStatus"];
            /** @description What the bridge last said about itself; null before that. */
            readonly info: components["schemas"]["BridgeInfo"] | null;
            /**
             * Format: date-time
             * @description When it said so; null before that.
             */
            readonly info_updated_at: string | null;
        };
        /** @description A bridge to check, saved or not. */
        readonly BridgeConnectionCheckInput: components["schemas"]["ConnectionCheckInputBase"] & {
            /**
             * @description A bridge.
             * @constant
             */
            readonly type: "bridge";
            readonly base_url: components["schemas"]["BaseUrl"];
        };
        /** @description A Connection to a bridge, as it is saved. */
        readonly BridgeConnectionInput: {
            /**
             * @description A bridge.
             * @constant
             */
            readonly type: "bridge";
            readonly name: components["schemas"]["ResourceName"];
            readonly limiter?: components["schemas"]["LimiterInput"];
            readonly proxy: components["schemas"]["ProxyConfigInput"];
            readonly base_url: components["schemas"]["BaseUrl"];
            /** @description At first `poll`. Left out it stays. */
            readonly event_mode?: components["schemas"]["EventMode"];
            /** @description Token for the bridge. Needed on creation and with another address; left out it stays. */
            readonly bot_token?: string | null;
            /** @description Signs pushed events: `whsec_` and base64 of at least 24 bytes. Needed for `push`; left out it stays, null clears it. */
            readonly push_secret?: string | null;
        };
        /** @description A channel of a messenger behind a bridge. */
        readonly BridgeDestination: components["schemas"]["DestinationBase"] & {
            /**
             * @description A channel behind a bridge.
             * @constant
             */
            readonly type: "bridge";
            readonly connection_id: components["schemas"]["ConnectionId"];
            /** @description Id of the channel at the bridge, 1 to 512 characters. */
            readonly channel_id: string;
            /** @description Its name when last seen; null without one. */
            readonly channel_name: string | null;
            /** @description Always null: the Route shows it. */
            readonly template_error: null;
            /** @description Always empty. */
            readonly warnings: readonly unknown[];
        };
        /** @description A Destination behind a bridge, as it is saved. */
        readonly BridgeDestinationInput: {
            /**
             * @description A channel behind a bridge.
             * @constant
             */
            readonly type: "bridge";
            readonly name: components["schemas"]["ResourceName"];
            readonly mentions?: components["schemas"]["MentionsInput"];
            readonly limiter?: components["schemas"]["LimiterInput"];
            readonly connection_id: components["schemas"]["PublicId"];
            /** @description Id of the channel at the bridge, 1 to 512 characters. */
            readonly channel_id: string;
        };
        /**
         * @description An event of a messenger behind a bridge. Other types are answered 204 and ignored.
         * @example {
         *       "id": "evt-1",
         *       "occurred_at": "2030-01-01T00:00:00Z",
         *       "type": "press",
         *       "message_id": "m-1",
         *       "user": {
         *         "external_id": "u-1",
         *         "username": "ann",
         *         "display_name": "Ann",
         *         "bot": false
         *       },
         *       "data": "acknowledge"
         *     }
         */
        readonly BridgeEvent: {
            /** @description Its id. One that was handled before is ignored. */
            readonly id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            readonly occurred_at: string;
            /**
             * @description A button was pressed.
             * @constant
             */
            readonly type: "press";
            /** @description Id of the message at the bridge. */
            readonly message_id: string;
            readonly user: components["schemas"]["BridgePerson"];
            /** @description The data of the button. */
            readonly data: string;
        } | {
            /** @description Its id. One that was handled before is ignored. */
            readonly id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            readonly occurred_at: string;
            /**
             * @description Somebody wrote in the Thread of a message.
             * @constant
             */
            readonly type: "thread_message";
            /** @description Id of the message at the bridge. */
            readonly message_id: string;
            /** @description Reference of the Thread at the bridge. */
            readonly thread_ref?: string | null;
            /** @description Id of what was written. */
            readonly reply_id: string;
            readonly user: components["schemas"]["BridgePerson"];
            /** @description What was written, 1 to 10,000 characters. */
            readonly text: string;
        } | {
            /** @description Its id. One that was handled before is ignored. */
            readonly id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            readonly occurred_at: string;
            /**
             * @description Somebody sent a link token to the bot.
             * @constant
             */
            readonly type: "account_link";
            readonly user: components["schemas"]["BridgePerson"];
            /** @description The token, 1 to 512 characters. */
            readonly token: string;
        } | {
            /** @description Its id. One that was handled before is ignored. */
            readonly id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            readonly occurred_at: string;
            /**
             * @description A message of Tocsin was deleted.
             * @constant
             */
            readonly type: "message_deleted";
            /** @description Id of the message at the bridge. */
            readonly message_id: string;
            /** @description Who deleted it; null when that is not known. */
            readonly user?: components["schemas"]["BridgePerson"] | null;
        };
        /** @description What a bridge says about itself and its messenger. */
        readonly BridgeInfo: {
            /** @description Version of the bridge protocol. */
            readonly protocol_version: string;
            /** @description The bridge. */
            readonly bridge: {
                /** @description Its name. */
                readonly name: string;
                /** @description Its version. */
                readonly version: string;
                /** @description A page about it; null without one. */
                readonly homepage: string | null;
            };
            /** @description The messenger behind it. */
            readonly messenger: {
                /** @description Its name. */
                readonly name: string;
                /** @description Its version; null when unknown. */
                readonly version: string | null;
                /** @description Its address for people; null without one. */
                readonly url: string | null;
                /** @description The account that writes; null when unknown. */
                readonly bot: components["schemas"]["MessengerAccount"] | null;
            };
            /** @description What the messenger can do. */
            readonly capabilities: {
                /** @description Messages can have buttons. */
                readonly buttons: boolean;
                /** @description Messages can arrive without a sound. */
                readonly quiet_messages: boolean;
                /** @description Accounts can be mentioned so that it rings. */
                readonly native_mentions: boolean;
                /** @description Messages can be deleted. */
                readonly delete: boolean;
                /** @description `false` without direct messages. */
                readonly direct_messages: false | {
                    /** @description Whether it may write to somebody who never wrote to it. */
                    readonly bot_can_start: boolean;
                };
                /** @description A press can be answered to one person alone. */
                readonly private_answers: boolean;
                /** @description What people write in a Thread arrives. */
                readonly thread_messages: boolean;
                /** @description The bridge reports that a message was deleted. */
                readonly deletion_events: boolean;
            };
            /** @description What the messenger takes at most. */
            readonly limits: {
                /** @description Characters of a message. */
                readonly max_body_length: number;
                /** @description Seconds for which a message can be edited; null for ever. */
                readonly edit_max_age_seconds: number | null;
                /** @description Buttons of a message; null for any number. */
                readonly max_buttons: number | null;
                /** @description Characters of a button; null for any number. */
                readonly max_button_text: number | null;
            };
            /**
             * @description By what an account can be found: its `email`, `login`, `username` or `user_id`; `none`: by nothing.
             * @enum {string}
             */
            readonly user_lookup: "none" | "email" | "login" | "username" | "user_id";
            /** @description How events can be delivered. */
            readonly event_delivery: readonly components["schemas"]["EventMode"][];
            /** @description Opens a chat with the bot; `{token}` is replaced. Null without one. */
            readonly link_url_template: string | null;
        };
        /**
         * @description How to link an account behind a bridge.
         * @example {
         *       "connection_id": "CN0000000000AA",
         *       "method": "code",
         *       "handle": "ann"
         *     }
         */
        readonly BridgeLinkStart: {
            readonly connection_id: components["schemas"]["PublicId"];
            /** @description One of the `link_methods` of the Connection. */
            readonly method: components["schemas"]["LinkMethod"];
            /** @description Who you are in the messenger, as `handle_kind` says, 1 to 320 characters. Needed with `code`. */
            readonly handle?: string;
        };
        /** @description An account of the messenger. */
        readonly BridgePerson: {
            /** @description Id of the account in the messenger. */
            readonly external_id: string;
            /** @description Name by which the account is mentioned. */
            readonly username?: string | null;
            /** @description Name that the messenger shows. */
            readonly display_name?: string | null;
            /** @description Whether the account is a program. */
            readonly bot?: boolean;
        };
        /** @description What a Command did to each of several Alert Groups. */
        readonly BulkAnswer: {
            /** @description One result for each id, in the order asked. */
            readonly results: readonly {
                /** @description Id that was asked for, of whatever it is. */
                readonly alert_group_id: components["schemas"]["PublicId"];
                /** @description Number of the Alert Group; null when there is none. */
                readonly number: number | null;
                readonly outcome: components["schemas"]["BulkOutcome"];
                /** @description Why, unless `done` or `unchanged`: a code of `command-refused`, `owned_by_other`, `not_found` or `internal`. Null otherwise. */
                readonly code: string | null;
                /** @description The code as a sentence in English; null without a code. */
                readonly message: string | null;
            }[];
        };
        /**
         * @description A Command on several Alert Groups.
         * @example {
         *       "command": "snooze",
         *       "alert_group_ids": [
         *         "AG0000000000AA"
         *       ],
         *       "note": "Fixed.",
         *       "snooze": {
         *         "until": "2030-01-01T00:00:00Z"
         *       }
         *     }
         */
        readonly BulkCommandInput: {
            /**
             * @description `acknowledge` takes ownership, `resolve` ends, `snooze` silences for a time, `unsnooze` ends that. It decides which Permission is needed.
             * @enum {string}
             */
            readonly command: "acknowledge" | "resolve" | "snooze" | "unsnooze";
            /** @description Ids of the Alert Groups, 1 to 100, each once. */
            readonly alert_group_ids: readonly components["schemas"]["PublicId"][];
            /** @description A Note for each, with `resolve`, up to 4,000 characters. */
            readonly note?: string | null;
            /** @description Until when, with `snooze`. Needed there. */
            readonly snooze?: components["schemas"]["SnoozeInput"] | null;
        };
        /**
         * @description What became of one Alert Group.
         *     - `done`: The Command changed it.
         *     - `unchanged`: It was so already.
         *     - `refused`: Its state does not allow the Command.
         *     - `skipped`: Somebody else owns it.
         *     - `failed`: There is no such Alert Group, or it could not be reached.
         * @enum {string}
         */
        readonly BulkOutcome: "done" | "unchanged" | "refused" | "skipped" | "failed";
        /** @description The way to a channel bot. */
        readonly ChannelBotConnection: components["schemas"]["ConnectionBase"] & {
            /**
             * @description A channel bot.
             * @constant
             */
            readonly type: "channel_bot";
            /**
             * Format: uri
             * @description Address of the Bot API.
             */
            readonly bot_api_base_url: string;
            readonly update_mode: components["schemas"]["UpdateMode"];
        };
        /** @description A channel bot to check, saved or not. */
        readonly ChannelBotConnectionCheckInput: components["schemas"]["ConnectionCheckInputBase"] & {
            /**
             * @description A channel bot.
             * @constant
             */
            readonly type: "channel_bot";
            /** @description That of the Bot API. At first https://api.telegram.org. */
            readonly bot_api_base_url?: components["schemas"]["BaseUrl"];
            /** @description At first `long_polling`. Left out it stays. */
            readonly update_mode?: components["schemas"]["UpdateMode"];
        };
        /** @description A Connection to a channel bot, as it is saved. */
        readonly ChannelBotConnectionInput: {
            /**
             * @description A channel bot.
             * @constant
             */
            readonly type: "channel_bot";
            readonly name: components["schemas"]["ResourceName"];
            readonly limiter?: components["schemas"]["LimiterInput"];
            readonly proxy: components["schemas"]["ProxyConfigInput"];
            /** @description That of the Bot API. At first https://api.telegram.org. */
            readonly bot_api_base_url?: components["schemas"]["BaseUrl"];
            /** @description At first `long_polling`. Left out it stays. */
            readonly update_mode?: components["schemas"]["UpdateMode"];
            /** @description Token of the bot. Needed on creation and with another address; left out it stays. */
            readonly bot_token?: string;
        };
        /** @description A channel of a messenger behind a channel bot. */
        readonly ChannelBotDestination: components["schemas"]["DestinationBase"] & {
            /**
             * @description A channel behind a channel bot.
             * @constant
             */
            readonly type: "channel_bot";
            readonly connection_id: components["schemas"]["ConnectionId"];
            /** @description Id of the channel (`-100…`), or `@` and the name of a public one. Its discussion group is found by it. */
            readonly channel_id: string;
            /** @description Its name when last seen; null without one. */
            readonly channel_name: string | null;
            /** @description Id of its discussion group; null before it is known. */
            readonly discussion_group_id: string | null;
            /** @description Its name; null before it is known. */
            readonly discussion_group_title: string | null;
            /** @description Always null: the Route shows it. */
            readonly template_error: null;
            /** @description Always empty. */
            readonly warnings: readonly unknown[];
        };
        /** @description A Destination behind a channel bot, as it is saved. */
        readonly ChannelBotDestinationInput: {
            /**
             * @description A channel behind a channel bot.
             * @constant
             */
            readonly type: "channel_bot";
            readonly name: components["schemas"]["ResourceName"];
            readonly mentions?: components["schemas"]["MentionsInput"];
            readonly limiter?: components["schemas"]["LimiterInput"];
            readonly connection_id: components["schemas"]["PublicId"];
            /** @description Id of the channel (`-100…`), or `@` and the name of a public one. Its discussion group is found by it. */
            readonly channel_id: string;
        };
        /**
         * @description Through which bot to link an account.
         * @example {
         *       "connection_id": "CN0000000000AA"
         *     }
         */
        readonly ChannelBotLinkStart: {
            readonly connection_id: components["schemas"]["PublicId"];
        };
        /**
         * @description An update of the Bot API: its number and one member named for its kind.
         * @example {
         *       "update_id": 10000
         *     }
         */
        readonly ChannelBotUpdate: {
            /** @description Number of the update, by which a repeat is known. */
            readonly update_id: number;
        };
        /** @description The way to a chat server. */
        readonly ChatServerConnection: components["schemas"]["ConnectionBase"] & {
            /**
             * @description A chat server.
             * @constant
             */
            readonly type: "chat_server";
            /**
             * Format: uri
             * @description Address of the chat server.
             */
            readonly server_url: string;
        };
        /** @description A chat server to check, saved or not. */
        readonly ChatServerConnectionCheckInput: components["schemas"]["ConnectionCheckInputBase"] & {
            /**
             * @description A chat server.
             * @constant
             */
            readonly type: "chat_server";
            /** @description The one that people use. */
            readonly server_url: components["schemas"]["BaseUrl"];
        };
        /** @description A Connection to a chat server, as it is saved. */
        readonly ChatServerConnectionInput: {
            /**
             * @description A chat server.
             * @constant
             */
            readonly type: "chat_server";
            readonly name: components["schemas"]["ResourceName"];
            readonly limiter?: components["schemas"]["LimiterInput"];
            readonly proxy: components["schemas"]["ProxyConfigInput"];
            /** @description The one that people use. */
            readonly server_url: components["schemas"]["BaseUrl"];
            /** @description Token of the bot account. Needed on creation and with another address; left out it stays. */
            readonly bot_token?: string | null;
        };
        /** @description A channel of a messenger behind a chat server. */
        readonly ChatServerDestination: components["schemas"]["DestinationBase"] & {
            /**
             * @description A channel behind a chat server.
             * @constant
             */
            readonly type: "chat_server";
            readonly connection_id: components["schemas"]["ConnectionId"];
            /** @description Id of the team at the chat server, 1 to 64 characters. */
            readonly team_id: string;
            /** @description Id of the channel at the chat server, 1 to 64 characters. */
            readonly channel_id: string;
            /** @description Its name when last seen; null without one. */
            readonly channel_name: string | null;
            /** @description Name of the team; null before it is known, and without one. */
            readonly team_name: string | null;
            /** @description Always null: the Route shows it. */
            readonly template_error: null;
            /** @description Always empty. */
            readonly warnings: readonly unknown[];
        };
        /** @description A Destination behind a chat server, as it is saved. */
        readonly ChatServerDestinationInput: {
            /**
             * @description A channel behind a chat server.
             * @constant
             */
            readonly type: "chat_server";
            readonly name: components["schemas"]["ResourceName"];
            readonly mentions?: components["schemas"]["MentionsInput"];
            readonly limiter?: components["schemas"]["LimiterInput"];
            readonly connection_id: components["schemas"]["PublicId"];
            /** @description Id of the team at the chat server, 1 to 64 characters. */
            readonly team_id: string;
            /** @description Id of the channel at the chat server, 1 to 64 characters. */
            readonly channel_id: string;
        };
        /**
         * @description Which account of a chat server to link.
         * @example {
         *       "connection_id": "CN0000000000AA",
         *       "username": "ann"
         *     }
         */
        readonly ChatServerLinkStart: {
            readonly connection_id: components["schemas"]["PublicId"];
            /** @description Your username there, 1 to 64 characters; one leading `@` is ignored. */
            readonly username: string;
        };
        /** @description What a Command did. */
        readonly CommandAnswer: {
            /**
             * @description `done` when something changed, `unchanged` when it was so already.
             * @enum {string}
             */
            readonly outcome: "done" | "unchanged";
            /** @description The Alert Group after the Command. */
            readonly alert_group: components["schemas"]["AlertGroup"];
        };
        /**
         * @description A Command on an Alert Group.
         *     - `acknowledge`: Become the Owner.
         *     - `unacknowledge`: Give it back.
         *     - `resolve`: End it.
         *     - `unresolve`: Open it again.
         *     - `snooze`: Pause it.
         *     - `unsnooze`: End the pause.
         *     - `still_on_it`: Answer a Reminder.
         *     - `add_note`: Write a Note.
         * @enum {string}
         */
        readonly CommandName: "acknowledge" | "unacknowledge" | "resolve" | "unresolve" | "snooze" | "unsnooze" | "still_on_it" | "add_note";
        /** @description The way to a messenger. */
        readonly Connection: components["schemas"]["BridgeConnection"] | components["schemas"]["ChatServerConnection"] | components["schemas"]["ChannelBotConnection"];
        /** @description What Connections of every type answer. */
        readonly ConnectionBase: {
            readonly id: components["schemas"]["ConnectionId"];
            /** @description Its name, unique. */
            readonly name: string;
            readonly limiter: components["schemas"]["Limiter"];
            readonly proxy: components["schemas"]["ProxyConfig"];
            readonly bot_token_status: components["schemas"]["SecretStatus"];
            /** @description Name of the bot as it was last seen; null before that. */
            readonly bot_username: string | null;
            /** @description Destinations that use it. */
            readonly destination_count: number;
            /** @description Account links through it. */
            readonly account_link_count: number;
            /**
             * Format: uri
             * @description Where the messenger or bridge sends events.
             */
            readonly callback_url: string;
            /** @description Whether events arrive. */
            readonly inbound: {
                /**
                 * Format: date-time
                 * @description When the last event arrived; null before the first.
                 */
                readonly last_at: string | null;
                /** @description Why none can be received, masked; null while they can. */
                readonly error: string | null;
                /**
                 * Format: date-time
                 * @description Since when that is so; null without an error.
                 */
                readonly since: string | null;
            };
            /** @description What is not as it should be. */
            readonly warnings: readonly components["schemas"]["ConnectionWarning"][];
            readonly created_at: components["schemas"]["CreationTime"];
            readonly etag: components["schemas"]["ResourceVersion"];
        };
        /** @description A channel of a chat server. */
        readonly ConnectionChannel: {
            /** @description Its id at the chat server. */
            readonly id: string;
            /** @description Its name in addresses. */
            readonly name: string;
            /** @description Its name as people see it. */
            readonly display_name: string;
            /** @description Id of its team. */
            readonly team_id: string;
            /** @description Name of its team as people see it. */
            readonly team_name: string;
            /**
             * @description `open`: anybody of the team may join; `private`: by invitation; `direct`, `group`: between people.
             * @enum {string}
             */
            readonly type: "open" | "private" | "direct" | "group";
            /** @description Whether it is archived; nothing can be posted then. */
            readonly archived: boolean;
        };
        /** @description The outcome of a check. */
        readonly ConnectionCheck: {
            /** @description Whether every step passed. */
            readonly ok: boolean;
            /** @description The steps in order. */
            readonly steps: readonly components["schemas"]["ConnectionCheckStep"][];
            /** @description What is not as it should be. */
            readonly warnings: readonly components["schemas"]["ConnectionWarning"][];
            /** @description Name of the bot; null when it was not learned. */
            readonly bot_name: string | null;
            /** @description Whether a channel bot has a webhook; null for others. */
            readonly webhook_set: boolean | null;
            /** @description Updates that wait at a channel bot; null for others. */
            readonly pending_updates: number | null;
            /** @description What a bridge said; null otherwise. */
            readonly info: components["schemas"]["BridgeInfo"] | null;
            readonly request_log_run: components["schemas"]["RequestLogRun"];
        };
        /**
         * @description A Connection to check, saved or not.
         * @example {
         *       "type": "bridge",
         *       "base_url": "https://bridge.example",
         *       "bot_token": "token",
         *       "connection_id": "CN0000000000AA",
         *       "proxy": {
         *         "enabled": false
         *       }
         *     }
         */
        readonly ConnectionCheckInput: components["schemas"]["BridgeConnectionCheckInput"] | components["schemas"]["ChatServerConnectionCheckInput"] | components["schemas"]["ChannelBotConnectionCheckInput"];
        /** @description What checks of every type take. */
        readonly ConnectionCheckInputBase: {
            /** @description Null or left out: the stored one of `connection_id`, for its stored address only. */
            readonly bot_token?: string | null;
            /** @description With `connection_id`, a password that is left out is the stored one. */
            readonly proxy: components["schemas"]["ProxyConfigInput"];
            /** @description Id of the saved Connection; null or left out for a new one. */
            readonly connection_id?: components["schemas"]["PublicId"] | null;
        };
        /** @description One step of a check. */
        readonly ConnectionCheckStep: {
            readonly name: components["schemas"]["ConnectionCheckStepName"];
            /** @description Whether it passed. */
            readonly ok: boolean;
            /** @description Whether it was not run, because one before it failed. */
            readonly skipped: boolean;
            /** @description Milliseconds it took; null when skipped. */
            readonly latency_ms: number | null;
            readonly via: components["schemas"]["Via"];
            /** @description What went wrong, masked; null when it passed. */
            readonly message: string | null;
        };
        /**
         * @description A step of a check. Which there are depends on the type.
         *     - `dry_probe`: the address can be reached
         *     - `get_info`: the bridge takes the token and says what it is
         *     - `token`: the chat server takes the token
         *     - `get_me`: the Bot API takes the token and says which bot it is
         *     - `get_webhook_info`: the bot says where its updates go
         * @enum {string}
         */
        readonly ConnectionCheckStepName: "dry_probe" | "get_info" | "token" | "get_me" | "get_webhook_info";
        /**
         * @description A PublicId: `CN…`.
         * @example CN9X2QF4H7NJC0
         */
        readonly ConnectionId: string;
        /**
         * @description A Connection as it is saved.
         * @example {
         *       "type": "bridge",
         *       "name": "Zulip",
         *       "base_url": "https://bridge.example",
         *       "event_mode": "push",
         *       "bot_token": "token",
         *       "push_secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
         *       "limiter": {
         *         "limit": 5,
         *         "per_seconds": 1
         *       },
         *       "proxy": {
         *         "enabled": false
         *       }
         *     }
         */
        readonly ConnectionInput: components["schemas"]["BridgeConnectionInput"] | components["schemas"]["ChatServerConnectionInput"] | components["schemas"]["ChannelBotConnectionInput"];
        /**
         * @description The type of a Connection.
         *     - `chat_server`: A chat server, Mattermost.
         *     - `channel_bot`: A channel-bot messenger.
         *     - `bridge`: A bridge, which speaks the bridge protocol.
         * @enum {string}
         */
        readonly ConnectionType: "chat_server" | "channel_bot" | "bridge";
        /** @description Something about a Connection that is not as it should be. */
        readonly ConnectionWarning: {
            readonly kind: components["schemas"]["ConnectionWarningKind"];
            /** @description JSON pointer to the field, or into `info` with `bridge_info_invalid`; null for the whole. */
            readonly field: string | null;
        };
        /**
         * @description What is not as it should be.
         *     - `base_url_uses_http`: The token travels without encryption.
         *     - `event_mode_not_offered`: The bridge does not offer the event mode that is set.
         *     - `bridge_info_invalid`: A field of what the bridge says about itself is not valid.
         *     - `bridge_without_token`: No token is stored.
         *     - `webhook_blocks_polling`: Polls bring nothing: the bot has a webhook of another installation or program.
         *     - `bot_used_twice`: Another Connection has the same bot: each takes what the other should receive.
         *     - `public_url_not_linkable`: Messages have no links: the messenger makes none to the address of this installation.
         *     - `webhook_not_set`: The messenger does not know the callback address yet. It is told again every minute.
         *     - `press_answers_in_thread`: The bot may not show a text to one person: answers to presses are shown in the Thread.
         * @enum {string}
         */
        readonly ConnectionWarningKind: "base_url_uses_http" | "event_mode_not_offered" | "bridge_info_invalid" | "bridge_without_token" | "webhook_blocks_polling" | "bot_used_twice" | "public_url_not_linkable" | "webhook_not_set" | "press_answers_in_thread";
        /** @description A new token and what to paste at the sender. */
        readonly CreatedIntegrationToken: {
            readonly token: components["schemas"]["IntegrationToken"];
            /** @description The token itself, `svc_int_…`. In this answer only. */
            readonly value: string;
            /** @description A receiver for `alertmanager.yml`, with the token. */
            readonly alertmanager_snippet: string;
            /** @description A rule and a receiver for Heartbeats, with the token; null while they are off. */
            readonly heartbeat_snippet: string | null;
            /** @description For an Alertmanager and a Prometheus that have no configuration yet. */
            readonly files: readonly {
                /** @description `alertmanager.yml`, `tocsin-rules.yml` or `tocsin-heartbeat-rule.yml`. */
                readonly name: string;
                /** @description The whole file. That of Alertmanager holds the token. */
                readonly content: string;
            }[];
        };
        /**
         * Format: date-time
         * @description When it was created.
         */
        readonly CreationTime: string;
        /**
         * @description The view with which your list begins.
         * @example {
         *       "view_id": null
         *     }
         */
        readonly DefaultViewInput: {
            /** @description One that you see; null for none. */
            readonly view_id: components["schemas"]["PublicId"] | null;
        };
        /** @description How an Alert Group is delivered to one Destination. */
        readonly Delivery: {
            readonly destination: components["schemas"]["DestinationRef"];
            readonly state: components["schemas"]["DeliveryState"];
            /** @description Where the statechart `delivery` stands. */
            readonly machine: {
                /** @description State of the Root message, or of the events of a webhook. */
                readonly root: string;
                /** @description State of the Thread. */
                readonly thread: string;
            };
            /** @description Whether the Thread could not be attached. */
            readonly thread_not_attached: boolean;
            /** @description Whether the message may be there twice: an answer was lost. */
            readonly possible_duplicate: boolean;
            /**
             * Format: uri
             * @description The message in the messenger; null without one.
             */
            readonly message_url: string | null;
            /** @description What was answered last, masked; null without an error. */
            readonly error: string | null;
            /**
             * Format: date-time
             * @description When this last changed.
             */
            readonly updated_at: string;
            /**
             * Format: date-time
             * @description When the present message was posted; null without one.
             */
            readonly posted_at: string | null;
            /**
             * Format: date-time
             * @description When it was edited last; null before the first edit.
             */
            readonly edited_at: string | null;
            /** @description What is sent next; null when nothing is, while it is being sent, and while the Destination is Broken. */
            readonly next: {
                /**
                 * @description `publish`: the message; `edit`: a change of it; `reply`: one in its Thread.
                 * @enum {string}
                 */
                readonly kind: "publish" | "edit" | "reply";
                /**
                 * Format: date-time
                 * @description When it is due; one that is overdue waits for its turn.
                 */
                readonly at: string;
            } | null;
        };
        /** @description Requests that delivered to Destinations, by the hour. */
        readonly DeliveryHours: {
            /** @description The 24 hours, the oldest first; the last one lasts. */
            readonly hours: readonly string[];
            /** @description Every Destination, by name. */
            readonly items: readonly {
                readonly destination: components["schemas"]["EntityRef"];
                /** @description Requests that were taken. */
                readonly delivered: number;
                /** @description Requests that failed, each attempt. */
                readonly failed: number;
                /** @description Of `delivered`, by hour. */
                readonly delivered_per_hour: readonly number[];
                /** @description Of `failed`, by hour. */
                readonly failed_per_hour: readonly number[];
            }[];
        };
        /**
         * @description How far the delivery is.
         *     - `pending`: It is on its way.
         *     - `delivered`: The newest state was taken.
         *     - `waiting_for_broken_destination`: It waits until the Destination is healthy again.
         *     - `not_delivered`: It was refused for good.
         *     - `deleted_in_messenger`: Somebody deleted the message in the messenger.
         *     - `withheld`: It was held back by a Storm and ended before it was sent.
         *     - `retired`: The Destination is no longer one of the Route, or was deleted.
         * @enum {string}
         */
        readonly DeliveryState: "pending" | "delivered" | "waiting_for_broken_destination" | "not_delivered" | "deleted_in_messenger" | "withheld" | "retired";
        /** @description Where Alert Groups are sent. */
        readonly Destination: components["schemas"]["WebhookDestination"] | components["schemas"]["BridgeDestination"] | components["schemas"]["ChannelBotDestination"] | components["schemas"]["ChatServerDestination"];
        /** @description What Destinations of every type answer. */
        readonly DestinationBase: {
            readonly id: components["schemas"]["DestinationId"];
            /** @description Its name, unique. */
            readonly name: string;
            readonly mentions: components["schemas"]["Mentions"];
            readonly limiter: components["schemas"]["Limiter"];
            readonly health: components["schemas"]["DestinationHealth"];
            /** @description Since when every delivery has failed; null while they succeed. */
            readonly failing: components["schemas"]["DestinationFailing"] | null;
            /** @description How many deliveries wait. */
            readonly waiting: number;
            /** @description Routes that send to it, by their `destination_ids`. */
            readonly routes: readonly components["schemas"]["EntityRef"][];
            readonly created_at: components["schemas"]["CreationTime"];
            readonly etag: components["schemas"]["ResourceVersion"];
        };
        /** @description The outcome of a check. */
        readonly DestinationCheck: {
            /** @description Whether every check passed. */
            readonly ok: boolean;
            /** @description The checks in order, up to the first that failed. */
            readonly checks: readonly {
                /**
                 * @description `token`: the messenger takes the token; `channel_exists`, `bot_in_channel`: the bot can write to the channel; `discussion_group`: it has one; `bot_rights_channel`, `bot_rights_group`: the bot may do there what it has to.
                 * @enum {string}
                 */
                readonly name: "token" | "channel_exists" | "bot_in_channel" | "discussion_group" | "bot_rights_channel" | "bot_rights_group";
                /** @description Whether it passed. */
                readonly ok: boolean;
                /** @description What went wrong, masked; null when it passed. */
                readonly message: string | null;
            }[];
            /** @description Health after the check. One that passes ends Broken, one that fails changes nothing. */
            readonly health: components["schemas"]["DestinationHealth"];
            readonly request_log_run: components["schemas"]["RequestLogRun"];
        };
        /** @description A row of failures that did not make it Broken. */
        readonly DestinationFailing: {
            /**
             * Format: date-time
             * @description Since when every delivery has failed.
             */
            readonly since: string;
            /** @description What the last one failed with, masked. */
            readonly error: string;
        };
        /** @description Whether a Destination takes what is sent. */
        readonly DestinationHealth: {
            /**
             * @description `healthy`: it takes what is sent; `broken`: it refused what was sent, and deliveries wait until a probe, a test or a check passes.
             * @enum {string}
             */
            readonly state: "healthy" | "broken";
            /**
             * Format: date-time
             * @description Since when it is Broken; null while healthy.
             */
            readonly since: string | null;
            /** @description Why it is Broken, masked; null while healthy. */
            readonly reason: string | null;
        };
        /**
         * @description A PublicId: `DS…`.
         * @example DS9X2QF4H7NJC0
         */
        readonly DestinationId: string;
        /**
         * @description A Destination, as it is saved.
         * @example {
         *       "type": "webhook",
         *       "name": "Tickets",
         *       "limiter": {
         *         "limit": 5,
         *         "per_seconds": 1
         *       },
         *       "mode": "events",
         *       "events": {
         *         "url": "https://receiver.example/hook",
         *         "headers": [
         *           {
         *             "name": "X-Team",
         *             "value": "payments"
         *           }
         *         ]
         *       }
         *     }
         */
        readonly DestinationInput: components["schemas"]["WebhookDestinationInput"] | components["schemas"]["BridgeDestinationInput"] | components["schemas"]["ChannelBotDestinationInput"] | components["schemas"]["ChatServerDestinationInput"];
        /** @description Something that would be sent. */
        readonly DestinationPreview: {
            readonly name: components["schemas"]["DestinationPreviewName"];
            readonly format: components["schemas"]["PreviewFormat"];
            /** @description The text of a message; null for requests. */
            readonly text: string | null;
            /** @description The request of a webhook; null for messages. */
            readonly request: components["schemas"]["TrialRequest"] | null;
        };
        /**
         * @description What would be sent.
         *     - `message`: A message of a messenger.
         *     - `event`: A webhook in events mode.
         *     - `create`: The first request of a webhook in template mode.
         *     - `update`: Its request when the Alert Group changed.
         *     - `open_thread`: Its request before the first reply.
         *     - `reply_in_thread`: Its request for a reply.
         * @enum {string}
         */
        readonly DestinationPreviewName: "message" | "event" | "create" | "update" | "open_thread" | "reply_in_thread";
        /** @description A Destination and its health. */
        readonly DestinationRef: {
            readonly id: components["schemas"]["DestinationId"];
            /** @description Its name. */
            readonly name: string;
            readonly type: components["schemas"]["DestinationType"];
            readonly health: components["schemas"]["DestinationHealth"];
        };
        /** @description The outcome of a test. */
        readonly DestinationTest: {
            /** @description The steps in order. */
            readonly steps: readonly components["schemas"]["DestinationTestStep"][];
            /** @description Health after the test. One that succeeds ends Broken. */
            readonly health: components["schemas"]["DestinationHealth"];
            readonly request_log_run: components["schemas"]["RequestLogRun"];
        };
        /** @description One step of a test. */
        readonly DestinationTestStep: {
            /**
             * @description `message`: a message of a messenger; `press`: the bot of a chat server presses its button; `copy`: the post of a channel bot is forwarded into the discussion group; `event`: a webhook in events mode; `create`: the first request of a webhook in template mode.
             * @enum {string}
             */
            readonly name: "message" | "press" | "copy" | "event" | "create";
            /** @description What was sent; null when nothing was. */
            readonly request: components["schemas"]["TrialRequest"] | null;
            /** @description HTTP status of the answer; null without one. */
            readonly response_status: number | null;
            /** @description First 4,096 bytes of the answer, masked; null without one. */
            readonly response_body: string | null;
            /** @description Values found by the extraction rules, each null if not found; null without rules. */
            readonly extracted: {
                readonly [key: string]: string | null;
            } | null;
            /** @description Milliseconds it took. */
            readonly duration_ms: number;
            readonly error_class: components["schemas"]["ErrorClass"];
            /** @description What went wrong, masked, or what a `copy` that was not seen means; null otherwise. */
            readonly error: string | null;
        };
        /**
         * @description What to try with.
         * @example {
         *       "source": {
         *         "kind": "alert_group",
         *         "alert_group_id": "AG0000000000AA"
         *       }
         *     }
         */
        readonly DestinationTrialInput: {
            /** @description What the message is about. Null or left out: the built-in example. */
            readonly source?: {
                /**
                 * @description `example`: the built-in one; `alert_group`: an Alert Group.
                 * @enum {string}
                 */
                readonly kind: "example" | "alert_group";
                /** @description Id of the Alert Group. Needed with `alert_group`. */
                readonly alert_group_id?: components["schemas"]["PublicId"] | null;
            } | null;
        };
        /**
         * @description The type of a Destination.
         *     - `webhook`: HTTP requests.
         *     - `chat_server`: A channel of a chat server.
         *     - `channel_bot`: A channel of a channel-bot messenger.
         *     - `bridge`: A channel behind a bridge.
         * @enum {string}
         */
        readonly DestinationType: "webhook" | "chat_server" | "channel_bot" | "bridge";
        /** @description A user in a picker. */
        readonly DirectoryUser: components["schemas"]["UserRef"] & {
            /** @description Whether a Mention through the Connection reaches the person. Only with `connection_id` and `users:read`. */
            readonly linked?: boolean;
        };
        /** @description How long something took. */
        readonly DurationFigures: {
            /** @description How many Alert Groups it is measured on. */
            readonly count: number;
            /** @description Median in seconds; null without any. */
            readonly median_seconds: number | null;
            /** @description 90th percentile in seconds; null without any. */
            readonly p90_seconds: number | null;
            /** @description 95th percentile in seconds; null without any. */
            readonly p95_seconds: number | null;
            /** @description 99th percentile in seconds; null without any. */
            readonly p99_seconds: number | null;
        };
        /** @description A resource by id and name. Something deleted keeps its last name. */
        readonly EntityRef: {
            readonly id: components["schemas"]["PublicId"];
            /** @description Its name now, or its last one. */
            readonly name: string;
        };
        /**
         * @description What kind of failure it was.
         *     - `none`: It succeeded.
         *     - `retry_after`: The receiver asked to wait.
         *     - `transient`: It may succeed later.
         *     - `fatal`: It will not succeed until somebody changes something.
         *     - `unknown`: Whether it arrived is not known.
         *     - `template_error`: The request could not be made from its template.
         *     - `blocked`: The outbound policy forbids the address.
         *     - `limited`: The limit of calls was used up.
         * @enum {string}
         */
        readonly ErrorClass: "none" | "retry_after" | "transient" | "fatal" | "unknown" | "template_error" | "blocked" | "limited";
        /**
         * @description How events of a bridge arrive.
         *     - `poll`: Tocsin asks for events.
         *     - `push`: The bridge sends them to `callback_url`.
         * @enum {string}
         */
        readonly EventMode: "poll" | "push";
        /** @description A request as a template, and what is taken from its answer. */
        readonly ExtractingWebhookRequest: {
            /** @description The template: a request line, headers, an empty line and a body. */
            readonly request: string;
            readonly extract: components["schemas"]["ExtractionRules"];
        };
        /** @description Values of answers that later requests may use. */
        readonly ExtractionRules: readonly {
            /** @description Name of the value. */
            readonly name: string;
            /** @description Where it is in the JSON of the answer. */
            readonly path: string;
        }[];
        /** @description One field that was refused. */
        readonly FieldError: {
            /**
             * @description The field: an RFC 6901 pointer into the body (empty for the whole body), `/query/<name>` or `/path/<name>`. Ends in an ellipsis where it was cut.
             * @example /policy/storm_threshold
             */
            readonly pointer: string;
            readonly code: components["schemas"]["FieldErrorCode"];
            /** @description A sentence in English that may change between releases. */
            readonly detail?: string;
            /** @description Line of a mistake in a template, from 1. Absent elsewhere. */
            readonly line?: number;
            /** @description Column of a mistake in a template, from 1. Absent elsewhere. */
            readonly column?: number;
        };
        /**
         * @description What is wrong. Stable; branch on it.
         *     - `required`: It is missing, or empty where a value is needed.
         *     - `invalid_format`: Its type, pattern or syntax is wrong, or it is not one of the values.
         *     - `too_short`: A text or list has too little in it.
         *     - `too_long`: A text or list has too much in it.
         *     - `out_of_range`: A number or time is beyond its bounds.
         *     - `duplicate`: A value is repeated.
         *     - `unknown_id`: It refers to nothing, to something deleted or of another type.
         *     - `one_of_required`: Too many or too few of several fields are given.
         *     - `unsupported`: It is valid, but not here.
         *     - `invalid_regex`: It is not a regular expression of RE2.
         *     - `template_syntax`: The template does not parse or render.
         *     - `unknown_function`: The template calls a function that does not exist.
         *     - `invalid_cursor`: It is malformed, or of another list, sort or filter.
         *     - `permission_not_held`: It gives a Permission that the caller does not hold.
         *     - `route_set_mismatch`: The order does not name each Route once.
         *     - `column_mismatch`: An entry has other keys than the columns.
         *     - `retention_order`: Summaries would be kept for a shorter time than details.
         *     - `reserved`: The service sets this header itself.
         *     - `check_not_supported`: A webhook has no check.
         *     - `destination_check_failed`: The messenger refused what was tried.
         *     - `webhook_call_failed`: The messenger refused to set or remove its webhook.
         *     - `link_code_invalid`: The code is wrong, used up or expired.
         *     - `messenger_user_not_found`: The messenger has no such account.
         * @enum {string}
         */
        readonly FieldErrorCode: "required" | "invalid_format" | "too_short" | "too_long" | "out_of_range" | "duplicate" | "unknown_id" | "one_of_required" | "unsupported" | "invalid_regex" | "template_syntax" | "unknown_function" | "invalid_cursor" | "permission_not_held" | "route_set_mismatch" | "column_mismatch" | "retention_order" | "reserved" | "check_not_supported" | "destination_check_failed" | "webhook_call_failed" | "link_code_invalid" | "messenger_user_not_found";
        /** @description What a Route and two Group keys make of the Alerts of a period. */
        readonly GroupKeyPreview: {
            /** @description Seconds that were looked back. */
            readonly period_seconds: number;
            /** @description Whether there was too much to read it all. */
            readonly truncated: boolean;
            /** @description Different Alerts of the period that were looked at. */
            readonly alerts_looked_at: number;
            /** @description With the present key of the Route; null without a Route. */
            readonly current: components["schemas"]["GroupKeySide"] | null;
            /** @description With the proposed key. */
            readonly proposed: components["schemas"]["GroupKeySide"];
            /** @description Alerts of the period, and which Route takes each. */
            readonly samples: readonly {
                /** @description Its labels. */
                readonly labels: components["schemas"]["Labels"];
                readonly taken_by: components["schemas"]["RouteTaking"];
                /** @description Whether that is the Route of the preview. */
                readonly comes_here: boolean;
            }[];
            /** @description Routes further up that take Alerts which match here, too. */
            readonly taken_earlier: readonly components["schemas"]["RouteAlertCount"][];
            readonly change: components["schemas"]["RouteChangePreview"];
        };
        /**
         * @description What to preview: a Route (`route_id`), or the Matchers of a new one.
         * @example {
         *       "route_id": "RT0000000000AA",
         *       "matchers": [
         *         {
         *           "label": "team",
         *           "op": "=",
         *           "value": "payments"
         *         }
         *       ],
         *       "proposed_group_key": [
         *         "alertname"
         *       ],
         *       "period_seconds": 3600
         *     }
         */
        readonly GroupKeyPreviewInput: {
            /** @description Id of the Route whose key would change. Null or left out: `matchers` say it. */
            readonly route_id?: components["schemas"]["PublicId"] | null;
            /** @description The Matchers of a Route that does not exist yet; at most 50. */
            readonly matchers?: readonly components["schemas"]["MatcherInput"][] | null;
            /** @description A new place of the Route (`route_id`) in the order, from 0. Null or left out: its own. */
            readonly position?: number | null;
            /** @description Names of labels to group by; at most 20. */
            readonly proposed_group_key: readonly string[];
            /** @description Seconds to look back, from now. Left out: one day. */
            readonly period_seconds?: number;
        };
        /** @description The Alert Groups that a key makes. */
        readonly GroupKeySide: {
            /** @description How many. */
            readonly alert_group_count: number;
            /** @description Up to five of them, those with the most Alerts first. */
            readonly examples: readonly {
                /** @description Of the key. */
                readonly group_key_values: components["schemas"]["Labels"];
                /** @description How many Alerts have these values. */
                readonly alert_count: number;
            }[];
        };
        /**
         * @description The status of an Alert Group.
         *     - `firing`: At least one Alert fires and nobody has taken it on.
         *     - `acknowledged`: It has an Owner, who works on it.
         *     - `snoozed`: Paused until `snooze_until`, or without end.
         *     - `resolved`: It is over.
         * @enum {string}
         */
        readonly GroupStatus: "firing" | "acknowledged" | "snoozed" | "resolved";
        /**
         * @description Whether the sender gives signs of life.
         *     - `not_configured`: Heartbeats are off.
         *     - `waiting`: On, and none arrived yet.
         *     - `live`: They arrive.
         *     - `lost`: None arrived within the timeout.
         * @enum {string}
         */
        readonly HeartbeatState: "not_configured" | "waiting" | "live" | "lost";
        /** @description A source of Snapshots. */
        readonly Integration: {
            readonly id: components["schemas"]["IntegrationId"];
            /** @description Its name, unique. */
            readonly name: string;
            /** @description Free text. */
            readonly description: string;
            /**
             * @description `webhook_only`: it posts Snapshots.
             * @enum {string}
             */
            readonly connection_mode: "webhook_only";
            /** @description Labels that each of its Alerts gets. */
            readonly static_labels: components["schemas"]["Labels"];
            /** @description Seconds in which the same Snapshot of a pair of senders counts once. */
            readonly duplicate_window_seconds: number;
            /** @description The sign of life that the sender gives. */
            readonly heartbeat: {
                /** @description Whether Heartbeats are expected. */
                readonly enabled: boolean;
                /** @description Seconds without a Heartbeat until the sender is lost. */
                readonly timeout_seconds: number;
                readonly state: components["schemas"]["HeartbeatState"];
                /**
                 * Format: uri
                 * @description Where Heartbeats are sent. Absent on the built-in Integration.
                 */
                readonly url?: string;
                /**
                 * Format: date-time
                 * @description When the last Heartbeat arrived; null before the first.
                 */
                readonly last_signal_at: string | null;
                /**
                 * Format: date-time
                 * @description Since when the sender counts as lost; null otherwise.
                 */
                readonly lost_since: string | null;
            };
            /** @description Whether it is that of Internal alerts, which cannot be changed or deleted. */
            readonly builtin: boolean;
            /**
             * Format: uri
             * @description Where Snapshots are sent. Absent on the built-in Integration.
             */
            readonly ingest_url?: string;
            /**
             * Format: date-time
             * @description When the last Snapshot arrived; null before the first.
             */
            readonly last_snapshot_at: string | null;
            /** @description How many Snapshots arrived so far. */
            readonly snapshot_count: number;
            /** @description What is not as it should be. */
            readonly warnings: readonly {
                readonly kind: components["schemas"]["IntegrationWarningKind"];
                /**
                 * Format: date-time
                 * @description Since when, where that is known.
                 */
                readonly since?: string;
                /** @description Groups that are cut off, with `snapshot_truncated`. */
                readonly truncated_group_count?: number;
                /** @description Bodies that were no Snapshots, up to 1,000, with `snapshot_failed`. */
                readonly failed_count?: number;
                /** @description The newest of those Stored Snapshots, with `snapshot_failed`. */
                readonly stored_snapshot_id?: components["schemas"]["StoredSnapshotId"];
                /** @description Why that one is no Snapshot, with `snapshot_failed`. */
                readonly error?: string;
                /** @description Path of the sender's route, with `long_repeat_interval`. */
                readonly route_path?: string;
                /** @description Seconds between its repeats, with `long_repeat_interval`. */
                readonly repeat_interval_seconds?: number;
            }[];
            /** @description Open Alert Groups with Alerts of it. */
            readonly open_alert_group_count: number;
            readonly created_at: components["schemas"]["CreationTime"];
            readonly etag: components["schemas"]["ResourceVersion"];
        };
        /** @description An Alert of an Integration, where it fires or fired last. */
        readonly IntegrationAlert: components["schemas"]["AlertBase"] & {
            /** @description Static labels that the Alert sets to another value. */
            readonly static_label_warnings: readonly string[];
            /** @description The Route that took it. Absent when its Alert Group is gone. */
            readonly route?: components["schemas"]["EntityRef"];
            readonly severity_level: components["schemas"]["SeverityLevel"];
            /** @description Value of the severity label; null without one. */
            readonly severity_raw: string | null;
            /** @description Absent when it is gone. */
            readonly alert_group?: components["schemas"]["AlertGroupRef"];
        };
        /**
         * @description A PublicId: `NT…`.
         * @example NT9X2QF4H7NJC0
         */
        readonly IntegrationId: string;
        /**
         * @description An Integration as it is saved.
         * @example {
         *       "name": "Prometheus",
         *       "description": "The pair in the first hall",
         *       "connection_mode": "webhook_only",
         *       "static_labels": {
         *         "cluster": "one"
         *       },
         *       "duplicate_window_seconds": 45,
         *       "heartbeat": {
         *         "enabled": true,
         *         "timeout_seconds": 300
         *       }
         *     }
         */
        readonly IntegrationInput: {
            readonly name: components["schemas"]["ResourceName"];
            /** @description Free text, up to 2,000 characters; null or left out is empty. */
            readonly description?: string | null;
            /**
             * @description `webhook_only`, the only way: it posts Snapshots.
             * @enum {string}
             */
            readonly connection_mode: "webhook_only";
            /** @description Labels that each of its Alerts gets. One that the sender sets wins. */
            readonly static_labels: unknown;
            /** @description Seconds in which the same Snapshot of a pair of senders counts once, 1 to 3,600. */
            readonly duplicate_window_seconds: number;
            /** @description Whether silence of the sender is noticed. */
            readonly heartbeat: {
                /** @description Whether Heartbeats are expected. */
                readonly enabled: boolean;
                /** @description Seconds without a Heartbeat until the sender is lost, 1 to 86,400. Left out it stays. */
                readonly timeout_seconds?: number;
            };
        };
        /** @description A token of an Integration, without its value. */
        readonly IntegrationToken: {
            readonly id: components["schemas"]["IntegrationTokenId"];
            /** @description Its name; null without one. */
            readonly name: string | null;
            readonly created_at: components["schemas"]["CreationTime"];
            readonly last_used_at: components["schemas"]["LastUse"];
        };
        /**
         * @description A PublicId: `NK…`.
         * @example NK9X2QF4H7NJC0
         */
        readonly IntegrationTokenId: string;
        /**
         * @description A new token of an Integration.
         * @example {
         *       "name": "second"
         *     }
         */
        readonly IntegrationTokenInput: {
            /** @description Name, up to 200 characters; null or left out for none. */
            readonly name?: string | null;
            /**
             * Format: uri
             * @description Where senders reach the ingest listener, without a login; null or left out: SVC_INGEST_URL.
             */
            readonly ingest_url?: string | null;
        };
        /**
         * @description What is not as it should be.
         *     - `heartbeat_not_configured`: Heartbeats are off: silence of the sender is not noticed.
         *     - `heartbeat_waiting`: Heartbeats are on, and none arrived yet.
         *     - `heartbeat_lost`: No Heartbeat arrived within the timeout.
         *     - `snapshot_failed`: Bodies were accepted that are no Snapshots: nobody was told of their alerts.
         *     - `snapshot_truncated`: The sender cuts off Alerts: raise or remove `max_alerts`.
         *     - `long_repeat_interval`: A route repeats so rarely that ended Alerts are noticed late.
         * @enum {string}
         */
        readonly IntegrationWarningKind: "heartbeat_not_configured" | "heartbeat_waiting" | "heartbeat_lost" | "snapshot_failed" | "snapshot_truncated" | "long_repeat_interval";
        /** @description The master keys that replicas hold. */
        readonly Keyring: {
            /** @description The active one first, then by id. */
            readonly keys: readonly {
                /** @description Id of the key. */
                readonly id: string;
                /** @description Whether new values are sealed with it. */
                readonly active: boolean;
                /** @description Ids of the live replicas that hold it. */
                readonly held_by: readonly string[];
                /** @description Ids of the live replicas that do not. */
                readonly missing_on: readonly string[];
                /** @description Whether something can only be opened with it. */
                readonly needed: boolean;
                /** @description Whether it may be taken away. */
                readonly removable: boolean;
            }[];
        };
        /** @description Labels or annotations by name. */
        readonly Labels: {
            readonly [key: string]: string;
        };
        /**
         * @description A language of texts.
         *     - `en`: English.
         *     - `ru`: Russian.
         * @enum {string}
         */
        readonly Language: "en" | "ru";
        /**
         * Format: date-time
         * @description When it was last used, to the minute; null when never.
         */
        readonly LastUse: string | null;
        /** @description At most `limit` calls in any `per_seconds`. */
        readonly Limiter: {
            /** @description Calls, 1 to 1,000. */
            readonly limit: number;
            /** @description Seconds, 1 to 3,600. */
            readonly per_seconds: number;
        };
        /** @description Most calls in a time. Left out it stays, null goes back to the default of the type. */
        readonly LimiterInput: {
            /** @description Calls, 1 to 1,000. */
            readonly limit: number;
            /** @description Seconds, 1 to 3,600. */
            readonly per_seconds: number;
        } | null;
        /** @description A code was sent. */
        readonly LinkCodeRequest: {
            /** @description Give it back with the code. */
            readonly request_id: components["schemas"]["AccountLinkRequestId"];
            /**
             * Format: date-time
             * @description When the code ends, after 10 minutes.
             */
            readonly expires_at: string;
            /** @description How often it may be entered wrong. */
            readonly attempts_remaining: number;
        };
        /**
         * @description A code that the bot sent.
         * @example {
         *       "request_id": "AR0000000000AA",
         *       "code": "123456"
         *     }
         */
        readonly LinkConfirmation: {
            /** @description The `request_id` of the start. */
            readonly request_id: components["schemas"]["PublicId"];
            /** @description The code, in any case. */
            readonly code: string;
        };
        /** @description A link to the bot. In this answer only. */
        readonly LinkDeepLink: {
            /**
             * Format: uri
             * @description Opens the chat with the bot and sends the token.
             */
            readonly deep_link: string;
            /**
             * Format: date-time
             * @description When it ends, after 10 minutes.
             */
            readonly expires_at: string;
        };
        /**
         * @description How an account of a messenger is linked.
         *     - `token`: Send a text to the bot.
         *     - `code`: The bot sends a code.
         * @enum {string}
         */
        readonly LinkMethod: "token" | "code";
        /** @description A rule that makes links from labels. */
        readonly LinkRule: {
            readonly id: components["schemas"]["LinkRuleId"];
            /** @description Its name, unique. It is the text of the link. */
            readonly name: string;
            /** @description All must match the labels. */
            readonly matchers: readonly components["schemas"]["Matcher"][];
            /** @description What the link is about. */
            readonly scope: {
                readonly type: components["schemas"]["LinkScope"];
                /** @description The label, with `label_value`; null otherwise. */
                readonly label: string | null;
            };
            /** @description Template of the address. */
            readonly url_template: string;
            /** @description Whether it is Explore, whose name and scope stay and which cannot be deleted. */
            readonly builtin: boolean;
            readonly created_at: components["schemas"]["CreationTime"];
            readonly etag: components["schemas"]["ResourceVersion"];
        };
        /**
         * @description A PublicId: `KR…`.
         * @example KR9X2QF4H7NJC0
         */
        readonly LinkRuleId: string;
        /**
         * @description A Link rule as it is saved.
         * @example {
         *       "name": "Dashboard",
         *       "matchers": [
         *         {
         *           "label": "team",
         *           "op": "=",
         *           "value": "payments"
         *         }
         *       ],
         *       "scope": {
         *         "type": "label_value",
         *         "label": "instance"
         *       },
         *       "url_template": "https://grafana.example/d/host"
         *     }
         */
        readonly LinkRuleInput: {
            readonly name: components["schemas"]["ResourceName"];
            /** @description All must match the labels; at most 50. Without any, it always applies. */
            readonly matchers: readonly components["schemas"]["MatcherInput"][];
            /** @description What the link is about. */
            readonly scope: {
                readonly type: components["schemas"]["LinkScope"];
                /** @description The label. Needed with `label_value`. */
                readonly label?: string | null;
            };
            /** @description Template of the address, 1 to 4,096 characters. */
            readonly url_template: string;
        };
        /**
         * @description What a link is about.
         *     - `alert_group`: The Alert Group as a whole.
         *     - `label_value`: The value of one label.
         * @enum {string}
         */
        readonly LinkScope: "alert_group" | "label_value";
        /** @description A text to send to the bot. In this answer only. */
        readonly LinkToken: {
            /** @description The text. */
            readonly token: string;
            /**
             * Format: uri
             * @description Opens the chat with the bot; null without one.
             */
            readonly deep_link: string | null;
            /**
             * Format: date-time
             * @description When it ends, after 10 minutes.
             */
            readonly expires_at: string;
        };
        /** @description A Connection through which an account can be linked. */
        readonly LinkableConnection: {
            readonly id: components["schemas"]["ConnectionId"];
            /** @description Its name. */
            readonly name: string;
            readonly messenger: components["schemas"]["ConnectionType"];
            /** @description How an account can be linked. */
            readonly link_methods: readonly components["schemas"]["LinkMethod"][];
            /**
             * @description What `handle` is: `email`, `login`, `username` or `user_id` there; null without `code`.
             * @enum {string|null}
             */
            readonly handle_kind: "email" | "login" | "username" | "user_id" | null;
        };
        /** @description An actor in a list. */
        readonly ListedActor: {
            /** @description Its key. */
            readonly key: string;
            /** @description State as its machine names it; null before it began. */
            readonly state: string | {
                readonly [key: string]: unknown;
            } | null;
            /** @description How often it was stored. */
            readonly version: number;
            /**
             * Format: date-time
             * @description When it acts by itself next; null when it does not.
             */
            readonly wake_at: string | null;
            /**
             * Format: date-time
             * @description When it was stored last.
             */
            readonly changed_at: string;
        };
        /** @description The `data` of an event `hint`, as JSON. Sent after the change is stored. */
        readonly LiveHint: {
            readonly type: components["schemas"]["LiveHintType"];
            /** @description Id of what changed; null when it is about all of them. */
            readonly id: string | null;
        };
        /**
         * @description What changed. Ignore types you do not know.
         *     - `alert-group`: An Alert Group, in any way.
         *     - `alert-groups`: One was created or reopened.
         *     - `integration`: An Integration, its tokens, Heartbeat or warnings.
         *     - `route`: A Route, its Storm, Destinations or template error; null: the order.
         *     - `connection`: A Connection, its bot, warnings or inbound state.
         *     - `destination`: A Destination, its secrets, health or template error; null: any of them.
         *     - `organization`: The Organization, its outbound policy or master key.
         *     - `system-notices`: A notice began or ended.
         *     - `system-status`: The system status.
         *     - `account-links`: An Account link of this user.
         * @enum {string}
         */
        readonly LiveHintType: "alert-group" | "alert-groups" | "integration" | "route" | "connection" | "destination" | "organization" | "system-notices" | "system-status" | "account-links";
        /** @description Values by key, which templates read. */
        readonly LookupTable: {
            readonly id: components["schemas"]["LookupTableId"];
            /** @description Its name, by which templates read it. */
            readonly name: string;
            /** @description Free text. */
            readonly description: string;
            /** @description Names of the columns. */
            readonly columns: readonly string[];
            /** @description Rows by key. */
            readonly entries: readonly {
                /** @description Key of the row. */
                readonly key: string;
                /** @description By column. */
                readonly values: components["schemas"]["Labels"];
            }[];
            readonly created_at: components["schemas"]["CreationTime"];
            readonly etag: components["schemas"]["ResourceVersion"];
        };
        /**
         * @description A PublicId: `TB…`.
         * @example TB9X2QF4H7NJC0
         */
        readonly LookupTableId: string;
        /**
         * @description A Lookup table as it is saved.
         * @example {
         *       "name": "teams",
         *       "description": "Who looks after what",
         *       "columns": [
         *         "channel"
         *       ],
         *       "entries": [
         *         {
         *           "key": "payments",
         *           "values": {
         *             "channel": "pay"
         *           }
         *         }
         *       ]
         *     }
         */
        readonly LookupTableInput: {
            readonly name: components["schemas"]["ResourceName"];
            /** @description Free text, up to 2,000 characters; null or left out is empty. */
            readonly description?: string | null;
            /** @description Names of the columns, 1 to 50, each once, 1 to 200 characters. */
            readonly columns: readonly string[];
            /** @description Rows, at most 10,000. */
            readonly entries: readonly {
                /** @description Key of the row, 1 to 4,096 characters, each once. */
                readonly key: string;
                /** @description A value of up to 4,096 characters for each column and no other. */
                readonly values: unknown;
            }[];
        };
        /** @description A condition on one label. */
        readonly Matcher: {
            /** @description Name of the label. */
            readonly label: string;
            readonly op: components["schemas"]["MatcherOp"];
            /** @description What the value is compared with. Expressions are RE2 and match it whole. */
            readonly value: string;
        };
        /** @description A condition on one label, as it is saved. */
        readonly MatcherInput: {
            /** @description Name of the label. */
            readonly label: string;
            readonly op: components["schemas"]["MatcherOp"];
            /** @description What the value is compared with, up to 4,096 characters. Expressions are RE2 and match it whole. */
            readonly value: string;
        };
        /**
         * @description How a Matcher compares. A label that is missing counts as an empty value.
         *     - `=`: Equal.
         *     - `!=`: Not equal.
         *     - `=~`: The whole value matches the regular expression.
         *     - `!~`: The whole value does not match the regular expression.
         * @enum {string}
         */
        readonly MatcherOp: "=" | "!=" | "=~" | "!~";
        /** @description Your profile and what you may do. */
        readonly Me: {
            /** @description You. */
            readonly user: components["schemas"]["User"];
            /** @description Your Permissions, in the order of all Permissions. */
            readonly permissions: readonly components["schemas"]["Permission"][];
        };
        /**
         * @description Whether everybody is mentioned: `none`: nobody; `all`: all members; `channel`: those of the channel; `here`: those who are online. A bridge takes `none` only.
         * @enum {string}
         */
        readonly MentionEveryone: "none" | "all" | "channel" | "here";
        /** @description Whom to mention. */
        readonly MentionTargets: {
            readonly everyone: components["schemas"]["MentionEveryone"];
            /** @description Users. */
            readonly user_ids: readonly components["schemas"]["UserId"][];
            /** @description Names of groups of the messenger. */
            readonly groups: readonly string[];
        };
        /** @description Whom to mention. */
        readonly MentionTargetsInput: {
            readonly everyone: components["schemas"]["MentionEveryone"];
            /** @description Ids of users, at most 50. */
            readonly user_ids: readonly components["schemas"]["PublicId"][];
            /** @description Groups of the messenger, at most 20 of 1 to 64 characters. A bridge takes none. */
            readonly groups: readonly string[];
        };
        /** @description Whom to mention at which event. */
        readonly Mentions: {
            readonly new_alert_group: components["schemas"]["MentionTargets"];
            readonly new_alerts: components["schemas"]["MentionTargets"];
            readonly reopen: components["schemas"]["MentionTargets"];
            readonly ack_timeout: components["schemas"]["MentionTargets"];
            readonly snooze_ended: components["schemas"]["MentionTargets"];
            readonly rise_to_urgent: components["schemas"]["MentionTargets"];
        };
        /** @description Whom to mention at which event, all six of them. Left out it stays, null mentions nobody. */
        readonly MentionsInput: {
            readonly new_alert_group: components["schemas"]["MentionTargetsInput"];
            readonly new_alerts: components["schemas"]["MentionTargetsInput"];
            readonly reopen: components["schemas"]["MentionTargetsInput"];
            readonly ack_timeout: components["schemas"]["MentionTargetsInput"];
            readonly snooze_ended: components["schemas"]["MentionTargetsInput"];
            readonly rise_to_urgent: components["schemas"]["MentionTargetsInput"];
        } | null;
        /**
         * @description A format of messages.
         *     - `markdown`: Markdown of a chat server.
         *     - `html`: HTML of a channel bot.
         *     - `commonmark`: CommonMark of a bridge.
         * @enum {string}
         */
        readonly MessageFormat: "markdown" | "html" | "commonmark";
        /** @description An account of a messenger. */
        readonly MessengerAccount: {
            /** @description Its id in the messenger. */
            readonly external_id: string;
            /** @description Name by which it is mentioned; null without one. */
            readonly username: string | null;
            /** @description Name that the messenger shows; null without one. */
            readonly display_name: string | null;
            /** @description Whether it is a program. */
            readonly bot: boolean;
        };
        /** @description A Secret that templates of a webhook may read, without its value. */
        readonly NamedSecret: {
            /** @description Name by which templates read it. */
            readonly name: string;
            /** @description Always true: a Secret without a value is deleted. */
            readonly set: boolean;
            /**
             * Format: date-time
             * @description When its value was last set.
             */
            readonly updated_at: string;
        };
        /** @description An open Alert Group that started near another one and shares labels with it. */
        readonly NearbyAlertGroup: {
            readonly id: components["schemas"]["AlertGroupId"];
            /** @description Its number, `#N`. */
            readonly number: number;
            /** @description Its title. */
            readonly title: string;
            readonly status: components["schemas"]["GroupStatus"];
            readonly severity_level: components["schemas"]["SeverityLevel"];
            /** @description Whether it is Urgent. */
            readonly urgent: boolean;
            /** @description Who acknowledged it; null unless `acknowledged`. */
            readonly owner: components["schemas"]["UserRef"] | null;
            /**
             * Format: date-time
             * @description When it was created: its first Alert was received.
             */
            readonly started_at: string;
            /** @description The compared labels that both have with the same value. */
            readonly shared_labels: components["schemas"]["Labels"];
        };
        /**
         * @description A new local user.
         * @example {
         *       "name": "Ann",
         *       "email": "ann@example.org",
         *       "role": "viewer",
         *       "login": "ann"
         *     }
         */
        readonly NewUserInput: components["schemas"]["UserInput"] & {
            /** @description Login, unique in any case, 1 to 200 characters without white space. It never changes. */
            readonly login: string;
        };
        /** @description Pass it as `cursor` to read on; null on the last page. */
        readonly NextCursor: string | null;
        /** @description A text that somebody wrote about an Alert Group. */
        readonly Note: {
            readonly id: components["schemas"]["NoteId"];
            /** @description The text, up to 4,000 characters. */
            readonly body: string;
            readonly author: components["schemas"]["ActorRef"];
            readonly transport: components["schemas"]["Transport"];
            /**
             * Format: date-time
             * @description When it was written.
             */
            readonly created_at: string;
        };
        /**
         * @description A PublicId: `NE…`.
         * @example NE9X2QF4H7NJC0
         */
        readonly NoteId: string;
        /**
         * @description A Note to add.
         * @example {
         *       "body": "Looking at it."
         *     }
         */
        readonly NoteInput: {
            /** @description The text, 1 to 4,000 characters. */
            readonly body: string;
        };
        /** @description What the provider said. */
        readonly OidcCheck: {
            /** @description Whether everything needed was read. */
            readonly ok: boolean;
            readonly via: components["schemas"]["Via"];
            /** @description Milliseconds it took; null when nothing was asked. */
            readonly latency_ms: number | null;
            /** @description Issuer as the provider names itself; null when it did not answer. */
            readonly issuer: string | null;
            /** @description Where people are sent to; null when it did not answer. */
            readonly authorization_endpoint: string | null;
            /** @description Where codes are exchanged; null when it did not answer. */
            readonly token_endpoint: string | null;
            /** @description Where its keys are; null when it did not answer. */
            readonly jwks_uri: string | null;
            /** @description What went wrong, masked; null when `ok`. */
            readonly error: string | null;
            /** @description What is not as it should be. */
            readonly warnings: readonly components["schemas"]["OidcWarning"][];
        };
        /** @description A group of the provider and the Role of its members. */
        readonly OidcGroupMapping: {
            /** @description Name of the group, 1 to 200 characters. */
            readonly group: string;
            readonly role: components["schemas"]["Role"];
        };
        /** @description How people sign in through an identity provider. */
        readonly OidcSettings: components["schemas"]["OidcSettingsBase"] & {
            /** @description Scopes that are asked for besides `openid`. */
            readonly scopes: readonly string[];
            readonly client_secret_status: components["schemas"]["SecretStatus"];
            /** @description Day on which the client secret expires; null when not known. */
            readonly client_secret_expires_on: string | null;
            readonly proxy: components["schemas"]["ProxyConfig"];
            /** @description What is not as it should be. */
            readonly warnings: readonly components["schemas"]["OidcWarning"][];
            /**
             * Format: date-time
             * @description When the settings were last saved; null before that.
             */
            readonly updated_at: string | null;
            /** @description Their version, as in the header `ETag`. */
            readonly etag: string;
        };
        /** @description Settings of single sign-on that are answered as they are saved. */
        readonly OidcSettingsBase: {
            /** @description Whether people can sign in this way. */
            readonly enabled: boolean;
            /** @description Name on the sign-in button, up to 100 characters. Absent: the host of the issuer. */
            readonly display_name?: string;
            /** @description Address of the provider, without query and fragment, up to 2,000 characters. */
            readonly issuer_url: string;
            /** @description Id of Tocsin at the provider, 1 to 200 characters. */
            readonly client_id: string;
            /** @description Claim that lists the groups of a person, 1 to 200 characters. */
            readonly groups_claim: string;
            /** @description Roles by group, at most 500. Of several that match, the highest Role counts. */
            readonly group_mappings: readonly components["schemas"]["OidcGroupMapping"][];
            /**
             * @description Role without a mapped group: `viewer` or `responder`; `none` refuses.
             * @enum {string}
             */
            readonly unmatched_role: "none" | "viewer" | "responder";
            /** @description Whether the Role is set anew from the groups at every sign-in. */
            readonly sync_role: boolean;
            /** @description Whether a second factor that the provider says it asked for is enough. */
            readonly skip_totp_with_idp_mfa: boolean;
        };
        /**
         * @description Single sign-on as it is saved.
         * @example {
         *       "enabled": false,
         *       "display_name": "Company",
         *       "issuer_url": "https://id.example",
         *       "client_id": "tocsin",
         *       "client_secret": "secret",
         *       "client_secret_expires_on": "2030-01-01",
         *       "scopes": [
         *         "openid"
         *       ],
         *       "groups_claim": "groups",
         *       "group_mappings": [
         *         {
         *           "group": "sre",
         *           "role": "admin"
         *         }
         *       ],
         *       "unmatched_role": "none",
         *       "sync_role": true,
         *       "skip_totp_with_idp_mfa": false,
         *       "proxy": {
         *         "enabled": false
         *       }
         *     }
         */
        readonly OidcSettingsInput: components["schemas"]["OidcSettingsBase"] & {
            /** @description Scopes to ask for besides `openid`; repeats are dropped. Left out they stay. */
            readonly scopes?: readonly string[];
            /** @description Secret at the provider, up to 2,000 characters. Left out it stays; it cannot be cleared. */
            readonly client_secret?: string | null;
            /** @description Day on which the secret expires, `YYYY-MM-DD`; null for never. */
            readonly client_secret_expires_on?: string | null;
            readonly proxy: components["schemas"]["ProxyConfigInput"];
        };
        /** @description What is wrong with single sign-on. The fields besides `kind` are those of the kind. */
        readonly OidcWarning: {
            /**
             * @description `nobody_can_sign_in`: no group has a Role; `groups_claim_missing`: the last sign-in named no groups; `secret_expiring`: the client secret expires soon; `last_admin_kept`: a user kept the Role as the last active Admin.
             * @enum {string}
             */
            readonly kind: "nobody_can_sign_in" | "groups_claim_missing" | "secret_expiring" | "last_admin_kept";
            /** @description The day, with `secret_expiring`. */
            readonly expires_on?: string;
            /** @description With `last_admin_kept`. */
            readonly user?: components["schemas"]["UserRef"];
            /** @description The Role that the groups ask for, with `last_admin_kept`. */
            readonly role?: components["schemas"]["Role"];
        };
        /** @description Settings of the installation. */
        readonly Organization: components["schemas"]["OrganizationBase"] & {
            readonly id: components["schemas"]["OrganizationId"];
            /** @description When a workday begins, `HH:MM`. */
            readonly workday_start: string;
            readonly week_start: components["schemas"]["Weekday"];
            /** @description A signal of Tocsin itself to a watcher elsewhere. */
            readonly outgoing_heartbeat: {
                /** @description Whether an address is stored. It holds a token, so it is not answered. */
                readonly url_status: components["schemas"]["SecretStatus"];
                readonly proxy: components["schemas"]["ProxyConfig"];
            };
            /** @description Their version, as in the header `ETag`. */
            readonly etag: string;
        };
        /** @description Settings that are answered as they are saved. */
        readonly OrganizationBase: {
            /** @description Name of the Organization. */
            readonly name: string;
            /** @description IANA time zone of whoever has none. */
            readonly time_zone: string;
            /** @description Label whose value gives the severity. */
            readonly severity_label: string;
            /** @description Levels of values, at most 200. Values without a mapping are `warning`. */
            readonly severity_mapping: readonly components["schemas"]["SeverityMapping"][];
            /** @description How each level is shown; every level once. */
            readonly severity_styles: readonly components["schemas"]["SeverityStyle"][];
            /** @description Whether the level `critical` is Urgent on every Route. */
            readonly critical_is_urgent: boolean;
            /** @description Labels in which two Alerts about the same thing may differ, such as `pod`. */
            readonly instance_labels: readonly string[];
            readonly retention: components["schemas"]["Retention"];
            /**
             * @description Who needs a second factor: `nobody`, `local_users` (with a password) or `everyone`.
             * @enum {string}
             */
            readonly totp_required: "nobody" | "local_users" | "everyone";
            /** @description Seconds for which tokens of people work while the provider cannot be asked. */
            readonly oidc_token_grace_seconds: number;
        };
        /**
         * @description A PublicId: `RG…`.
         * @example RG9X2QF4H7NJC0
         */
        readonly OrganizationId: string;
        /**
         * @description Settings of the Organization as they are saved.
         * @example {
         *       "name": "Tocsin",
         *       "time_zone": "UTC",
         *       "workday_start": "09:00",
         *       "week_start": "monday",
         *       "severity_label": "severity",
         *       "severity_mapping": [
         *         {
         *           "value": "page",
         *           "level": "critical"
         *         }
         *       ],
         *       "severity_styles": [
         *         {
         *           "level": "critical",
         *           "emoji": "🟥",
         *           "color": "#d32f2f"
         *         }
         *       ],
         *       "critical_is_urgent": true,
         *       "instance_labels": [
         *         "pod",
         *         "instance",
         *         "container",
         *         "endpoint"
         *       ],
         *       "retention": {
         *         "stored_snapshots_days": 14,
         *         "alert_details_days": 90,
         *         "alert_group_summaries_days": 730,
         *         "audit_log_days": 365
         *       },
         *       "totp_required": "nobody",
         *       "oidc_token_grace_seconds": 604800,
         *       "outgoing_heartbeat": {
         *         "url": "https://watch.example/beat",
         *         "proxy": {
         *           "enabled": false
         *         }
         *       }
         *     }
         */
        readonly OrganizationInput: components["schemas"]["OrganizationBase"] & {
            /** @description When a workday begins, `HH:MM`. Left out it stays. */
            readonly workday_start?: string;
            /** @description Day a week begins with. Left out it stays. */
            readonly week_start?: components["schemas"]["Weekday"];
            /** @description A sign of life to a watcher elsewhere, once a minute. */
            readonly outgoing_heartbeat: {
                /**
                 * Format: uri
                 * @description Address, up to 2,000 characters. Left out it stays, null ends it.
                 */
                readonly url?: string | null;
                readonly proxy: components["schemas"]["ProxyConfigInput"];
            };
        };
        /** @description Where the service may connect to. */
        readonly OutboundPolicy: components["schemas"]["OutboundPolicyInput"] & {
            /** @description Networks that are refused, whatever the policy. */
            readonly always_blocked: readonly string[];
            readonly etag: components["schemas"]["ResourceVersion"];
        };
        /**
         * @description Where the service may connect to, as it is saved.
         * @example {
         *       "policy": "standard",
         *       "allowed": [
         *         "10.0.0.0/8"
         *       ],
         *       "denied": [
         *         "192.0.2.0/24"
         *       ]
         *     }
         */
        readonly OutboundPolicyInput: {
            /**
             * @description `standard`: private addresses are allowed; `strict`: only those in `allowed`.
             * @enum {string}
             */
            readonly policy: "standard" | "strict";
            /** @description Host names, addresses and networks (CIDR) that are allowed. */
            readonly allowed: readonly string[];
            /** @description Those that are refused, whatever is allowed. */
            readonly denied: readonly string[];
        };
        /**
         * @description A new password of yours.
         * @example {
         *       "current_password": "a long enough password",
         *       "new_password": "another long password"
         *     }
         */
        readonly PasswordChange: {
            /** @description The password now. */
            readonly current_password: string;
            /** @description The new password, 12 to 1,024 characters. */
            readonly new_password: string;
        };
        /**
         * @description A password through a link.
         * @example {
         *       "token": "token",
         *       "password": "a long enough password"
         *     }
         */
        readonly PasswordSetup: {
            /** @description The part of the link after `#token=`. */
            readonly token: string;
            /** @description The new password, 12 to 1,024 characters. */
            readonly password: string;
        };
        /** @description A link that sets a password. In this answer only. */
        readonly PasswordSetupLink: {
            /**
             * Format: uri
             * @description The link. Whoever has it becomes the user.
             */
            readonly url: string;
            /**
             * Format: date-time
             * @description When it ends, 24 hours after it was made.
             */
            readonly expires_at: string;
        };
        /**
         * @description Something that may be done, as `<resource>:<verb>`.
         *     - `alert-groups:read`: See Alert Groups.
         *     - `alert-groups:acknowledge`: Acknowledge, give back, answer Reminders.
         *     - `alert-groups:resolve`: Resolve and unresolve.
         *     - `alert-groups:snooze`: Snooze and unsnooze.
         *     - `alert-groups:note`: Write Notes.
         *     - `alerts:read`: See Alerts.
         *     - `integrations:read`: See Integrations and their tokens, without values.
         *     - `integrations:write`: Change them and their tokens.
         *     - `stored-snapshots:read`: See bodies as they were received.
         *     - `routes:read`: See Routes.
         *     - `routes:write`: Change them, their order and what is in them.
         *     - `connections:read`: See Connections.
         *     - `connections:write`: Change and check them.
         *     - `destinations:read`: See Destinations.
         *     - `destinations:write`: Change them and their Secrets.
         *     - `destinations:test`: Check them, send test messages, preview messages.
         *     - `link-rules:read`: See Link rules.
         *     - `link-rules:write`: Change them.
         *     - `lookup-tables:read`: See Lookup tables.
         *     - `lookup-tables:write`: Change them.
         *     - `templates:preview`: Render templates.
         *     - `users:read`: See users and Roles.
         *     - `users:write`: Change users and how they sign in.
         *     - `oidc:read`: See the settings of single sign-on.
         *     - `oidc:write`: Change and check them.
         *     - `service-accounts:read`: See Service accounts and their tokens, without values.
         *     - `service-accounts:write`: Change them and their tokens.
         *     - `organization:write`: Change the settings and the outbound policy.
         *     - `organization:read`: See the outbound policy, severities that arrived and master keys.
         *     - `audit-log:read`: See the Audit log.
         *     - `system-status:read`: See the system status and its actors.
         * @enum {string}
         */
        readonly Permission: "alert-groups:read" | "alert-groups:acknowledge" | "alert-groups:resolve" | "alert-groups:snooze" | "alert-groups:note" | "alerts:read" | "integrations:read" | "integrations:write" | "stored-snapshots:read" | "routes:read" | "routes:write" | "connections:read" | "connections:write" | "destinations:read" | "destinations:write" | "destinations:test" | "link-rules:read" | "link-rules:write" | "lookup-tables:read" | "lookup-tables:write" | "templates:preview" | "users:read" | "users:write" | "oidc:read" | "oidc:write" | "service-accounts:read" | "service-accounts:write" | "organization:write" | "organization:read" | "audit-log:read" | "system-status:read";
        /** @description A Personal access token, without its value. */
        readonly PersonalAccessToken: components["schemas"]["ApiToken"] & {
            /** @description What it may do, as long as its owner may. */
            readonly permissions: readonly components["schemas"]["Permission"][];
        };
        /**
         * @description A PublicId: `PT…`.
         * @example PT9X2QF4H7NJC0
         */
        readonly PersonalAccessTokenId: string;
        /**
         * @description A new Personal access token.
         * @example {
         *       "name": "CI",
         *       "expires_at": "2030-01-01T00:00:00Z",
         *       "permissions": [
         *         "alert-groups:read"
         *       ]
         *     }
         */
        readonly PersonalAccessTokenInput: components["schemas"]["ApiTokenInput"] & {
            /** @description All of them held by you; repeats are dropped. */
            readonly permissions: readonly components["schemas"]["Permission"][];
        };
        /**
         * @description Format of `text` or of the body.
         *     - `markdown`: Markdown of a chat server.
         *     - `html`: HTML of a channel bot.
         *     - `commonmark`: CommonMark of a bridge.
         *     - `json`: JSON.
         *     - `plain`: Anything else.
         * @enum {string}
         */
        readonly PreviewFormat: "markdown" | "html" | "commonmark" | "json" | "plain";
        /** @description A refusal (RFC 9457). */
        readonly Problem: {
            readonly type: components["schemas"]["ProblemType"];
            /**
             * @description The title of the type, in English.
             * @example Validation failed
             */
            readonly title: string;
            /** @description The HTTP status. */
            readonly status: number;
            /** @description What to do, in English. It may change between releases. */
            readonly detail?: string;
            /** @description The path of the request. Absent on the ingest listener. */
            readonly instance?: string;
            /**
             * @description Refines the type. Stable; branch on it.
             * @example name_taken
             */
            readonly code?: string;
            /** @description The first 50 fields that failed, on `validation-failed` only. */
            readonly errors?: readonly components["schemas"]["FieldError"][];
            /** @description The same as the header `Retry-After`, on 429 and 503. */
            readonly retry_after_seconds?: number;
            /** @description Open Alert Groups of the Route, on `route-has-open-alert-groups`. */
            readonly open_alert_group_count?: number;
            /** @description The newer one that stands in the way, with `newer_alert_group_exists`. */
            readonly related_alert_group?: components["schemas"]["AlertGroupRef"];
            /** @description The Link rules that read the Lookup table, with the code `in_use`; the first 50. */
            readonly link_rules?: readonly components["schemas"]["EntityRef"][];
        };
        /**
         * @description The type of a problem: a constant, never fetched. Stable; branch on it. By its last part:
         *     - `validation-failed`: Fields or parameters are wrong; `errors` lists them.
         *     - `unauthenticated`: Sign in, or send a valid token.
         *     - `forbidden`: The caller may not do this.
         *     - `not-found`: There is no such path or resource.
         *     - `conflict`: What is stored does not allow it; `code` says why.
         *     - `command-refused`: The state does not allow it; `code` says why.
         *     - `route-has-open-alert-groups`: Move or resolve them first.
         *     - `default-route-immutable`: It is always last, and stays.
         *     - `gone`: The link was used or has expired.
         *     - `precondition-failed`: Somebody else changed it: read it again.
         *     - `payload-too-large`: The body is larger than is taken here.
         *     - `precondition-required`: `If-Match` is missing.
         *     - `rate-limited`: Too many requests: wait as long as the answer says.
         *     - `internal`: A defect of the service.
         *     - `interactive-budget-exhausted`: Its limit of calls is used up: try again later.
         *     - `coordination-unavailable`: Something that is needed is away: try again later.
         * @enum {string}
         */
        readonly ProblemType: "https://tocsin.invalid/problems/validation-failed" | "https://tocsin.invalid/problems/unauthenticated" | "https://tocsin.invalid/problems/forbidden" | "https://tocsin.invalid/problems/not-found" | "https://tocsin.invalid/problems/conflict" | "https://tocsin.invalid/problems/command-refused" | "https://tocsin.invalid/problems/route-has-open-alert-groups" | "https://tocsin.invalid/problems/default-route-immutable" | "https://tocsin.invalid/problems/gone" | "https://tocsin.invalid/problems/precondition-failed" | "https://tocsin.invalid/problems/payload-too-large" | "https://tocsin.invalid/problems/precondition-required" | "https://tocsin.invalid/problems/rate-limited" | "https://tocsin.invalid/problems/internal" | "https://tocsin.invalid/problems/interactive-budget-exhausted" | "https://tocsin.invalid/problems/coordination-unavailable";
        /**
         * @description Your profile as it is saved.
         * @example {
         *       "name": "Ann",
         *       "time_zone": "Europe/Berlin",
         *       "language": "en"
         *     }
         */
        readonly ProfileInput: {
            readonly name: components["schemas"]["ResourceName"];
            /** @description IANA time zone; null or left out for that of the Organization. */
            readonly time_zone?: string | null;
            /** @description Language of the UI; null or left out for that of the browser. */
            readonly language?: components["schemas"]["Language"] | null;
        };
        /** @description A proxy for requests. */
        readonly ProxyConfig: {
            /** @description Whether requests go through it. */
            readonly enabled: boolean;
            /** @description Absent until one was set. */
            readonly type?: components["schemas"]["ProxyType"];
            /** @description `host:port`. Absent until one was set. */
            readonly address?: string;
            /** @description User name at the proxy; null for none. */
            readonly username: string | null;
            readonly password_status: components["schemas"]["SecretStatus"];
        };
        /** @description A proxy for requests, as it is saved. */
        readonly ProxyConfigInput: {
            /** @description Whether requests go through it. */
            readonly enabled: boolean;
            /** @description Needed while enabled. */
            readonly type?: components["schemas"]["ProxyType"];
            /** @description `host:port`. Needed while enabled. */
            readonly address?: string;
            /** @description User name, up to 255 characters; null for none. */
            readonly username?: string | null;
            /** @description Password, up to 255 characters. Left out it stays, null clears it. */
            readonly password?: string | null;
        };
        /**
         * @description The protocol of a proxy.
         *     - `http`: HTTP.
         *     - `https`: HTTP over TLS.
         *     - `socks5`: SOCKS 5.
         * @enum {string}
         */
        readonly ProxyType: "http" | "https" | "socks5";
        /**
         * Format: public-id
         * @description The id of a resource: two letters for its type and 12 characters of Crockford base32. Answers are upper case. Requests may use any case, with `O` for `0` and `I` or `L` for `1`.
         * @example RT9X2QF4H7NJC0
         */
        readonly PublicId: string;
        /** @description A queue. */
        readonly QueueStatus: {
            /** @description How many wait. */
            readonly waiting: number;
            /**
             * Format: date-time
             * @description Since when the oldest waits; null when none does.
             */
            readonly oldest_at: string | null;
        };
        /** @description A header of a recorded request. */
        readonly RecordedHeader: {
            /** @description Its name. */
            readonly name: string;
            /** @description Its value, masked. */
            readonly value: string;
        };
        /** @description Recovery codes. In this answer only. */
        readonly RecoveryCodes: {
            /** @description Ten codes, each of which works once. */
            readonly codes: readonly string[];
        };
        /** @description An earlier Alert Group of the same Route and Group key. */
        readonly RelatedAlertGroup: {
            readonly id: components["schemas"]["AlertGroupId"];
            /** @description Its number, `#N`. */
            readonly number: number;
            readonly status: components["schemas"]["GroupStatus"];
            /**
             * Format: date-time
             * @description When it was created: its first Alert was received.
             */
            readonly started_at: string;
            /** @description Seconds from start to end; null while open. */
            readonly duration_seconds: number | null;
            /** @description How it was resolved; null while open. */
            readonly resolution: components["schemas"]["Resolution"] | null;
        };
        /** @description Reminders to the Owner until the Alert Group is over. */
        readonly Reminders: {
            /** @description Whether there are any. */
            readonly enabled: boolean;
            /** @description Seconds before the first Reminder; the next intervals double. At most a year. */
            readonly first_interval_seconds: number;
            /** @description Most seconds between two Reminders, at least the first interval. At most a year. */
            readonly cap_seconds: number;
        };
        /**
         * @description What a recorded request was sent for, besides delivery.
         *     - `connection_check`: The check of a Connection.
         *     - `destination_check`: The check of a Destination.
         *     - `destination_test`: A test message.
         *     - `probe`: A probe of a Broken Destination.
         * @enum {string}
         */
        readonly RequestCheck: "connection_check" | "destination_check" | "destination_test" | "probe";
        /** @description Its run in the Request log; null when nothing was sent. */
        readonly RequestLogRun: components["schemas"]["RequestRunId"] | null;
        /** @description A request that was sent or received. */
        readonly RequestRecord: {
            readonly id: components["schemas"]["RequestRecordId"];
            /**
             * Format: date-time
             * @description When the request began.
             */
            readonly at: string;
            /**
             * @description `outbound`: Tocsin sent it; `inbound`: it was received.
             * @enum {string}
             */
            readonly direction: "outbound" | "inbound";
            /** @description What was called. */
            readonly operation: string;
            /** @description HTTP method. */
            readonly method: string;
            /** @description Address, masked. */
            readonly url: string;
            /** @description HTTP status of the answer; null without an answer. */
            readonly status: number | null;
            /** @description Milliseconds until the answer or the failure. */
            readonly latency_ms: number;
            /** @description How it went out; null for inbound ones. */
            readonly via: components["schemas"]["Via"] | null;
            /** @description Which attempt it was, from 1. */
            readonly attempt: number;
            /** @description What kind of failure it was; null without one. */
            readonly error_class: string | null;
            /** @description Code of the failure; null without one. */
            readonly error_code: string | null;
            /** @description What went wrong, masked; null without a failure. */
            readonly error: string | null;
            /** @description The check that it belonged to; null outside checks. */
            readonly check: components["schemas"]["RequestCheck"] | null;
            /** @description The run of the check; null outside checks. */
            readonly check_run: components["schemas"]["RequestRunId"] | null;
            /** @description The Connection that was used; null without one. */
            readonly connection_id: components["schemas"]["ConnectionId"] | null;
            /** @description The Destination that was sent to; null without one. */
            readonly destination: components["schemas"]["EntityRef"] | null;
            /** @description The Alert Group it was about; null without one. */
            readonly alert_group: components["schemas"]["AlertGroupRef"] | null;
            /** @description Bytes of the request body; null without one. */
            readonly request_body_bytes: number | null;
            /** @description Whether the kept request body is cut. */
            readonly request_body_truncated: boolean;
            /** @description Bytes of the answer; null without one. */
            readonly response_body_bytes: number | null;
            /** @description Whether the kept answer is cut. */
            readonly response_body_truncated: boolean;
        };
        /** @description A request that was sent or received, with headers and bodies. */
        readonly RequestRecordDetail: components["schemas"]["RequestRecord"] & {
            /** @description Headers of the request. */
            readonly request_headers: readonly components["schemas"]["RecordedHeader"][];
            /** @description Body of the request, masked and possibly cut; null without one. */
            readonly request_body: string | null;
            /** @description Headers of the answer; null without one. */
            readonly response_headers: readonly components["schemas"]["RecordedHeader"][] | null;
            /** @description Body of the answer, masked and possibly cut; null without one. */
            readonly response_body: string | null;
        };
        /**
         * @description A PublicId: `RQ…`.
         * @example RQ9X2QF4H7NJC0
         */
        readonly RequestRecordId: string;
        /**
         * @description A PublicId: `RN…`.
         * @example RN9X2QF4H7NJC0
         */
        readonly RequestRunId: string;
        /** @description How an Alert Group was resolved. */
        readonly Resolution: {
            /**
             * @description Who: a person or a Service account (`user`), or the service (`system`).
             * @enum {string}
             */
            readonly by: "user" | "system";
            /** @description Who resolved it; null when the service did. */
            readonly actor: components["schemas"]["ActorRef"] | null;
            /** @description Why the service resolved it; null when somebody did. */
            readonly reason: components["schemas"]["ResolveReason"] | null;
            /** @description The reason as a sentence in English; null without a reason. */
            readonly reason_text: string | null;
        };
        /**
         * @description How to resolve.
         * @example {
         *       "note": "Fixed."
         *     }
         */
        readonly ResolveInput: {
            /** @description A Note that is written first, 1 to 4,000 characters. Needs `alert-groups:note`, too. */
            readonly note?: string | null;
        };
        /**
         * @description Why the service resolved something.
         *     - `resolved`: The sender said that the Alert ended.
         *     - `gone`: The sender no longer lists the Alert.
         *     - `stale`: The sender fell silent for longer than it repeats.
         *     - `integration_deleted`: The Integration was deleted.
         * @enum {string}
         */
        readonly ResolveReason: "resolved" | "gone" | "stale" | "integration_deleted";
        /** @description A name, trimmed, 1 to 200 characters. */
        readonly ResourceName: string;
        /** @description Its version, as in the header `ETag`. */
        readonly ResourceVersion: string;
        /** @description Days for which things are kept, 1 to 36,500. Summaries at least as long as details. */
        readonly Retention: {
            /** @description Bodies of Snapshots. */
            readonly stored_snapshots_days: number;
            /** @description Alerts and Timelines of resolved Alert Groups. */
            readonly alert_details_days: number;
            /** @description Resolved Alert Groups themselves. */
            readonly alert_group_summaries_days: number;
            /** @description The Audit log. */
            readonly audit_log_days: number;
        };
        /**
         * @description A Role. `GET /roles` lists what each may do.
         *     - `admin`: May do everything.
         *     - `responder`: May read, acknowledge, resolve, snooze and annotate.
         *     - `viewer`: May read.
         * @enum {string}
         */
        readonly Role: "admin" | "responder" | "viewer";
        /** @description A rule that says which Alerts form which Alert Groups, and where these are sent. */
        readonly Route: components["schemas"]["RouteBase"] & {
            readonly id: components["schemas"]["RouteId"];
            /** @description Its place in the order, from 0. The first Route that matches takes an Alert. */
            readonly position: number;
            /** @description Whether it is the Default route, which takes the rest. */
            readonly is_default: boolean;
            /** @description Each of them, with its health. */
            readonly destinations: readonly components["schemas"]["DestinationRef"][];
            /** @description The template that fails; null while none does. */
            readonly template_error: {
                /**
                 * @description `root_message`: of messages; `line`: of an Alert in them; `ack_timeout_notice`: of the notice.
                 * @enum {string}
                 */
                readonly template: "root_message" | "line" | "ack_timeout_notice";
                /**
                 * Format: date-time
                 * @description Since when it fails.
                 */
                readonly since: string;
                /** @description What is wrong. */
                readonly error: string;
                /**
                 * @description The built-in template is used in its place.
                 * @constant
                 */
                readonly fallback: "fallback_template";
            } | null;
            /** @description Whether a Storm lasts. */
            readonly storm_active: boolean;
            /** @description The Storm; null without one. */
            readonly storm: {
                /**
                 * Format: date-time
                 * @description When it began.
                 */
                readonly since: string;
                /** @description How many Alert Groups began since then. */
                readonly alert_group_count: number;
            } | null;
            /** @description Open Alert Groups of the Route. */
            readonly open_alert_group_count: number;
            readonly created_at: components["schemas"]["CreationTime"];
            readonly etag: components["schemas"]["ResourceVersion"];
        };
        /** @description Alerts of a preview that one Route takes. */
        readonly RouteAlertCount: {
            readonly route: components["schemas"]["RouteTaking"];
            /** @description How many Alerts it takes. */
            readonly alert_count: number;
        };
        /** @description What a Route says, suggested ones included. */
        readonly RouteBase: {
            /** @description Its name. */
            readonly name: string;
            /** @description Free text. */
            readonly description: string;
            /** @description All must match an Alert. */
            readonly matchers: readonly components["schemas"]["Matcher"][];
            /** @description Whether all its Alert Groups are Urgent. */
            readonly urgent: boolean;
            /** @description Labels by whose values Alerts are split into Alert Groups. */
            readonly group_key: readonly string[];
            /** @description Ids of its Destinations. */
            readonly destination_ids: readonly components["schemas"]["DestinationId"][];
            readonly policy: components["schemas"]["RoutePolicy"];
        };
        /** @description The stored Route and the proposed one, tried on the same Alerts. */
        readonly RouteChangePreview: {
            /** @description By the Route as it is stored; nothing for a new one. */
            readonly present: components["schemas"]["RoutePreviewTotals"];
            /** @description By the Route as it is proposed. */
            readonly proposed: components["schemas"]["RoutePreviewTotals"];
            /** @description Alerts that only the proposed Route takes. */
            readonly gained: {
                /** @description How many Alerts. */
                readonly alert_count: number;
                /** @description Routes that take them at present, up to 20. */
                readonly from: readonly components["schemas"]["RouteAlertCount"][];
            };
            /** @description Alerts that only the stored Route takes. */
            readonly lost: {
                /** @description How many Alerts. */
                readonly alert_count: number;
                /** @description Routes that would take them, up to 20. */
                readonly to: readonly components["schemas"]["RouteAlertCount"][];
            };
        };
        /**
         * @description A PublicId: `RT…`.
         * @example RT9X2QF4H7NJC0
         */
        readonly RouteId: string;
        /**
         * @description A Route as it is saved.
         * @example {
         *       "name": "Payments",
         *       "description": "What the payments team looks after",
         *       "matchers": [
         *         {
         *           "label": "team",
         *           "op": "=",
         *           "value": "payments"
         *         }
         *       ],
         *       "urgent": false,
         *       "group_key": [
         *         "alertname"
         *       ],
         *       "destination_ids": [
         *         "DS0000000000AA"
         *       ],
         *       "policy": {
         *         "reopen_window_seconds": 300,
         *         "grace_period_seconds": 0,
         *         "urgent_rise_removes_ack": true,
         *         "snooze_durations_seconds": [
         *           3600
         *         ],
         *         "thread_batching_window_seconds": 30,
         *         "storm_threshold": 30,
         *         "language": "en",
         *         "templates": {
         *           "root_message": "root",
         *           "line": "line",
         *           "ack_timeout_notice": "notice"
         *         },
         *         "ack_timeout": {
         *           "enabled": true,
         *           "first_interval_seconds": 900
         *         },
         *         "reminders": {
         *           "enabled": true,
         *           "first_interval_seconds": 14400,
         *           "cap_seconds": 86400
         *         },
         *         "auto_unacknowledge": false
         *       }
         *     }
         */
        readonly RouteInput: {
            readonly name: components["schemas"]["ResourceName"];
            /** @description Free text, up to 2,000 characters; null or left out is empty. */
            readonly description?: string | null;
            /** @description All must match an Alert; at most 50. Without any, every Alert does. */
            readonly matchers: readonly components["schemas"]["MatcherInput"][];
            /** @description Whether all its Alert Groups are Urgent. */
            readonly urgent: boolean;
            /** @description Labels by whose values Alerts are split into Alert Groups; at most 20. Empty: one Alert Group. */
            readonly group_key: readonly string[];
            /** @description Ids of its Destinations, at most 50. */
            readonly destination_ids: readonly components["schemas"]["PublicId"][];
            readonly policy: components["schemas"]["RoutePolicyInput"];
        };
        /**
         * @description A new order of Routes.
         * @example {
         *       "route_ids": [
         *         "RT0000000000AA"
         *       ]
         *     }
         */
        readonly RouteOrderInput: {
            /** @description Ids of all Routes but the Default one, each once, in the new order. */
            readonly route_ids: readonly components["schemas"]["PublicId"][];
        };
        /** @description How Alert Groups of a Route live. */
        readonly RoutePolicy: components["schemas"]["RoutePolicyBase"] & {
            /** @description Templates of messages. */
            readonly templates: {
                /** @description The message of an Alert Group; null for the built-in one. */
                readonly root_message: string | null;
                /** @description The line of an Alert in a message; null for the built-in one. */
                readonly line: string | null;
                /** @description The notice that nobody acknowledged; null for the built-in one. */
                readonly ack_timeout_notice: string | null;
            };
        };
        /** @description How Alert Groups of a Route live, without templates. */
        readonly RoutePolicyBase: {
            /** @description Seconds after the end in which the same Alerts reopen it. 0 never does; at most a year. */
            readonly reopen_window_seconds: number;
            /** @description Seconds after somebody resolved it in which Alerts that still fire start no new one. At most a year. */
            readonly grace_period_seconds: number;
            /** @description Whether an Alert Group that becomes Urgent loses its Owner. */
            readonly urgent_rise_removes_ack: boolean;
            /** @description Durations that buttons offer, at most 10 of up to a year. */
            readonly snooze_durations_seconds: readonly number[];
            /** @description Seconds in which what follows a Thread reply is gathered for the next; 0 for none, at most an hour. */
            readonly thread_batching_window_seconds: number;
            /** @description More new Alert Groups than this in 60 seconds begin a Storm. 1 to 100,000. */
            readonly storm_threshold: number;
            /**
             * @description Language of messages: `en` is English, `ru` Russian.
             * @enum {string}
             */
            readonly language: "en" | "ru";
            readonly ack_timeout: components["schemas"]["AckTimeout"];
            readonly reminders: components["schemas"]["Reminders"];
            /** @description Whether an Owner who answers neither of two Reminders loses it. */
            readonly auto_unacknowledge: boolean;
        };
        /** @description How Alert Groups of a Route live, as it is saved. */
        readonly RoutePolicyInput: components["schemas"]["RoutePolicyBase"] & {
            /** @description Templates of messages, up to 20,000 characters each. One that is left out stays; null or empty is the built-in one. */
            readonly templates: {
                /** @description The message of an Alert Group. */
                readonly root_message?: string | null;
                /** @description The line of an Alert in a message. */
                readonly line?: string | null;
                /** @description What is said when nobody acknowledges in time. */
                readonly ack_timeout_notice?: string | null;
            };
        };
        /** @description What a Route makes of the Alerts of a preview. */
        readonly RoutePreviewTotals: {
            /** @description How many Alerts the Route takes. */
            readonly alert_count: number;
            /** @description How many Alert Groups its key makes of them. */
            readonly alert_group_count: number;
        };
        /** @description A set of settings to begin a Route with. */
        readonly RouteProfile: {
            /**
             * @description `on_call`: people must act at once; `informational`: nobody is woken.
             * @enum {string}
             */
            readonly id: "on_call" | "informational";
            /** @description Its name in English. */
            readonly name: string;
            /** @description Value for `urgent`. */
            readonly urgent: boolean;
            /** @description Value for `group_key`. */
            readonly group_key: readonly string[];
            readonly policy: components["schemas"]["RoutePolicy"];
        };
        /** @description A Route for Internal alerts which the Default route takes now. */
        readonly RouteSuggestion: {
            /**
             * @description `heartbeat_lost`: alerts about senders that fell silent; `internal_alerts`: all Internal alerts.
             * @enum {string}
             */
            readonly id: "heartbeat_lost" | "internal_alerts";
            /** @description The Route that would be created. */
            readonly route: components["schemas"]["RouteBase"];
        };
        /**
         * @description How to create a suggested Route.
         * @example {
         *       "destination_ids": [
         *         "DS0000000000AA"
         *       ]
         *     }
         */
        readonly RouteSuggestionAcceptance: {
            /** @description Ids of its Destinations, 1 to 50. */
            readonly destination_ids?: readonly components["schemas"]["PublicId"][];
        };
        /** @description A Route that takes Alerts of a preview. */
        readonly RouteTaking: {
            /** @description Id of the Route; null for one that does not exist yet. */
            readonly id: components["schemas"]["RouteId"] | null;
            /** @description Its name; null for one that does not exist yet. */
            readonly name: string | null;
            /** @description The Matchers that took the Alert. */
            readonly matchers: readonly components["schemas"]["Matcher"][];
        };
        /** @description Named filters, order and label columns of the list of Alert Groups. */
        readonly SavedView: {
            readonly id: components["schemas"]["SavedViewId"];
            /** @description Its name; unique among those of its owner. */
            readonly name: string;
            /** @description Query string of the list in the UI, without `?`. */
            readonly query: string;
            /** @description Whether everybody sees it. */
            readonly shared: boolean;
            /** @description Who made it. */
            readonly owner: components["schemas"]["UserRef"];
            /** @description Whether your list begins with it. */
            readonly is_default: boolean;
            readonly created_at: components["schemas"]["CreationTime"];
            readonly etag: components["schemas"]["ResourceVersion"];
        };
        /**
         * @description A PublicId: `VW…`.
         * @example VW9X2QF4H7NJC0
         */
        readonly SavedViewId: string;
        /**
         * @description A saved view as it is saved.
         * @example {
         *       "name": "Mine",
         *       "query": "owner=me",
         *       "shared": true
         *     }
         */
        readonly SavedViewInput: {
            readonly name: components["schemas"]["ResourceName"];
            /** @description Query string of the list in the UI without `?`, up to 4,096 characters. */
            readonly query: string;
            /** @description Whether everybody sees it. */
            readonly shared: boolean;
        };
        /**
         * @description Exactly one of the two codes.
         * @example {
         *       "totp_code": "123456"
         *     }
         */
        readonly SecondFactor: {
            /** @description A code of the authenticator, six digits. */
            readonly totp_code?: string;
            /** @description A recovery code. Case, dashes and spaces do not matter. */
            readonly recovery_code?: string;
        };
        /**
         * @description The value of a Secret.
         * @example {
         *       "value": "secret"
         *     }
         */
        readonly SecretInput: {
            /** @description The value. It is stored encrypted and never answered. */
            readonly value: string;
        };
        /** @description Whether a secret is stored. Secrets themselves are never answered. */
        readonly SecretStatus: {
            /** @description Whether there is one. */
            readonly set: boolean;
            /**
             * Format: date-time
             * @description When it was last set; null while there is none.
             */
            readonly updated_at: string | null;
        };
        /** @description An identity of a program. */
        readonly ServiceAccount: {
            readonly id: components["schemas"]["ServiceAccountId"];
            /** @description Its name, unique in any case. */
            readonly name: string;
            readonly role: components["schemas"]["Role"];
            /**
             * @description `active`: its tokens work; `disabled`: they are refused.
             * @enum {string}
             */
            readonly status: "active" | "disabled";
            /** @description Tokens that were not revoked. */
            readonly token_count: number;
            readonly created_at: components["schemas"]["CreationTime"];
            readonly etag: components["schemas"]["ResourceVersion"];
        };
        /**
         * @description A PublicId: `SA…`.
         * @example SA9X2QF4H7NJC0
         */
        readonly ServiceAccountId: string;
        /**
         * @description A Service account as it is saved.
         * @example {
         *       "name": "Terraform",
         *       "role": "viewer"
         *     }
         */
        readonly ServiceAccountInput: {
            readonly name: components["schemas"]["ResourceName"];
            readonly role: components["schemas"]["Role"];
        };
        /**
         * @description A PublicId: `ST…`.
         * @example ST9X2QF4H7NJC0
         */
        readonly ServiceAccountTokenId: string;
        /** @description A web session. */
        readonly Session: {
            readonly user: components["schemas"]["User"];
            readonly state: components["schemas"]["SessionState"];
            /** @description Value for the header `X-CSRF-Token`. */
            readonly csrf_token: string;
            /**
             * Format: date-time
             * @description When it ends, whatever is done.
             */
            readonly expires_at: string;
            /**
             * Format: date-time
             * @description When it ends without another request.
             */
            readonly idle_expires_at: string;
            readonly method: components["schemas"]["SignInMethod"];
            /** @description What it may do. Empty unless `active`. */
            readonly permissions: readonly components["schemas"]["Permission"][];
        };
        /**
         * @description A PublicId: `SN…`.
         * @example SN9X2QF4H7NJC0
         */
        readonly SessionId: string;
        /** @description A session of yours. */
        readonly SessionInfo: {
            readonly id: components["schemas"]["SessionId"];
            readonly method: components["schemas"]["SignInMethod"];
            /**
             * Format: date-time
             * @description When it began.
             */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description When it was last used, to the minute.
             */
            readonly last_used_at: string;
            /** @description Address it was last used from; null when unknown. */
            readonly address: string | null;
            /** @description Program it was last used with, first 512 bytes; null when unknown. */
            readonly user_agent: string | null;
            /** @description Whether it is the session of this request. */
            readonly current: boolean;
        };
        /**
         * @description How far the sign-in is.
         *     - `active`: It may do all that the Role may.
         *     - `totp_required`: It waits for the second factor.
         *     - `totp_enrolment_required`: A second factor must be set up first.
         * @enum {string}
         */
        readonly SessionState: "active" | "totp_required" | "totp_enrolment_required";
        /**
         * @description The level that the severity label of an Alert is mapped to.
         *     - `critical`: The highest level.
         *     - `warning`: The level in between, and that of values without a mapping.
         *     - `info`: The lowest level.
         * @enum {string}
         */
        readonly SeverityLevel: "critical" | "warning" | "info";
        /** @description The level of a value. */
        readonly SeverityMapping: {
            /**
             * @description Value of the label, 1 to 200 characters, each once.
             * @example page
             */
            readonly value: string;
            readonly level: components["schemas"]["SeverityLevel"];
        };
        /** @description How a level is shown. */
        readonly SeverityStyle: {
            readonly level: components["schemas"]["SeverityLevel"];
            /** @description Emoji of messages, 1 to 8 characters. */
            readonly emoji: string;
            /**
             * @description Color as `#rrggbb`.
             * @example #d92d20
             */
            readonly color: string;
        };
        /** @description Values of the severity label that arrived lately. */
        readonly SeverityValues: {
            /** @description At most 500, the most frequent first. */
            readonly items: readonly {
                /** @description The value. */
                readonly value: string;
                /** @description Alerts with this value. */
                readonly count: number;
                /** @description The level it counts as. */
                readonly level: components["schemas"]["SeverityLevel"];
                /** @description Whether there is a mapping for it. */
                readonly mapped: boolean;
            }[];
            /** @description Days that were counted. */
            readonly window_days: number;
        };
        /**
         * @description A sign-in with a password.
         * @example {
         *       "login": "ann",
         *       "password": "a long enough password",
         *       "totp_code": "123456"
         *     }
         */
        readonly SignIn: {
            /** @description Login, in any case. */
            readonly login: string;
            /** @description Password. */
            readonly password: string;
            /** @description A code of the authenticator. Left out, the session waits for one where it is needed. */
            readonly totp_code?: string;
            /** @description A recovery code in its place. With both, the code of the authenticator counts. */
            readonly recovery_code?: string;
        };
        /**
         * @description A way to sign in.
         *     - `local`: With a password.
         *     - `oidc`: Through the identity provider.
         * @enum {string}
         */
        readonly SignInMethod: "local" | "oidc";
        /** @description Whether requests are signed. */
        readonly SigningSecretStatus: {
            /** @description Whether there is a signing secret. */
            readonly set: boolean;
            /**
             * Format: date-time
             * @description When it was made; null without one.
             */
            readonly updated_at: string | null;
            /**
             * Format: date-time
             * @description Since when a previous secret signs, too; null when none does.
             */
            readonly previous_active_since: string | null;
        };
        /**
         * @description What became of a Snapshot.
         *     - `pending`: It waits to be processed.
         *     - `processed`: It was processed.
         *     - `failed`: It could not be read as a Snapshot.
         * @enum {string}
         */
        readonly SnapshotState: "pending" | "processed" | "failed";
        /**
         * @description When a Snooze ends: exactly one of `until`, `no_end` and `preset`.
         * @example {
         *       "until": "2030-01-01T00:00:00Z"
         *     }
         */
        readonly SnoozeInput: {
            /**
             * Format: date-time
             * @description A time in the future, at most 3,650 days away.
             */
            readonly until?: string | null;
            /**
             * @description `true`: without end.
             * @constant
             */
            readonly no_end?: true;
            /**
             * @description `tomorrow`: the start of the next workday; `week_start`: the start of the next week.
             * @enum {string|null}
             */
            readonly preset?: "tomorrow" | "week_start" | null;
            /** @description IANA time zone of the preset. Left out: yours, else that of the Organization. */
            readonly time_zone?: string | null;
        };
        /** @description When each Snooze preset would end now. */
        readonly SnoozePresets: {
            /** @description IANA time zone of the presets. */
            readonly time_zone: string;
            /** @description When a workday begins, `HH:MM`, from the Organization. */
            readonly workday_start: string;
            /** @description The day a week begins with, from the Organization. */
            readonly week_start: string;
            /** @description The presets. */
            readonly items: readonly {
                /**
                 * @description `tomorrow`: the start of the next workday; `week_start`: the start of the next week.
                 * @enum {string}
                 */
                readonly preset: "tomorrow" | "week_start";
                /**
                 * Format: date-time
                 * @description When the Snooze would end.
                 */
                readonly until: string;
            }[];
        };
        /** @description A body that a sender posted. */
        readonly StoredSnapshot: {
            readonly id: components["schemas"]["StoredSnapshotId"];
            readonly integration: components["schemas"]["EntityRef"];
            /**
             * Format: date-time
             * @description When it arrived.
             */
            readonly received_at: string;
            /**
             * Format: date-time
             * @description When it was processed or found unreadable; null while it waits.
             */
            readonly processed_at: string | null;
            /** @description Size of the body in bytes. */
            readonly size_bytes: number;
            /** @description Key of the group at the sender; null until understood. */
            readonly group_key: string | null;
            /** @description How many Alerts it lists; null until understood. */
            readonly alert_count: number | null;
            /** @description How many Alerts the sender cut off; null until understood. */
            readonly truncated_alerts: number | null;
            readonly state: components["schemas"]["SnapshotState"];
            /** @description Why it could not be processed; null otherwise. */
            readonly processing_error: string | null;
        };
        /** @description A body that a sender posted, with its content. */
        readonly StoredSnapshotBody: components["schemas"]["StoredSnapshot"] & {
            /** @description The body exactly as it was sent: text where it is UTF-8, else base64. */
            readonly body: string;
            /** @description The `Content-Type` it was sent with; null without one. */
            readonly content_type: string | null;
            /**
             * @description `utf8`: `body` is the text itself; `base64`: it is base64 of the bytes.
             * @enum {string}
             */
            readonly body_encoding: "utf8" | "base64";
        };
        /**
         * @description A PublicId: `SS…`.
         * @example SS9X2QF4H7NJC0
         */
        readonly StoredSnapshotId: string;
        /** @description Something that people should know now. */
        readonly SystemNotice: {
            /**
             * @description `recovering_after_downtime`: data may be incomplete; `no_replica_leading`: scheduled work stands still.
             * @enum {string}
             */
            readonly kind: "recovering_after_downtime" | "no_replica_leading";
            /**
             * @description Who sees it: `all` people, or `admins` only.
             * @enum {string}
             */
            readonly audience: "all" | "admins";
            /**
             * Format: date-time
             * @description Since when. With `no_replica_leading`: last sign of life of the Leader.
             */
            readonly since: string;
            /**
             * Format: date-time
             * @description Until when; null when that is open.
             */
            readonly until: string | null;
        };
        /** @description The state of the service at one moment. */
        readonly SystemStatus: {
            /** @description Version of the build that answers. */
            readonly version: string;
            /** @description Commit of the build that answers. */
            readonly commit: string;
            /** @description Those seen within 2 minutes, the Leader first. */
            readonly replicas: readonly {
                /** @description Id of the replica. */
                readonly id: string;
                /** @description Whether it is the Leader. */
                readonly leader: boolean;
                /** @description Ids of the master keys it holds. */
                readonly key_ids: readonly string[];
                /**
                 * Format: date-time
                 * @description Its last sign of life.
                 */
                readonly refreshed_at: string;
            }[];
            /** @description How replicas work together. */
            readonly coordination: {
                /**
                 * @description `single`: one process without Redis; `redis`: replicas meet in Redis.
                 * @enum {string}
                 */
                readonly mode: "single" | "redis";
                /** @description Whether the replica that answers reaches Redis; null without. */
                readonly redis_up: boolean | null;
                /**
                 * Format: date-time
                 * @description When all of this was read.
                 */
                readonly read_at: string;
                /** @description The same replicas. */
                readonly replicas: readonly {
                    /** @description Id of the replica. */
                    readonly id: string;
                    /** @description Its version. */
                    readonly version: string;
                    /**
                     * Format: date-time
                     * @description When it started.
                     */
                    readonly started_at: string;
                    /** @description Shards it owns. */
                    readonly shards: number;
                }[];
                /** @description The shards that actors are spread over. */
                readonly shards: {
                    /** @description All of them. */
                    readonly total: number;
                    /** @description Those that none of the replicas owns. */
                    readonly without_owner: number;
                    /** @description Those with a new owner within the last hour. */
                    readonly taken_last_hour: number;
                    /** @description By number of the shard: index of its owner in `coordination.replicas`; null without one. */
                    readonly owners: readonly (number | null)[];
                    /** @description Numbers of those with a new owner within the last hour. */
                    readonly moved: readonly number[];
                };
                /** @description What waits. */
                readonly queues: {
                    /** @description Snapshots that wait to be processed. */
                    readonly snapshots: components["schemas"]["QueueStatus"];
                    /** @description Messages between replicas. */
                    readonly inbox: components["schemas"]["QueueStatus"];
                };
            };
            /** @description The last downtime. */
            readonly recovery: {
                /** @description Whether data may still be incomplete because of it. */
                readonly active: boolean;
                /**
                 * Format: date-time
                 * @description When it began; null when there never was one.
                 */
                readonly period_from: string | null;
                /**
                 * Format: date-time
                 * @description When it ended; null when there never was one.
                 */
                readonly period_to: string | null;
                /**
                 * Format: date-time
                 * @description Until when data may be incomplete; null when there never was one.
                 */
                readonly until: string | null;
            };
            /** @description Destinations with deliveries that wait, the longest queue first. */
            readonly delivery_queues: readonly {
                readonly destination: components["schemas"]["EntityRef"];
                /** @description How many wait. */
                readonly queued: number;
            }[];
            /** @description Broken Destinations, the oldest first. */
            readonly broken_destinations: readonly {
                readonly destination: components["schemas"]["EntityRef"];
                /**
                 * Format: date-time
                 * @description Since when.
                 */
                readonly since: string;
                /** @description Why, masked. */
                readonly reason: string;
            }[];
            /** @description Destinations where every delivery fails and that are not Broken. */
            readonly failing_destinations: readonly {
                readonly destination: components["schemas"]["EntityRef"];
                /**
                 * Format: date-time
                 * @description Since when every delivery has failed.
                 */
                readonly since: string;
                /** @description What the last one failed with, masked. */
                readonly error: string;
                /** @description How many deliveries wait. */
                readonly waiting: number;
            }[];
            /** @description Integrations that need attention. */
            readonly integrations_attention: readonly {
                readonly integration: components["schemas"]["EntityRef"];
                /**
                 * @description `heartbeat_lost`: no signal; `snapshot_truncated`: Alerts cut off; `snapshot_failed`: no Snapshots.
                 * @enum {string}
                 */
                readonly issue: "heartbeat_lost" | "snapshot_truncated" | "snapshot_failed";
                /**
                 * Format: date-time
                 * @description Since when.
                 */
                readonly since: string;
            }[];
            /** @description Templates that fail. */
            readonly template_errors: readonly {
                /**
                 * @description Whether it is of a `route` or of a `destination`.
                 * @enum {string}
                 */
                readonly subject_kind: "route" | "destination";
                readonly subject: components["schemas"]["EntityRef"];
                /**
                 * @description `root_message`, `line`, `ack_timeout_notice`: of a Route; `webhook_request`: of a webhook.
                 * @enum {string}
                 */
                readonly template: "root_message" | "line" | "ack_timeout_notice" | "webhook_request";
                /**
                 * Format: date-time
                 * @description Since when it fails.
                 */
                readonly since: string;
                /** @description What is wrong. */
                readonly error: string;
            }[];
            /** @description Routes in a Storm, the oldest first. */
            readonly active_storms: readonly {
                readonly route: components["schemas"]["EntityRef"];
                /**
                 * Format: date-time
                 * @description Since when.
                 */
                readonly since: string;
                /** @description How many Alert Groups began since then. */
                readonly alert_group_count: number;
            }[];
            /** @description The signal to a watcher elsewhere. */
            readonly outgoing_heartbeat: {
                /** @description Whether one is sent. */
                readonly configured: boolean;
                /**
                 * Format: date-time
                 * @description When it was last tried; null before the first attempt.
                 */
                readonly last_attempt_at: string | null;
                /** @description Whether that succeeded; null before the first attempt. */
                readonly last_ok: boolean | null;
                /** @description What went wrong; null when nothing did. */
                readonly last_error: string | null;
            };
        };
        /**
         * @description What a template is for.
         *     - `root_message`: The message of an Alert Group.
         *     - `line`: The line of an Alert in a message.
         *     - `ack_timeout_notice`: What is said when nobody acknowledges in time.
         *     - `link_rule`: The address of a Link rule.
         *     - `webhook_request`: A request of a webhook in template mode.
         * @enum {string}
         */
        readonly TemplateKind: "root_message" | "line" | "ack_timeout_notice" | "link_rule" | "webhook_request";
        /** @description What a template gives. */
        readonly TemplatePreview: {
            /** @description Whether it renders. */
            readonly valid: boolean;
            /** @description What it gives, cut at 50,000 characters; null when it does not render. */
            readonly output: string | null;
            /** @description Whether the output was cut or shortened to fit. */
            readonly truncated: boolean;
            /** @description Format of the output; null for a Link rule or a webhook request. */
            readonly format: components["schemas"]["MessageFormat"] | null;
            /** @description The built-in template when `template` was empty; null otherwise. */
            readonly source: string | null;
            /**
             * @description What it was rendered on: `stored_snapshot`, `alert_group` or the built-in `example`; null: nothing.
             * @enum {string|null}
             */
            readonly sample: "stored_snapshot" | "alert_group" | "example" | null;
            /** @description The mistakes found; empty when it renders. */
            readonly errors: readonly {
                /**
                 * @description Always the template.
                 * @constant
                 */
                readonly pointer: "/template";
                /** @description What is wrong: `template_syntax` or `unknown_function`. */
                readonly code: string;
                /** @description What is wrong, as a sentence. */
                readonly detail: string;
                /** @description Line, from 1. */
                readonly line?: number;
                /** @description Column, from 1. */
                readonly column?: number;
            }[];
        };
        /**
         * @description A template to render, on at most one of `stored_snapshot_id` and `alert_group_id`.
         * @example {
         *       "kind": "line",
         *       "template": "{{ .Title }}",
         *       "format": "markdown",
         *       "route_id": "RT0000000000AA",
         *       "stored_snapshot_id": "SS0000000000AA",
         *       "alert_group_id": "AG0000000000AA",
         *       "language": "en",
         *       "length_limit": 100
         *     }
         */
        readonly TemplatePreviewInput: {
            readonly kind: components["schemas"]["TemplateKind"];
            /** @description The template. Empty for the built-in one. */
            readonly template: string;
            /** @description Format of the messenger; null or left out for `markdown`. */
            readonly format?: components["schemas"]["MessageFormat"] | null;
            /** @description Id of the Route it is for; null or left out for the Default route. */
            readonly route_id?: components["schemas"]["PublicId"] | null;
            /** @description Id of a Stored Snapshot to render it on. */
            readonly stored_snapshot_id?: components["schemas"]["PublicId"] | null;
            /** @description Id of an Alert Group to render it on. */
            readonly alert_group_id?: components["schemas"]["PublicId"] | null;
            /** @description Language of the texts; null or left out for that of the Route. */
            readonly language?: components["schemas"]["Language"] | null;
            /** @description Characters of a message at most; null or left out for no limit. */
            readonly length_limit?: number | null;
        };
        /** @description What happened to an Alert Group. `kind` says which of the optional fields are there. */
        readonly TimelineEntry: {
            /** @description Id of the entry; `NE` for a Note, `DE` for a delivery event, else `TE`. */
            readonly id: components["schemas"]["PublicId"];
            /**
             * Format: date-time
             * @description When it happened.
             */
            readonly at: string;
            readonly kind: components["schemas"]["TimelineKind"];
            /** @description Who did it. */
            readonly actor: {
                /**
                 * @description `user`: a person; `service_account`: a program; `system`: the service itself.
                 * @enum {string}
                 */
                readonly kind: "user" | "service_account" | "system";
                /** @description Its id. Absent for the service. */
                readonly id?: components["schemas"]["PublicId"];
                /** @description Its name. Absent for the service. */
                readonly name?: string;
                /** @description Login of a person. */
                readonly login?: string | null;
                /** @description Name of the API token that was used; null without one. */
                readonly token_name?: string | null;
                /** @description Absent for the service. */
                readonly transport?: components["schemas"]["Transport"];
                /** @description Why the service did it. Absent for people. */
                readonly reason?: string;
            };
            /** @description Name of the lifecycle event, as webhooks carry it. */
            readonly event?: string;
            /**
             * @description Whether the event rings (`loud`) or only edits messages (`quiet`).
             * @enum {string}
             */
            readonly loudness?: "loud" | "quiet";
            /** @description Whom the event mentions. */
            readonly mentions?: readonly string[];
            /** @description Its place among those of the Alert Group, from 0. */
            readonly sequence?: number;
            /** @description Status before; null for the first entry. */
            readonly from_status?: components["schemas"]["GroupStatus"] | null;
            /** @description Status after. */
            readonly to_status?: components["schemas"]["GroupStatus"];
            /** @description Why, as a word; null without a reason. */
            readonly reason?: string | null;
            /** @description Why, as a sentence in English; null without a reason. */
            readonly reason_text?: string | null;
            /** @description The Owner after; null without one. */
            readonly owner?: components["schemas"]["UserRef"] | null;
            /** @description The Owner before; null without one. */
            readonly previous_owner?: components["schemas"]["UserRef"] | null;
            /**
             * Format: date-time
             * @description When the Snooze ends; null without an end.
             */
            readonly snooze_until?: string | null;
            /** @description Fingerprints of the Alerts concerned. */
            readonly fingerprints?: readonly string[];
            /** @description Names of labels for which senders disagree. */
            readonly label_conflicts?: readonly string[];
            /** @description The label whose value replaced another Alert; null without one. */
            readonly replaced_label?: string | null;
            /** @description Level before; null when it did not change. */
            readonly from_severity_level?: components["schemas"]["SeverityLevel"] | null;
            /** @description Level after; null when it did not change. */
            readonly to_severity_level?: components["schemas"]["SeverityLevel"] | null;
            /** @description With the kind `notes`. */
            readonly note?: components["schemas"]["Note"];
            /** @description Which notice in a row it was, from 1; null for others. */
            readonly notice_number?: number | null;
            /** @description Notices that a downtime left out; null without any. */
            readonly missed_count?: number | null;
            /** @description What happened to it, with the kind `delivery`. */
            readonly delivery_event?: string;
            /** @description With the kind `delivery`. */
            readonly destination?: components["schemas"]["EntityRef"];
            /** @description What was answered, masked; null without an error. */
            readonly error?: string | null;
            /** @description What the service did, with the kind `system`. */
            readonly system_event?: string;
            /**
             * Format: date-time
             * @description Begin of the period concerned; null without one.
             */
            readonly period_from?: string | null;
            /**
             * Format: date-time
             * @description End of the period concerned; null without one.
             */
            readonly period_to?: string | null;
            /** @description More about it, in English; null without any. */
            readonly detail?: string | null;
        };
        /**
         * @description What a Timeline entry is about.
         *     - `status`: The status or the Owner changed.
         *     - `alerts`: Alerts joined, changed or ended.
         *     - `notes`: Somebody wrote a Note.
         *     - `timers`: A notice or a Reminder was due.
         *     - `delivery`: A message or a webhook was delivered, failed or changed.
         *     - `system`: The service did something by itself.
         * @enum {string}
         */
        readonly TimelineKind: "status" | "alerts" | "notes" | "timers" | "delivery" | "system";
        /**
         * @description A code of the authenticator.
         * @example {
         *       "code": "123456"
         *     }
         */
        readonly TotpCode: {
            /** @description Six digits. */
            readonly code: string;
        };
        /** @description What an authenticator needs. In this answer only. */
        readonly TotpEnrolment: {
            /** @description The secret in base32. */
            readonly secret: string;
            /**
             * Format: uri
             * @description The same as an `otpauth:` URI, for a QR code.
             */
            readonly otpauth_uri: string;
        };
        /**
         * @description A proof that it is you: at least one of the three.
         * @example {
         *       "password": "a long enough password",
         *       "totp_code": "123456",
         *       "recovery_code": "code"
         *     }
         */
        readonly TotpRemoval: {
            /** @description Your password. */
            readonly password?: string;
            /** @description A code of the authenticator. */
            readonly totp_code?: string;
            /** @description A recovery code. Case, dashes and spaces do not matter. */
            readonly recovery_code?: string;
        };
        /** @description Your second factor. */
        readonly TotpStatus: {
            /** @description Whether sign-in asks for a code. */
            readonly enrolled: boolean;
            /**
             * Format: date-time
             * @description Since when; null without a second factor.
             */
            readonly enrolled_at: string | null;
            /** @description Whether an enrolment waits for its first code. */
            readonly enrolment_pending: boolean;
            /** @description Recovery codes that were not used yet. */
            readonly recovery_codes_remaining: number;
        };
        /**
         * @description The way in which something was done.
         *     - `ui`: A web session.
         *     - `api`: An API token.
         *     - `cli`: An API token with `X-Tocsin-Client: cli`, or a command of the operator.
         *     - `chat_server`: A button or text in a chat server.
         *     - `channel_bot`: A button or text in a channel.
         *     - `bridge`: A button or text behind a bridge.
         *     - `system`: The service itself.
         * @enum {string}
         */
        readonly Transport: "ui" | "api" | "cli" | "chat_server" | "channel_bot" | "bridge" | "system";
        /** @description An HTTP request, with secrets masked. */
        readonly TrialRequest: {
            /** @description HTTP method. */
            readonly method: string;
            /** @description Address. */
            readonly url: string;
            /** @description Headers in order. */
            readonly headers: readonly {
                /** @description Name of the header. */
                readonly name: string;
                /** @description Value of the header, masked. */
                readonly value: string;
            }[];
            /** @description Body, masked; null without one. */
            readonly body: string | null;
        };
        /**
         * @description How updates of a bot arrive.
         *     - `long_polling`: Tocsin asks for updates.
         *     - `webhook`: The messenger posts them to `callback_url`.
         * @enum {string}
         */
        readonly UpdateMode: "long_polling" | "webhook";
        /** @description A person who can sign in, or could. */
        readonly User: {
            readonly id: components["schemas"]["UserId"];
            /** @description Name; `deleted-user-<id>` once deleted. */
            readonly name: string;
            /** @description Login; `deleted-user-<id>` once deleted. */
            readonly login: string;
            /** @description Email address; null without one. */
            readonly email: string | null;
            readonly role: components["schemas"]["Role"];
            /** @description Whether the identity provider decides the Role. */
            readonly role_locked: boolean;
            readonly source: components["schemas"]["UserSource"];
            /** @description Whether the provider can be asked about the user while away. */
            readonly oidc_offline_access: boolean;
            readonly sign_in_method: components["schemas"]["SignInMethod"];
            readonly status: components["schemas"]["UserStatus"];
            /** @description Whether there is a second factor. */
            readonly totp_enabled: boolean;
            /** @description IANA time zone; null for that of the Organization. */
            readonly time_zone: string | null;
            /** @description Language of the UI; null for that of the browser. */
            readonly language: components["schemas"]["Language"] | null;
            /**
             * Format: date-time
             * @description When the user last signed in; null when never.
             */
            readonly last_sign_in_at: string | null;
            /**
             * Format: date-time
             * @description When the account was created.
             */
            readonly created_at: string;
            readonly etag: components["schemas"]["ResourceVersion"];
        };
        /**
         * @description A PublicId: `SR…`.
         * @example SR9X2QF4H7NJC0
         */
        readonly UserId: string;
        /**
         * @description A user as it is saved.
         * @example {
         *       "name": "Ann",
         *       "email": "ann@example.org",
         *       "role": "viewer"
         *     }
         */
        readonly UserInput: {
            readonly name: components["schemas"]["ResourceName"];
            /** @description Email address, up to 254 characters; null, empty or left out for none. */
            readonly email?: string | null;
            readonly role: components["schemas"]["Role"];
        };
        /** @description A user. */
        readonly UserRef: {
            readonly id: components["schemas"]["UserId"];
            /** @description Name now; `deleted-user-<id>` once deleted. */
            readonly name: string;
            /** @description Login; `deleted-user-<id>` once deleted. */
            readonly login: string;
            /** @description Whether the user was deleted. */
            readonly deactivated: boolean;
        };
        /**
         * @description Where the account of a user comes from.
         *     - `local`: Created here.
         *     - `oidc`: Through the identity provider.
         *     - `bootstrap`: At the first start.
         * @enum {string}
         */
        readonly UserSource: "local" | "oidc" | "bootstrap";
        /**
         * @description The status of a user.
         *     - `active`: May sign in.
         *     - `disabled`: May not sign in.
         *     - `deleted`: Gone for good.
         * @enum {string}
         */
        readonly UserStatus: "active" | "disabled" | "deleted";
        /** @description A user and a link that sets a password. */
        readonly UserWithSetupLink: {
            readonly user: components["schemas"]["User"];
            /** @description Tocsin sends no email: hand it over. */
            readonly password_setup_link: components["schemas"]["PasswordSetupLink"];
        };
        /**
         * @description How a request went out.
         *     - `direct`: Without a proxy.
         *     - `proxy`: Through the proxy.
         * @enum {string}
         */
        readonly Via: "direct" | "proxy";
        /** @description Who did it. */
        readonly WebhookActor: {
            /**
             * @description A person.
             * @constant
             */
            readonly kind: "user";
            readonly id: components["schemas"]["PublicId"];
            /** @description Its name. */
            readonly name: string;
            /** @description Login of the person. */
            readonly login: string;
            /** @description Name of the API token that was used. */
            readonly token_name?: string;
            readonly transport: components["schemas"]["WebhookTransport"];
        } | {
            /**
             * @description A Service account.
             * @constant
             */
            readonly kind: "service_account";
            readonly id: components["schemas"]["PublicId"];
            /** @description Its name. */
            readonly name: string;
            /** @description Name of the API token that was used. */
            readonly token_name: string;
            readonly transport: components["schemas"]["WebhookTransport"];
        } | {
            /**
             * @description The service itself.
             * @constant
             */
            readonly kind: "system";
            /** @description Why the service did it. */
            readonly reason: string;
        };
        /** @description An Alert of the Alert Group. */
        readonly WebhookAlert: {
            /** @description Identity of the Alert: a hash of its labels. */
            readonly fingerprint: string;
            readonly status: components["schemas"]["AlertState"];
            /** @description Its labels. */
            readonly labels: components["schemas"]["Labels"];
            /** @description Its annotations. */
            readonly annotations: components["schemas"]["Labels"];
            /**
             * Format: date-time
             * @description When it began to fire.
             */
            readonly starts_at: string;
            /**
             * Format: date-time
             * @description When it ended; null while it fires.
             */
            readonly resolved_at: string | null;
            /** @description Why it ended; null while it fires. */
            readonly resolve_reason: components["schemas"]["ResolveReason"] | null;
            /**
             * Format: uri
             * @description The page of the rule that made it; null without one.
             */
            readonly generator_url: string | null;
        };
        /** @description The Alert Group after the event. */
        readonly WebhookAlertGroup: {
            /** @description The number that people know it by, `#N`. */
            readonly number: number;
            readonly id: components["schemas"]["AlertGroupId"];
            /** @description A line that names it. */
            readonly title: string;
            /** @description The summary of an Alert that fires, or that did last; null without one. */
            readonly summary: string | null;
            readonly status: components["schemas"]["GroupStatus"];
            /** @description Who acknowledged it. Absent without an Owner. */
            readonly owner?: {
                readonly id: components["schemas"]["PublicId"];
                /** @description Its name. */
                readonly name: string;
                /** @description Login of the Owner. */
                readonly login: string;
            };
            readonly route: components["schemas"]["EntityRef"];
            /** @description Whether it is Urgent. */
            readonly urgent: boolean;
            readonly severity_level: components["schemas"]["SeverityLevel"];
            /**
             * Format: date-time
             * @description When it was created: its first Alert was received.
             */
            readonly started_at: string;
            /**
             * Format: date-time
             * @description When it was resolved; null while open.
             */
            readonly resolved_at: string | null;
            /**
             * Format: date-time
             * @description When the Snooze ends; null without an end, and unless snoozed.
             */
            readonly snooze_until: string | null;
            /** @description How often it was opened again. */
            readonly reopen_count: number;
            /**
             * Format: uri
             * @description Its page in the UI.
             */
            readonly url: string;
        };
        /** @description A receiver of HTTP requests. */
        readonly WebhookDestination: components["schemas"]["DestinationBase"] & {
            /**
             * @description HTTP requests.
             * @constant
             */
            readonly type: "webhook";
            readonly mode: components["schemas"]["WebhookMode"];
            /** @description Settings of events mode; null when never set. */
            readonly events: components["schemas"]["WebhookEvents"] | null;
            /** @description Settings of template mode; null when never set. */
            readonly template: components["schemas"]["WebhookTemplate"] | null;
            readonly proxy: components["schemas"]["ProxyConfig"];
            readonly signing_secret_status: components["schemas"]["SigningSecretStatus"];
            /** @description The request that fails; null while none does. */
            readonly template_error: {
                /**
                 * @description The templates of a webhook.
                 * @constant
                 */
                readonly template: "webhook_request";
                /** @description Which request. */
                readonly request: string;
                /**
                 * Format: date-time
                 * @description Since when it fails.
                 */
                readonly since: string;
                /** @description What is wrong. */
                readonly error: string;
                /**
                 * @description Nothing is sent in its place.
                 * @constant
                 */
                readonly fallback: "not_sent";
            } | null;
            /** @description What is not as it should be. */
            readonly warnings: readonly {
                /**
                 * @description `previous_signing_secret_active`: retire it once receivers know the new one; `literal_credential`: a template seems to hold a credential, which belongs into a Secret.
                 * @enum {string}
                 */
                readonly kind: "previous_signing_secret_active" | "literal_credential";
                /** @description Where, as a JSON pointer; null when it is about no field. */
                readonly field: string | null;
                /** @description Line in a template; null otherwise. */
                readonly line: number | null;
                /**
                 * Format: date-time
                 * @description Since when, where that is known; null otherwise.
                 */
                readonly since: string | null;
            }[];
        };
        /** @description A webhook as it is saved. */
        readonly WebhookDestinationInput: {
            /**
             * @description HTTP requests.
             * @constant
             */
            readonly type: "webhook";
            readonly name: components["schemas"]["ResourceName"];
            readonly mentions?: components["schemas"]["MentionsInput"];
            readonly limiter?: components["schemas"]["LimiterInput"];
            readonly mode: components["schemas"]["WebhookMode"];
            /** @description Needed in events mode. Left out it stays. */
            readonly events?: components["schemas"]["WebhookEvents"] | null;
            /** @description Needed in template mode. Left out it stays. */
            readonly template?: components["schemas"]["WebhookTemplateInput"] | null;
            /** @description The proxy to the receiver. Left out it stays. */
            readonly proxy?: components["schemas"]["ProxyConfigInput"] | null;
        };
        /** @description A lifecycle event of an Alert Group. */
        readonly WebhookEvent: {
            /**
             * @description Version of the format. Fields and events may be added within it.
             * @constant
             */
            readonly version: 1;
            /** @description Name of the event, or `test`. Ignore names you do not know. */
            readonly event: string;
            /** @description Whether the event rings; else it is only news. */
            readonly notify: boolean;
            /** @description Whom to mention. */
            readonly mentions: readonly components["schemas"]["WebhookMention"][];
            /** @description Its place among those of the Alert Group. A higher one is newer. */
            readonly sequence: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            readonly occurred_at: string;
            readonly actor: components["schemas"]["WebhookActor"];
            /** @description The Alert Group after the event. */
            readonly alert_group: components["schemas"]["WebhookAlertGroup"];
            /** @description The Alerts of the Alert Group. */
            readonly alerts: readonly components["schemas"]["WebhookAlert"][];
            /**
             * @description `true` on a test. Absent otherwise.
             * @constant
             */
            readonly test?: true;
        };
        /** @description Where a webhook in events mode sends to. */
        readonly WebhookEvents: {
            /** @description Address, http or https. A template: it may be no URI as it stands. */
            readonly url: string;
            /** @description Headers that are sent besides those of the service. */
            readonly headers: readonly {
                /** @description Name of the header. */
                readonly name: string;
                /** @description Value of the header. */
                readonly value: string;
            }[];
        };
        /** @description Somebody to mention. */
        readonly WebhookMention: {
            /**
             * @description Everybody.
             * @constant
             */
            readonly type: "everyone";
        } | {
            /**
             * @description A group of the messenger.
             * @constant
             */
            readonly type: "group";
            /** @description Name of the group or the user. */
            readonly name: string;
        } | {
            /**
             * @description A user.
             * @constant
             */
            readonly type: "user";
            readonly id: components["schemas"]["PublicId"];
            /** @description Its name. */
            readonly name: string;
            /** @description Login of the user. */
            readonly login: string;
        };
        /**
         * @description What a webhook sends.
         *     - `events`: One signed request for each lifecycle event.
         *     - `template`: Requests as you write them.
         * @enum {string}
         */
        readonly WebhookMode: "events" | "template";
        /** @description A request as a template. */
        readonly WebhookRequest: {
            /** @description The template: a request line, headers, an empty line and a body. */
            readonly request: string;
        };
        /** @description A request as a template. */
        readonly WebhookRequestInput: {
            /** @description The template: a request line, headers, an empty line and a body. */
            readonly request: string;
            /** @description Values to take from the answer. With `create` and `open_thread` only. */
            readonly extract?: components["schemas"]["ExtractionRules"] | null;
        };
        /** @description The requests of a webhook in template mode. */
        readonly WebhookTemplate: {
            /** @description Sent when an Alert Group is first delivered. */
            readonly create: components["schemas"]["ExtractingWebhookRequest"];
            /** @description Sent when the Alert Group changed. */
            readonly update: components["schemas"]["WebhookRequest"];
            /** @description Sent before the first reply; null for none. */
            readonly open_thread: components["schemas"]["ExtractingWebhookRequest"] | null;
            /** @description Sent for what must ring after the first message; null for none. */
            readonly reply_in_thread: components["schemas"]["WebhookRequest"] | null;
        };
        /** @description Requests of template mode, as they are saved. One that is left out stays, null clears it where it may be absent. */
        readonly WebhookTemplateInput: {
            /** @description Sent when an Alert Group is first delivered. Needed. */
            readonly create?: components["schemas"]["WebhookRequestInput"] | null;
            /** @description Sent when the Alert Group changed. Needed. */
            readonly update?: components["schemas"]["WebhookRequestInput"] | null;
            /** @description Sent before the first reply; null for none. */
            readonly open_thread?: components["schemas"]["WebhookRequestInput"] | null;
            /** @description Sent for what must ring after the first message; null for none. */
            readonly reply_in_thread?: components["schemas"]["WebhookRequestInput"] | null;
        };
        /**
         * @description The way in which it was done.
         *     - `ui`: A web session.
         *     - `api`: An API token.
         *     - `cli`: An API token with `X-Tocsin-Client: cli`, or a command of the operator.
         *     - `chat_server`: A button or text in a chat server.
         *     - `channel_bot`: A button or text in a channel.
         *     - `bridge`: A button or text behind a bridge.
         * @enum {string}
         */
        readonly WebhookTransport: "ui" | "api" | "cli" | "chat_server" | "channel_bot" | "bridge";
        /**
         * @description A day: `monday`, `tuesday`, `wednesday`, `thursday`, `friday`, `saturday` or `sunday`.
         * @enum {string}
         */
        readonly Weekday: "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday";
        readonly ListMyAccountLinksAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["AccountLink"][];
        };
        readonly ListLinkableConnectionsAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["LinkableConnection"][];
        };
        readonly ListUserAccountLinksAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["AccountLink"][];
        };
        readonly GetActorCountsAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["ActorCount"][];
        };
        readonly ListActorsAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["ListedActor"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListAlertGroupsAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["AlertGroup"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListAlertGroupAlertsAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["Alert"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListTimelineAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["TimelineEntry"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListRelatedAlertGroupsAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["RelatedAlertGroup"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListNotesAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["Note"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListAuditLogAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["AuditEntry"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListConnectionsAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["Connection"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListConnectionChannelsAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["ConnectionChannel"][];
        };
        readonly ListAlertGroupDeliveriesAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["Delivery"][];
        };
        readonly ListDestinationsAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["Destination"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly CreateDestinationAnswer: {
            readonly destination: components["schemas"]["Destination"];
            /** @description Signs requests of a webhook in events mode, `whsec_…`. In this answer only; null for others. */
            readonly signing_secret: string | null;
        };
        readonly PreviewDestinationAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["DestinationPreview"][];
        };
        readonly ListDestinationSecretsAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["NamedSecret"][];
        };
        readonly GenerateSigningSecretAnswer: {
            /** @description The new signing secret, `whsec_…`. In this answer only. */
            readonly secret: string;
            readonly status: components["schemas"]["SigningSecretStatus"];
        };
        readonly ListIntegrationsAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["Integration"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListIntegrationTokensAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["IntegrationToken"][];
        };
        readonly ListAlertmanagerRoutesAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["AlertmanagerRoute"][];
        };
        readonly ListIntegrationAlertsAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["IntegrationAlert"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListLinkRulesAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["LinkRule"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListLookupTablesAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["LookupTable"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListPersonalAccessTokensAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["PersonalAccessToken"][];
        };
        readonly CreatePersonalAccessTokenAnswer: {
            readonly token: components["schemas"]["PersonalAccessToken"];
            /** @description The token itself. In this answer only. */
            readonly value: string;
        };
        readonly ListRequestRecordsAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["RequestRecord"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListRoutesAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["Route"][];
        };
        readonly ReorderRoutesAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["Route"][];
        };
        readonly ListRouteProfilesAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["RouteProfile"][];
        };
        readonly MoveOpenAlertGroupsAnswer: {
            /** @description How many Alert Groups said that they were moved. */
            readonly moved: number;
        };
        readonly ListRouteSuggestionsAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["RouteSuggestion"][];
        };
        readonly ListSavedViewsAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["SavedView"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListServiceAccountsAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["ServiceAccount"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListServiceAccountTokensAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["ApiToken"][];
        };
        readonly CreateServiceAccountTokenAnswer: {
            readonly token: components["schemas"]["ApiToken"];
            /** @description The token itself. In this answer only. */
            readonly value: string;
        };
        readonly ListStoredSnapshotsAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["StoredSnapshot"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListSystemNoticesAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["SystemNotice"][];
        };
        readonly ListUsersAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["User"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly GetSignInOptionsAnswer: {
            /** @description The way through an identity provider. */
            readonly oidc: {
                /** @description Whether it is open. */
                readonly enabled: boolean;
                /** @description Name for the button. Absent while it is not open. */
                readonly display_name?: string;
            };
        };
        readonly StartOidcLinkAnswer: {
            /**
             * Format: uri
             * @description Where to send the browser.
             */
            readonly authorization_url: string;
            /**
             * Format: date-time
             * @description Until when that can be done.
             */
            readonly expires_at: string;
        };
        readonly ListMySessionsAnswer: {
            /** @description All items. */
            readonly items: readonly components["schemas"]["SessionInfo"][];
        };
        readonly ListUserDirectoryAnswer: {
            /** @description The page. */
            readonly items: readonly components["schemas"]["DirectoryUser"][];
            readonly next_cursor: components["schemas"]["NextCursor"];
        };
        readonly ListRolesAnswer: {
            /** @description All items. */
            readonly items: readonly {
                readonly name: components["schemas"]["Role"];
                /** @description What it may do. */
                readonly permissions: readonly components["schemas"]["Permission"][];
            }[];
        };
        readonly GetOpenApiJsonAnswer: string;
        readonly ChatServerActionAnswer: Record<string, never>;
        readonly ChannelBotUpdateAnswer: Record<string, never>;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
