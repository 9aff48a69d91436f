import { setTimeout as delay } from 'node:timers/promises';
import type { ModelReply, ModelRequest } from '../fakes/model.js';
import type { Api } from '../api.js';
import { startRowsWorld, type RowsWorld } from './rows.js';

/** How the provider does; it counts its answers by their status. */
export interface Incident extends RowsWorld {
  turn(mode: 'well' | 'slow' | 'throttled'): void;
  /** Answers by status. */
  answered(): Record<number, number>;
}

const pauseMs = { well: 60, slow: 1_800, throttled: 60 };
const tooMany = JSON.stringify({ error: { message: 'Rate limit reached for requests', code: 'rate_limit_exceeded' } });

/** A provider that is slow, or refuses calls as too many, when a test says so. */
export async function startIncident(): Promise<Incident> {
  const world = await startRowsWorld();
  let mode: keyof typeof pauseMs = 'well';
  const counts: Record<number, number> = {};
  const reply = async (request: ModelRequest): Promise<ModelReply> => {
    const now = mode;
    await delay(pauseMs[now]);
    const status = now === 'throttled' ? 429 : 200;
    counts[status] = (counts[status] ?? 0) + 1;
    return status === 200 ? world.answer(request) : { status, raw: tooMany };
  };
  world.model.reply(reply);
  return { ...world, turn: (next) => (mode = next), answered: () => ({ ...counts }) };
}

/** Calls a deployment one request after the other, until it is stopped. */
export function callOften({ client }: Api, name: string): { stop(): Promise<void> } {
  let isStopped = false;
  const call = async () => {
    while (!isStopped) {
      const body = { model: name, messages: [{ role: 'user' as const, content: 'Row 1: rule 1' }] };
      await client.request('callDeployment', { path: { deployment_id: name }, body }).catch(() => undefined);
      await delay(100);
    }
  };
  const calling = call();
  return {
    stop: () => {
      isStopped = true;
      return calling;
    },
  };
}
