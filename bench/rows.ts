import type { Row } from './table.js';
import type { World } from './world.js';
import * as crowd from './rows/crowd.js';
import * as evaluation from './rows/evaluation.js';
import * as latency from './rows/latency.js';
import * as overhead from './rows/overhead.js';
import * as proxy from './rows/proxy.js';
import * as sse from './rows/sse.js';

/** A group of rows that are measured in one world. */
export interface Rows {
  name: string;
  run(world: World): Promise<Row[]>;
  /** How long it may take, seconds. */
  seconds: number;
}

/** All rows, in the order of the table. */
export const rows: readonly Rows[] = [
  { name: 'evaluation', run: evaluation.run, seconds: 300 },
  { name: 'latency', run: latency.run, seconds: 300 },
  { name: 'overhead', run: overhead.run, seconds: 300 },
  { name: 'proxy', run: proxy.run, seconds: 300 },
  { name: 'sse', run: sse.run, seconds: 300 },
  { name: 'crowd', run: crowd.run, seconds: 600 },
];
