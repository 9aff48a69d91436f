import { until } from '../../../../support/until.js';
import type { Recorder } from '../recorder.js';
import { policy, rows } from './world.js';

const name = 'capitals';

/** Two deployments of a name: one of given messages with a gate, one of a session. */
export async function playDeployments(api: Recorder, session_id: string): Promise<void> {
  const first = await ready(api, {
    name,
    source: { messages: [{ role: 'system', content: 'Answer with the name of the city alone.' }], policy },
    gate: { dataset: { rows: rows.slice(0, 4) }, scorer: 'contains', min_reward: 0.5 },
  });
  const path = { deployment_id: first.id };
  for (const operation of ['getDeployment', 'getDeploymentStatus']) await api.call(operation, { path });
  await api.call('listDeployments');
  await api.call('listRetirements', { query: { all: 'true' } });
  await api.call('getHealth');
  await api.call('listDeploymentEvents', { path, accept: 'application/json' });
  await api.call('listDeploymentEvents', { path });
  await api.call('updateDeployment', { path, body: { tags: ['production'], notes: 'Checked by hand.' } });
  const log = { sample_rate: 1, keep_days: 14, redact: ['email', { name: 'order', pattern: 'ORD-[0-9]{8}' }] };
  const limits = { total: { spend_usd_per_day: 50 }, per_tag: { requests_per_minute: 600, calls_in_flight: 10 } };
  const fallbacks = { models: [policy], retries: 1, first_byte_timeout: 10 };
  const scorer = { type: 'rubric', criteria: 'Is it the name of a city alone?', model: 'local', provider: 'local' };
  const judge = { scorer, sample_rate: 0.001, max_cost_usd_per_day: 2 };
  await api.call('updateDeployment', { path, body: { log, fallbacks, limits, judge } });
  const messages = [{ role: 'user', content: rows[2]!.input }];
  for (const operation of ['callDeployment', 'callDeploymentV1']) {
    await api.call(operation, { path: { deployment_id: name }, body: { messages } });
    await api.call(operation, { path: { deployment_id: name }, body: { messages, stream: true } });
  }
  const [input, system] = [rows[2]!.input, 'Answer.'];
  const forms = { Response: { input, instructions: system }, Message: { max_tokens: 100, system, messages } };
  for (const [form, body] of Object.entries(forms)) {
    const asked = { model: name, ...body };
    for (const stream of [{}, { stream: true }]) {
      for (const operation of [`createDeployment${form}`, `createDeployment${form}V1`])
        await api.call(operation, { path: { deployment_id: name }, body: { ...body, ...stream } });
      await api.call(`create${form}`, { body: { ...asked, ...stream } });
    }
  }
  const { id: answer_id } = await api.call<{ id: string }>('createChatCompletion', { body: { model: name, messages } });
  const report = { answer_id, reward: 0, comment: 'The city alone.', corrected: 'Paris' };
  await api.call('reportFeedback', { path: { deployment_id: name }, body: report });
  await api.call('listFeedback', { path });
  await api.call('createChatCompletion', { body: { model: name, messages, stream: true } });
  await api.call('listModels');
  await api.call('getModel', { path: { model: name } });
  await api.call('getDeploymentStats', { path });
  await api.call('getDeploymentHistory', { path });
  await api.call('listDeploymentFailures', { path });
  await api.call('searchDeploymentRequests', { path: { deployment_id: name }, query: { feedback: 'corrected' } });
  await api.call('exportDeploymentRequests', { path: { deployment_id: name }, query: { feedback: 'corrected' } });
  const corrected = { feedback: 'corrected', limit: 1_000 };
  for (const _status of [201, 200])
    await api.call('createDatasetOfRequests', { path: { deployment_id: name }, body: corrected });
  await api.call('getDeploymentRequest', { path: { deployment_id: name, answer_id } });
  await api.call('deleteDeploymentRequest', { path: { deployment_id: name, answer_id } });

  const second = await ready(api, { name, source: { session_id } });
  await api.call('getSnapshot', { path: { snapshot_id: first.snapshot_id } });
  await api.call('compareSnapshots', { path: { snapshot_id: first.snapshot_id, other: second.snapshot_id } });
  await playRegistry(api, first.id);
  await playRollout(api, second.id);
  await api.call('rollBackDeployment', { path: { deployment_id: second.id }, body: { reason: 'Answers too long.' } });
  await api.call('deleteDeployment', { path });
}

/** A branch under a name of its own: its labels, its prompt, and what has changed. */
async function playRegistry(api: Recorder, parent: string): Promise<void> {
  const branch = 'capitals-short';
  await ready(api, { name: branch, source: { deployment: parent }, reason: 'Answers of one word.' });
  const path = { deployment_id: branch };
  const label = { ...path, label: 'staging' };
  await api.call('setDeploymentLabel', { path: label, body: { version: 1, reason: 'A trial of the short prompt.' } });
  await api.call('listDeploymentLabels', { path });
  await api.call('getDeploymentPrompt', { path, query: { label: 'staging' } });
  await api.call('removeDeploymentLabel', { path: label });
  await api.call('listDeploymentChanges', { path });
}

/** A version that is rolled out, and comes back by hand. */
async function playRollout(api: Recorder, live: string): Promise<void> {
  const rollout = {
    steps: [1, 10, 50, 100],
    hold: '30m',
    guard: { error_rate: { max_increase: 0.02 }, p95_latency: { max_ratio: 1.5 } },
    sticky_by: 'user',
  };
  const body = { name, source: { deployment: live }, rollout, reason: 'The same prompt, on trial.' };
  const { id } = await api.call<{ id: string }>('createDeployment', { body });
  const path = { deployment_id: id };
  await until('it is rolled out', async () => {
    const { status } = await api.peek<{ status: string }>('getDeployment', { path });
    return status === 'rolling_out';
  });
  await api.call('getRollout', { path });
  await api.call('decideRollout', { path, body: { action: 'pause', reason: 'Until Monday.' } });
  await api.call('decideRollout', { path, body: { action: 'roll_back', reason: 'Answers too long.' } });
}

async function ready(api: Recorder, body: object): Promise<{ id: string; snapshot_id: string }> {
  const { id } = await api.call<{ id: string }>('createDeployment', { body });
  return until('the deployment is ready', async () => {
    const path = { deployment_id: id };
    const read = await api.peek<{ id: string; status: string; snapshot_id: string }>('getDeployment', { path });
    return read.status === 'ready' && read;
  });
}
