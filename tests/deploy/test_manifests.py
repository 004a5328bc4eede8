"""The image, compose.yaml and Kubernetes manifests are valid, run as nobody, and say what the code says."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from compose_spec import PyCompose

from mnestic.starter.http.gate import HEALTH, READY

DEPLOY = Path(__file__).parents[2] / "deploy"
USER = 10001
OWN_RESOURCES = {"keda.sh/v1alpha1"}  # of KEDA, whose schemas are not those of Kubernetes


def documents() -> list[Any]:
    files = sorted((DEPLOY / "kubernetes").iterdir())
    return [one for file in files for one in yaml.safe_load_all(file.read_text(encoding="utf-8"))]


MANIFESTS = documents()
PODS = [one for one in MANIFESTS if one["kind"] in {"Deployment", "Job"}]
named = pytest.mark.parametrize(
    "manifest", MANIFESTS, ids=lambda one: f"{one['kind']}-{one['metadata']['name']}"
)
of_each_pod = pytest.mark.parametrize("manifest", PODS, ids=lambda one: one["metadata"]["name"])


def compose() -> dict[str, Any]:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_the_image_passes_its_linter() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run(
        [hadolint, DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False, timeout=60
    )

    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_runs_as_nobody() -> None:
    lines = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if line.startswith("USER")] == [f"USER {USER}"]


def test_compose_is_as_specified() -> None:
    specification = PyCompose.from_yaml(yaml.safe_dump(compose()))

    specification.validate()

    services = {"postgres", "temporal", "temporal-ui", "migrate", "worker", "maintenance", "api"}
    assert services <= set(specification.service_names())


def test_the_migration_has_the_address_of_temporal() -> None:
    of_compose = compose()["services"]["migrate"]
    (job,) = (one for one in MANIFESTS if one["kind"] == "Job")
    (container,) = job["spec"]["template"]["spec"]["containers"]

    assert of_compose["environment"]["TEMPORAL_ADDRESS"]
    assert of_compose["depends_on"]["temporal-namespace"] == {
        "condition": "service_completed_successfully"
    }
    assert "TEMPORAL_ADDRESS" in {one["name"] for one in container["env"]}


@pytest.mark.parametrize("name", ["migrate", "worker", "maintenance", "api"])
def test_our_services_write_nothing_to_their_image(name: str) -> None:
    service = compose()["services"][name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]


def test_compose_has_no_password() -> None:
    services = compose()["services"].values()
    values = [
        str(value)
        for service in services
        for name, value in service.get("environment", {}).items()
        if name.endswith(("PASSWORD", "PWD", "_URL", "_KEY"))
    ]

    assert len(values) > 5
    assert [value for value in values if "${" not in value] == []


@named
def test_a_manifest_is_as_kubernetes_specifies(manifest: dict[str, Any]) -> None:
    if manifest["apiVersion"] in OWN_RESOURCES:
        target = manifest["spec"]["scaleTargetRef"]["name"]
        assert target in {one["metadata"]["name"] for one in PODS}
        return
    version = kubernetes_validate.latest_version()
    assert kubernetes_validate.validate(manifest, version, strict=True)


def test_all_parts_are_of_one_version_and_temporal_is_the_one_that_is_tested() -> None:
    pins = (DEPLOY.parent / "starter" / "embedded" / "temporal" / "go.mod").read_text("utf-8")
    temporal = re.search(r"go\.temporal\.io/server v(\S+)", pins)
    ui = re.search(r"github\.com/temporalio/ui-server/v2 v(\S+)", pins)
    services = compose()["services"]
    images = {name: one["image"].partition(":") for name, one in services.items()}
    images |= {
        pod["metadata"]["name"]: pod["spec"]["template"]["spec"]["containers"][0][
            "image"
        ].rpartition(":")
        for pod in PODS
    }

    tags = {
        kind: {tag for image, _, tag in images.values() if re.search(pattern, image)}
        for kind, pattern in (
            ("ours", r"mnestic$"),
            ("temporal", "/(server|admin-tools)$"),
            ("ui", "/ui$"),
        )
    }
    assert temporal
    assert ui
    assert tags == {"ours": {version("mnestic")}, "temporal": {temporal[1]}, "ui": {ui[1]}}


def test_the_api_gets_requests_while_storage_answers() -> None:
    (api,) = (one for one in PODS if one["metadata"]["name"] == "mnestic-api")
    (container,) = api["spec"]["template"]["spec"]["containers"]

    assert container["readinessProbe"]["httpGet"]["path"] == READY
    assert container["livenessProbe"]["httpGet"]["path"] == HEALTH
    assert READY in str(compose()["services"]["api"]["healthcheck"])


def test_what_serves_is_spread_and_outlives_a_drain() -> None:
    drained = {
        one["metadata"]["name"]: one["spec"]
        for one in MANIFESTS
        if one["kind"] == "PodDisruptionBudget"
    }
    for pod in PODS:
        name, template = pod["metadata"]["name"], pod["spec"].get("template", {})
        if name in {"mnestic-api", "mnestic-worker"}:
            (spread,) = template["spec"]["topologySpreadConstraints"]
            assert spread["labelSelector"] == drained[name]["selector"] == pod["spec"]["selector"]
    assert drained["mnestic-api"]["minAvailable"] == 1
    assert drained["mnestic-worker"]["maxUnavailable"] == 1  # there may be one alone
    scaled = {
        one["spec"]["scaleTargetRef"]["name"] for one in MANIFESTS if one["kind"] == "ScaledObject"
    }
    assert [
        one["metadata"]["name"]
        for one in PODS
        if "replicas" in one["spec"] and one["metadata"]["name"] in scaled
    ] == []


def test_backups_are_on_a_volume_of_their_own() -> None:
    maintenance = compose()["services"]["maintenance"]
    (pod,) = (
        one["spec"]["template"]["spec"]
        for one in PODS
        if one["metadata"]["name"] == "mnestic-maintenance"
    )
    (container,) = pod["containers"]
    (folder,) = (
        one["value"] for one in container["env"] if one["name"] == "MNESTIC_BACKUP_DIRECTORY"
    )
    (mount,) = (one["name"] for one in container["volumeMounts"] if one["mountPath"] == folder)
    (volume,) = (one for one in pod["volumes"] if one["name"] == mount)
    claims = {
        one["metadata"]["name"] for one in MANIFESTS if one["kind"] == "PersistentVolumeClaim"
    }

    assert volume["persistentVolumeClaim"]["claimName"] in claims
    assert (
        f"backups:{maintenance['environment']['MNESTIC_BACKUP_DIRECTORY']}"
        in maintenance["volumes"]
    )
    assert "backups" in compose()["volumes"]


def test_traces_may_leave_by_otlp_over_http() -> None:
    ports = [
        port["port"]
        for one in MANIFESTS
        if one["kind"] == "NetworkPolicy"
        for rule in one["spec"].get("egress", ())
        for port in rule["ports"]
    ]

    assert 4318 in ports


@of_each_pod
def test_a_pod_may_do_no_more_than_it_must(manifest: dict[str, Any]) -> None:
    pod = manifest["spec"]["template"]["spec"]
    (container,) = pod["containers"]

    assert pod["securityContext"]["runAsUser"] == USER
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_jobs_and_maintenance_have_workers_of_their_own() -> None:
    commands = [one.get("command") for one in compose()["services"].values()]
    commands += [pod["spec"]["template"]["spec"]["containers"][0].get("args") for pod in PODS]

    for serves in ("jobs", "maintenance"):
        assert commands.count(["worker", "--serves", serves]) == 2
