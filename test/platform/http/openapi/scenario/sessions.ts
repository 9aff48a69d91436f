import { created, estimated, ended, running, traceIn } from './jobs.js';
import type { Recorder } from '../recorder.js';
import { heldModel, policy, rows } from './world.js';

export const prompt = [
  { role: 'system', content: 'Answer the question.' },
  { role: 'user', content: '{{input}}' },
];

/** A session on rows with a policy. */
export const sessionBody = (policy: { provider: string; model: string }) => ({
  name: 'capitals',
  policy_optimization: {
    algorithm: 'gepa',
    dataset: { rows },
    scorer: 'contains',
    initial_prompt: { messages: prompt },
    policy,
    gepa: { population_size: 2, generations: 2, train_seeds: '0-3', evaluation: { seeds: '4-7' } },
    budget: { max_rollouts: 40 },
    max_concurrent: 1,
  },
});

/** A session on rows, from its creation to its results; returns its id. */
export async function playSession(api: Recorder): Promise<string> {
  const body = sessionBody(policy);
  const id = await created(api, 'createSession', body);
  await estimated(api, 'createSession', body);
  const path = { session_id: id };
  await ended(api, 'getSession', path);
  for (const operation of ['getSessionResults', 'getSessionHistory', 'getSessionPrompt', 'getSessionPareto'])
    await api.call(operation, { path });
  await api.call('listSessions');
  const { data } = await api.call<{ data: { candidate_id: string }[] }>('listSessionCandidates', { path });
  const [baseline, winner] = [data[0]!.candidate_id, data.at(-1)!.candidate_id];
  for (const operation of ['getSessionCandidate', 'listSessionSeedEvals'])
    await api.call(operation, { path: { ...path, candidate_id: winner } });
  const ofWinner = { ...path, candidate_id: winner };
  const { edits } = await api.call<{ edits: { kind: string; component: string; to: number }[] }>('getSessionChanges', {
    path: ofWinner,
  });
  const { component, to } = edits.find(({ kind }) => kind === 'added' || kind === 'changed')!;
  for (const query of [{ dry_run: 'true' }, {}])
    await api.call('createSessionAblation', { path: ofWinner, query, body: { component, sentence: to } });
  await api.call('listSessionRows', { path, query: { limit: '2' } });
  await api.call('getSessionRowsSummary', { path });
  await api.call('getSessionRequest', { path });
  await api.call('getSessionReport', { path });
  await playReviews(api, id);
  for (let n = 0; n < 2; n += 1) await api.call('createDatasetOfSessionRows', { path, body: { q: rows[0]!.input } });
  await api.call('compareCandidates', { query: { a: baseline, b: winner } });
  await api.call('compareMany', { query: { ids: `${baseline},${winner}` } });
  await api.call('listComparedRows', { query: { ids: `${baseline},${winner}`, limit: '2' } });
  const levers = await api.call<{ data: { lever_id: string }[] }>('listSessionLevers', { path });
  const lever = { ...path, prompt_lever_id: levers.data[0]!.lever_id };
  await api.call('listSessionLeverVersions', { path: lever });
  await api.call('getSessionLeverVersion', { path: { ...lever, version: '1' } });
  await api.call('listSessionSensorFrames', { path });
  await api.call('listSessionEvents', { path, accept: 'application/json' });
  await api.call('listSessionEvents', { path });
  await api.call('getSessionTrace', { path: { ...path, trace_id: await traceIn(api, 'downloadSessionTraces', path) } });

  await estimated(api, 'cloneSession', { policy_optimization: { budget: { max_rollouts: 14 } } }, path);
  const clone = await created(api, 'cloneSession', { policy_optimization: { budget: { max_rollouts: 14 } } }, path);
  await ended(api, 'getSession', { session_id: clone });
  await api.call('extendSession', { path: { session_id: clone }, body: { max_rollouts: 60 } });
  await ended(api, 'getSession', { session_id: clone });
  await api.call('deleteSession', { path: { session_id: clone } });
  return id;
}

/** A review of a row of the session's queue, which is taken back. */
async function playReviews(api: Recorder, job_id: string): Promise<void> {
  const { data } = await api.call<{ data: { subject_id: string }[] }>('getReviewQueue', { query: { job_id } });
  const path = { job_id, subject_id: data[0]!.subject_id };
  await api.call('putReview', { path, body: { verdict: 'wrong', note: 'The state is right, too.' } });
  await api.call('listReviews', { query: { job_id } });
  await api.call('deleteReview', { path });
}

/** Calls of a session on live traffic, and their reward. */
export async function playTraffic(api: Recorder): Promise<void> {
  const session_id = await created(api, 'createSession', {
    policy_optimization: {
      algorithm: 'gepa',
      rollouts: 'caller',
      policy,
      initial_prompt: { messages: prompt.slice(0, 1) },
      gepa: { population_size: 2, generations: 2, evaluation: { seeds: '0-3' } },
    },
  });
  const path = { session_id };
  const body = { messages: [{ role: 'user', content: rows[0]!.input }] };
  const rollout = { ...path, correlation_id: 'conversation-1' };
  for (const [operation, ids] of [
    ['callCandidate', path],
    ['callCandidateForRollout', rollout],
    ['callCandidateForRolloutV1', rollout],
  ] as const) {
    await api.call(operation, { path: ids, body });
    await api.call(operation, { path: ids, body: { ...body, stream: true } });
  }
  const forms = {
    createCandidateResponse: { input: rows[0]!.input, instructions: 'Answer.' },
    createCandidateMessage: { max_tokens: 100, system: 'Answer.', messages: body.messages },
  };
  for (const [operation, asked] of Object.entries(forms)) {
    for (const stream of [{}, { stream: true }]) {
      await api.call(operation, { path, body: { ...asked, ...stream } });
      for (const suffix of ['ForRollout', 'ForRolloutV1'])
        await api.call(`${operation}${suffix}`, { path: rollout, body: { ...asked, ...stream } });
    }
  }
  await api.call('reportSessionReward', {
    path,
    body: { correlation_id: 'conversation-1', reward_info: { outcome_reward: 1, details: { feedback: 'Correct.' } } },
  });
}

/** Commands to clones of a session that are held; returns the id of a paused one. */
export async function playCommands(api: Recorder, original: string): Promise<string> {
  const clone = async () => {
    const changes = { policy_optimization: { policy: { model: heldModel }, preflight: false } };
    const id = await created(api, 'cloneSession', changes, { session_id: original });
    await running(api, 'getSession', { session_id: id });
    return { session_id: id };
  };
  const path = await clone();
  await api.call('hintSession', { path, body: { hint: 'Answers are names of cities.' } });
  const messages = [{ role: 'system', content: 'Answer with the name of the city.' }];
  await api.call('suggestSessionCandidate', { path, body: { messages } });
  await api.call('pauseSession', { path, body: {} });
  await api.call('resumeSession', { path, body: {} });
  await api.call('updateSession', { path, body: { state: 'paused' } });
  await api.call('cancelSession', { path: await clone(), body: {} });
  return path.session_id;
}

/** The commands of sessions alone to a paused one, when no worker answers. */
export const pendingOfSession = (api: Recorder, session_id: string) => {
  const path = { session_id };
  const messages = [{ role: 'system', content: 'Name the city.' }];
  return [
    api.call('hintSession', { path, body: { hint: null } }),
    api.call('suggestSessionCandidate', { path, body: { messages } }),
  ];
};
