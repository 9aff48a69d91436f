import { once } from 'node:events';
import { join } from 'node:path';
import { runTypeScript } from '../../test/support/children.js';
import type { ChatMessage } from './task-texts.js';
import type { LookupKind } from './lookups.js';
import type { TaskKind } from './tasks.js';
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

/** Which world in which a model is called. */
export interface TaskSetup extends Omit<RunSetup, 'kind' | 'shuffledFeedback'> {
  kind: TaskKind;
  /** Whether rollouts say what was wrong; else their reward alone. */
  feedback: boolean;
  /** Whether optimizers are told the right answers. */
  labels: boolean;
}

/** Which world of lookups. */
export interface LookupSetup {
  kind: LookupKind;
  world: number;
}

/** One call as the world's process saw it; epoch milliseconds with fractions. */
export interface Entry {
  /** `call`: of the task model. */
  kind: 'rollout' | 'proposal' | 'call';
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

/** One optimizer's run against a world in which a model is called. */
export interface TaskRun {
  setup: TaskSetup;
  containerUrl: string;
  /** What to ask the proposer for. */
  model: string;
  taskModel: string;
  ledger(): Promise<Entry[]>;
  /** What the task model was last asked. */
  lastMessages(): Promise<ChatMessage[]>;
  /** Of the messages that an input is put behind. */
  trueReward(prompt: readonly ChatMessage[]): Promise<number>;
}

/** One optimizer's run against a world of lookups, which has no container: optimizers call the task model themselves. */
export interface LookupRun {
  setup: LookupSetup;
  /** Scores answers: `/score`. */
  url: string;
  /** What to ask the proposer for. */
  model: string;
  taskModel: string;
  ledger(): Promise<Entry[]>;
}

/** The worlds' process. `proposerUrl` is a base to which `/chat/completions` is appended. */
export interface Worlds {
  proposerUrl: string;
  open(setup: RunSetup): Promise<Run>;
  openTask(setup: TaskSetup): Promise<TaskRun>;
  openLookups(setup: LookupSetup): Promise<LookupRun>;
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
    async openTask(setup) {
      const { id } = await call<{ id: string }>(`${url}/runs`, setup);
      const containerUrl = `${url}/runs/${id}`;
      return {
        setup,
        containerUrl,
        model: id,
        taskModel: `task:${id}`,
        ledger: () => call<Entry[]>(`${containerUrl}/ledger`),
        lastMessages: async () => (await call<{ messages: ChatMessage[] }>(`${containerUrl}/last`)).messages,
        trueReward: async (messages) => (await call<{ reward: number }>(`${containerUrl}/truth`, { messages })).reward,
      };
    },
    async openLookups(setup) {
      const { id } = await call<{ id: string }>(`${url}/runs`, setup);
      const own = `${url}/runs/${id}`;
      return { setup, url: own, model: id, taskModel: `task:${id}`, ledger: () => call<Entry[]>(`${own}/ledger`) };
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
