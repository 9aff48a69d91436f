import { afterEach, expect, test } from '@jest/globals';
import type { Service } from '../../../src/service/main.js';
import { gate } from '../../support/gate.js';
import { startGraphWorld } from '../../support/worlds/graph.js';
import { command, createGraphJob, ended, pathOf, type GraphJob } from '../../support/jobs-over-http.js';
import { startTree } from '../../support/servers/tree.js';
import { startTestService } from '../../support/service.js';
import { until } from '../../support/until.js';

// Without a worker and without Temporal, reads of a graph job still answer; only commands wait.

let end: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of end.splice(0).reverse()) await step();
  end = [];
}, 60_000);

test('reads of a graph job answer the same without a worker and without Temporal', async () => {
  const world = await startGraphWorld();
  end.push(() => world.close());
  const service = await startTestService(world.env, { serve: true, work: false });
  end.push(() => service.stop());
  const worker: Service = await service.another({ serve: false, work: true });

  const over = await createGraphJob(service, world.job(12, { rollout_budget: 80 }));
  await ended<GraphJob>(service, over);
  const { opened, open } = gate();
  world.model.reply(async (request) => {
    if (request.body.model === 'writer') await opened;
    return world.answer(request);
  });
  const paused = await createGraphJob(service, world.job(12, { rollout_budget: 80 }));
  await until('a proposal is asked for', () => world.model.requests.at(-1)?.body.model === 'writer');
  await command(service, paused, 'pause');
  open();
  await until('no activity is pending', async () => {
    const { raw } = await service.workflow(paused).describe();
    return (raw.pendingActivities ?? []).length === 0;
  });
  const pending = await createGraphJob(service, world.job(12, { rollout_budget: 80, auto_start: false }));

  const traceOf = async (id: string) =>
    (await service.query<{ id: string }>('select id from rollouts where job_id = $1 limit 1', [id]))[0]?.id;
  const paths = ['/api/graphgen/jobs?limit=10'];
  for (const id of [over, paused, pending]) {
    const trace = await traceOf(id);
    for (const what of ['', '/graph.txt', '/events?since_seq=0', '/traces', ...(trace ? [`/traces/${trace}`] : [])])
      paths.push(pathOf(id) + what);
  }
  paths.push(`${pathOf(over)}/events/stream`);
  const read = (url: string) =>
    Promise.all(
      paths.map(async (path) => {
        const answer = await fetch(url + path, { headers: { authorization: `Bearer ${service.apiKey}` } });
        const body = Buffer.from(await answer.arrayBuffer()).toString('latin1');
        return [path, answer.status, body.replace(/"request_id":"[^"]+"/, '')];
      }),
    );
  const before = await read(service.url);
  const statusOf = (path: string) => before.find(([known]) => known === path)![1];
  expect(paths.map(statusOf)).toEqual(paths.map((path) => (path === `${pathOf(pending)}/graph.txt` ? 409 : 200)));

  await worker.stop();
  expect(await read(service.url)).toEqual(before);
  // A process of its own, so that its pending connections end with it.
  const env = Object.entries(service.config.env).flatMap(([name, value]) => (value ? [[name, value]] : []));
  const settings = Object.fromEntries(env) as Record<string, string>;
  const blind = await startTree({ ...settings, PORT: '0', TEMPORAL_ADDRESS: '127.0.0.1:1' }, { command: 'serve' });
  end.push(() => blind.kill());
  expect(await read(blind.url)).toEqual(before);

  const post = async (id: string, what: string) => {
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const answer = await fetch(`${blind.url}${pathOf(id)}/${what}`, { method: 'POST', headers });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  // A command on a job without a workflow needs only the row; other commands need the workflow.
  expect(await post(over, 'pause')).toMatchObject({ status: 409, body: { current_status: 'completed' } });
  expect(await post(paused, 'resume')).toMatchObject({ status: 503, body: { code: 'temporal_unavailable' } });
  expect(await post(pending, 'start')).toMatchObject({ status: 200, body: { status: 'running' } });
  // Its start is recorded: a returning worker continues it.
  await service.another({ serve: false, work: true });
  expect(await ended<GraphJob>(service, pending)).toMatchObject({ status: 'completed' });
}, 120_000);
