import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Service } from '../../src/service/main.js';
import { answers, startFakeContainer, type FakeContainer } from '../support/fakes/container.js';
import { gate, type Gate } from '../support/gate.js';
import { createEvaluation, ended } from '../support/jobs-over-http.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// A new build beside running jobs: an older build ends its own jobs, and later jobs start on the
// newer build, without a command to Temporal. Without build ids workers are interchangeable.

let service: TestService;
let container: FakeContainer;
let hold: Gate;
const started: Service[] = [];

beforeAll(async () => {
  service = await startTestService({}, { serve: true, work: false });
  container = await startFakeContainer({
    behave: () => async (call, response) => {
      if (call.seed > 0) await hold.opened;
      await answers.reward(1)(call, response);
    },
  });
}, 60_000);
afterAll(async () => {
  await service.stop();
  await container.close();
}, 60_000);

const holding = () => (hold = gate());
async function work(workerBuildId: string | null): Promise<Service> {
  const worker = await service.another({ serve: false, work: true }, { workerBuildId });
  started.push(worker);
  return worker;
}
/** An evaluation that holds all seeds but the first until a release. */
const begin = () =>
  createEvaluation(service, {
    container_url: container.url,
    seeds: [0, 1, 2, 3],
    policy: { provider: 'local', model: 'local' },
    max_concurrent: 2,
  });
const arrived = (id: string) =>
  until(`a rollout of ${id} waits`, () =>
    container.ledger.some((entry) => entry.rolloutId.includes(id.slice(4)) && entry.seed > 0),
  );
const completed = async (id: string) => expect(await ended(service, id)).toMatchObject({ status: 'completed' });
/** The builds that took a job's decisions, in order, each once; null: a worker without one. */
async function builds(id: string): Promise<(string | null)[]> {
  const { events } = await service.temporal.workflow.getHandle(`evaluation-${id}`).fetchHistory();
  const all = (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: done }) =>
    done ? [done.deploymentVersion?.buildId ?? null] : [],
  );
  return all.filter((build, i) => build !== all[i - 1]);
}
/** The worker deployment, which has the name of the task queue. */
const deployment = () =>
  service.db.worker(
    async (tx) => (await tx.query<{ name: string }>('select task_queue as name from installation'))[0]!.name,
  );
const newJobsGoTo = (build: string) =>
  until(`new jobs go to ${build}`, async () => {
    const { namespace } = service.temporal.options;
    const { workerDeploymentInfo: info } = await service.temporal.workflowService.describeWorkerDeployment({
      namespace,
      deploymentName: await deployment(),
    });
    return info?.routingConfig?.currentDeploymentVersion?.buildId === build;
  });
const sendNewJobsTo = async (buildId: string) =>
  service.temporal.workflowService.setWorkerDeploymentCurrentVersion({
    namespace: service.temporal.options.namespace,
    deploymentName: await deployment(),
    buildId,
    allowNoPollers: true,
  });
const workerCheck = async () => {
  const { checks } = (await (
    await fetch(`${service.url}/readyz`, { headers: { 'x-api-key': service.apiKey } })
  ).json()) as {
    checks: { worker: { ok: boolean; detail: string | null } };
  };
  return checks.worker;
};

test('jobs stay with their first build; later jobs start on the newer build; then the older build ends', async () => {
  const { namespace } = service.temporal.options;
  // An operator's first use of builds: this job belongs to no build and moves to the first build.
  holding();
  const plain = await work(null);
  const unbound = await begin();
  await arrived(unbound);
  const first = await work('one');
  await newJobsGoTo('one');
  hold.open();
  await plain.stop();
  await completed(unbound);

  holding();
  const old = await begin();
  await arrived(old);
  await work('two');
  await newJobsGoTo('two');
  const young = await begin();
  await arrived(young);
  // A restarted worker of an older build takes no new jobs.
  await first.stop();
  const again = await work('one');
  hold.open();
  await Promise.all([completed(old), completed(young)]);
  const later = await begin();
  await completed(later);
  expect(await builds(later)).toEqual(['two']);
  expect(await builds(old)).toEqual(['one']);
  expect(await builds(young)).toEqual(['two']);

  // A job left behind by an older build is moved by command.
  holding();
  await sendNewJobsTo('one');
  const left = await begin();
  await arrived(left);
  await sendNewJobsTo('two');
  await again.stop();
  hold.open();
  await service.temporal.workflowService.updateWorkflowExecutionOptions({
    namespace,
    workflowExecution: { workflowId: `evaluation-${left}` },
    workflowExecutionOptions: { versioningOverride: { autoUpgrade: true } },
    updateMask: { paths: ['versioning_override'] },
  });
  await completed(left);
  expect(await builds(left)).toEqual(['one', 'two']);
  const last = await begin();
  await completed(last);
  expect(await builds(last)).toEqual(['two']);
  expect(await workerCheck()).toMatchObject({ ok: true });

  // A build without a worker is reported with the remedy; Temporal lists a worker for a minute
  // after its last poll.
  await sendNewJobsTo('one');
  const { detail } = await until(
    'the build is named',
    async () => {
      const check = await workerCheck();
      return check.ok ? null : check;
    },
    120,
  );
  expect(detail).toBe(
    `new jobs go to workers of build one, and none polls. Start one, or run: temporal worker deployment set-current-version --namespace ${namespace} --deployment-name ${await deployment()} --build-id two`,
  );
}, 240_000);
