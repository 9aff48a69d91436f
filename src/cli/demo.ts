import { SingleBar } from 'cli-progress';
import closeWithGrace from 'close-with-grace';
import { createTwoFilesPatch } from 'diff';
import { join } from 'node:path';
import { startIntents } from '../../examples/intents/container.js';
import { createProviders } from '../clients/models/providers.js';
import { ConfigError, readConfig } from '../config.js';
import { rolloutId } from '../core/jobs/ids.js';
import { createLog } from '../log.js';
import { startService, type Service } from '../main.js';
import { installRuntime } from '../worker.js';
import { Api } from './api.js';

export interface DemoOptions {
  keep?: boolean;
  provider: string;
  model?: string;
}

interface SessionState {
  status: string;
  error: string | null;
  progress: { generation: number; total_generations: number; best_reward: number | null; rollouts_completed: number };
  usage: { total_cost_usd: number | null };
  best_candidate: { candidate_id: string } | null;
}
interface Results {
  best_prompt: { messages: { content: string }[] };
}
interface Evaluation {
  status: string;
  error: string | null;
  results: { mean_reward: number } | null;
}

const generations = 8;
const populationSize = 3;
const minibatchSize = 12;
const maxRollouts = 1_600;
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const trainSeeds = range(0, 240);
const evaluationSeeds = range(240, 280);
const unseenSeeds = range(300, 420);

/** Improves the sample container's prompt, then compares baseline and winner on unseen seeds. */
export async function demo({ keep = false, provider, model = 'local' }: DemoOptions): Promise<void> {
  const startedAt = Date.now();
  const read = readConfig();
  // Own folder and ports: do not disturb a running service.
  const config = keep ? read : { ...read, dataDir: join(read.dataDir, 'demo'), port: 0, temporalPort: 0 };
  const fault = createProviders(config.env).check(provider);
  if (fault) throw new ConfigError(`--provider ${provider}: ${fault}`);
  const log = createLog(config);
  installRuntime(log);
  say(`Starting Postgres, Temporal and the service (data in ${config.dataDir}) …`);
  const service = await startService(config, { serve: true, work: true }, log);
  const container = await startIntents({ port: 0 });
  let stopping: Promise<void> | null = null;
  const stop = () => (stopping ??= service.stop().then(() => container.close()));
  const grace = closeWithGrace({ delay: 30_000, logger: log }, stop);
  try {
    await runMainJob(service, container.url, { provider, model }, startedAt);
    if (keep) {
      say(`\nThe service stays up at ${service.url} (key in ${config.dataDir}/api-key). Ctrl-C stops it.`);
      await service.ended;
    }
  } catch (error) {
    // After Ctrl-C pending work fails as expected.
    if (!stopping) throw error;
  } finally {
    await stop();
    grace.uninstall();
  }
}

