import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api, type JobEvent } from '../../src/cli/service/api.js';
import { startTree } from '../../test/support/servers/tree.js';
import { componentTexts } from '../../src/core/prompts/components.js';
import type { Message } from '../../src/core/jobs/spec.js';
import { populationSize } from '../curve/trajectory.js';
import type { Outcome, SearchTask } from './search.js';
import type { Run } from '../worlds/client.js';

/** The whole service as started by `npm start`, with its own data and ports. */
export interface Ratchet {
  search(run: Run, task: SearchTask): Promise<Outcome>;
  stop(): Promise<void>;
}

/** The maximum, so that the budget ends the search. */
const generations = Math.floor(499 / populationSize);

/** Starts the service with the worlds' proposer as the provider `bench`. */
export async function startRatchet(proposerUrl: string): Promise<Ratchet> {
  const { api, stop } = await startService(proposerUrl);
  return { search: (run, task) => search(api, run, task), stop };
}

/** The service's API. */
export interface Service {
  api: Api;
  /** The text of a route. */
  text(path: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the service with the models at `modelsUrl` as the provider `bench`. */
export async function startService(modelsUrl: string): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'ratchet-bench-'));
  // Postgres may run as another user.
  await chmod(folder, 0o755);
  const apiKey = randomBytes(24).toString('hex');
  const tree = await startTree({
    PORT: '0',
    RATCHET_TEMPORAL_PORT: '0',
    RATCHET_DATA_DIR: folder,
    RATCHET_API_KEY: apiKey,
    RATCHET_PROVIDERS: 'bench',
    BENCH_BASE_URL: modelsUrl,
    // Ignore the shell's settings for the user's own servers.
    DATABASE_URL: '',
    TEMPORAL_ADDRESS: '',
    TEMPORAL_CONFIG_FILE: '',
    RATCHET_PUBLIC_URL: '',
    RATCHET_EGRESS: '',
  });
  return {
    api: new Api(tree.url, apiKey),
    async text(path) {
      const response = await fetch(tree.url + path, { headers: { authorization: `Bearer ${apiKey}` } });
      if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
      return response.text();
    },
    async stop() {
      await tree.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A GEPA session over HTTP, followed by its events. The clock starts with the request. */
async function search(api: Api, run: Run, task: SearchTask): Promise<Outcome> {
  const startedAt = Date.now();
  const { session_id: id } = await api.call<{ session_id: string }>('POST', '/api/v1/online/sessions', {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: run.containerUrl,
      policy: { provider: 'bench', model: run.model },
      gepa: {
        population_size: populationSize,
        generations,
        minibatch_size: task.minibatchSize,
        train_seeds: task.trainSeeds,
        evaluation: { seeds: task.evaluationSeeds },
      },
      budget: { max_rollouts: task.maxRollouts },
      max_concurrent: task.maxConcurrent,
      rng_seed: task.rngSeed,
      // The peer has none.
      preflight: false,
    },
  });
  const session = `/api/v1/online/sessions/${id}`;
  for await (const event of api.follow(`${session}/events`)) void event;
  const events = await timedEvents(api, `${session}/events`);
  const last = events.at(-1);
  if (last?.type !== 'job_complete') throw new Error(`the session ended with ${last?.type}: ${last?.message}`);
  const results = await api.call<Results>('GET', `${session}/results`);
  const rollouts = events.filter((event) => event.type === 'rollout_completed');
  const candidates = [];
  for (const event of events.filter((event) => event.type === 'candidate_evaluated')) {
    const own = rollouts.find(({ data }) => data.candidate_id === event.data.candidate_id);
    const text = await promptText(api, `${session}/prompt?correlation_id=${String(own?.data.rollout_id)}`);
    candidates.push({ at: Date.parse(event.ts), text, reward: event.data.reward });
  }
  return {
    startedAt,
    endedAt: Date.parse(last.ts),
    rollouts: rollouts.length,
    winner: results.best_prompt.messages[0]!.content,
    winnerTexts: componentTexts(results.best_prompt.messages),
    candidates,
  };
}

type TimedEvent = JobEvent & { ts: string };

/** All events of an ended job, with their times. */
async function timedEvents(api: Api, path: string): Promise<TimedEvent[]> {
  const events: TimedEvent[] = [];
  for (let after = 0; ;) {
    const page = await api.call<{ events: TimedEvent[]; next_seq: number; has_more: boolean }>(
      'GET',
      `${path}?since_seq=${after}&limit=1000`,
    );
    events.push(...page.events);
    if (!page.has_more) return events;
    after = page.next_seq;
  }
}

interface Results {
  best_prompt: { messages: Message[] };
}

async function promptText(api: Api, path: string): Promise<string> {
  const { messages } = await api.call<{ messages: { content: string }[] }>('GET', path);
  return messages[0]!.content;
}
