import { join } from 'node:path';
import { callJson, startJsonServer } from '../json-http.js';
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
  const { url, close } = await startJsonServer(join(import.meta.dirname, 'server.ts'), [folder]);
  return {
    modelsUrl: `${url}/v1`,
    async open(split) {
      const opened = await callJson<{ id: string; container_url: string }>(`${url}/runs`, { split });
      const { id, container_url: containerUrl } = opened;
      const own = `${url}/runs/${id}`;
      return {
        containerUrl,
        url: own,
        taskModel: `task:${id}`,
        proposer: id,
        calls: async () => (await callJson<{ calls: number }>(`${own}/calls`)).calls,
        heldout: (messages) => callJson(`${own}/heldout`, { messages }),
      };
    },
    close,
  };
}
