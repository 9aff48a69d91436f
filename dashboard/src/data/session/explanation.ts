/** The calls of the tab. */
import { client } from '../client.js';
import type { Lever, LeverText, LeverVersion, Pareto, SensorFrame } from './types.js';

const pageSize = 200;

export const loadPareto = (id: string, signal: AbortSignal): Promise<Pareto> =>
  client.value.request('getSessionPareto', { path: { session_id: id }, signal });

/** The sensor frames of a session; full pages are read once, because frames do not change. */
export class Frames {
  private readonly full: SensorFrame[] = [];
  private cursor: string | undefined;
  private readonly id: string;

  constructor(id: string) {
    this.id = id;
  }

  async read(signal: AbortSignal): Promise<SensorFrame[]> {
    for (;;) {
      const query = { limit: pageSize, ...(this.cursor !== undefined && { cursor: this.cursor }) };
      const args = { path: { session_id: this.id }, query, signal };
      const { data, next_cursor: next } = await client.value.request('listSessionSensorFrames', args);
      if (next === null) return [...this.full, ...data];
      this.full.push(...data);
      this.cursor = next;
    }
  }
}

export const loadLevers = async (id: string, signal: AbortSignal): Promise<Lever[]> =>
  (await client.value.request('listSessionLevers', { path: { session_id: id }, signal })).data;

export async function loadVersions(id: string, leverId: string, signal: AbortSignal): Promise<LeverVersion[]> {
  const path = { session_id: id, prompt_lever_id: leverId };
  return all(client.value.list('listSessionLeverVersions', { path, query: { limit: pageSize }, signal }));
}

export function loadText(id: string, leverId: string, version: number, signal: AbortSignal): Promise<LeverText> {
  const path = { session_id: id, prompt_lever_id: leverId, version: String(version) };
  return client.value.request('getSessionLeverVersion', { path, signal });
}

async function all<T>(list: AsyncGenerator<T, void>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of list) found.push(item);
  return found;
}
