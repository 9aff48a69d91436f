import { expect, test } from '@jest/globals';
import { askedOf, checkedUp, checkUp, checkups, type Checkup } from '../../support/checkups-over-http.js';
import { built, deploy, readDeployment, saying } from '../../support/deployments-over-http.js';
import { deployments } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { agingModels as models, proposer, startAgingWorld } from '../../support/worlds/aging.js';
import { rowsBaseline } from '../../support/worlds/rows.js';

const on = serviceOfFile(startAgingWorld);

const improve = async () => {
  const body = {
    traffic: { limit: 40, expected: 'corrected_or_answer' },
    scorer: 'exact',
    proposer,
    deploy: { require_approval: true },
  };
  const { job_id: id } = await checkUp(on.service, 'careful', body, 'improve');
  const done = await checkedUp(on.service, id, 120);
  expect(done).toMatchObject({
    rows: null,
    traffic: { reward: 0, rows: 20 },
    improvement_verdict: 'better',
    approval: 'pending',
    deployment_id: null,
  });
  return id;
};
const decided = async (id: string, body: object) => {
  const response = await fetch(`${on.service.url}${checkups}/${id}/approval`, {
    method: 'POST',
    headers: { authorization: `Bearer ${on.service.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return [response.status, (await response.json()) as Checkup & { code: string }] as const;
};

test('an improvement that a person approves is deployed once, rejected, or expires with what is live', async () => {
  const source = saying(rowsBaseline, models.live);
  await built(on.service, await deploy(on.service, { name: 'careful', source, log: {} }));
  await askedOf(on.service, 'careful', 40);
  on.world.age();
  const [rejected, approved, expired] = [await improve(), await improve(), await improve()];
  expect(await decided(rejected, { approve: false })).toMatchObject([200, { approval: 'rejected' }]);
  expect(await decided(rejected, { approve: true })).toMatchObject([409, { code: 'not_awaiting_approval' }]);

  const [status, first] = await decided(approved, { approve: true, reason: 'looks right' });
  expect([status, first.approval]).toEqual([200, 'approved']);
  const again = await decided(approved, { approve: true });
  expect(again).toMatchObject([200, { approval: 'approved', deployment_id: first.deployment_id }]);
  await until('it is rolled out', async () => {
    const { status, reason } = await readDeployment(on.service, first.deployment_id!);
    return status === 'rolling_out' && reason === 'looks right';
  });

  expect(await decided(expired, { approve: true })).toMatchObject([409, { code: 'canary_in_progress' }]);
  await on.service.api.call('POST', `${deployments}/careful/rollout`, { action: 'promote' });
  await built(on.service, first.deployment_id!);
  expect(await decided(expired, { approve: true })).toMatchObject([409, { code: 'approval_expired' }]);
  expect(await decided(expired, { approve: true })).toMatchObject([409, { code: 'not_awaiting_approval' }]);
}, 300_000);