async function runMainJob(
  service: Service,
  containerUrl: string,
  policy: { provider: string; model: string },
  startedAt: number,
): Promise<void> {
  const api = new Api(service.url ?? '', service.apiKey ?? '');
  say(`API ${service.url}, Temporal UI ${service.temporalUi}, sample container ${containerUrl}`);

  say(
    `\nGEPA session: ${populationSize} proposals in each of ${generations} generations, at most ${maxRollouts} rollouts.`,
  );
  const { session_id: sessionId } = await api.call<{ session_id: string }>('POST', '/api/v1/online/sessions', {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: containerUrl,
      policy,
      gepa: {
        population_size: populationSize,
        generations,
        minibatch_size: minibatchSize,
        train_seeds: trainSeeds,
        evaluation: { seeds: evaluationSeeds },
      },
      budget: { max_rollouts: maxRollouts },
      max_concurrent: 8,
    },
  });
  const state = await showProgress(api, `/api/v1/online/sessions/${sessionId}`);
  if (state.status !== 'completed')
    throw new Error(`The session ended as ${state.status}: ${state.error ?? 'no reason given'}`);
  const results = await api.call<Results>('GET', `/api/v1/online/sessions/${sessionId}/results`);
  const { candidates } = await api.call<{ candidates: { candidate_id: string; is_baseline: boolean }[] }>(
    'GET',
    `/api/v1/online/sessions/${sessionId}`,
  );
  const baselineId = candidates.find((candidate) => candidate.is_baseline)?.candidate_id;

  say(`\nOffline evaluation of baseline and winner on ${unseenSeeds.length} seeds  unseen by the session …`);
  const evaluate = async (candidateId: string | undefined) => {
    const { job_id: jobId } = await api.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
      container_url: containerUrl,
      app_id: 'intents',
      env_name: 'unseen',
      seeds: unseenSeeds,
      policy,
      max_concurrent: 8,
      candidate: { session_id: sessionId, candidate_id: candidateId },
    });
    for await (const event of api.follow(`/api/v1/offline/jobs/${jobId}/events/stream`)) void event;
    const job = await api.call<Evaluation>('GET', `/api/v1/offline/jobs/${jobId}`);
    if (!job.results) throw new Error(`The evaluation ended as ${job.status}: ${job.error ?? 'no reason given'}`);
    return job.results.mean_reward;
  };
  const [before, after] = await Promise.all([evaluate(baselineId), evaluate(state.best_candidate?.candidate_id)]);

  const prompt = await api.call<{ messages: { content: string }[] }>(
    'GET',
    `/api/v1/online/sessions/${sessionId}/prompt?correlation_id=${rolloutId(sessionId, 0)}`,
  );
  const [old, won] = [prompt, results.best_prompt].map(({ messages }) => messages.map((m) => m.content).join('\n'));
  say(`\n${createTwoFilesPatch('baseline', 'winner', `${old}\n`, `${won}\n`, undefined, undefined, { context: 2 })}`);
  say(`Mean reward on unseen seeds: baseline ${before.toFixed(3)}, winner ${after.toFixed(3)}`);
  say(
    `${state.progress.rollouts_completed} rollouts, cost ${cost(state)}, ${((Date.now() - startedAt) / 1_000).toFixed(0)} s in all.`,
  );
  say(
    [
      '',
      'Next steps:',
      '  npm start                      the service; the README shows its API by example',
      '  npm run demo -- --keep         the same demo; the service stays up',
      '  OPENAI_API_KEY=… npm run demo -- --provider openai --model gpt-4o-mini',
    ].join('\n'),
  );
}

/** Shows a live bar until the session has ended; without a terminal, one line per generation. */
async function showProgress(api: Api, path: string): Promise<SessionState> {
  const bar = new SingleBar({
    format: ' {bar} generation {generation}/{generations} | best {best} | {value}/{total} rollouts | {cost} | {left}',
    noTTYOutput: false,
    hideCursor: true,
    clearOnComplete: false,
  });
  const live = process.stdout.isTTY;
  const payload = { generation: 0, generations, best: 'none yet', cost: '$0', left: '' };
  if (live) bar.start(maxRollouts, 0, payload);
  const startedAt = Date.now();
  let rollouts = 0;
  for await (const event of api.follow(`${path}/events`)) {
    if (event.type === 'rollout_completed') rollouts += 1;
    if (event.type === 'generation_complete') {
      payload.generation = event.data.generation;
      payload.best = event.data.best_reward.toFixed(3);
      payload.cost = cost(await api.call<SessionState>('GET', path));
      if (!live)
        say(
          `  generation ${payload.generation}/${generations}: best reward ${payload.best}, ${rollouts} rollouts, ${payload.cost}`,
        );
    }
    // Upper bound: the rest of the budget at the current speed.
    const leftMs = ((Date.now() - startedAt) / Math.max(1, rollouts)) * (maxRollouts - rollouts);
    payload.left = rollouts === 0 ? '' : `${Math.ceil(leftMs / 1_000)} s left`;
    if (live) bar.update(rollouts, payload);
  }
  if (live) bar.stop();
  return api.call<SessionState>('GET', path);
}

function cost({ usage }: SessionState): string {
  return usage.total_cost_usd === null ? 'cost unknown' : `$${usage.total_cost_usd.toFixed(4)}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
