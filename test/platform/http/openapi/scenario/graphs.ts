import { created, estimated, ended, running, traceIn } from './jobs.js';
import type { Recorder } from '../recorder.js';
import { heldModel, policy, rows } from './world.js';

interface Ids {
  /** A completed graph job. */
  completed: string;
  /** A paused one. */
  paused: string;
}

/** A graph job on the rows with a policy. */
export const graphBody = ({ provider, model }: { provider: string; model: string }) => ({
  name: 'capitals, graph',
  dataset: {
    initial_prompt: 'Answer the question.',
    tasks: rows.map(({ input }, index) => ({ id: `task-${index}`, input: { question: input } })),
    gold_outputs: rows.map(({ expected }, index) => ({ task_id: `task-${index}`, output: expected })),
    verifier_config: { mode: 'contains' },
  },
  policy_model: model,
  policy_provider: provider,
  rollout_budget: 20,
  max_concurrent: 1,
});

/** A graph job from its creation to its download, and commands to a clone that is held. */
export async function playGraphs(api: Recorder): Promise<Ids> {
  const body = { ...graphBody(policy), auto_start: false };
  const completed = await created(api, 'createGraphJob', body);
  await estimated(api, 'createGraphJob', body);
  const path = { job_id: completed };
  await api.call('startGraphJob', { path, body: {} });
  await ended(api, 'getGraphJob', path);
  for (const operation of ['listGraphJobs', 'getGraphText', 'downloadGraph', 'getGraphJobPareto'])
    await api.call(operation, operation === 'listGraphJobs' ? {} : { path });
  const { data } = await api.call<{ data: { candidate_id: string }[] }>('listGraphJobCandidates', { path });
  for (const operation of ['getGraphJobCandidate', 'getGraphJobChanges', 'listGraphJobSeedEvals'])
    await api.call(operation, { path: { ...path, candidate_id: data.at(-1)!.candidate_id } });
  await api.call('listGraphJobRows', { path, query: { limit: '2' } });
  await api.call('getGraphJobRowsSummary', { path });
  await api.call('getGraphJobRequest', { path });
  await api.call('getGraphJobReport', { path });
  for (let n = 0; n < 2; n += 1) await api.call('createDatasetOfGraphJobRows', { path, body: { q: rows[0]!.input } });
  for (const operation of ['listGraphJobEvents', 'streamGraphJobEvents']) {
    await api.call(operation, { path, accept: 'application/json' });
    await api.call(operation, { path, accept: 'text/event-stream' });
  }
  const trace_id = await traceIn(api, 'downloadGraphJobTraces', path);
  await api.call('getGraphJobTrace', { path: { ...path, trace_id } });

  await estimated(api, 'cloneGraphJob', { rng_seed: 2 }, path);
  const cancelled = await created(api, 'cloneGraphJob', { rng_seed: 2 }, path);
  await api.call('cancelGraphJob', { path: { job_id: cancelled }, body: {} });
  await api.call('deleteGraphJob', { path: { job_id: cancelled } });
  const paused = await created(
    api,
    'cloneGraphJob',
    { policy_model: heldModel, preflight: false, auto_start: true },
    path,
  );
  const held = { path: { job_id: paused } };
  await running(api, 'getGraphJob', held.path);
  await api.call('pauseGraphJob', { ...held, body: {} });
  await api.call('resumeGraphJob', { ...held, body: {} });
  const rollout_id = `rol_${paused.slice('grf_'.length)}_0`;
  await api.call('reportGraphJobReward', { ...held, body: { rollout_id, reward: 1 } });
  await api.call('updateGraphJob', { ...held, body: { state: 'paused' } });
  return { completed, paused };
}
