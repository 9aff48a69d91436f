import { expect, test } from '@jest/globals';
import { byService, deleteDeployment } from '../../src/kinds/deployment/store/names.js';
import { built, deploy, readDeployment, saying } from '../support/deployments-over-http.js';
import { answers } from '../support/fakes/container.js';
import { gate, type Gate } from '../support/gate.js';
import { deployments, eventsOf, readJob, type Evaluation } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { promptOf, startRulesWorld, type RulesWorld } from '../support/worlds/rules.js';
import { until } from '../support/until.js';
import { startClient } from '../harness/clients/client.js';
import { SeededChoice } from '../harness/seeded-choice.js';
import { workerOfFile } from '../harness/worlds/processes.js';
import { workflowIs } from '../support/workflow-is.js';

// A deployment deleted before a worker sees it never serves its name. After kill -9 of a
// deployment's worker at each critical moment, the deployment is ready once, no recorded call is
// repeated, and every request for the name gets an answer: from the previous deployment until the
// new one is live. The moments: while the source is frozen, with the candidate half evaluated,
// between the gate's evaluations, and before promotion. Database locks and a silent container hold
// the worker there.

const on = workerOfFile(startRulesWorld);

const seeds = range(0, 6);
const [old, better] = [0.5, 0.9];
const worthOf = (text: string) => Number(/worth ([\d.]+)/.exec(text)![1]);

/** Holds these rollouts until the gate opens. */
let held: { is(worth: number, seed: number): boolean; gate: Gate } | null = null;
const hold = (is: (worth: number, seed: number) => boolean) => (held = { is, gate: gate() });
const release = () => {
  held?.gate.open();
  held = null;
};
/** Calls of each seed and prompt, and those in flight at a kill. */
const key = (entry: RulesWorld['container']['ledger'][number]) => `${worthOf(promptOf(entry))}: ${entry.seed}`;
const inFlight = () => on.world.container.ledger.filter(({ out }) => out === null).map(key);
const lost: string[] = [];

const noteLost = () => lost.push(...inFlight());

/** kill -9 of the worker once it waits for what this statement locks; then starts a new one. */
async function killAt(lock: [string, ...unknown[]], begin: () => unknown): Promise<void> {
  await on.worker.killAt(lock, begin, (waiting) => {
    if (waiting > 0) noteLost();
    return waiting > 0;
  });
  await on.worker.start();
}

test('never freezes or publishes a deployment that is deleted before a worker starts', async () => {
  const ids = [
    await deploy(on.service, { name: 'unwanted', source: saying('Temporal hears of it') }),
    await deploy(on.service, { name: 'unwanted', source: saying('Temporal does not hear of it') }),
  ];
  const { status } = await fetch(`${on.service.url}${deployments}/${ids[0]}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${on.service.apiKey}` },
  });
  expect(status).toBe(204);
  // As the route does when Temporal is unreachable.
  await on.service.db.org('default', (tx) => deleteDeployment(tx, ids[1]!, byService));
  await on.worker.start();
  for (const id of ids) {
    await workflowIs(on.service.workflow(id), 'CANCELLED', 60);
    expect(await on.service.query('select status from jobs where id = $1', [id])).toEqual([{ status: 'cancelled' }]);
  }
  for (const table of ['snapshots', 'deployment_names']) expect(await on.service.query(`table ${table}`)).toEqual([]);
}, 120_000);

