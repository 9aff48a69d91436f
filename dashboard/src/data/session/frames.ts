import { client } from '../client.js';
import type { SensorFrame } from './types.js';

const pageSize = 200;

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
      const query = { limit: pageSize, cursor: this.cursor };
      const args = { path: { session_id: this.id }, query, signal };
      const { data, next_cursor: next } = await client.value.request('listSessionSensorFrames', args);
      if (next === null) return [...this.full, ...data];
      this.full.push(...data);
      this.cursor = next;
    }
  }
}
