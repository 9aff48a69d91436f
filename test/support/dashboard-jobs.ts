import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { twoStepJob } from '../../examples/two-steps/tasks.js';
import { sampleOf } from '../../src/cli/task/sample.js';
import { jobKinds } from '../../src/core/jobs/kinds.js';
import { checkedUp, checkUp } from './checkups-over-http.js';
import { built, deploy } from './deployments-over-http.js';
import { createGraphJob, createSession, ended, resultsOf } from './jobs-over-http.js';
import { migrate, migrated } from './migrations-over-http.js';
import { schedule } from './schedules-over-http.js';
import type { TestService } from './service.js';

const lines = readFileSync(join(import.meta.dirname, '../../examples/intents/data.jsonl'), 'utf8');
const sample = sampleOf(lines);

const localTask = {
  dataset: {
    rows: sample.rows
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
    input: 'text',
    expected: 'label',
  },
  scorer: 'exact',
  policy: { provider: 'local', model: 'local' },
};
const localPrompt = { messages: [{ role: 'system', content: sample.prompt }] };

/** A session on the sample with the local model. */
const localSession = (maxRollouts: number) => ({
  ...localTask,
  initial_prompt: localPrompt,
  gepa: { population_size: 2, generations: 200 },
  budget: { max_rollouts: maxRollouts },
});

/** Ended jobs of each kind and two versions of a deployment, for the pages of the dashboard. */
export interface DashboardJobs {
  session: string;
  /** The evaluation of the first prompt, and that of the best. */
  evaluations: [string, string];
  graph: string;
  /** The versions of the name `intents`, oldest first. */
  versions: [string, string];
  /** Of that name. */
  migration: string;
  checkup: string;
}

export async function createDashboardJobs(service: TestService): Promise<DashboardJobs> {
  const session = await createSession(service, localSession(150));
  const graph = await createGraphJob(service, { ...twoStepJob(0, 20), rollout_budget: 120, proposer_effort: 'low' });
  const evaluate = async (name: string, messages: object[]) => {
    const body = { ...localTask, candidate: { messages }, name };
    return (await service.api.call<{ job_id: string }>('POST', jobKinds.evaluation.path, body)).job_id;
  };
  const before = await evaluate('before', localPrompt.messages);
  await ended(service, session, 120);
  const { best_prompt: best } = await resultsOf(service, session);
  const after = await evaluate('after', best!.messages);
  const versions: string[] = [];
  for (const source of [{ ...localPrompt, policy: localTask.policy }, { session_id: session }]) {
    const id = await deploy(service, { name: 'intents', source });
    await built(service, id);
    versions.push(id);
  }
  const { dataset, scorer } = localTask;
  const migration = await migrate(service, 'intents', {
    to: { provider: 'local', model: 'other' },
    dataset,
    scorer,
    optimize: 'never',
  });
  const { job_id: checkup } = await checkUp(service, 'intents', { rows: { dataset, scorer }, traffic: null });
  await schedule(service, 'intents', { every: '1d', checkup: { rows: { dataset, scorer }, traffic: null } });
  await Promise.all([migrated(service, migration, 120), checkedUp(service, checkup)]);
  for (const id of [before, after, graph]) await ended(service, id, 120);
  return { session, evaluations: [before, after], graph, versions: versions as [string, string], migration, checkup };
}