test('becomes ready once, and the previous deployment answers until then', async () => {
  if (!on.worker.isUp) await on.worker.start();
  on.world.container.behave((call) => {
    const worth = worthOf(promptOf(call));
    const reward = answers.reward(worth + call.seed / 100);
    return held?.is(worth, call.seed) ? answers.held(held.gate.opened, reward) : reward;
  });
  on.world.model.reply(({ body }) => ({ text: body.messages[0]!.content }));
  const name = 'cards';
  const first = await built(on.service, await deploy(on.service, { name, source: saying(`worth ${old}`) }));
  expect(first).toMatchObject({ status: 'ready', live: true });

  const client = startClient(on.service, name, new SeededChoice(1));
  const answered = client.asks;

  try {
    let id = '';
    const row = async () =>
      (
        await on.service.query<{ snapshot: string | null }>(
          'select snapshot_id as snapshot from deployments where id = $1',
          [id],
        )
      )[0]!;
    hold((worth, seed) => worth === better && seed >= 3);
    await killAt(['lock table snapshots in share mode'], async () => {
      const asked = { container_url: on.world.container.url, seeds, min_improvement: 0.1, max_concurrent: 2 };
      id = await deploy(on.service, { name, source: saying(`worth ${better}`), gate: asked });
    });
    expect(await row()).toEqual({ snapshot: null });

    await until(
      'half of the seeds are recorded, and two are under way',
      async () => {
        const done = await on.service.query(`select 1 from rollouts where status = 'succeeded'`);
        return done.length === 3 && inFlight().length === 2;
      },
      90,
    );
    noteLost();
    await on.worker.kill();
    release();
    hold((worth, seed) => worth === better && seed === 5);
    await on.worker.start();

    await until('the last seed is under way', () => inFlight().includes(`${better}: 5`), 90);
    await killAt(['select 1 from job_controls where job_id = $1 for update', id], release);
    const [candidate] = await on.service.query<{ id: string; status: string }>(
      `select id, status from jobs where kind = 'evaluation'`,
    );
    expect(candidate!.status).toBe('completed');

    hold((worth, seed) => worth === old && seed === 5);
    await until('the last seed of what is live is under way', () => inFlight().includes(`${old}: 5`), 90);
    await killAt(['lock table deployment_names in share mode'], release);
    expect(await readDeployment(on.service, id)).toMatchObject({ status: 'building', gate: { passed: true } });

    const deployment = await built(on.service, id, 90);
    expect(deployment).toMatchObject({ status: 'ready', live: true, previous_id: first.id, error: null });
    await until('the client has it', () => answered.at(-1)!.snapshotId === deployment.snapshot_id);
    await client.stop();

    expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([200]));
    const turns = answered.filter((answer, at) => answer.snapshotId !== answered[at - 1]?.snapshotId);
    expect(turns.map(({ snapshotId }) => snapshotId)).toEqual([first.snapshot_id, deployment.snapshot_id]);
    for (const { text, snapshotId } of answered)
      expect(worthOf(text!)).toBe(snapshotId === first.snapshot_id ? old : better);

    expect(await on.service.query('select name, deployment_id as id from deployment_names')).toEqual([{ name, id }]);
    const snapshots = await on.service.query<{ id: string }>('select id from snapshots order by created_at');
    expect(snapshots.map((snapshot) => snapshot.id)).toEqual([first.snapshot_id, deployment.snapshot_id]);
    const all = await on.service.query<{ id: string }>(`select id from jobs where kind = 'evaluation' order by id`);
    const { candidate: ours, incumbent } = deployment.gate!;
    // They differ on all seeds, so both run again on all.
    expect(all).toHaveLength(4);
    expect(all.slice(0, 2).map((evaluation) => evaluation.id)).toEqual([ours!.job_id, incumbent!.job_id]);
    for (const evaluation of all)
      expect(await readJob<Evaluation>(on.service, evaluation.id)).toMatchObject({
        status: 'completed',
        progress: { completed: 6, total: 6 },
      });
    for (const jobId of [id, ...all.map((evaluation) => evaluation.id)]) {
      const events = await eventsOf(on.service, jobId);
      expect(events.map(({ seq }) => seq)).toEqual(range(1, events.length));
    }
    // Two calls each, except those in flight at the worker's death.
    expect(lost).toHaveLength(2);
    const once = [old, better].flatMap((worth) => seeds.map((seed) => `${worth}: ${seed}`));
    expect(on.world.container.ledger.map(key).sort()).toEqual([...once, ...once, ...lost].sort());
    await workflowIs(on.service.temporal.workflow.getHandle(deployment.workflow_id), 'COMPLETED');
  } finally {
    release();
    await client.stop();
  }
}, 400_000);
