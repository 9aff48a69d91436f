import * as gepa from './gepa.js';
import * as growth from './growth.js';
import type { GrowthOptions } from './growth/options.js';
import * as realText from './real-text.js';
import type { RealTextOptions } from './real-text/options.js';
import type { Line, Row } from './table.js';
import type { World } from './world.js';
import * as crowd from './rows/crowd.js';
import * as dashboard from './rows/dashboard.js';
import * as dataset from './rows/dataset.js';
import * as deployment from './rows/deployment.js';
import * as evaluation from './rows/evaluation.js';
import * as falseAlarms from './rows/false-alarms.js';
import * as graph from './rows/graph.js';
import * as inFlight from './rows/in-flight.js';
import * as latency from './rows/latency.js';
import * as litellm from './rows/litellm.js';
import * as overload from './rows/overload.js';
import * as overhead from './rows/overhead.js';
import * as portkey from './rows/portkey.js';
import * as proxy from './rows/proxy.js';
import * as rowReads from './rows/row-reads.js';
import * as serving from './rows/serving.js';
import * as sse from './rows/sse.js';
import * as strangers from './rows/strangers.js';
import * as rollouts from './rows/rollouts.js';
import * as size from './size.js';

/** A group of rows measured in one world. */
export interface Rows {
  name: string;
  run(world: World, options: GrowthOptions): Promise<Row[]>;
  /** Timeout in seconds. */
  seconds: number;
}

/** All rows in table order; `onRequest`: only if named (it installs a peer, or is long). */
export const rows: readonly (Rows & { onRequest?: true })[] = [
  { name: 'evaluation', run: evaluation.run, seconds: 300 },
  { name: 'latency', run: latency.run, seconds: 300 },
  { name: 'overhead', run: overhead.run, seconds: 300 },
  { name: 'dataset', run: dataset.run, seconds: 300 },
  { name: 'proxy', run: proxy.run, seconds: 300 },
  { name: 'deployment', run: deployment.run, seconds: 300 },
  { name: 'serving', run: serving.run, seconds: 900 },
  { name: 'in-flight', run: inFlight.run, seconds: 300 },
  { name: 'litellm', run: litellm.run, seconds: 600, onRequest: true },
  { name: 'portkey', run: portkey.run, seconds: 300, onRequest: true },
  { name: 'sse', run: sse.run, seconds: 300 },
  { name: 'crowd', run: crowd.run, seconds: 600 },
  { name: 'strangers', run: strangers.run, seconds: 300 },
  { name: 'overload', run: overload.run, seconds: 300 },
  { name: 'graph', run: graph.run, seconds: 300 },
  { name: 'row-reads', run: rowReads.run, seconds: 300, onRequest: true },
  { name: 'dashboard', run: dashboard.run, seconds: 300, onRequest: true },
  ...growth.groups.map((group) => ({ ...group, onRequest: true as const })),
];

/** A group that creates its own worlds and returns lines, or a table of its own. */
export interface Comparison {
  name: string;
  run(options: RealTextOptions): Promise<Line[] | string>;
  /** Timeout in seconds. */
  seconds: number;
}

/** Comparisons below the rows; `onRequest`: only if named (ten minutes or more). */
export const comparisons: readonly (Comparison & { onRequest?: true })[] = [
  { name: 'gepa', run: () => gepa.run(), seconds: 1_800 },
  { name: 'slow-gepa', run: () => gepa.runSlow(), seconds: 3_600, onRequest: true },
  { name: falseAlarms.name, run: () => falseAlarms.run(), seconds: 3_600, onRequest: true },
  { name: rollouts.name, run: () => rollouts.run(), seconds: 3_600, onRequest: true },
  { name: realText.name, run: (options) => realText.run(options), seconds: 172_800, onRequest: true },
  { name: size.name, run: () => size.run(), seconds: 3_900, onRequest: true },
  { ...growth.starts, onRequest: true },
];
