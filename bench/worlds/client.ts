import { once } from 'node:events';
import { join } from 'node:path';
import { runTypeScript } from '../../test/support/children.js';
import type { Texts, WorldKind } from './world.js';

/** Which world, and how long its container and its proposer take for an answer. */
export interface RunSetup {
  /** `rules` where it is absent. */
  kind?: WorldKind;
  world: number;
  rolloutMs: number;
  proposerMs: number;
  /** The feedback teaches nothing. */
  shuffledFeedback?: boolean;
}

/** One call as the world's process saw it; epoch milliseconds with fractions. */
export interface Entry {
  kind: 'rollout' | 'proposal';
  startedAt: number;
  endedAt: number;
}

/** One optimizer's run against a world. `model` is what to ask the proposer for. */
export interface Run {
  setup: RunSetup;
  containerUrl: string;
  model: string;
  ledger(): Promise<Entry[]>;
  /** Of the texts by component, or of the one text where there is one component. */
  trueReward(prompt: string | Texts): Promise<number>;
}

/** The worlds' process. `proposerUrl` is a base to which `/chat/completions` is appended. */
export interface Worlds {
  proposerUrl: string;
  open(setup: RunSetup): Promise<Run>;
  close(): Promise<void>;
}

/** Starts the worlds in a process of their own. */
export async function startWorlds(): Promise<Worlds> {
  const child = runTypeScript<{ url: string }>(join(import.meta.dirname, 'server.ts'), []);
  const { url } = await child.first;
  return {
    proposerUrl: `${url}/v1`,
    async open(setup) {
      const { id } = await call<{ id: string }>(`${url}/runs`, setup);
      const containerUrl = `${url}/runs/${id}`;
      return {
        setup,
        containerUrl,
        model: id,
        ledger: () => call<Entry[]>(`${containerUrl}/ledger`),
        async trueReward(prompt) {
          const asked = typeof prompt === 'string' ? { prompt } : { texts: prompt };
          return (await call<{ reward: number }>(`${containerUrl}/truth`, asked)).reward;
        },
      };
    },
    async close() {
      const { process: server } = child;
      server.kill();
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    },
  };
}

async function call<T>(url: string, body?: unknown): Promise<T> {
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
