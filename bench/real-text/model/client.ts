import { join } from 'node:path';
import { callJson, startJsonServer } from '../../json-http.js';
import type { ChatMessage } from '../../worlds/task-texts.js';
import type { Split } from '../splits.js';
import type { ModelSize } from './files.js';

/** Calls and tokens of one of the two models of a run. */
export interface Used {
  calls: number;
  promptTokens: number;
  completionTokens: number;
}
export interface Usage {
  policy: Used;
  proposer: Used;
}

/** A contestant's run on one split of a task. */
export interface TextRun {
  containerUrl: string;
  /** `GET calls` and `inputs`, `POST score`. */
  url: string;
  policy: string;
  proposer: string;
  split: Split;
  usage(): Promise<Usage>;
  /** Calls the policy on a row that a search may see. */
  ask(seed: number, before: readonly ChatMessage[]): Promise<number>;
  /** Right answers on rows that no search sees, and the tokens of the messages before a row. */
  heldout(before: readonly ChatMessage[]): Promise<{ right: number; of: number; promptTokens: number }>;
}

export interface RunOptions {
  task: string;
  split: number;
  heldout: number;
  contestant: string;
}

/** `modelsUrl`: base of `/chat/completions`. */
export interface TextModels {
  modelsUrl: string;
  open(options: RunOptions): Promise<TextRun>;
  /** Rows whose answers differ between calls in parallel and calls in turn. */
  check(task: string): Promise<{ differ: number; of: number; parallelMs: number; sequentialMs: number }>;
  close(): Promise<void>;
}

export interface ModelsOptions {
  /** Folder of weights, runtime, rows and answers; missing files are downloaded. */
  folder: string;
  size: ModelSize;
  /** Without the answers of earlier runs. */
  fresh: boolean;
  /** Of the proposers' questions and answers; null: not kept. */
  transcripts: string | null;
}

/** Starts the models in a separate process. */
export async function startTextModels(options: ModelsOptions): Promise<TextModels> {
  const { url, close } = await startJsonServer(join(import.meta.dirname, 'server.ts'), [JSON.stringify(options)]);
  return {
    modelsUrl: `${url}/v1`,
    async open(run) {
      const opened = await callJson<{ id: string; containerUrl: string; split: Split }>(`${url}/runs`, run);
      const { id, containerUrl, split } = opened;
      const own = `${url}/runs/${id}`;
      return {
        containerUrl,
        split,
        url: own,
        policy: `policy:${id}`,
        proposer: `proposer:${id}`,
        usage: () => callJson(`${own}/usage`),
        ask: async (seed, messages) => (await callJson<{ reward: number }>(`${own}/ask`, { seed, messages })).reward,
        heldout: (messages) => callJson(`${own}/heldout`, { messages }),
      };
    },
    check: (task) => callJson(`${url}/check`, { task }),
    close,
  };
}
