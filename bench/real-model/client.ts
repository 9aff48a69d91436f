import { once } from 'node:events';
import { join } from 'node:path';
import { runTypeScript } from '../../test/support/children.js';
import type { ChatMessage } from '../worlds/task-texts.js';

/** An optimizer's run on one split of the messages. */
export interface TextRun {
  containerUrl: string;
  /** `GET calls` and `inputs`, `POST score`. */
  url: string;
  taskModel: string;
  proposer: string;
  /** Calls of the task model so far. */
  calls(): Promise<number>;
  /** Right answers on held-out messages, with the messages before each of them. */
  heldout(before: readonly ChatMessage[]): Promise<{ right: number; of: number }>;
}

/** `modelsUrl`: base of `/chat/completions`. */
export interface TextModel {
  modelsUrl: string;
  open(split: number): Promise<TextRun>;
  close(): Promise<void>;
}

/** Starts the language model in a separate process; fetches its files into `folder` if missing. */
export async function startTextModel(folder: string): Promise<TextModel> {
  const child = runTypeScript<{ url: string }>(join(import.meta.dirname, 'server.ts'), [folder]);
  const { url } = await child.first;
  return {
    modelsUrl: `${url}/v1`,
    async open(split) {
      const opened = await call<{ id: string; container_url: string }>(`${url}/runs`, { split });
      const { id, container_url: containerUrl } = opened;
      const own = `${url}/runs/${id}`;
      return {
        containerUrl,
        url: own,
        taskModel: `task:${id}`,
        proposer: id,
        calls: async () => (await call<{ calls: number }>(`${own}/calls`)).calls,
        heldout: (messages) => call(`${own}/heldout`, { messages }),
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
