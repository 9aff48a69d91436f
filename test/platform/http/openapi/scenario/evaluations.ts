import { created, estimated, ended, traceIn } from './jobs.js';
import type { Recorder } from '../recorder.js';
import { until } from '../../../../support/until.js';
import { heldSplit, policy, rows, type Capitals } from './world.js';

interface Ids {
  /** A completed evaluation. */
  completed: string;
  /** A paused one. */
  paused: string;
}

/** An evaluation of a container, and commands to a clone that is held. */
export async function playEvaluations(api: Recorder, { container }: Capitals): Promise<Ids> {
  const body = {
    name: 'capitals, test',
    container_url: container.url,
    app_id: 'capitals',
    env_name: 'test',
    seeds: '0-3',
    policy,
    max_concurrent: 1,
  };
  const completed = await created(api, 'createEvaluation', body);
  await estimated(api, 'createEvaluation', body);
  const path = { job_id: completed };
  await ended(api, 'getEvaluation', path);
  await api.call('getEvaluationResults', { path, query: { include: 'outputs' } });
  await playRows(api);
  await api.call('getEvaluationReport', { path });
  await api.call('listEvaluations');
  for (const operation of ['listEvaluationEvents', 'streamEvaluationEvents']) {
    await api.call(operation, { path, accept: 'application/json' });
    await api.call(operation, { path, accept: 'text/event-stream' });
  }
  const trace_id = await traceIn(api, 'downloadEvaluationTraces', path);
  await api.call('getEvaluationTrace', { path: { ...path, trace_id } });

  await estimated(api, 'cloneEvaluation', { env_name: heldSplit }, path);
  const clone = async () => {
    const before = container.ledger.length;
    const id = await created(api, 'cloneEvaluation', { env_name: heldSplit }, path);
    return { id, rollout: (await until('a rollout is held', () => container.ledger[before]))!.rolloutId };
  };
  const { id: cancelled } = await clone();
  await api.call('cancelEvaluation', { path: { job_id: cancelled }, body: {} });
  await api.call('deleteEvaluation', { path: { job_id: cancelled } });
  const { id: paused, rollout } = await clone();
  const held = { job_id: paused };
  await api.call('pauseEvaluation', { path: held, body: {} });
  await api.call('resumeEvaluation', { path: held, body: {} });
  await api.call('updateEvaluation', { path: held, body: { state: 'paused' } });
  await api.call('reportEvaluationReward', { path: held, body: { rollout_id: rollout, reward: 1 } });
  return { completed, paused };
}

/** The rows of an evaluation on a data set. */
async function playRows(api: Recorder): Promise<void> {
  const candidate = { messages: [{ role: 'system', content: 'Answer the question.' }] };
  const body = { dataset: { rows }, scorer: 'contains', policy, candidate };
  await api.call('tryPrompt', { body: { ...body, policy: { provider: 'local', model: 'local' }, rows: 2 } });
  const { job_id } = await api.peek<{ job_id: string }>('createEvaluation', { body });
  const path = { job_id };
  await until(
    'it has ended',
    async () => (await api.peek<{ status: string }>('getEvaluation', { path })).status === 'completed',
  );
  await api.call('getEvaluationRowsSummary', { path });
  await api.call('getEvaluationRequest', { path });
  for (let n = 0; n < 2; n += 1) await api.call('createDatasetOfEvaluationRows', { path, body: { q: rows[1]!.input } });
}
