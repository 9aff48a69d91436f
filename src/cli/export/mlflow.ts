/** A job as bodies of MLflow's requests: a run, and its prompt for the prompt registry. */
import type { Answer } from '../../client/index.js';

type Session = Answer<'getSession'>;
type Results = Answer<'getSessionResults'>;
type Evaluation = Answer<'getEvaluation'>;

interface Pair {
  key: string;
  value: string;
}
/** [key, value, step] */
type Metric = readonly [key: string, value: number | null, step?: number];

/** The run of a session, with the best reward by generation, and its best prompt. */
export function mlflowSession(session: Session, results: Results): object {
  const { policy, algorithm, progress, usage } = session;
  const metrics: Metric[] = [
    ...results.history.map(({ generation, best_reward }) => ['best_reward', best_reward, generation] as const),
    ...intervalMetrics('best_reward', results.best_reward_interval),
    ['rollouts', progress.rollouts_completed],
    ...usageMetrics(usage),
  ];
  const params = { algorithm, ...policy, max_rollouts: progress.max_rollouts };
  const prompt = results.best_prompt && registeredPrompt(session, results.best_prompt.messages);
  return { ...run(session, { kind: 'session', metrics, params }), ...prompt };
}

/** The run of an evaluation. It has no prompt of its own. */
export function mlflowEvaluation(evaluation: Evaluation): object {
  const { policy, summary, usage, candidate, app_id, env_name } = evaluation;
  const metrics: Metric[] = [
    ['mean_reward', summary.mean_reward],
    ...intervalMetrics('mean_reward', summary.mean_reward_interval),
    ['rollouts_succeeded', summary.num_successful] as const,
    ['rollouts_failed', summary.num_failed] as const,
    ...usageMetrics(usage),
  ];
  const params = { ...policy, app_id, env_name, seeds: evaluation.num_seeds, ...candidate };
  return run(evaluation, { kind: 'evaluation', metrics, params });
}

interface RunContent {
  kind: string;
  metrics: Metric[];
  params: Record<string, unknown>;
}

/** The later requests need the `run_id` of the answer to `runs/create`. */
function run(job: Session | Evaluation, { kind, metrics, params }: RunContent): object {
  const end = Date.parse(job.completed_at ?? job.started_at ?? job.created_at);
  const known = metrics.flatMap(([key, value, step = 0]) =>
    value === null ? [] : [{ key, value, timestamp: end, step }],
  );
  const tags = pairs({
    'mlflow.runName': job.name ?? job.job_id,
    'mlflow.note.content': job.notes,
    'ratchet.job_id': job.job_id,
    'ratchet.kind': kind,
    'ratchet.status': job.status,
    'ratchet.stop_reason': job.stopped_by,
    'ratchet.tags': job.tags.join(', ') || null,
  });
  return {
    'runs/create': {
      experiment_id: '0',
      run_name: job.name ?? job.job_id,
      start_time: Date.parse(job.created_at),
      tags,
    },
    'runs/log-batch': { metrics: known, params: pairs(params) },
    'runs/update': job.completed_at && {
      status: { completed: 'FINISHED', cancelled: 'KILLED' }[job.status as string] ?? 'FAILED',
      end_time: end,
    },
  };
}

/** Of a reward on unseen rows, 95 %. */
function intervalMetrics(of: string, interval: Results['best_reward_interval']): Metric[] {
  return [
    [`${of}_low`, interval?.low ?? null],
    [`${of}_high`, interval?.high ?? null],
  ];
}

function usageMetrics({ prompt_tokens, completion_tokens, total_cost_usd, calls }: Session['usage']): Metric[] {
  return [
    ['prompt_tokens', prompt_tokens],
    ['completion_tokens', completion_tokens],
    ['cost_usd', total_cost_usd],
    ['model_calls', calls],
  ];
}

/** A prompt is a registered model whose version has the text in a tag; its source stays unused. */
function registeredPrompt({ job_id: name, policy }: Session, messages: readonly object[]): object {
  const isPrompt = { 'mlflow.prompt.is_prompt': 'true' };
  return {
    'registered-models/create': { name, tags: pairs(isPrompt) },
    'model-versions/create': {
      name,
      source: 'prompt-template',
      tags: pairs({
        ...isPrompt,
        'mlflow.prompt.text': JSON.stringify(messages),
        _mlflow_prompt_type: 'chat',
        _mlflow_prompt_model_config: JSON.stringify({ provider: policy.provider, model_name: policy.model }),
        'ratchet.job_id': name,
      }),
    },
  };
}

/** MLflow's pairs of texts, without those that are null. */
function pairs(values: Record<string, unknown>): Pair[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: String(value) }],
  );
}
