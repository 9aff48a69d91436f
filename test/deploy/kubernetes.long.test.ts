import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { IProbe } from 'kubernetes-models/v1';
import { firstFree } from '../../src/platform/embedded/ports.js';
import { Api } from '../support/api.js';
import { startFakeContainer, type FakeContainer } from '../support/fakes/container.js';
import { startCluster, type Cluster } from '../support/servers/cluster.js';
import { until } from '../support/until.js';
import { containerOf, podOf, variablesOf, workloads } from '../support/manifests.js';

// The processes of deploy/kubernetes with the variables, user, command and probes of the manifests.
// Addresses, secrets and port numbers are this machine's; there is no kubelet and no image here.

const program = join(import.meta.dirname, '../../dist/src/cli/ratchet.js');
const [migrate, api, worker] = workloads as [(typeof workloads)[0], (typeof workloads)[0], (typeof workloads)[0]];
const isRoot = process.getuid?.() === 0;
const processes: ChildProcess[] = [];
let cluster: Cluster;
let box: FakeContainer;
/** Values of the variables that are not the manifests'. */
let here: Record<string, string>;
let apiUrl: string;

beforeAll(async () => {
  cluster = await startCluster();
  box = await startFakeContainer();
  const port = await firstFree();
  apiUrl = `http://127.0.0.1:${port}`;
  const { DATABASE_URL: owner, ...settings } = cluster.env;
  const { host, pathname } = new URL(owner!);
  here = {
    ...settings,
    DATABASE_URL: owner!,
    RATCHET_APP_DATABASE_URL: `postgres://${host}${pathname}`,
    HOST: '127.0.0.1',
    PORT: String(port),
    RATCHET_PUBLIC_URL: apiUrl,
    RATCHET_METRICS_HOST: '127.0.0.1',
  };
}, 60_000);
afterAll(async () => {
  for (const child of processes.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await box.close();
  await cluster.close();
}, 60_000);

/** Starts a container as a kubelet does: with its variables and no others, as its user. */
function start(workload: typeof migrate, own: Record<string, string> = {}): ChildProcess {
  const named = Object.entries(variablesOf(workload)).map(([name, value]) => [name, here[name] ?? value]);
  const { runAsUser: uid, runAsGroup: gid } = podOf(workload).securityContext!;
  const child = spawn(process.execPath, [program, ...containerOf(workload).args!], {
    cwd: '/',
    env: { ...(Object.fromEntries(named) as Record<string, string>), ...own },
    stdio: ['ignore', 'ignore', 'inherit'],
    ...(isRoot && { uid: uid!, gid: gid! }),
  });
  processes.push(child);
  return child;
}

interface Pod {
  process: ChildProcess;
  live(): Promise<boolean>;
  ready(): Promise<boolean>;
}

async function startPod(workload: typeof migrate): Promise<Pod> {
  const port = await firstFree();
  const { livenessProbe, readinessProbe } = containerOf(workload);
  const probe = ({ httpGet }: IProbe) => fetch(`http://127.0.0.1:${port}${httpGet!.path}`).then(({ ok }) => ok);
  const process = start(workload, { RATCHET_METRICS_PORT: String(port) });
  return { process, live: () => probe(livenessProbe!), ready: () => probe(readinessProbe!) };
}

test('migrates, then API and workers run a job, and each ends at SIGTERM', async () => {
  // An API that comes before the migration ends, and its pod starts again.
  const [early] = (await once(start(api), 'exit')) as [number];
  expect(early).toBe(1);
  expect(await once(start(migrate), 'exit')).toEqual([0, null]);

  const server = await startPod(api);
  await until('the API lives', () => server.live());
  // Without any worker: those of a Deployment start side by side.
  await until('the API is ready', () => server.ready());
  const runner = await startPod(worker);
  await until('the worker lives', () => runner.live());
  await until('the worker is ready', () => runner.ready());

  const client = new Api(apiUrl, cluster.apiKey);
  const policy = { provider: 'local', model: 'local' };
  const job = { container_url: box.url, app_id: 'a', env_name: 'e', seeds: [0, 1, 2], policy };
  const { job_id: id } = await client.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', job);
  await until('the job has completed', async () => {
    const { status } = await client.call<{ status: string }>('GET', `/api/v1/offline/jobs/${id}`);
    return status === 'completed';
  });

  for (const { process: child } of [runner, server]) {
    child.kill('SIGTERM');
    await until('it has ended', () => child.exitCode !== null || child.signalCode !== null, 5);
    expect([child.exitCode, child.signalCode]).toEqual([0, null]);
    if (child === runner.process) expect(await server.ready()).toBe(true);
  }
}, 180_000);
