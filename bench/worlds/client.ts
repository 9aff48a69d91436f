import { join } from 'node:path';
import { callJson, startJsonServer } from '../json-http.js';
import type { ChatMessage } from './task-texts.js';
import type { LookupKind } from './lookups.js';
import type { TaskKind } from './tasks.js';
import type { Texts, WorldKind } from './world.js';

/** Kind of a world, and latencies of its container and proposer. */
export interface RunSetup {
  /** Default: `rules`. */
  kind?: WorldKind;
  world: number;
  rolloutMs: number;
  proposerMs: number;
  /** The feedback teaches nothing. */
  shuffledFeedback?: boolean;
}

/** A world with a task model. */
export interface TaskSetup extends Omit<RunSetup, 'kind' | 'shuffledFeedback'> {
  kind: TaskKind;
  /** Whether rollouts have feedback besides the reward. */
  feedback: boolean;
  /** Whether optimizers get the expected answers. */
  labels: boolean;
}

/** A world of lookups. */
export interface LookupSetup {
  kind: LookupKind;
  world: number;
}

/** A call as seen by the world's process; epoch milliseconds with fractions. */
export interface Entry {
  /** `call`: of the task model. */
  kind: 'rollout' | 'proposal' | 'call';
  startedAt: number;
  endedAt: number;
}

/** An optimizer's run in a world. `model`: name of its proposer. */
export interface Run {
  setup: RunSetup;
  containerUrl: string;
  model: string;
  ledger(): Promise<Entry[]>;
  /** True reward of the texts by component, or of the only text. */
  trueReward(prompt: string | Texts): Promise<number>;
}

/** An optimizer's run in a world with a task model. */
export interface TaskRun {
  setup: TaskSetup;
  containerUrl: string;
  /** Model name of the proposer. */
  model: string;
  taskModel: string;
  ledger(): Promise<Entry[]>;
  /** The task model's last messages. */
  lastMessages(): Promise<ChatMessage[]>;
  /** True reward of the messages before an input. */
  trueReward(prompt: readonly ChatMessage[]): Promise<number>;
}

/** An optimizer's run in a world of lookups, without container: optimizers call the task model. */
export interface LookupRun {
  setup: LookupSetup;
  /** Scores answers at `/score`. */
  url: string;
  /** Model name of the proposer. */
  model: string;
  taskModel: string;
  ledger(): Promise<Entry[]>;
}

/** The worlds' process. `proposerUrl` is the base of `/chat/completions`. */
export interface Worlds {
  proposerUrl: string;
  open(setup: RunSetup): Promise<Run>;
  openTask(setup: TaskSetup): Promise<TaskRun>;
  openLookups(setup: LookupSetup): Promise<LookupRun>;
  close(): Promise<void>;
}

/** Starts the worlds in a separate process. */
export async function startWorlds(): Promise<Worlds> {
  const { url, close } = await startJsonServer(join(import.meta.dirname, 'server.ts'));
  return {
    proposerUrl: `${url}/v1`,
    async open(setup) {
      const { id } = await callJson<{ id: string }>(`${url}/runs`, setup);
      const containerUrl = `${url}/runs/${id}`;
      return {
        setup,
        containerUrl,
        model: id,
        ledger: () => callJson<Entry[]>(`${containerUrl}/ledger`),
        async trueReward(prompt) {
          const body = typeof prompt === 'string' ? { prompt } : { texts: prompt };
          return (await callJson<{ reward: number }>(`${containerUrl}/truth`, body)).reward;
        },
      };
    },
    async openTask(setup) {
      const { id } = await callJson<{ id: string }>(`${url}/runs`, setup);
      const containerUrl = `${url}/runs/${id}`;
      return {
        setup,
        containerUrl,
        model: id,
        taskModel: `task:${id}`,
        ledger: () => callJson<Entry[]>(`${containerUrl}/ledger`),
        lastMessages: async () => (await callJson<{ messages: ChatMessage[] }>(`${containerUrl}/last`)).messages,
        trueReward: async (messages) =>
          (await callJson<{ reward: number }>(`${containerUrl}/truth`, { messages })).reward,
      };
    },
    async openLookups(setup) {
      const { id } = await callJson<{ id: string }>(`${url}/runs`, setup);
      const own = `${url}/runs/${id}`;
      return { setup, url: own, model: id, taskModel: `task:${id}`, ledger: () => callJson<Entry[]>(`${own}/ledger`) };
    },
    close,
  };
}
