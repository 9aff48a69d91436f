import { expect, test } from '@jest/globals';
import { deploymentActivities } from '../../../../activities/deployments/build.js';
import type { ActivityDeps } from '../../../../activities/deps.js';
import { activityOf } from '../../../support/job-activity.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { deploymentsOfFile, question, saying, type TestDeployments } from '../../../kinds/deployment/routes/support.js';
import { finish } from '../../../platform/http/support.js';

const it = deploymentsOfFile({ held: true });
const ref = (jobId: string) => ({ orgId: 'default', jobId });
const inTx: TestDeployments['http']['db']['org'] = (org, work) => it.http.db.org(org, work);
const create = async (name: string, gate?: object) =>
  (await it.create({ name, source: saying('x'), ...(gate && { gate }) })).body.id as string;

async function refused(name: string, headers: Record<string, string> = {}) {
  const answer = await it.ask(name, question, headers);
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  const [retry, after] = [answer.headers.get('x-should-retry'), answer.headers.get('retry-after')];
  return { status: answer.status, code: error.code, message: error.message, retry, after };
}

test('a deployment without a gate asks to be called again soon, by id and by name', async () => {
  const id = await create('soon');
  const expected = { status: 409, code: 'not_ready', retry: 'true', after: '1' };
  for (const name of [id, 'soon']) {
    const { message, ...rest } = await refused(name);
    expect(rest).toEqual(expected);
    expect(message).toContain(`Deployment ${id} of soon is pending`);
  }
  const theirs = await refused('soon', { authorization: `Bearer ${it.http.otherKey}` });
  expect([theirs.status, theirs.code]).toEqual([404, 'not_found']);
});

test('one that its gate evaluates says how many seeds are left, and of which evaluation', async () => {
  const { snapshotSource, openGateEvaluation } = deploymentActivities({
    db: it.http.db,
    secretKey: it.http.deps.secretKey,
  } as ActivityDeps);
  const id = await create('judged', { container_url: 'http://127.0.0.1:9', seeds: '0-29', min_improvement: 0 });
  const { candidate }: Awaited<ReturnType<typeof snapshotSource>> = await activityOf(id).run(snapshotSource, ref(id));
  const evaluations = [0, 1].map((n) => candidate!.jobId.slice(0, -4) + `000${n}`);
  const open = (jobId: string) =>
    openGateEvaluation({ ...ref(jobId), evaluation: candidate!.evaluation, workflowId: `evaluation-${jobId}` });
  const outcomes = (jobId: string, succeeded: number, failed: number) =>
    inTx('default', (tx) =>
      tx.query('update job_controls set rollouts_succeeded = $2, rollouts_failed = $3 where job_id = $1', [
        jobId,
        succeeded,
        failed,
      ]),
    );
  const left = async () => (await it.status(id)).body.gate.evaluation;

  await open(evaluations[0]!);
  const first = await refused('judged');
  expect(first).toMatchObject({ status: 409, code: 'not_ready', retry: 'true', after: '5' });
  expect(first.message).toMatch(new RegExp(`building.* candidate.*30 of 30 seeds.*${evaluations[0]}`));
  await outcomes(evaluations[0]!, 20, 3);
  expect((await refused(id)).message).toContain(' 7 of 30 seeds');
  expect(await left()).toEqual({ job_id: evaluations[0], status: 'running', seeds_left: 7 });

  await inTx('default', (tx) => finish(tx, ref(evaluations[0]!), 'completed'));
  expect(await refused(id)).toMatchObject({ status: 409, code: 'not_ready', retry: 'true', after: '1' });
  await open(evaluations[1]!);
  await outcomes(evaluations[1]!, 30, 0);
  expect((await refused(id)).message).toMatch(new RegExp(` compare.* 0 of 30 seeds.*${evaluations[1]}`));

  await inTx('default', (tx) => tx.query(`update jobs set status = 'paused' where id = $1`, [evaluations[1]]));
  const paused = await refused(id);
  expect(paused).toMatchObject({ status: 409, code: 'not_ready', retry: 'false', after: null });
  expect(paused.message).toContain('paused');
});

test('a failed one is not asked again, and gives its name to nothing', async () => {
  const id = await create('broken');
  await inTx('default', (tx) => finish(tx, ref(id), 'failed'));
  const byId = await refused(id);
  expect(byId).toMatchObject({ status: 409, code: 'deployment_failed', retry: 'false', after: null });
  expect(byId.message).toContain('The container is gone.');
  expect(await refused('broken')).toMatchObject({ status: 404, code: 'not_found', after: null });
  const next = await create('broken');
  expect((await refused('broken')).message).toContain(next);
});

test('a name that serves a deployment goes on while the next is built; a deleted one is unknown', async () => {
  it.held = false;
  const live = await it.deploy('served');
  it.held = true;
  const next = await create('served');
  const answer = await it.ask('served', question);
  expect([answer.status, answer.headers.get('x-ratchet-deployment-id')]).toEqual([200, live]);
  expect((await refused(next)).code).toBe('not_ready');
  const alone = await create('deleted');
  expect((await it.http.call('DELETE', `${base}/${alone}`)).status).toBe(204);
  for (const name of ['deleted', alone]) expect((await refused(name)).status).toBe(404);
});
