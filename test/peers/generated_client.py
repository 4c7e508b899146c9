"""What a program in Python does with the generated client; its only dependencies are those of the client."""
import datetime
import json
import sys
import time

import tocsin

APP, INGEST, TOKEN, INTEGRATION_TOKEN = sys.argv[1:]
PATIENCE_SECONDS = 30


def client(host, token):
    configuration = tocsin.Configuration(host=host)
    configuration.access_token = token
    return tocsin.ApiClient(configuration)


person = client(APP, TOKEN)
routes = tocsin.RoutesApi(person)
alert_groups = tocsin.AlertGroupsApi(person)

profile = routes.list_route_profiles().items[0]
route = routes.create_route(
    tocsin.RouteInput(
        name="Queues",
        matchers=[tocsin.Matcher(label="team", op="=", value="queues")],
        urgent=profile.urgent,
        group_key=profile.group_key,
        destination_ids=[],
        policy=profile.policy,
    )
)

tocsin.IngestionApi(client(INGEST, INTEGRATION_TOKEN)).ingest_snapshot(
    tocsin.AlertmanagerSnapshot(
        version="4",
        group_key='{}:{alertname="QueueFull"}',
        status="firing",
        receiver="tocsin",
        alerts=[
            tocsin.AlertmanagerAlert(
                status="firing",
                labels={"alertname": "QueueFull", "team": "queues", "severity": "critical"},
                annotations={},
                starts_at=datetime.datetime.now(datetime.timezone.utc),
            )
        ],
    )
)

deadline = time.monotonic() + PATIENCE_SECONDS
found = []
while not found and time.monotonic() < deadline:
    found = alert_groups.list_alert_groups(route=[route.id], status=["firing", "snoozed"], limit=5).items
    time.sleep(0.2)
answer = alert_groups.acknowledge_alert_group(found[0].id)

try:
    routes.create_route({"name": ""})
    refusal = None
except tocsin.ApiException as error:
    refusal = {"status": error.status, "title": json.loads(error.body)["title"]}

print(
    json.dumps(
        {
            "route": route.name,
            "outcome": answer.outcome,
            "status": answer.alert_group.status,
            "owner": answer.alert_group.owner.login,
            "started": isinstance(answer.alert_group.started_at, datetime.datetime),
            "refusal": refusal,
        }
    )
)
