/** What a column ran with, by the names that people see. */
import { client } from '../../data/client.js';
import { kindOfRun, type RunKind } from '../../data/kinds.js';
import { clock, count, dollars, shortId } from '../../util/format.js';
import type { Column } from './types.js';

export type Settings = ReadonlyMap<string, string>;
type Entries = Record<string, string | number | null | undefined>;

/** From what the job answers of itself; `GET …/{id}/request` would add the parameters. */
export async function loadSettings(column: Column, signal: AbortSignal): Promise<Settings> {
  const entries: Entries = {
    ...(await loaders[kindOfRun(column.job_id)](column.job_id, signal)),
    'Prompt, tokens': column.prompt_tokens,
  };
  return new Map(
    Object.entries(entries).flatMap(([name, value]): [string, string][] =>
      value === null || value === undefined || value === ''
        ? []
        : [[name, typeof value === 'number' ? count(value) : value]],
    ),
  );
}

/** The names whose values are not the same everywhere. */
export function differing(settings: readonly Settings[]): string[] {
  const names = [...new Set(settings.flatMap((of) => [...of.keys()]))];
  return names.filter((name) => new Set(settings.map((of) => of.get(name))).size > 1);
}

const loaders: Record<RunKind, (id: string, signal: AbortSignal) => Promise<Entries>> = {
  async session(session_id, signal) {
    const job = await client.value.request('getSession', { path: { session_id }, signal });
    return {
      ...common(job),
      Model: modelOf(job.policy),
      Algorithm: job.algorithm,
      ...onRows(job),
      ...budgetOf(job.budget),
      ...splitOf(job.split),
    };
  },
  async evaluation(job_id, signal) {
    const job = await client.value.request('getEvaluation', { path: { job_id }, signal });
    return {
      ...common(job),
      Model: modelOf(job.policy),
      ...onRows(job),
      Environment: job.env_name,
      Rows: job.num_seeds,
      'Budget, dollars': dollarsOf(job.budget.max_cost_usd),
      'Prompt of': job.candidate?.candidate_id,
    };
  },
  async graph(job_id, signal) {
    const job = await client.value.request('getGraphJob', { path: { job_id }, signal });
    return {
      ...common(job),
      Model: job.policy_models.map((model) => `${job.policy.provider}/${model}`).join(', '),
      Algorithm: job.algorithm,
      Scorer: job.verifier_mode,
      Rows: job.num_tasks,
      ...budgetOf(job.budget),
      ...splitOf(job.split),
    };
  },
};

interface Common {
  status: string;
  tags: string[];
  created_at: string;
  created_by: { key_name: string } | null;
}

const common = ({ status, tags, created_at: at, created_by: by }: Common): Entries => ({
  Created: clock(at),
  By: by?.key_name,
  Tags: tags.join(', '),
  Status: status,
});

const modelOf = ({ provider, model }: { provider: string; model: string }): string => `${provider}/${model}`;

const onRows = (job: {
  dataset?: { dataset_id: string; num_rows: number; scorer: string };
  container_url: string | null;
}): Entries => ({
  'Data set': job.dataset && `${shortId(job.dataset.dataset_id)}, ${count(job.dataset.num_rows)} rows`,
  Scorer: job.dataset?.scorer,
  Container: job.container_url,
});

const dollarsOf = (usd: number | null): string | null => (usd === null ? null : dollars(usd));

const budgetOf = (budget: {
  max_rollouts: number | null;
  max_minutes: number | null;
  max_cost_usd: number | null;
}): Entries => ({
  'Budget, rollouts': budget.max_rollouts,
  'Budget, minutes': budget.max_minutes,
  'Budget, dollars': dollarsOf(budget.max_cost_usd),
});

const splitOf = (split: { train: number[]; evaluation: number[]; heldout: number[] } | undefined): Entries => ({
  'Rows to train, choose, hold out':
    split && [split.train, split.evaluation, split.heldout].map(({ length }) => count(length)).join(', '),
});
