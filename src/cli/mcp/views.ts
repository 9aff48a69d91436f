/** What tools tell about a job: the fields that an agent decides by, and others by name. */
import { ConfigError } from '../../service/config.js';
import { kindOf, type JobKind } from '../../core/jobs/kinds.js';
import { isObject } from '../../util/json.js';

type Fields = Record<string, unknown>;

const ofEveryJob = ['job_id', 'name', 'status', 'last_command', 'progress', 'usage', 'warnings', 'stopped_by', 'error'];
const ofSearches = [
  'best_reward',
  'best_reward_interval',
  'best_candidate',
  'estimated_reward',
  'estimated_reward_interval',
  'budget',
];

const shownOf: Record<JobKind, readonly string[]> = {
  session: [...ofEveryJob, ...ofSearches, 'algorithm', 'judge_agreement'],
  evaluation: [...ofEveryJob, 'diagnosis', 'summary', 'judge_agreement'],
  graph: [...ofEveryJob, ...ofSearches, 'diagnosis', 'proposals', 'verdict', 'comparison'],
  deployment: [
    'id',
    'name',
    'status',
    'live',
    'source',
    'gate',
    'chat_completions_url',
    'name_chat_completions_url',
    'warnings',
    'error',
  ],
  checkup: [
    ...ofEveryJob,
    'verdict',
    'checkup_number',
    'rows',
    'traffic',
    'improvement',
    'worse',
    'approval',
    'deployment_id',
    'not_deployed',
  ],
  migration: [...ofEveryJob, 'to', 'max_loss', 'verdict', 'side', 'same_prompt', 'optimized', 'worse', 'deployment_id'],
};

const resultsOfSession = [
  'job_id',
  'status',
  'diagnosis',
  'proposals',
  'verdict',
  'comparison',
  'best_reward',
  'best_reward_interval',
  'best_prompt',
  'best_candidate',
  'history',
  'judge_agreement',
  'usage',
  'stopped_by',
  'error',
];

const listed = ['job_id', 'name', 'status', 'created_at', 'best_reward', 'mean_reward', 'total_cost_usd', 'stopped_by'];

/** The state of a job. */
export function jobView(id: string, job: Fields, further: readonly string[] = []): Fields {
  return picked(job, shownOf[kindOf(id)!], further);
}

/** The results of a session. */
export function sessionResultsView(results: Fields, further: readonly string[] = []): Fields {
  return picked(results, resultsOfSession, further);
}

/** A job in a list. */
export function listedJob(job: Fields): Fields {
  return picked(job, listed, []);
}

const listedOfRun = [
  'job_id',
  'kind',
  'name',
  'status',
  'dataset',
  'models',
  'verdict',
  'comparison',
  'best_reward',
  'total_cost_usd',
  'comparable_key',
];

/** A run in a list by gain. */
export function listedRun(run: Fields): Fields {
  return picked(run, listedOfRun, []);
}

/** The fields that are there of `names`, and the further ones; refuses an unknown one of these. */
function picked(given: Fields, names: readonly string[], further: readonly string[]): Fields {
  const unknown = further.find((name) => !Object.hasOwn(given, name));
  if (unknown !== undefined)
    throw new ConfigError(`fields: there is no "${unknown}"; the fields are ${Object.keys(given).join(', ')}`);
  const there = [...names, ...further].filter((name) => Object.hasOwn(given, name));
  return Object.fromEntries(there.map((name) => [name, counted(name, given[name])]));
}

/** Row numbers as their count, and the generations that improved. */
function counted(name: string, value: unknown): unknown {
  if (name === 'split' && isObject(value)) return splitCounts(value);
  if (name !== 'history' || !Array.isArray(value)) return value;
  const history = value as { best_reward: number }[];
  return history.filter(({ best_reward: reward }, at) => reward !== history[at - 1]?.best_reward);
}

/** How many rows each part of a split has. */
export function splitCounts(split: object): Record<string, number> {
  return Object.fromEntries(Object.entries(split).map(([part, rows]) => [part, (rows as unknown[]).length]));
}
